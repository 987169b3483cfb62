"""Every number that a page computes has its value in claims/, worked out elsewhere, and the build computes the same."""

import pages
import pytest
from claims import BY_PAGE, CLAIMS
from evaluate import evaluate
from support import LANGUAGES, PAGES


@pytest.mark.parametrize("field", CLAIMS)
def test_claim(field):
    assert evaluate(field).get("text") == CLAIMS[field]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_no_number_without_a_claim(language, page):
    unclaimed = [field for field in pages.fields(language, page) if field not in CLAIMS]
    assert unclaimed == [], "work each value out by other means and add it to claims/"


def test_no_claim_outlives_its_page():
    shown = {field for page in PAGES for field in pages.fields("zh", page)}
    assert [field for field in CLAIMS if field not in shown] == []


def test_a_number_is_claimed_once():
    assert sum(map(len, BY_PAGE)) == len(CLAIMS)
