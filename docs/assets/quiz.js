// Questions that answer. What is right, and what each slip gives, was worked out by the build (docs/hooks/quiz.py).
import { html, inLanguage } from "./dom.js";
import { read } from "./numbers.js";

const WORDS = {
  zh: {
    check: "检查",
    right: "对。",
    answer: "看解答",
    empty: "先写下一个数。",
    pick: "先选一项。",
    number: (text) => `「${text}」不是数。`,
    unit: (unit) => `请用 ${unit} 作答。`,
    wrong: "还不对，再算一遍。",
    field: (unit) => (unit ? `你的答案（${unit}）` : "你的答案"),
    progress: (done, all) => `已答对 ${done} / ${all} 题`,
    solved: "已答对",
    open: "未答对",
  },
  en: {
    check: "Check",
    right: "Right. ",
    answer: "Show the answer",
    empty: "Write down a number first.",
    pick: "Pick one first.",
    number: (text) => `“${text}” is not a number.`,
    unit: (unit) => `Answer in ${unit}, please.`,
    wrong: "Not yet. Work it out once more.",
    field: (unit) => (unit ? `Your answer (${unit})` : "Your answer"),
    progress: (done, all) => `${done} of ${all} answered`,
    solved: "answered",
    open: "open",
  },
};
const words = inLanguage(WORDS);

// Progress stays in this browser; both languages share it. A browser that keeps nothing still answers.
const KEY = "operator-roofline-quiz";

function solved() {
  try {
    return new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
  } catch {
    return new Set();
  }
}

function remember(id) {
  try {
    localStorage.setItem(KEY, JSON.stringify([...solved().add(id)]));
  } catch {
    /* private mode, or full */
  }
  dispatchEvent(new Event("quiz-progress"));
}

function plainUnit(unit) {
  const plain = unit.normalize("NFKC").toLowerCase().replace(/\s/g, "");
  return plain.replaceAll("字节", "byte").replace(/(flop|byte|token)s/g, "$1");
}

// { right, say }: what to tell the reader about a typed answer.
export function judge(question, text) {
  if (!text.trim()) return { say: words.empty };
  const found = read(text);
  if (!found) return { say: words.number(text.trim()) };
  if (found.unit && plainUnit(found.unit) !== plainUnit(question.unit)) return { say: words.unit(question.unit) };
  const near = (value) =>
    [found.value, found.else].some((reading) => Math.abs(reading / value - 1) <= question.tolerance);
  if (near(question.answer)) return { right: true, say: words.right };
  return { say: question.slips.find((slip) => near(slip.value))?.say ?? words.wrong };
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
  const asked = html("p", { id: `asked-${question.id}`, className: "asked" }, ...summary.childNodes);
  summary.replaceChildren(words.answer);
  if (question.kind === "choice") details.querySelector("p").remove(); // the list of options
  const { fields, answer } = question.kind === "choice" ? choice(question, asked) : typed(question, asked, feedback);
  const form = html("form", { noValidate: true }, ...fields, check);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { right, say } = answer(form.elements);
    root.classList.toggle("solved", Boolean(right));
    feedback.className = `feedback ${right ? "right" : "wrong"}`;
    feedback.innerHTML = right ? say + explanation.innerHTML : say;
    if (right) remember(question.id);
  });
  root.classList.toggle("solved", solved().has(question.id));
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

// How many are answered, and a way to each.
function mountProgress(root) {
  const line = html("p", { role: "status" });
  const list = html("ol");
  root.append(line, list);
  const show = () => {
    const done = solved();
    const all = [...document.querySelectorAll(".quiz[id]")];
    const ids = all.map((question) => question.id.replace("quiz-", ""));
    line.textContent = words.progress(ids.filter((id) => done.has(id)).length, all.length);
    list.replaceChildren(
      ...all.map((question, i) => {
        const asked = question.querySelector(".asked, legend, summary").textContent;
        const state = done.has(ids[i]);
        const link = html("a", { href: `#${question.id}`, textContent: asked });
        return html("li", { className: state ? "done" : "" }, link, state ? ` ✓ ${words.solved}` : ` ${words.open}`);
      }),
    );
  };
  addEventListener("quiz-progress", show);
  show();
}
