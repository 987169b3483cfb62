"""`mkdocs serve` as an author uses it: an edit of anything that a page depends on shows without a restart."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import drop_questions


def get(address: str) -> str:
    try:
        with urllib.request.urlopen(address, timeout=60) as response:
            return response.read().decode()
    except (urllib.error.URLError, ConnectionError):
        return ""


def wait_for(address: str, seen: Callable[[str], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not seen(get(address)):
        assert time.monotonic() < end, f"{address} did not change"
        time.sleep(0.1)


@pytest.fixture
def server(built_copy: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "serve", "--strict", "-a", f"127.0.0.1:{port}"],
        cwd=built_copy, env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "SITE_URL": f"http://127.0.0.1:{port}/"},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    yield f"http://127.0.0.1:{port}/"
    process.terminate()
    process.wait(timeout=20)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_an_edit_of_a_page_a_snippet_a_module_or_a_configuration_shows(copy, server):
    chinese, english = server + "lesson/", server + "en/lesson/"
    wait_for(chinese, lambda page: ">224<" in page)
    wait_for(english, lambda page: ">224<" in page)

    edit(copy / "docs/zh/lesson.md", "先记住两个形状", "先牢牢记住两个形状")
    wait_for(chinese, lambda page: "先牢牢记住" in page)

    edit(copy / "docs/en/lesson.md", "Keep two shapes in mind", "Bear two shapes in mind")
    wait_for(english, lambda page: "Bear two shapes" in page)

    edit(copy / "snippets/calculator.py", "for M in (1, 256)", "for M in (1, 3, 256)")
    wait_for(english, lambda page: "GEMM, M = 3" in page)  # the output is run again
    assert "GEMM, M = 3" in get(chinese)

    drop_questions(copy)
    edit(copy / "roofline_calc/operators.py", "flops=2 * M * K * N", "flops=4 * M * K * N")
    wait_for(chinese, lambda page: ">448<" in page)  # q_proj at M = 256, doubled
    assert "flops=<span class=\"mi\">4</span>" in get(english)  # the listing too

    edit(copy / "mkdocs.yml", "site_name: 算子 Roofline", "site_name: 另一个名字")
    wait_for(chinese, lambda page: "另一个名字" in page)

    edit(copy / "mkdocs.en.yml", "site_name: Operator Roofline", "site_name: Another name")
    wait_for(english, lambda page: "Another name" in page)

    edit(copy / "docs/assets/styles/page.css", ":root {", ":root { --edited: 1;")
    wait_for(server + "en/assets/site.css", lambda css: "--edited" in css)


def test_the_links_between_languages_lead_to_the_server_itself(server):
    wait_for(server + "en/", lambda page: "hreflang" in page)
    addresses = re.findall(r'hreflang="[\w-]+" href="([^"]+)"', get(server + "en/lesson/"))
    assert addresses
    assert all(address.startswith(server) for address in addresses if "://" in address)
