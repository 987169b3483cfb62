// Run and edit a listing in its page. Python is fetched at the first press of "Run", the editor at the first of "Edit".
import { button, html, write } from "./dom.js";
import { Program } from "./run-python.js";
import { words } from "./run-words.js";
import { size } from "./runtime.js";

const FOLD = 100; // lines of output that are shown without being asked for
const SHORTCUT = /^(Mac|iP)/.test(navigator.platform) ? "⌘ Enter" : "Ctrl+Enter";

// Gives back what makes the listing as it was, for one that changes.
export function mount(root, name = root.querySelector(".filename").textContent) {
  const code = root.querySelector("code");
  const listing = root.querySelector("pre");
  const run = button(words.run, press);
  const edit = button(words.edit, open);
  const reset = button(words.reset, askAndRestore, { hidden: true });
  const halt = button(words.stop, () => program.stop(), { hidden: true });
  const bar = html("progress", { max: size, ariaHidden: true, hidden: true });
  const status = html("span", { role: "status" });
  const log = { className: "printed", role: "log", ariaLabel: words.output(name), tabIndex: 0, hidden: true };
  const output = html("pre", log);
  const fold = button("", unfold, { hidden: true });
  const place = html("div", { className: "editor", hidden: true });
  let program; // while it runs
  let editor;
  let asked; // for the editor
  let printed = "";
  let rows;
  let frame;
  listing.after(place);
  root.append(html("div", { className: "bar" }, run, edit, reset, halt, bar, status), output, fold);
  place.addEventListener("keydown", type, true); // before the editor, which has a use of its own for it

  // A button that goes while it has the focus leaves it to another.
  function hide(gone, heir) {
    const focused = document.activeElement === gone;
    gone.hidden = true;
    if (focused) heir.focus();
  }

  // The last lines are the point: what is folded, or too wide for a fold, shows its end.
  function show() {
    frame = undefined;
    const followed = output.scrollTop + output.clientHeight >= output.scrollHeight - 1;
    rows += printed.split("\n").length - 1;
    output.append(printed);
    printed = "";
    if (fold.hidden && rows > FOLD) {
      output.classList.add("folded");
      fold.hidden = false;
    }
    if (output.classList.contains("folded")) write(fold, words.all(rows));
    if (followed) output.scrollTop = output.scrollHeight;
  }

  function unfold() {
    const folded = output.classList.toggle("folded");
    write(fold, folded ? words.all(rows) : words.fold);
    if (folded) output.scrollTop = output.scrollHeight;
    fold.scrollIntoView({ block: "nearest" });
  }

  const mine = {
    say(text) {
      write(status, text);
      bar.hidden = true;
    },
    loading(bytes) {
      const megabytes = (size / 1e6).toFixed(1);
      this.say(bytes < size ? words.loading(Math.floor(bytes / 1e6), megabytes) : words.starting);
      bar.hidden = bytes >= size;
      bar.value = bytes;
    },
    print(text) {
      printed += text;
      frame ??= requestAnimationFrame(show);
    },
    end(said) {
      program = undefined;
      show();
      this.say(said);
      run.ariaDisabled = null;
      hide(halt, run);
      if (output.getBoundingClientRect().top < innerHeight) output.scrollIntoView({ block: "nearest" });
    },
  };

  function clear() {
    output.replaceChildren();
    output.classList.remove("folded");
    fold.hidden = true;
    rows = 0;
  }

  function press() {
    if (program) return;
    clear();
    output.hidden = halt.hidden = false;
    run.ariaDisabled = "true";
    program = new Program(mine, { code: current(), name });
    output.scrollIntoView({ block: "nearest" });
  }

  function current() {
    return editor?.text() ?? code.textContent;
  }

  async function open() {
    if (asked) return;
    const request = (asked = {});
    edit.ariaDisabled = "true";
    if (!program) mine.say(words.opening);
    const found = await import("./editor.js").catch(() => ({ open: plain, said: words.plain }));
    if (asked !== request) return; // the listing is another by now
    if (!program) mine.say(found.said ?? "");
    listing.hidden = edit.hidden = true;
    place.hidden = reset.hidden = false;
    run.append(html("kbd", { textContent: SHORTCUT }));
    editor = found.open(place, code.textContent, root.dataset.edit, words.code(name));
    place.scrollIntoView({ block: "nearest" });
  }

  function askAndRestore() {
    if (current() === code.textContent) return restore();
    const close = (answer) => button(words[answer], () => dialog.close(answer));
    const asking = html("p", { textContent: words.sure(name) });
    const dialog = html("dialog", { ariaLabel: words.sure(name) }, asking, close("keep"), close("discard"));
    dialog.onclose = () => {
      dialog.remove(); // which gives the focus back
      if (dialog.returnValue === "discard") restore();
    };
    root.append(dialog);
    dialog.showModal();
  }

  function restore() {
    program?.stop();
    asked = editor = undefined;
    place.replaceChildren();
    place.hidden = output.hidden = fold.hidden = true;
    listing.hidden = edit.hidden = false;
    edit.ariaDisabled = null;
    run.textContent = words.run;
    mine.say("");
    hide(reset, edit);
  }

  function type(event) {
    if (event.key !== "Enter" || event.isComposing || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    press();
  }

  return restore;
}

// Where the editor cannot be fetched, the browser's own box.
function plain(place, code, start, label) {
  const quiet = { wrap: "off", spellcheck: false, autocapitalize: "off" };
  const box = html("textarea", { value: code, rows: 24, ariaLabel: label, ...quiet });
  const at = Math.max(`\n${code}`.indexOf(`\n${start}`), 0);
  place.append(box);
  box.setSelectionRange(at, at);
  box.focus();
  return { text: () => box.value };
}
