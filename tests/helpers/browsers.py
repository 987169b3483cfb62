"""The browsers that the tests drive."""

import shutil

CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


def chromium() -> str:
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    assert found, "Chromium is missing; on Debian: apt-get install chromium"
    return found
