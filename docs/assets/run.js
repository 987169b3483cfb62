// Run and edit a listing in its page. Python is fetched and started, in a worker, at the first press of "Run".
import { button, html, inLanguage, write } from "./dom.js";
import { size } from "./runtime.js";

const WORDS = {
  zh: {
    run: "运行",
    edit: "编辑",
    reset: "还原",
    stop: "停止",
    code: (name) => `编辑 ${name}`,
    output: (name) => `${name} 的输出`,
    loading: (got, all) => `正在下载 Python，只需一次：${got} / ${all} MB`,
    starting: "正在启动 Python…",
    running: "正在运行…",
    done: (ms) => `运行完毕，${ms} ms`,
    failed: "程序出错，原因在输出末尾。",
    stopped: "已停止。",
    lost: "网络断了，Python 没有下载完。连上网再按「运行」。",
    broken: (why) => `Python 停了：${why}。再按「运行」会重新启动。`,
    cut: "输出太长，后面的不再显示。",
    missing: "网页里只有 Python 标准库和 roofline_calc。",
  },
  en: {
    run: "Run",
    edit: "Edit",
    reset: "Reset",
    stop: "Stop",
    code: (name) => `Edit ${name}`,
    output: (name) => `Output of ${name}`,
    loading: (got, all) => `Fetching Python, this once: ${got} of ${all} MB`,
    starting: "Starting Python…",
    running: "Running…",
    done: (ms) => `Finished in ${ms} ms`,
    failed: "It failed; the output ends with the reason.",
    stopped: "Stopped.",
    lost: "The connection broke before all of Python was here. Once it is back, press Run again.",
    broken: (why) => `Python broke down: ${why}. Press Run to start it anew.`,
    cut: "The output is too long; the rest is not shown.",
    missing: "In the page there are only Python's standard library and roofline_calc.",
  },
};
const words = inLanguage(WORDS);

// ---------------------------------------------------------------------- one Python for the page, one program at a time

const GRACE = 120; // ms a program has to end when it is told to

let worker;
let fetched; // bytes of Python
let job; // the listing whose program it is
let state; // of it: starting, running or stopping
let leave; // to go on: see run-worker.js

function start() {
  const mine = new Worker(new URL("run-worker.js", import.meta.url), { type: "module" });
  worker = mine;
  fetched = 0;
  // A worker that was ended may still have last words.
  mine.onmessage = ({ data }) => {
    if (mine === worker) hear(data);
  };
  mine.onerror = ({ message }) => {
    if (mine === worker) end(message ? words.broken(message) : words.lost);
  };
}

function begin(listing, program) {
  if (job) end(words.stopped);
  job = listing;
  state = "starting";
  leave = URL.createObjectURL(new Blob());
  job.say(worker ? words.running : words.starting);
  if (!worker) start();
  worker.postMessage({ ...program, leave, missing: words.missing });
}

function hear({ kind, ...data }) {
  if (kind === "progress") {
    fetched += data.bytes;
    job?.loading(fetched);
  } else if (kind === "lost") end(words.lost);
  else if (kind === "broken") end(words.broken(data.text));
  else if (kind === "ready" && state === "starting") {
    state = "running";
    job.say(words.running);
  } else if (kind === "output") job?.print(data.text);
  else if (kind === "cut") job?.print(`\n${words.cut}\n`);
  else if (kind === "done") finish(state === "stopping" ? words.stopped : outcome(data));
}

function outcome({ well, ms }) {
  return well ? words.done(ms.toFixed()) : words.failed;
}

// A program that runs is interrupted. One that will not end, or has not begun, loses its worker; the next gets a new
// one.
function stop() {
  const told = leave;
  const wait = state === "running" ? GRACE : 0;
  state = "stopping";
  URL.revokeObjectURL(leave);
  setTimeout(() => {
    if (leave === told) end(words.stopped);
  }, wait);
}

function end(said) {
  worker?.terminate();
  worker = undefined;
  finish(said);
}

function finish(said) {
  const ended = job;
  URL.revokeObjectURL(leave);
  job = leave = undefined;
  ended?.end(said);
}

// --------------------------------------------------------------------------------------------------------- one listing

// Gives back what makes the listing as it was, for one that changes.
export function mount(root, name = root.querySelector(".filename").textContent) {
  const code = root.querySelector("code");
  const listing = root.querySelector("pre");
  const run = button(words.run, press);
  const edit = button(words.edit, open);
  const reset = button(words.reset, restore, { hidden: true });
  const halt = button(words.stop, stop, { hidden: true });
  const bar = html("progress", { max: size, ariaHidden: true, hidden: true });
  const status = html("span", { role: "status" });
  const log = { className: "printed", role: "log", ariaLabel: words.output(name), tabIndex: 0, hidden: true };
  const output = html("pre", log);
  let editor;
  let printed = "";
  let frame;
  root.append(html("div", { className: "bar" }, run, edit, reset, halt, bar, status), output);

  // A button that goes while it has the focus leaves it to another.
  function hide(gone, heir) {
    const focused = document.activeElement === gone;
    gone.hidden = true;
    if (focused) heir.focus();
  }

  function show() {
    frame = undefined;
    output.append(printed);
    printed = "";
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
      show();
      this.say(said);
      run.ariaDisabled = null;
      hide(halt, run);
      if (output.getBoundingClientRect().top < innerHeight) output.scrollIntoView({ block: "nearest" });
    },
  };

  function press() {
    if (job === mine) return;
    output.replaceChildren();
    output.hidden = halt.hidden = false;
    run.ariaDisabled = "true";
    begin(mine, { code: editor?.value ?? code.textContent, name });
    output.scrollIntoView({ block: "nearest" });
  }

  function open() {
    const plain = { wrap: "off", spellcheck: false, autocapitalize: "off" };
    const rows = Math.min(code.textContent.split("\n").length, 24);
    editor = html("textarea", { value: code.textContent, rows, ariaLabel: words.code(name), ...plain });
    editor.setSelectionRange(0, 0);
    editor.addEventListener("keydown", type);
    listing.hidden = true;
    listing.after(editor);
    edit.hidden = true;
    reset.hidden = false;
    editor.focus();
  }

  function restore() {
    if (job === mine) stop();
    editor?.remove();
    editor = undefined;
    listing.hidden = edit.hidden = false;
    output.hidden = true;
    mine.say("");
    hide(reset, edit);
  }

  function type(event) {
    if (event.key !== "Enter" || event.isComposing) return;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      return press();
    }
    const line = editor.value.slice(0, editor.selectionStart).split("\n").at(-1);
    const indent = line.match(/^ */)[0] + (/:\s*$/.test(line) ? "    " : "");
    if (!indent) return;
    event.preventDefault();
    document.execCommand("insertText", false, `\n${indent}`); // unlike a change of the value, it can be undone
  }

  return restore;
}
