"""Python for the browser: what a listing marked ``.run`` needs to run in its page.

Pyodide comes from npm (package.json) and is served from the site itself, once for both languages: the English site
lies in the Chinese one and refers to its copy. The page's part is assets/run.js; the worker's, assets/run-worker.js.
"""

import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import npm
from languages import SITES
from mkdocs.utils import get_relative_url
from project import ROOT, kept

PYODIDE = npm.MODULES / "pyodide"
FOLDER = "assets/pyodide/"
SCRIPTS = {"pyodide.mjs": "pyodide.js", "pyodide.asm.mjs": "pyodide.asm.js"}  # many servers do not know .mjs
WASM, LIBRARY = "pyodide.asm.wasm", "python_stdlib.zip"
PARTS = ("roofline_calc/**/*.py", "roofline_calc/*.toml", "snippets/own/*")  # what the programs import and read
NOTICE = """\
Files of Pyodide {version}, unmodified: two are renamed, one is compressed. Pyodide is licensed under the MPL 2.0, its
source is at https://github.com/pyodide/pyodide. It contains CPython, under the PSF License, https://www.python.org/.
"""


def version() -> str:
    """The version of Pyodide that is installed."""
    return str(npm.package("pyodide", "runs the pages' programs in the browser")["version"])


def compressed() -> Path:
    """The WebAssembly, gzipped so that it is as small on any host: made once after an `npm ci`, which throws it out."""
    path = npm.MODULES / ".cache" / f"pyodide-{version()}" / f"{WASM}.gz"
    return kept(path, lambda: gzip.compress((PYODIDE / WASM).read_bytes(), mtime=0))


def programs() -> bytes:
    """The calculator and the runner as a zip archive; the same bytes for the same files."""
    out = io.BytesIO()
    files = {path.relative_to(ROOT).as_posix(): path for part in PARTS for path in sorted(ROOT.glob(part))}
    files["runner.py"] = Path(__file__).with_name("runner.py")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in files.items():
            archive.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def address(language: str) -> str:
    """A script that tells a language's pages where Python lies, what is fetched of it, and that it has no packages."""
    up = get_relative_url(FOLDER, f"{SITES[language].folder}assets/")
    size = compressed().stat().st_size + (PYODIDE / LIBRARY).stat().st_size
    info = json.loads((PYODIDE / "pyodide-lock.json").read_text(encoding="utf-8"))["info"]
    return (
        f'export const folder = new URL("{up}", import.meta.url).href;\n'
        f"export const size = {size};\n"
        f"export const lock = {json.dumps({'info': info, 'packages': {}})};\n"
    )


def files(language: str) -> Iterator[tuple[str, bytes | Path]]:
    """Each file of a language's site, and its content or where that lies; Python itself comes with the first site."""
    yield "assets/runtime.js", address(language).encode()
    if SITES[language].folder:
        return
    for old, new in SCRIPTS.items():
        yield FOLDER + new, PYODIDE / old
    yield f"{FOLDER}{WASM}.gz", compressed()
    yield FOLDER + LIBRARY, PYODIDE / LIBRARY
    yield FOLDER + "programs.zip", programs()
    yield FOLDER + "NOTICE.txt", NOTICE.format(version=version()).encode()
