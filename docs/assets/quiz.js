// Questions that answer. What is right, and what each slip gives, was worked out by the build (docs/hooks/quiz.py).
import { read } from "./numbers.js";

const WORDS = {
  zh: {
    check: "检查", right: "对。", answer: "看解答", empty: "先写下一个数。", pick: "先选一项。",
    number: (text) => `「${text}」不是数。`, unit: (unit) => `请用 ${unit} 作答。`, wrong: "还不对，再算一遍。",
    field: (unit) => (unit ? `你的答案（${unit}）` : "你的答案"), progress: (done, all) => `已答对 ${done} / ${all} 题`, solved: "已答对", open: "未答对",
  },
  en: {
    check: "Check", right: "Right. ", answer: "Show the answer", empty: "Write down a number first.", pick: "Pick one first.",
    number: (text) => `“${text}” is not a number.`, unit: (unit) => `Answer in ${unit}, please.`, wrong: "Not yet. Work it out once more.",
    field: (unit) => (unit ? `Your answer (${unit})` : "Your answer"), progress: (done, all) => `${done} of ${all} answered`, solved: "answered", open: "open",
  },
};
const words = WORDS[document.documentElement.lang.slice(0, 2)] ?? WORDS.en;

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
  } catch { /* private mode, or full */ }
  dispatchEvent(new Event("quiz-progress"));
}

const plainUnit = (unit) => unit.normalize("NFKC").toLowerCase().replace(/\s/g, "").replaceAll("字节", "byte").replace(/(flop|byte|token)s/g, "$1");

// { right, say }: what to tell the reader about a typed answer.
export function judge(question, text) {
  if (!text.trim()) return { say: words.empty };
  const found = read(text);
  if (!found) return { say: words.number(text.trim()) };
  if (found.unit && plainUnit(found.unit) !== plainUnit(question.unit)) return { say: words.unit(question.unit) };
  const near = (value) => [found.value, found.else].some((read) => Math.abs(read / value - 1) <= question.tolerance);
  if (near(question.answer)) return { right: true, say: words.right };
  return { say: question.slips.find((slip) => near(slip.value))?.say ?? words.wrong };
}

function html(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export function mount(root) {
  if ("progress" in root.dataset) mountProgress(root);
  else mountQuestion(root);
}

function mountQuestion(root) {
  const question = JSON.parse(root.querySelector("script").textContent), details = root.querySelector("details");
  const summary = details.querySelector("summary"), explanation = details.lastElementChild;
  const form = html("form", { noValidate: true }), feedback = html("p", { className: "feedback", role: "status", ariaLive: "polite" });
  const asked = html("p", { className: "asked" }, ...summary.childNodes);
  const check = html("button", { type: "submit", className: "button", textContent: words.check });
  summary.replaceChildren(words.answer);

  let answer;
  if (question.kind === "choice") {
    const group = html("fieldset", {}, html("legend", {}, ...asked.childNodes));
    question.options.forEach((option, i) => {
      const radio = html("input", { type: "radio", name: question.id, value: i });
      group.append(html("label", {}, radio, html("span", { innerHTML: option.text })));
    });
    details.querySelector("p").remove();  // the list of options
    form.append(group, check);
    answer = () => {
      const option = question.options[form.elements[question.id].value];
      return option ? { right: option.right, say: option.right ? words.right : option.say || words.wrong } : { say: words.pick };
    };
  } else {
    asked.id = `asked-${question.id}`;
    feedback.id = `feedback-${question.id}`;
    const input = html("input", { type: "text", inputMode: "decimal", autocomplete: "off" });
    input.setAttribute("aria-describedby", `${asked.id} ${feedback.id}`);
    form.append(asked, html("label", {}, words.field(question.unit), input), check);
    answer = () => judge(question, input.value);
  }
  const tell = ({ right, say }) => {
    root.classList.toggle("solved", Boolean(right));
    feedback.className = `feedback ${right ? "right" : "wrong"}`;
    feedback.innerHTML = right ? say + explanation.innerHTML : say;
    if (right) remember(question.id);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    tell(answer());
  });
  root.classList.toggle("solved", solved().has(question.id));
  root.prepend(form, feedback);
}

// How many are answered, and a way to each.
function mountProgress(root) {
  const line = html("p", { role: "status" }), list = html("ol");
  root.append(line, list);
  const show = () => {
    const done = solved(), all = [...document.querySelectorAll(".quiz[id]")];
    const ids = all.map((question) => question.id.replace("quiz-", ""));
    line.textContent = words.progress(ids.filter((id) => done.has(id)).length, all.length);
    list.replaceChildren(...all.map((question, i) => {
      const asked = question.querySelector(".asked, legend, summary").textContent;
      const state = done.has(ids[i]);
      return html("li", { className: state ? "done" : "" }, html("a", { href: `#${question.id}`, textContent: asked }), ` ${state ? "✓ " + words.solved : words.open}`);
    }));
  };
  addEventListener("quiz-progress", show);
  show();
}
