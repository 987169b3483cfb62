// Questions that answer. What is right, and what each slip gives, was worked out by the build (docs/hooks/quiz.py).
import { button, html, inLanguage, write } from "./dom.js";
import { read, severalIn } from "./numbers.js";
import { otherKilo, ratio } from "./units.js";

const WORDS = {
  zh: {
    check: "检查",
    right: "对。",
    answer: "看解答",
    empty: "先写下一个数。",
    pick: "先选一项。",
    number: (text) => `「${text}」不是数。可以写成 12.5、1.25e1、1.25×10^1 或 25/2。`,
    several: (text) => `「${text}」里不止一个数。请只写一个，乘式和除式也行，例如 25/2。`,
    unit: (unit, asked) => `「${unit}」换算不成 ${asked}，请用 ${asked} 作答。`,
    kilo: (unit, asked) => `${unit} 和 ${asked} 不一样大：带 i 的按 1024 进位，不带的按 1000。请用 ${asked} 作答。`,
    wrong: "还不对，再算一遍。",
    taken: (quantity) => `你写的按 ${quantity} 读。`,
    field: (unit) => (unit ? `你的答案（${unit}）` : "你的答案"),
    progress: (done, all) => `已答对 ${done} / ${all} 题`,
    solved: "已答对",
    open: "未答对",
    clear: "清除答题进度",
    cleared: (count) => `已清除 ${count} 题的进度。`,
    undo: "撤销清除",
    restored: "进度已恢复。",
  },
  en: {
    check: "Check",
    right: "Right. ",
    answer: "Show the answer",
    empty: "Write down a number first.",
    pick: "Pick one first.",
    number: (text) => `“${text}” is not a number. Write it as 12.5, 1.25e1, 1.25×10^1 or 25/2.`,
    several: (text) => `“${text}” has more than one number. Write one; a product or quotient will do, such as 25/2.`,
    unit: (unit, asked) => `“${unit}” does not convert to ${asked}. Answer in ${asked}, please.`,
    kilo: (unit, asked) =>
      `${unit} and ${asked} differ: with an i they go by 1024, without by 1000. Answer in ${asked}, please.`,
    wrong: "Not yet. Work it out once more.",
    taken: (quantity) => ` Your answer was read as ${quantity}.`,
    field: (unit) => (unit ? `Your answer (${unit})` : "Your answer"),
    progress: (done, all) => `${done} of ${all} answered`,
    solved: "Solved",
    open: "open",
    clear: "Clear progress",
    cleared: (count) => `Progress on ${count} ${count === 1 ? "question" : "questions"} cleared. `,
    undo: "Undo clearing",
    restored: "Progress restored. ",
  },
};
const words = inLanguage(WORDS);

// Progress stays in this browser; both languages share it. A browser that keeps nothing still answers.
const KEY = "operator-roofline-quiz";

let solved = kept();
addEventListener("storage", () => {
  solved = kept();
  dispatchEvent(new Event("quiz-progress"));
});

function kept() {
  try {
    return new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
  } catch {
    return new Set();
  }
}

function keep(ids) {
  solved = ids;
  try {
    localStorage.setItem(KEY, JSON.stringify([...ids]));
  } catch {
    /* private mode, or full */
  }
  dispatchEvent(new Event("quiz-progress"));
}

// What a reader typed, where HTML is said.
function plain(text) {
  return text.trim().replace(/&/g, "&amp;").replace(/</g, "&lt;");
}

// { right, say }: what to tell the reader about a typed answer.
export function judge({ answer, tolerance, unit, slips }, text) {
  if (!text.trim()) return { say: words.empty };
  const found = read(text);
  if (!found) return { say: (severalIn(text) ? words.several : words.number)(plain(text)) };
  const said = found.unit || unit;
  const near = (value, size) =>
    [found.value, found.else].some((reading) => Math.abs((reading * size) / value - 1) <= tolerance);
  const size = said === unit ? 1 : ratio(said, unit);
  if (!size) return { say: words.unit(plain(said), unit) };
  if (near(answer, size)) return { right: true, say: words.right };
  if (said !== unit && near(answer, ratio(otherKilo(said), unit))) return { say: words.kilo(said, unit) };
  const slip = slips.find(({ value }) => near(value, size));
  if (slip) return { say: slip.say };
  const digits = (found.value * size).toLocaleString("en", { maximumSignificantDigits: 8 });
  const taken = words.taken(`${digits} ${unit}`.trim());
  return { say: words.wrong + (/^\d+(\.\d+)?$/.test(text.trim()) ? "" : taken) };
}

export function mount(root) {
  if ("progress" in root.dataset) mountProgress(root);
  else mountQuestion(root);
}

function mountQuestion(root) {
  const question = JSON.parse(root.querySelector("script").textContent);
  const details = root.querySelector("details");
  const summary = details.querySelector("summary");
  const explanation = details.lastElementChild;
  const feedback = html("p", {
    id: `feedback-${question.id}`,
    className: "feedback",
    role: "status",
    ariaLive: "polite",
  });
  const check = html("button", { type: "submit", className: "button", textContent: words.check });
  const mark = html("strong", { className: "mark" });
  const asked = html("p", { id: `asked-${question.id}`, className: "asked" }, html("span", {}, ...summary.childNodes));
  asked.append(mark);
  summary.replaceChildren(words.answer);
  if (question.kind === "choice") details.querySelector(".options").remove(); // the list of options
  const { fields, answer } = question.kind === "choice" ? choice(question, asked) : typed(question, asked, feedback);
  const form = html("form", { noValidate: true }, ...fields, check);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { right, say } = answer(form.elements);
    feedback.className = `feedback ${right ? "right" : "wrong"}`;
    feedback.innerHTML = right ? say + explanation.innerHTML : say;
    if (right) keep(new Set(solved).add(question.id));
  });
  const show = () => {
    const done = solved.has(question.id);
    if (!done && root.classList.contains("solved")) {
      form.reset(); // its progress was cleared
      feedback.replaceChildren();
    }
    root.classList.toggle("solved", done);
    write(mark, done ? ` ✓ ${words.solved}` : "");
  };
  addEventListener("quiz-progress", show);
  show();
  root.prepend(form, feedback);
}

// Fields to answer in, and what to say of what is in them.
function choice(question, asked) {
  const options = question.options.map((option, i) => {
    const radio = html("input", { type: "radio", name: question.id, value: i });
    return html("label", {}, radio, html("span", { innerHTML: option.text }));
  });
  const answer = (elements) => {
    const option = question.options[elements[question.id].value];
    if (!option) return { say: words.pick };
    return option.right ? { right: true, say: words.right } : { say: option.say || words.wrong };
  };
  return { fields: [html("fieldset", {}, html("legend", {}, ...asked.childNodes), ...options)], answer };
}

function typed(question, asked, feedback) {
  const aria = { describedby: `${asked.id} ${feedback.id}` };
  const input = html("input", { type: "text", inputMode: "decimal", autocomplete: "off", aria });
  const label = html("label", {}, words.field(question.unit), input);
  return { fields: [asked, label], answer: () => judge(question, input.value) };
}

// How many are answered, a way to each, and a way back to none.
function mountProgress(root) {
  const line = html("p", { role: "status" });
  const list = html("ol");
  let before; // what was solved until it was cleared
  let said = "";
  const clear = button(words.clear, () => {
    const ids = before ?? new Set();
    said = before ? words.restored : words.cleared(solved.size);
    before = before ? undefined : solved;
    keep(ids);
  });
  root.append(line, list, html("p", {}, clear));
  const show = () => {
    const all = [...document.querySelectorAll(".quiz[id]")];
    const done = all.filter((question) => solved.has(question.id.replace("quiz-", "")));
    if (solved.size && before) before = undefined; // answering goes on from none
    line.textContent = said + words.progress(done.length, all.length);
    said = "";
    write(clear, before ? words.undo : words.clear);
    clear.hidden = !solved.size && !before;
    list.replaceChildren(
      ...all.map((question) => {
        const asked = question.querySelector(":is(.asked, legend) > span, summary").textContent;
        const link = html("a", { href: `#${question.id}`, textContent: asked });
        const state = done.includes(question) ? `✓ ${words.solved}` : words.open;
        return html("li", {}, link, " ", html("span", { className: "state", textContent: state }));
      }),
    );
  };
  addEventListener("quiz-progress", show);
  show();
}
