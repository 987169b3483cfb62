// The editor of a listing: CodeMirror with what a Python programmer knows of other editors, and nothing that pops up.
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, StreamLanguage } from "@codemirror/language";
import { python } from "@codemirror/legacy-modes/mode/python";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { look } from "./look.js";
import { words } from "./words.js";

const INDENT = "    ";
const ROWS = 24;
let opened = 0;

// To the next column that is a multiple of the indent; a selection moves as a whole.
function indent(view) {
  const { from, empty } = view.state.selection.main;
  if (!empty) return indentMore(view);
  const column = from - view.state.doc.lineAt(from).from;
  view.dispatch(view.state.replaceSelection(INDENT.slice(column % INDENT.length)), { scrollIntoView: true });
  return true;
}

// Escape lets the next Tab leave, however long it takes; back here, or after an edit, Tab indents again.
function letTabLeave(view) {
  view.setTabFocusMode(true);
  return false; // it may have more to do
}

const keepTab = EditorView.updateListener.of(({ view, docChanged, focusChanged }) => {
  if (docChanged || focusChanged) view.setTabFocusMode(false);
});

// Shows `code` in `place`, ready to be edited at the line that begins with `start`; `label` names the box.
export function open(place, code, start, label) {
  const id = `editor-hint${++opened}`;
  const hint = Object.assign(document.createElement("p"), { id, className: "hint", textContent: words.hint });
  const at = `\n${code}`.indexOf(`\n${start}`);
  const view = new EditorView({
    parent: place,
    doc: code,
    selection: { anchor: Math.max(at, 0) },
    scrollTo: EditorView.scrollIntoView(Math.max(at, 0), { y: "start", yMargin: 60 }),
    extensions: [
      lineNumbers(),
      history(),
      StreamLanguage.define(python),
      indentUnit.of(INDENT),
      indentOnInput(),
      bracketMatching(),
      highlightActiveLine(),
      highlightSelectionMatches(),
      search({ top: true }),
      EditorState.phrases.of(words.phrases),
      EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": id, tabindex: "0" }),
      keepTab,
      keymap.of([
        { key: "Tab", run: indent, shift: indentLess },
        { key: "Escape", run: letTabLeave },
        ...searchKeymap,
        ...defaultKeymap,
        ...historyKeymap,
      ]),
      look,
    ],
  });
  view.dom.style.setProperty("--rows", Math.min(view.state.doc.lines, ROWS));
  place.append(hint);
  view.focus();
  return { text: () => view.state.doc.toString() };
}
