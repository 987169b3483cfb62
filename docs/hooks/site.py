"""The life of a page, from its Markdown to the site: every event of MkDocs that the build answers, its steps in order.

MkDocs loads this file alone, once in a process, and calls these functions for the build of each language. The steps
themselves are plain functions in the modules beside it; what the project's code computes, they ask of a process that
runs it (`calculator_process`). What outlives a build lies in `session`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import accessibility
import downloads
import editor
import english
import explorer
import expressions
import figures
import languages
import listings
import maths
import notebooks
import outputs
import pyodide
import quiz
import rebuilds
import reference
import search_index
import styles
import typography
import unexpanded
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from project import ROOT, PageError
from session import Build, Session

session = Session()


def on_startup(command: str, dirty: bool) -> None:
    """``mkdocs serve`` keeps this process for every rebuild, ``mkdocs build`` for one build."""
    session.serving = command == "serve"


# ------------------------------------------------------------------------------------ before the pages


def on_config(config: Any) -> Any:
    """A build begins, of the sources as they are now."""
    language = config.theme["language"]
    session.builds[language] = Build(language)
    session.calculator.look()
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {}).setdefault("custom_fences", [])
    fences += [*outputs.fences(session.calculator), quiz.fence(language, session.calculator)]
    config.mdx_configs["toc"]["permalink_title"] = languages.PERMALINK[language]
    notebooks.use_our_template()
    rebuilds.keep_templates(session, config)
    if language == "zh":
        folders = [Path(config.docs_dir), ROOT / "docs" / "hooks"]
        dictionary = search_index.dictionary(search_index.characters_of(folders))
        if dictionary != session.dictionary:  # or jieba would load it once more
            search_index.use(dictionary)
            session.dictionary = dictionary
    return config


def on_pre_build(config: Any) -> None:
    """The English site is built with the Chinese one, at the same time where that pays."""
    if config.theme["language"] == "zh":
        _build(config).aside = english.start_aside(session, config)


def on_files(files: Any, config: Any) -> Any:
    """What is drawn and traced takes longest, and so begins; then come the files that no page is written for."""
    build = _build(config)
    build.drawn = figures.begin(session.calculator)
    build.traced = explorer.begin(session.calculator)
    for file in files.documentation_pages():
        languages.pair(file, build.language, config.site_url)
    for path in sorted((ROOT / "docs" / "assets").glob("*.*")):  # scripts and logo serve both languages
        _add(files, config, search_index.PLACES.get(path.name, f"assets/{path.name}"), path)
    for name in explorer.NAMES:
        _add(files, config, f"assets/{name}", b"")
    _add(files, config, "assets/math.woff2", b"")
    _add(files, config, "roofline-lab.zip", downloads.lab_archive(build.language))
    with _blamed():
        _add(files, config, "assets/site.css", styles.sheet())
        for name, content in [*pyodide.files(build.language), *editor.files(build.language)]:
            _add(files, config, name, content)
    return files


def on_nav(nav: Any, config: Any, files: Any) -> Any:
    """The groups of the navigation, in the language of the site."""
    with _blamed():
        languages.entitle([item for item in nav.items if item.is_section], config.theme["language"])
    return nav


# --------------------------------------------------------------------------------- a page, in Markdown


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Entries of the reference, then numbers; a chart that the page shows becomes a file that it can link to."""
    build = _build(config)
    if _is_notebook(page.file):
        charts = notebooks.charts_in(Path(page.file.abs_src_path))
    else:
        with _blamed(page):
            docs, source = Path(config.docs_dir), page.file.content_string
            first_line = 1 + source[: source.rfind(markdown)].count("\n")
            if "description" in page.meta:
                page.meta["description"] = expressions.fill(
                    page.meta["description"], session.calculator.number, plain=True
                )
            markdown = expressions.fill(markdown, session.calculator.number, first_line)
            markdown = reference.written(markdown, page.file.src_uri, docs, build.language, _entries)
        charts = figures.named_in(markdown)
    for chart in charts - build.charts.keys():
        build.charts[chart] = _name(page)
        for name in figures.files_of(chart):
            _add(files, config, name, b"")
    page.title = page.meta.get("short", page.title)  # in the navigation; the rest of the theme asks the metadata
    rebuilds.keep_page(session, page)
    return markdown


# ------------------------------------- MkDocs makes it HTML, and asks `outputs` and `quiz` for their fenced blocks


def on_page_content(content: str, page: Any, config: Any, files: Any) -> str:
    """Whatever Markdown has no words for: maths, lines that break well, charts, listings that run, wide tables."""
    build = _build(config)
    with _blamed(page):
        if _is_notebook(page.file):
            title = config.mdx_configs["toc"]["permalink_title"]
            content = notebooks.tidied(content, page, build.language, title)
        unexpanded.refuse(content)
        maths.retitle(page.toc, lambda title: typography.well_set(maths.inline(title)))
        content = typography.well_set(maths.typeset(content))
        content = listings.mounted(content, page.file.content_string)
    build.letters |= maths.characters_of(content)
    content = figures.with_pictures(listings.light(content))
    return accessibility.scrolling_tables(content, build.language)


# ------------------------------------------------------------------------------------- after the pages


def on_env(env: Any, config: Any, files: Any) -> Any:
    """All pages are converted: the maths font can be cut down to what they show, and search can read them."""
    letters = maths.USUAL | _build(config).letters
    files.get_file_from_path("assets/math.woff2").content_bytes = maths.font(frozenset(letters))
    rebuilds.keep_entries(session, config)
    return env


def on_post_page(output: str, page: Any, config: Any) -> str:
    """A page in the theme's frame."""
    return search_index.on_demand(accessibility.named_search(output, config.theme["language"]))


def on_post_template(output: str, template_name: str, config: Any) -> str:
    """What has the theme's frame and is no page: the one that is shown where there is none."""
    return on_post_page(output, None, config)


def on_post_build(config: Any) -> None:
    """Everything is written but what has been in the making meanwhile."""
    build, site = _build(config), Path(config.site_dir)
    assert build.drawn is not None
    assert build.traced is not None
    with _blamed():
        figures.put(build.drawn, build.charts, build.language, site)
        explorer.put(build.traced, site / "assets")
        search_index.lighten(site / "search")
        if build.language == "zh":
            english.put(session, build.aside, config)


# ------------------------------------------------------------------------------------------- the end


def on_build_error(error: Exception) -> None:
    """Say every warning again next time."""
    session.rendered.clear()
    for build in session.builds.values():
        if build.aside is not None:
            english.stop(build.aside)
            build.aside = None


def on_shutdown() -> None:
    """The calculator's processes end with the command; those of ``mkdocs serve`` stay for the next build."""
    if not session.serving:
        session.calculator.close()


def _build(config: Any) -> Build:
    return session.builds[config.theme["language"]]


def _entries() -> dict[str, reference.Entry]:
    """The public names, read again when a module has changed."""
    digest = session.calculator.digest()
    if session.entries_digest != digest:
        session.entries, session.entries_digest = reference.public(), digest
    return session.entries


def _is_notebook(file: Any) -> bool:
    return str(file.src_uri).endswith(".ipynb")


def _add(files: Any, config: Any, name: str, content: bytes | Path) -> None:
    """A file of the site, by its content or by where that lies."""
    if isinstance(content, Path):
        files.append(File.generated(config, name, abs_src_path=str(content)))
    else:
        files.append(File.generated(config, name, content=content))


def _name(page: Any) -> str:
    return str(Path(page.file.abs_src_path).relative_to(ROOT))


@contextmanager
def _blamed(page: Any = None) -> Iterator[None]:
    """A mistake stops the build, and is said with the name of its page."""
    try:
        yield
    except PageError as error:
        where = "" if page is None else f"{_name(page)}{', ' if str(error).startswith('line ') else ': '}"
        raise PluginError(f"{where}{error}") from error
