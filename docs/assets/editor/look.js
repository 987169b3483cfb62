// The editor in the colours of the listings around it: those of assets/styles/page.css, and so of either palette.
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colour = (name) => `var(--md-code-hl-${name}-color)`;

const highlighting = HighlightStyle.define([
  { tag: tags.comment, color: colour("comment") },
  { tag: tags.string, color: colour("string") },
  { tag: tags.number, color: colour("number") },
  { tag: [tags.keyword, tags.meta], color: colour("keyword") },
  { tag: tags.standard(tags.variableName), color: colour("constant") },
  { tag: tags.definition(tags.variableName), color: colour("function") },
]);

const line = "1px solid var(--md-default-fg-color--light)";
const ground = "var(--md-code-bg-color)";
const accent = "var(--md-accent-fg-color)";
const tint = (share) => `color-mix(in srgb, ${accent} ${share}%, ${ground})`;

const theme = EditorView.theme({
  "&": {
    height: "min(calc(var(--rows) * 1.4em + 1.2em), 70vh)",
    minHeight: "6em",
    overflow: "hidden",
    resize: "vertical",
    color: "var(--md-code-fg-color)",
    backgroundColor: ground,
    border: line,
    borderRadius: ".1rem",
  },
  "&.cm-focused": { outline: `2px solid ${accent}`, outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--md-code-font)", lineHeight: "1.4" },
  ".cm-content": { caretColor: "var(--md-code-fg-color)", padding: ".5em 0" },
  ".cm-gutters": { color: colour("comment"), backgroundColor: ground, borderRight: "none" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "3ch", padding: "0 .6em" },
  ".cm-activeLine": { backgroundColor: tint(7) },
  ".cm-selectionMatch": { backgroundColor: tint(14) },
  ".cm-searchMatch": { backgroundColor: tint(18) },
  ".cm-searchMatch-selected": { outline: `2px solid ${accent}`, backgroundColor: tint(18) },
  "&.cm-focused .cm-matchingBracket": { outline: `1px solid ${accent}`, backgroundColor: "transparent" },
  "&.cm-focused .cm-nonmatchingBracket": { outline: "1px dashed", backgroundColor: "transparent" },
  ".cm-panels": { color: "var(--md-default-fg-color)", backgroundColor: "var(--md-default-bg-color)", zIndex: "1" },
  ".cm-panels-top": { borderBottom: line },
  ".cm-panel.cm-search, .cm-panel.cm-gotoLine": { padding: ".4rem 2rem .2rem .6rem", fontSize: "inherit" },
  ".cm-panel :is(input, button), .cm-panel.cm-search label": { fontSize: "inherit", minHeight: "24px" },
  ".cm-panel.cm-search label": { display: "inline-flex", alignItems: "center" },
  ".cm-textfield": { color: "inherit", backgroundColor: ground, border: line, maxWidth: "100%" },
  ".cm-button": { color: accent, background: "none", border: "1px solid", borderRadius: ".2em", cursor: "pointer" },
  ".cm-panel.cm-search [name=close]": { width: "28px", height: "28px", color: "inherit", cursor: "pointer" },
});

export const look = [syntaxHighlighting(highlighting), theme];
