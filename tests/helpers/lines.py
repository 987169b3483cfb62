"""Where a browser breaks the lines of a page's text, and which words of inline code it breaks."""

import re

# What is off screen may not have been laid out; with this it is.
LAID_OUT = "article * { content-visibility: visible !important }"
# Of every break: the text before it and the text after it. ∎ stands for a formula.
BREAKS = """
(root) => {
  for (const details of document.querySelectorAll("article details")) details.open = true;
  const own = (element) => {
    while (getComputedStyle(element).display === "inline") element = element.parentElement;
    return element;
  };
  const broken = [];
  let block, before, last, formula;
  const follow = (text, at, box, code) => {
    if (last && box.left <= last.left && !code) broken.push([before.slice(-24), text.slice(at, at + 24)]);
    last = box;
  };
  const walker = document.createTreeWalker(document.querySelector(root), NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const parent = node.parentElement, maths = parent.closest("math");
    if (parent.closest("pre, script, .explorer, .formula, .headerlink") || !parent.checkVisibility()) continue;
    const around = own((maths ?? node).parentElement);
    if (around !== block) [block, before, last] = [around, "", null];
    if (maths) {
      if (maths !== formula) follow("∎", 0, maths.getBoundingClientRect());
      before += maths === formula ? "" : "∎";
      formula = maths;
      continue;
    }
    for (let at = 0; at < node.data.length; at++) {
      if (node.data[at].trim()) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const box = [...range.getClientRects()].filter((box) => box.width).at(-1);
        if (box) follow(node.data, at, box, parent.closest("code"));
      }
      before += node.data[at];
    }
  }
  return JSON.stringify(broken);
}
"""
WRONG = [
    ("closing punctuation begins a line", r'⏎(?:[，。、；：！？）」』”’,.;:!?)\]%]|"(?: |$))'),
    ("a comparison is torn apart", r"[\w)∎]\s*⏎[=≈≥≤]\s|\s[=≈≥≤]\s*⏎"),
    ("a unit stands without its number", r"\d\s*⏎(?:[kMGT]?i?B|[MGT]?FLOPs?|ms|µs)\b(?![-+])"),
]


def wrong(breaks: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Breaks where there should be none, and why."""
    shown = [re.sub(r"\s+", " ", f"{before}⏎{after}") for before, after in breaks]
    return [(why, line) for line in shown for why, pattern in WRONG if re.search(pattern, line)]


# Words of inline code that stand on two lines though a line of the narrowest phone has room for them.
BROKEN_WORDS = """
() => [...document.querySelectorAll("article :not(pre) > code")].flatMap((code) => {
  const range = new Range(), words = [], walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); )
    for (const { index, 0: word } of node.data.matchAll(/\\S+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].filter((box) => box.width).map((box) => Math.round(box.top)));
      if (word.length <= 20 && lines.size > 1) words.push(word);
    }
  return words;
})
"""
