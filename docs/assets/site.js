// Switching language keeps the section: every heading has the same anchor in both languages.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.md-select__link[hreflang]");
  if (link) link.hash = location.hash;
});

// The theme wraps each copy button in a <nav>: a landmark for every code block, so each needs a name of its own.
let blocks = 0;
new MutationObserver((changes) => {
  for (const { addedNodes } of changes)
    for (const node of addedNodes)
      if (node.matches?.("nav.md-code__nav")) node.ariaLabel = `${node.querySelector("button")?.title} ${++blocks}`;
}).observe(document.body, { childList: true, subtree: true });
