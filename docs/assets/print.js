// What paper needs beyond a style sheet: answers at the end, and where the page and its links are to be found.
const WORDS = {
  zh: { answers: "答案", see: (number) => `（答案\u00a0${number}）` },
  en: { answers: "Answers", see: (number) => ` (answer\u00a0${number})` },
};
const words = WORDS[document.documentElement.lang.slice(0, 2)] ?? WORDS.en;
const SHORT = 36; // lines of code that one page should hold
const article = document.querySelector("article");
let undo = [];

addEventListener("beforeprint", () => {
  putBack(); // a browser may ask twice
  for (const image of article.querySelectorAll("img[loading]")) image.loading = "eager";
  for (const link of article.querySelectorAll("a[href]:not(.headerlink, [data-address])"))
    if (link.origin === location.origin && link.pathname !== location.pathname)
      link.dataset.address = decodeURI(link.pathname + link.hash);
  for (const block of article.querySelectorAll(".highlight"))
    block.classList.toggle("short", block.textContent.split("\n").length <= SHORT);
  const address = element("p", "address");
  address.textContent = location.origin + location.pathname + location.search;
  article.querySelector("h1")?.after(address);
  undo.push(() => address.remove());
  collectAnswers();
});
addEventListener("afterprint", putBack);

function putBack() {
  for (const step of undo) step();
  undo = [];
}

function element(tag, className) {
  return Object.assign(document.createElement(tag), { className });
}

// Each question says by which number its answer goes.
function collectAnswers() {
  const list = element("ol", "");
  for (const details of article.querySelectorAll("details.question")) {
    const answer = element("li", "");
    answer.append(...details.cloneNode(true).childNodes);
    for (const asked of answer.querySelectorAll(":scope > :is(summary, .options)")) asked.remove();
    list.append(answer);
    const { open } = details;
    const question = (details.closest(".quiz") ?? details).querySelector(".asked, legend, summary");
    question.dataset.answer = words.see(list.childElementCount);
    details.classList.add("folded");
    details.open = true;
    undo.push(() => {
      details.open = open;
      details.classList.remove("folded");
      delete question.dataset.answer;
    });
  }
  if (!list.childElementCount) return;
  const section = element("section", "answers");
  section.append(Object.assign(element("h2", ""), { textContent: words.answers }), list);
  article.append(section);
  undo.push(() => section.remove());
}
