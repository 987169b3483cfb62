// Switching language keeps the section, every heading has the same anchor in both languages, and the explorer's state.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.md-select__link[hreflang]");
  if (!link) return;
  link.hash = location.hash;
  link.search = location.search;
});

// The theme wraps each copy button in a <nav>: a landmark for every code block, so each needs a name of its own.
let blocks = 0;
new MutationObserver((changes) => {
  for (const { addedNodes } of changes)
    for (const node of addedNodes)
      if (node.matches?.("nav.md-code__nav")) node.ariaLabel = `${node.querySelector("button")?.title} ${++blocks}`;
}).observe(document.body, { childList: true, subtree: true });

// What a page can do beyond reading is loaded when its place comes near the window: most pages and most visits need
// none. The place keeps room for it meanwhile, so that nothing beneath moves.
const assets = new URL(".", document.currentScript.src);
const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      import(new URL(`${target.dataset.mount}.js`, assets))
        .then(({ mount }) => mount(target))
        .finally(() => target.classList.remove("waiting"));
    }
  },
  { rootMargin: "300px" },
);
for (const place of document.querySelectorAll("[data-mount]")) {
  place.classList.add("waiting");
  near.observe(place);
}

// How a number was worked out is shown when a reader points at it, reaches it with Tab, or touches it.
for (const kind of ["pointerover", "focusin", "click"])
  document.addEventListener(kind, ({ target, pointerType }) => {
    const number = target.closest(".computed");
    if (number && "popover" in number && !(kind === "pointerover" && pointerType !== "mouse"))
      import(new URL("calculation.js", assets)).then(({ show }) => show(number));
  });
