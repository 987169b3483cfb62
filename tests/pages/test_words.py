"""One word, and one letter, for one thing: what the pages no longer say."""

import re

import pages
import pytest
from support import LANGUAGES, PAGES

GONE = [
    (r"\bfloors?\b|时间下界", "a step has a lower bound, and a kernel-by-kernel time that overlap beats"),
    (r"\bB ?= ?\d|\bB_i\b", "B is the bandwidth: write batch = 256, and D_i for bytes"),
    (r"[Nn]o number (?:here|in it)|没有一个数字是手敲的", "inputs are typed; results are not"),
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_a_word_that_misleads_is_gone(language, page):
    text = pages.source(language, page)
    assert [(found[0], instead) for word, instead in GONE for found in re.finditer(word, text)] == []
