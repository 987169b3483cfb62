"""Chromium as the tests use it: its windows and palettes, a page that is watched, and axe."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page
from support import ROOTS

# Chromium's own background services would ask other hosts; the site must not.
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
PHONE, DESKTOP = {"width": 320, "height": 640}, {"width": 1280, "height": 900}
SCHEMES = [{"color_scheme": scheme} for scheme in ("light", "dark")]


class Watch:
    """Opens pages and remembers every request and every complaint."""

    def __init__(self, context: BrowserContext, root: str) -> None:
        self.root, self.page = root, context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.page.on("response", lambda got: self.complaints.append(got.url) if got.status >= 400 else None)

    def open(self, language: str, path: str, query: str = "") -> Page:
        """The page once its scripts have run; what they fetch later, a test waits for by what it shows."""
        self.page.goto(f"{self.root}{ROOTS[language]}{path}{'/' if path else ''}{query}")
        return self.page

    def settle(self) -> None:
        """Wait until the page has asked for nothing for half a second: for tests of what it must not ask for."""
        self.page.wait_for_load_state("networkidle")


# What can be right in one palette and wrong in the other; axe's other rules see no colours.
COLOURS = ("color-contrast", "link-in-text-block")


def violations(page: Page, part: str | None = None, rules: tuple[str, ...] = ()) -> list[tuple[str, list[str]]]:
    """What axe finds wrong in a page or in the parts of it that a selector names, by all rules or by some.

    Each rule with the first elements that break it.
    """
    only = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    found = Axe().run(page, part, {"resultTypes": ["violations"]} | only).response["violations"]
    return [(rule["id"], [node["html"][:160] for node in rule["nodes"][:3]]) for rule in found]
