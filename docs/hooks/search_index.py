"""The search index, made fast and light.

jieba, which cuts Chinese text into words, gets the part of its dictionary that it can need: loading all of it takes a
second of every build. Words with a character that no page has are never looked up, so leaving them out changes no cut,
as long as the frequencies are still shares of the same total. Of the index itself, what nobody looks for is left out.
"""

import hashlib
import json
import logging
import re
from pathlib import Path

import jieba
from project import ROOT, kept

TEXTS = {".md", ".ipynb", ".py", ".yml"}  # whatever puts text on a page
LISTING = re.compile(r"<pre>.*?</pre>", re.DOTALL)
SAID = re.compile(r"<p>(?!<code>)(.*?)</p>", re.DOTALL)  # a paragraph, but no signature
WORKER = re.compile(r'"([^"]*assets/javascripts/workers/)(search\.\w+\.min\.js)"')
OURS = "on-demand.js"
PLACES = {"search-worker.js": f"assets/javascripts/workers/{OURS}"}  # the theme's finds its languages by its address
UNUSED = "\ue000"  # stands for all the words left out; a private character, so in no text


def dictionary(characters: frozenset[str]) -> Path:
    """jieba's dictionary without the words that need other characters; kept for later builds."""
    name = hashlib.sha256(f"{jieba.__version__} {''.join(sorted(characters))}".encode()).hexdigest()
    return kept(ROOT / ".cache" / "words" / f"{name}.txt", lambda: part(characters).encode())


def part(characters: frozenset[str]) -> str:
    """The dictionary's lines, ``word frequency part-of-speech``, for the words made of these characters."""
    lines, left_out = [], 0
    with jieba.get_module_res("dict.txt") as whole:
        for line in whole.read().decode("utf-8").splitlines():
            word, frequency, _ = line.split(" ")
            if characters.issuperset(word):
                lines.append(line)
            else:
                left_out += int(frequency)
    return "\n".join([*lines, f"{UNUSED} {left_out} x"]) + "\n"


def characters_of(folders: list[Path]) -> frozenset[str]:
    """Every Chinese character of the files that make the pages."""
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in TEXTS]
    return frozenset(
        letter for path in files for letter in set(path.read_text(encoding="utf-8")) if "\u2e80" <= letter <= "\uffff"
    )


def use(path: Path) -> None:
    """Have jieba cut by a dictionary."""
    jieba.setLogLevel(logging.WARNING)
    jieba.set_dictionary(str(path))


def lighten(folder: Path) -> None:
    """No listings in the index, of a reference entry its title and first sentence; nothing before it is asked.

    Every page loads ``search_index.json``, so that keeps the settings alone; assets/search-worker.js fetches the words.
    A Chinese character of three bytes is lighter than an escape of six, gzipped too.
    """
    index = folder / "search_index.json"
    found = json.loads(index.read_text(encoding="utf-8"))
    for entry in found["docs"]:
        entry["text"] = LISTING.sub("", entry["text"]).replace("\N{NO-BREAK SPACE}", " ")
        if "#" in entry["location"] and entry["location"].startswith("reference"):
            entry["text"] = next(filter(None, SAID.findall(entry["text"])), "")
    for path, content in ((folder / "words.json", found), (index, found | {"docs": []})):
        path.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def on_demand(output: str) -> str:
    """A page whose search begins with the first question: by assets/search-worker.js, which is told the theme's."""
    return WORKER.sub(rf'"\1{OURS}?\2"', output, count=1)
