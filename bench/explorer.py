"""How quickly the explorer repaints: from a slider's input to the end of its frame, over 500 steps.

    python bench/explorer.py

Builds the site into a temporary folder and opens it in Chromium.
"""

import functools
import http.server
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent

# A step's work is the handler with its drawing and the layout that it asks for; painting follows in the same frame.
STEPS = """
async (steps) => {
  const slider = document.querySelector(".explorer input[type=range]"), times = [];
  for (let i = 0; i < steps; i++) {
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    slider.value = i % (Number(slider.max) + 1);
    slider.dispatchEvent(new Event("input"));
    document.querySelector(".explorer").getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times;
}
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server that does not log."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


def main() -> None:
    """Print what was measured."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "-d", folder], cwd=ROOT, check=True)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for model in ("qwen2.5-7b", "deepseek-v3"):
                page = browser.new_page()
                page.goto(f"http://127.0.0.1:{server.server_port}/explorer/?model={model}")
                page.locator(".explorer .point").first.wait_for()
                times = page.evaluate(STEPS, 500)
                ends = statistics.quantiles(times, n=20)[-1]
                print(f"explorer, {model:12} {statistics.median(times):5.1f} ms, 95th percentile {ends:5.1f} ms")
            browser.close()
        server.shutdown()


if __name__ == "__main__":
    main()
