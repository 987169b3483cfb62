"""Finds the browsers that the tests drive: on the PATH, from Debian where root may install, or from npm.

`python tests/helpers/browsers.py` is what `make test` does first. What stays missing is named, and its tests are not
run; where CI is true that is a failure.
"""

import base64
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

# An npm package that holds the program itself: it is for servers without root, and so needs nearly nothing else there.
NPM_PACKAGE = "@sparticuz/chromium@153.0.0"
SHA512 = "jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA=="
UNPACK = """
const fs = require("fs"), zlib = require("zlib");
fs.createReadStream(process.argv[1]).pipe(zlib.createBrotliDecompress()).pipe(fs.createWriteStream(process.argv[2]));
"""
LAUNCH = '#!/bin/sh\nhere=$(dirname "$0")\nLD_LIBRARY_PATH="$here/lib" exec "$here/chromium" "$@"\n'


@dataclass(frozen=True)
class Browser:
    name: str
    programs: tuple[str, ...]  # as they are called on the PATH, best first
    packages: tuple[str, ...]  # Debian's, best first; the last is the one that everyone knows


# The headless shell is the same engine without a window's machinery: a page opens in a third of the time.
CHROMIUM = Browser(
    "Chromium",
    ("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome-stable",
     "google-chrome"),
    ("chromium-headless-shell", "chromium"),
)
FIREFOX = Browser("Firefox ESR", ("firefox-esr", "firefox"), ("firefox-esr",))
BROWSERS = (CHROMIUM, FIREFOX)


def from_npm() -> Path:
    """Where Chromium from npm lies: in the virtual environment."""
    return Path(sys.prefix) / "chromium"


def program(browser: Browser) -> str | None:
    """The browser's path; None where it is missing."""
    own = [str(from_npm() / "chromium-headless-shell")] if browser is CHROMIUM else []
    return next(filter(None, map(shutil.which, [*browser.programs, *own])), None)


def needed(browser: Browser) -> str:
    """The browser's path; without it the test is skipped, and in CI fails."""
    found = program(browser)
    if found is None:
        (pytest.fail if in_ci() else pytest.skip)(f"{names([browser])} missing")
    return found


def missing() -> list[Browser]:
    return [browser for browser in BROWSERS if program(browser) is None]


def names(browsers: list[Browser]) -> str:
    """As the subject of a sentence, with its verb."""
    return " and ".join(browser.name for browser in browsers) + (" is" if len(browsers) == 1 else " are")


def in_ci() -> bool:
    return os.environ.get("CI") == "true"


def not_run(tests: list[str], browsers: list[Browser]) -> str:
    """What did not run for want of browsers, and the one command that gets these and runs it."""
    folders = ", ".join(sorted({str(Path(test.partition("::")[0]).parent) for test in tests}))
    packages = " ".join(browser.packages[-1] for browser in browsers)
    return (
        f"{len(tests)} tests in {folders} did not run, as {names(browsers)} missing; "
        f"this runs them: sudo apt-get install -y {packages} && make test-browser"
    )


# ------------------------------------------------------------------------------------------------ getting them


def get() -> None:
    """Install what is missing, where that is possible."""
    if missing() and os.geteuid() == 0 and shutil.which("apt-get"):
        install_from_debian(missing())
    npm = shutil.which("npm", path=f"{os.environ['PATH']}{os.pathsep}{Path(sys.executable).parent}")
    if CHROMIUM in missing() and npm and (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        print(f"Chromium is missing: taking it from npm ({NPM_PACKAGE}) into {from_npm()}", flush=True)
        try:
            install_from_npm(npm)
        except (OSError, ValueError, subprocess.CalledProcessError, tarfile.TarError) as error:
            print(f"It could not be had: {error}")
            shutil.rmtree(from_npm(), ignore_errors=True)


def install_from_debian(browsers: list[Browser]) -> None:
    """By the first of each browser's packages that can be installed."""
    print(f"{names(browsers)} missing: installing from Debian's packages", flush=True)
    subprocess.run(["apt-get", "update", "-qq"], check=False)
    for browser in browsers:
        for package in browser.packages:
            install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", package]
            if subprocess.run(install, stdout=subprocess.DEVNULL, check=False).returncode == 0:
                break


def install_from_npm(npm: str) -> None:
    """Unpack the program and the few libraries that a bare machine lacks, and see that it starts."""
    environment = os.environ | {"PATH": f"{Path(npm).parent}{os.pathsep}{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory(prefix="chromium-") as name:
        folder, into = Path(name), from_npm()
        subprocess.run([npm, "pack", "--silent", NPM_PACKAGE], cwd=folder, env=environment, check=True)
        packed = next(folder.glob("*.tgz"), folder / "nothing")
        if base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode() != SHA512:
            raise ValueError(f"{NPM_PACKAGE} is not the package whose checksum is known")
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
        into.mkdir(parents=True, exist_ok=True)
        for compressed, plain in (("chromium.br", into / "chromium"), ("al2023.tar.br", folder / "lib.tar")):
            source = folder / "package" / "bin" / compressed
            subprocess.run(["node", "-e", UNPACK, str(source), str(plain)], env=environment, check=True)
        with tarfile.open(folder / "lib.tar") as archive:
            archive.extractall(into, filter="data")
    launcher = into / "chromium-headless-shell"
    launcher.write_text(LAUNCH, encoding="utf-8")
    for path in (into / "chromium", launcher):
        path.chmod(0o755)
    subprocess.run([launcher, "--version"], check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    get()
    left = missing()
    if left and in_ci():
        print(f"{names(left)} missing: in CI that is a failure", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
