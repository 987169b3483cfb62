"""Drives the system's Firefox ESR over WebDriver BiDi, which it speaks itself: real keys, clicks and touches.

Playwright's own Firefox is a build of its own, and the ESR does not know all commands that it sends.
"""

import itertools
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from browsers import FIREFOX, needed
from websockets.sync.client import ClientConnection, connect

KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Control": "\ue009", "Shift": "\ue008", "Home": "\ue011"}
MIDDLE = """
(element) => {
  element.scrollIntoView({ block: "center" });
  const box = element.getBoundingClientRect();
  return JSON.stringify([box.x + box.width / 2, box.y + box.height / 2]);
}
"""


class Firefox:
    """One tab."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket, self.ids = socket, itertools.count(1)
        self.send("session.new", capabilities={})
        self.tab = self.send("browsingContext.getTree")["contexts"][0]["context"]

    def send(self, method: str, **params: Any) -> Any:
        """The result of a command."""
        number = next(self.ids)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (answer := json.loads(self.socket.recv(timeout=60))).get("id") != number:
            pass  # events, of which none was asked for
        assert answer["type"] == "success", answer
        return answer["result"]

    def open(self, url: str, width: int, height: int) -> None:
        self.send("browsingContext.setViewport", context=self.tab, viewport={"width": width, "height": height})
        self.send("browsingContext.navigate", context=self.tab, url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """A string, number, boolean or null; awaited."""
        found = self.send("script.evaluate", expression=expression, target={"context": self.tab}, awaitPromise=True,
                          userActivation=False)
        assert found["type"] == "success", found["exceptionDetails"]["text"]
        return found["result"].get("value")

    def wait(self, expression: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({expression})"):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.05)

    def violations(self, part: str) -> Any:
        """The rules that axe finds broken in a part of the page, separated by commas."""
        found = f"axe.run({part!r}).then((found) => found.violations.map((rule) => rule.id).join())"
        return self.evaluate(f"{Axe().axe_script}; {found}")

    def press(self, *keys: str) -> None:
        """Keys held down one after the other, and released."""
        self._keys([("keyDown", key) for key in keys] + [("keyUp", key) for key in reversed(keys)])

    def type(self, text: str) -> None:
        keys = ["Enter" if key == "\n" else key for key in text]
        self._keys([(action, key) for key in keys for action in ("keyDown", "keyUp")])

    def tap(self, element: str, pointer: str = "mouse") -> None:
        """Press on the middle of the element that a JavaScript expression gives."""
        x, y = json.loads(self.evaluate(f"({MIDDLE})({element})"))
        move = {"type": "pointerMove", "x": round(x), "y": round(y)}
        actions = [move, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._act({"type": "pointer", "id": pointer, "parameters": {"pointerType": pointer}, "actions": actions})

    def _keys(self, actions: list[tuple[str, str]]) -> None:
        listed = [{"type": action, "value": KEYS.get(key, key)} for action, key in actions]
        self._act({"type": "key", "id": "keys", "actions": listed})

    def _act(self, actions: dict[str, Any]) -> None:
        self.send("input.performActions", context=self.tab, actions=[actions])


@contextmanager
def firefox(dark: bool = False) -> Iterator[Firefox]:
    """A fresh, headless Firefox, in either palette."""
    program = needed(FIREFOX)
    with tempfile.TemporaryDirectory(prefix="firefox-", ignore_cleanup_errors=True) as profile:
        with open(f"{profile}/user.js", "w", encoding="utf-8") as settings:
            settings.write(f'user_pref("layout.css.prefers-color-scheme.content-override", {0 if dark else 1});\n')
        command = [program, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", profile]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
            try:
                told = (re.search(r"BiDi listening on (ws://\S+)", line) for line in process.stderr or ())
                address = next(filter(None, told))[1]
                with connect(f"{address}/session", max_size=None, proxy=None) as socket:
                    yield Firefox(socket)
            finally:
                process.terminate()
