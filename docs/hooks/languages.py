"""The site's languages: every page has a twin in the other one, and knows it."""

import logging
from typing import Any, NamedTuple

from mkdocs.utils import get_relative_url
from project import ROOT, PageError

log = logging.getLogger("mkdocs.hooks.languages")


class Language(NamedTuple):
    """A language's name in itself, its tag, and the folder of its site."""

    name: str
    tag: str
    folder: str


SITES = {"zh": Language("简体中文", "zh-Hans", ""), "en": Language("English", "en", "en/")}

# Titles of the navigation's groups, by their names in mkdocs.yml.
GROUPS = {
    "zh": {"course": "课程", "hands-on": "动手", "reference": "查阅"},
    "en": {"course": "Course", "hands-on": "Hands-on", "reference": "Reference"},
}
PERMALINK = {"zh": "本节链接", "en": "Link to this section"}


def entitle(sections: list[Any], language: str) -> None:
    """Give the navigation's groups their titles.

    Raises:
        PageError: a group has none.
    """
    for section in sections:
        if section.title not in GROUPS[language]:
            raise PageError(f"mkdocs.yml, nav: the group {section.title!r} has no title in docs/hooks/languages.py")
        section.title = GROUPS[language][section.title]


def twins(url: str, language: str, site_url: str) -> list[dict[str, Any]]:
    """The versions of a page, its own first: name, language tag, absolute address, and link from this page."""
    root = site_url.removesuffix(SITES[language].folder)
    url = "" if url == "./" else url
    here = SITES[language].folder + url
    return [
        {"name": name, "tag": tag, "address": root + folder + url, "link": get_relative_url(folder + url, here)}
        for name, tag, folder in SITES.values()
    ]


def pair(file: Any, language: str, site_url: str) -> None:
    """Tell a page's file its twins; one that lacks them is warned of, which stops a strict build."""
    file.twins = twins(file.url, language, site_url)
    for other in SITES:
        if not (ROOT / "docs" / other / file.src_uri).is_file():
            log.warning(
                "docs/%s/%s has no twin: write docs/%s/%s in the same commit",
                language, file.src_uri, other, file.src_uri,
            )
