// The theme's search worker, begun at the first question: all the words of the site weigh as much as a page, and most
// visits ask nothing. Its own script is named by this one's address; the theme's protocol is kept to the letter.
const SETUP = 0;
const READY = 1;
const RESULT = 3;

let settings; // as the page sends them, but for the words
let asked; // the last question that waits for them
let state = "idle";

addEventListener("message", (event) => {
  if (state === "begun") return; // it is between the page and the theme's script now
  event.stopImmediatePropagation();
  const { type, data } = event.data;
  if (type === SETUP) {
    settings = data;
    postMessage({ type: READY });
  } else if (data) {
    asked = event.data;
    if (state === "idle") begin();
  } else postMessage({ type: RESULT, data: { items: [] } });
});

async function begin() {
  state = "beginning";
  try {
    const answer = await fetch("../../../search/words.json");
    if (!answer.ok) throw new Error(`${answer.status} ${answer.url}`);
    const { docs } = await answer.json();
    importScripts(location.search.slice(1)); // listens, after this script, to whatever comes
    state = "begun";
    hand({ type: SETUP, data: { ...settings, docs } });
    setTimeout(() => hand(asked)); // it sets itself up in microtasks
  } catch (error) {
    state = "idle"; // the next letter tries again
    throw error;
  }
}

function hand(data) {
  dispatchEvent(new MessageEvent("message", { data }));
}
