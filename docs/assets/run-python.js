// Programs, each in a worker with Python. A worker is started when none waits, so that two listings run at the same
// time and a program that will not end holds up no other; one whose program has ended waits, warm, for the next.
import { words } from "./run-words.js";

const GRACE = 120; // ms a program has to end when it is told to
let spare; // the worker that waits

export class Program {
  state = "starting"; // then running, perhaps stopping, and over
  fetched = 0; // bytes of Python
  leave = URL.createObjectURL(new Blob()); // to go on: see run-worker.js

  constructor(listing, program) {
    this.listing = listing;
    listing.say(spare ? words.running : words.starting);
    const worker = spare ?? new Worker(new URL("run-worker.js", import.meta.url), { type: "module" });
    spare = undefined;
    this.worker = worker;
    worker.onmessage = ({ data }) => this.hear(data);
    worker.onerror = ({ message }) => this.end(message ? words.broken(message) : words.lost);
    worker.postMessage({ ...program, leave: this.leave, missing: words.missing });
  }

  hear({ kind, ...data }) {
    const { listing } = this;
    if (this.state === "over") return; // a worker that was ended may still have last words
    if (kind === "progress") listing.loading((this.fetched += data.bytes));
    else if (kind === "lost") this.end(words.lost);
    else if (kind === "broken") this.end(words.broken(data.text));
    else if (kind === "ready" && this.state === "starting") {
      this.state = "running";
      listing.say(words.running);
    } else if (kind === "output") listing.print(data.text);
    else if (kind === "cut") listing.print(`\n${words.cut}\n`);
    else if (kind === "done") {
      const said = this.state === "stopping" ? words.stopped : outcome(data);
      if (spare) this.worker.terminate();
      else spare = this.worker;
      this.finish(said);
    }
  }

  // A program that runs is interrupted. One that will not end, or has not begun, loses its worker.
  stop() {
    const wait = this.state === "running" ? GRACE : 0;
    this.state = "stopping";
    URL.revokeObjectURL(this.leave);
    setTimeout(() => this.end(words.stopped), wait);
  }

  end(said) {
    if (this.state === "over") return;
    this.worker.terminate();
    this.finish(said);
  }

  finish(said) {
    this.state = "over";
    URL.revokeObjectURL(this.leave);
    this.listing.end(said);
  }
}

function outcome({ well, ms }) {
  return well ? words.done(ms.toFixed()) : words.failed;
}
