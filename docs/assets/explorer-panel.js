// The explorer in its page: knobs, chart, table and program, kept in step with each other and with the address.
import { button, html, write } from "./dom.js";
import { Chart } from "./explorer-chart.js";
import { Knobs } from "./explorer-knobs.js";
import { OperatorTable } from "./explorer-table.js";
import { words } from "./explorer-words.js";
import { scaled, significant } from "./numbers.js";

let mounted = 0;

export class Panel {
  constructor(root, explorer) {
    this.explorer = explorer;
    const choose = (operator) => this.choose(operator);
    this.knobs = new Knobs(
      `explorer${++mounted}`,
      explorer,
      (changes, key) => this.turn(changes, key),
      () => this.remember(),
    );
    this.chart = new Chart(explorer, choose);
    this.table = new OperatorTable(choose);
    this.place = html("div", { className: "place" }, this.chart.svg);
    this.detail = html("p", { className: "detail", role: "status" });
    this.summary = html("p", { className: "summary" });
    this.memory = html("p", { className: "capacity" });
    this.rest = html("p", { className: "note" });
    this.code = html("code", { tabIndex: 0 });
    this.said = html("span", { role: "status" });
    root.replaceChildren(
      this.knobs.element,
      this.place,
      this.summary,
      this.memory,
      this.detail,
      this.rest,
      this.table.element,
      html("p", { className: "note", textContent: words.note }),
      this.buttons(),
      this.program(),
    );
    this.state = explorer.fromQuery(location.search);
    new ResizeObserver(() => this.draw()).observe(this.place);
    addEventListener("popstate", () => this.show(explorer.fromQuery(location.search)));
    this.show(this.state);
  }

  buttons() {
    const reset = () => {
      this.show({ ...this.explorer.start });
      this.remember();
    };
    const copy = async () => {
      await navigator.clipboard.writeText(this.code.textContent);
      this.said.textContent = words.copied;
    };
    return html("p", { className: "buttons" }, button(words.reset, reset), button(words.copy, copy), this.said);
  }

  // The program can be run once it is looked at.
  program() {
    const listing = html("div", { className: "run" }, html("pre", {}, this.code));
    listing.dataset.edit = "batch"; // where its editor opens
    const program = html("details", {}, html("summary", { textContent: words.python }), listing);
    const makeRunnable = async () => {
      this.restore = (await import("./run.js")).mount(listing, "explorer.py");
    };
    program.addEventListener("toggle", makeRunnable, { once: true });
    return program;
  }

  // Knobs were turned: the picture follows, unless the values make no sense.
  turn(changes, key) {
    const state = { ...this.wanted, ...changes };
    this.explorer.settle(state);
    this.show(state, key);
  }

  // `wanted` is what the fields say, `state` the last of it that made sense.
  show(wanted, turnedKey) {
    this.wanted = wanted;
    const problems = this.explorer.problems(wanted);
    this.knobs.complain(problems);
    if (!Object.keys(problems).length) this.state = wanted;
    this.knobs.follow(this.state, wanted, turnedKey);
    const program = this.explorer.python(this.state);
    if (this.code.textContent !== program) this.restore?.(); // an edit or an output of the last one
    write(this.code, program);
    write(this.said, "");
    this.draw();
  }

  draw() {
    const width = this.place.clientWidth;
    if (!width) return;
    const { explorer, state } = this;
    const found = explorer.compute(state);
    const { rows, peaks, step, rates, memory } = found;
    this.found = found;
    this.chosen = (rows.find((row) => row.operator === state.operator) ?? rows[0]).operator;
    this.chart.draw(width, found, this.chosen);
    const times = [step.lower_bound, step.kernel_by_kernel].map((time) => scaled(time, "s"));
    write(this.summary, words.step(...times, ...rates.map((rate) => significant(rate))));
    const { memory: size } = explorer.presets.accelerators[state.accelerator];
    const sizes = [memory.weights, memory.kv, memory.needed, size].map((bytes) => scaled(bytes, "B"));
    write(this.memory, words.memory(...sizes, memory.fits));
    const [, ...lower] = peaks;
    const beneath = lower.map((peak) => words.rest(under(rows, peak), scaled(peak, "FLOP/s")));
    write(this.rest, beneath.join(words.end));
    this.table.fill(found, this.chosen);
    this.describe();
  }

  // Looking at an operator is no turn of a knob: the address follows, but the back button does not stop there.
  choose(operator) {
    this.chosen = this.state.operator = this.wanted.operator = operator;
    history.replaceState(null, "", this.address());
    this.chart.press(operator);
    this.table.press(operator);
    this.describe();
  }

  describe() {
    const row = this.found.rows.find(({ operator }) => operator === this.chosen);
    const intensity = significant(Number(row.intensity.toPrecision(4)));
    const facts = words.point(row.operator, intensity, words[row.regime], scaled(row.seconds, "s"));
    write(this.detail, facts + words.end + this.crossing(row));
  }

  crossing({ operator, crossing }) {
    if (crossing === undefined) return words.unmoved;
    if (crossing === null) return words.never;
    const at = significant(crossing);
    if (operator === "lm_head") return words.rows(at, significant(this.state.batch));
    return words.crosses(at, significant(this.found.tokens));
  }

  // The address says what is shown; the back button takes one turn of a knob back.
  remember() {
    const address = this.address();
    if (address !== `${location.pathname}${location.search}${location.hash}`) history.pushState(null, "", address);
  }

  address() {
    const query = this.explorer.toQuery(this.state);
    return `${location.pathname}${query && `?${query}`}${location.hash}`;
  }
}

function under(rows, peak) {
  return rows.filter((row) => row.peak === peak).map(({ operator }) => operator);
}
