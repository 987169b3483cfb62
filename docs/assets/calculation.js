// A number of the text shows how it was worked out: on hover, on focus, and on touch. One panel serves them all. It
// stands behind its number, so that Tab leads from the number to the panel's link.
const zh = document.documentElement.lang.startsWith("zh");
const WORDS = zh ? { open: "在探索器里看", value: "不取整" } : { open: "See it in the explorer", value: "not rounded" };
const explorer = new URL("../explorer/", import.meta.url);

const element = (tag, className) => Object.assign(document.createElement(tag), { className });
const panel = Object.assign(element("span", "calculation"), { id: "calculation", popover: "manual" });
const code = element("code");
const value = element("span");
const link = element("a");
panel.append(code, value, link);

let number = null;
let dismissed = null;
let leaving;

export function show(wanted) {
  clearTimeout(leaving);
  if (wanted === number || wanted === dismissed) return;
  hide();
  number = wanted;
  number.dataset.expression ??= number.title;
  number.removeAttribute("title"); // or the browser's own tip would come as well
  code.textContent = number.dataset.expression;
  value.textContent = `${WORDS.value}${zh ? "：" : ": "}${number.getAttribute("value")}`;
  value.hidden = number.getAttribute("value") === number.textContent.replaceAll(",", "");
  link.hidden = number.dataset.state === undefined;
  link.textContent = WORDS.open;
  link.href = `${explorer}?${number.dataset.state}`;
  number.after(panel);
  number.setAttribute("aria-describedby", panel.id);
  panel.showPopover();
  place(number.getClientRects()[0]);
}

function hide() {
  if (!number) return;
  panel.hidePopover();
  panel.remove();
  number.removeAttribute("aria-describedby");
  number = null;
}

// Beneath the number, or above it where there is no room; never out of the window.
function place(at) {
  const { offsetWidth: width, offsetHeight: height } = panel;
  const { clientWidth, clientHeight } = document.documentElement;
  const above = at.bottom + height > clientHeight && at.top > height;
  panel.style.left = `${scrollX + Math.max(8, Math.min(at.left, clientWidth - width - 8))}px`;
  panel.style.top = `${scrollY + (above ? at.top - height : at.bottom)}px`;
}

const inside = (node) => node instanceof Node && (panel.contains(node) || number?.contains(node));

addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || !number) return;
  if (panel.contains(document.activeElement)) number.focus();
  dismissed = number; // until the reader turns to something else
  hide();
});
// With a mouse there is time to move from the number to the link; what has the focus stays.
addEventListener("pointerout", ({ pointerType, relatedTarget }) => {
  if (pointerType !== "mouse" || !number || inside(relatedTarget) || inside(document.activeElement)) return;
  clearTimeout(leaving);
  leaving = setTimeout(hide, 300);
});
addEventListener("pointerover", ({ target }) => {
  if (inside(target)) clearTimeout(leaving);
  if (target !== dismissed) dismissed = null;
});
addEventListener("pointerdown", ({ target }) => {
  dismissed = null;
  if (!inside(target)) hide();
});
addEventListener("focusout", ({ relatedTarget }) => {
  dismissed = null;
  if (relatedTarget && !inside(relatedTarget)) hide();
});
