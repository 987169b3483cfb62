"""The editor of the listings that run: CodeMirror from npm (package.json) with our settings of it, in one script.

It is served from the site itself, once for both languages, and fetched when a reader presses Edit (assets/run.js).
"""

import hashlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import npm
from languages import SITES
from mkdocs.utils import get_relative_url
from project import ROOT, PageError, kept

SOURCES = ROOT / "docs" / "assets" / "editor"
SCRIPT, NOTICE = "assets/editor.js", "assets/editor-NOTICE.txt"
OPTIONS = ("--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=none", "--log-level=error")
IMPORTED = re.compile(r'from "((?:@[^/"]+/)?[^./"][^/"]*)')


def packages() -> dict[str, str]:
    """Each package that the script holds a part of, and its version: what our settings import, and what that needs.

    Raises:
        PageError: one of them is not installed.
    """
    found: dict[str, str] = {}
    asked = {name for source in _sources() for name in IMPORTED.findall(source)}
    while asked:
        name = asked.pop()
        package = npm.package(name, "is part of the pages' editor")
        found[name] = package["version"]
        asked |= set(package.get("dependencies", {})) - found.keys()
    return dict(sorted(found.items()))


def script() -> Path:
    """Our settings and all they need, as one file: made once for these packages and settings."""
    program = npm.esbuild()
    ingredients = f"{packages()} {npm.package('esbuild', 'puts the editor together')['version']} {OPTIONS} {_sources()}"
    name = hashlib.sha256(ingredients.encode()).hexdigest()
    return kept(ROOT / ".cache" / "editor" / f"{name}.js", lambda: _bundled(program))


def notice() -> str:
    """What the script holds of others' work, and the licence of each."""
    by_licence: dict[str, list[str]] = {}
    for name, version in packages().items():
        by_licence.setdefault(licence(name), []).append(f"{name} {version}")
    parts = [f"{', '.join(names)}\n\n{text}" for text, names in by_licence.items()]
    return "\n\n".join(["The editor of this site's listings holds parts of these packages from npm, minified.", *parts])


def licence(name: str) -> str:
    """Its text. All are under the MIT licence, which asks for that; a package without one cannot be part of the script.

    Raises:
        PageError: there is none.
    """
    found = next((npm.MODULES / name).glob("LICENSE*"), None)
    if found is None:
        raise PageError(f"node_modules/{name} has no LICENSE; what the site serves needs one")
    return found.read_text(encoding="utf-8").strip()


def files(language: str) -> Iterator[tuple[str, bytes | Path]]:
    """Each file of a language's site, and its content or where that lies; the English script leads to the other."""
    if up := SITES[language].folder:
        yield SCRIPT, f'export * from "{get_relative_url(SCRIPT, f"{up}{SCRIPT}")}";\n'.encode()
        return
    yield SCRIPT, script()
    yield NOTICE, notice().encode()


def _sources() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.js"))]


def _bundled(program: Path) -> bytes:
    command = [str(program), str(SOURCES / "editor.js"), *OPTIONS]
    try:
        return subprocess.run(command, capture_output=True, check=True, cwd=ROOT).stdout
    except subprocess.CalledProcessError as error:
        raise PageError(f"docs/assets/editor: {error.stderr.decode().strip()}") from error
    except OSError as error:
        raise PageError(f"{program}: {error}; `npm ci --ignore-scripts` installs the one for this machine") from error
