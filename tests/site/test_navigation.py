"""What leads from page to page: the groups of the navigation, and the page that is shown where there is none."""

from types import SimpleNamespace

import languages
import pytest
from bs4 import BeautifulSoup
from project import PageError
from support import LANGUAGES, NOTEBOOKS, PAGES, ROOTS

GROUPS = {"zh": ["课程", "动手", "查阅"], "en": ["Course", "Hands-on", "Reference"]}
FIRST = {"zh": ["首页", "入门 A：roofline 模型"], "en": ["Home", "Primer A: the roofline model"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_navigation_is_in_groups_and_names_each_page_briefly(site, language):
    page = BeautifulSoup((site / ROOTS[language] / "lab" / "index.html").read_text(encoding="utf-8"), "html.parser")
    navigation = page.select_one(".md-nav--primary")
    groups = navigation.select(".md-nav__item--section > .md-nav__link")
    assert [group.get_text(strip=True) for group in groups] == GROUPS[language]
    names = [link.get_text(strip=True) for link in navigation.select("a.md-nav__link") if "#" not in link["href"]]
    assert names[:2] == FIRST[language]
    assert len(names) == len(set(names)) == len(PAGES + NOTEBOOKS)
    assert max(map(len, names)) <= 32
    assert page.title.text.startswith(page.h1.find(string=True))  # the page itself keeps its full title


def test_a_group_without_a_title_is_refused():
    with pytest.raises(PageError, match=r"mkdocs\.yml, nav: the group 'extras' has no title in docs/hooks/languages"):
        languages.entitle([SimpleNamespace(title="extras")], "zh")
    assert languages.GROUPS["zh"].keys() == languages.GROUPS["en"].keys()


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_there_is_no_page_both_languages_say_so(site, served, language):
    page = BeautifulSoup((site / ROOTS[language] / "404.html").read_text(encoding="utf-8"), "html.parser")
    assert page.select_one("[role=dialog]")["aria-label"] == {"zh": "搜索", "en": "Search"}[language]
    found = page.article
    tags = {"zh": "zh-Hans", "en": "en"}
    other = "en" if language == "zh" else "zh"
    assert [part["lang"] for part in found.select("section")] == [tags[language], tags[other]]
    assert found.h1.parent["lang"] == tags[language]
    links = {tag: [link["href"] for link in found.select(f"section[lang={tag}] a")] for tag in tags.values()}
    assert links == {"zh-Hans": [served, f"{served}lesson/"], "en": [f"{served}en/", f"{served}en/lesson/"]}


@pytest.mark.parametrize(("language", "title"), [("zh", "本节链接"), ("en", "Link to this section")])
def test_a_heading_s_link_is_named_in_the_page_s_language(site, language, title):
    for path in ("lesson", "lab-notebook"):
        text = (site / ROOTS[language] / path / "index.html").read_text(encoding="utf-8")
        links = BeautifulSoup(text, "html.parser").select("a.headerlink")
        assert len(links) > 3
        assert {link["title"] for link in links} == {title}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_home_page_names_the_site_once(site, language):
    page = BeautifulSoup((site / ROOTS[language] / "index.html").read_text(encoding="utf-8"), "html.parser")
    assert page.title.text == {"zh": "算子 Roofline", "en": "Operator Roofline"}[language]
