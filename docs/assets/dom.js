// Elements made in one expression, and the words of the page's language.

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// `aria` holds attributes: those that refer to an id are no properties.
export function html(tag, { aria, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(aria ?? {})) element.setAttribute(`aria-${name}`, value);
  element.append(...children);
  return element;
}

export function button(label, press, properties) {
  return html("button", { type: "button", className: "button", textContent: label, onclick: press, ...properties });
}

// What does not change is left alone: it costs no layout, and a screen reader does not say it again.
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function inLanguage(words) {
  return words[document.documentElement.lang.slice(0, 2)] ?? words.en;
}
