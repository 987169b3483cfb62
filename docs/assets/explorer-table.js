// The operators of the step as a table, in which one can be chosen.
import { html, write } from "./dom.js";
import { CLASS } from "./explorer-chart.js";
import { words } from "./explorer-words.js";
import { scaled, significant } from "./numbers.js";

const HEADS = ["operator", "flops", "bytes", "I", "regime", "time", "share"];

export class OperatorTable {
  constructor(choose) {
    this.choose = choose;
    this.body = html("tbody");
    const heads = HEADS.map((head) => html("th", { scope: "col", textContent: words[head] ?? head }));
    const table = html(
      "table",
      { aria: { label: words.table } },
      html("thead", {}, html("tr", {}, ...heads)),
      this.body,
    );
    const scroll = { className: "scroll", role: "group", tabIndex: 0, aria: { label: words.table } };
    this.element = html("div", scroll, table);
  }

  fill({ rows, step }, chosen) {
    const names = rows.map((row) => row.operator).join();
    if (names !== this.names) {
      this.names = names;
      this.body.replaceChildren(...rows.map(({ operator }) => this.row(operator)));
    }
    rows.forEach((row, i) => {
      const [, ...cells] = this.body.rows[i].cells;
      const texts = [
        scaled(row.flops, "FLOP"),
        scaled(row.bytes, "B"),
        significant(Number(row.intensity.toPrecision(4))),
        words[row.regime],
        scaled(row.seconds, "s"),
        `${(100 * step.share[row.operator]).toFixed(1)}%`,
      ];
      cells.forEach((cell, j) => write(cell, texts[j]));
      if (cells[3].className !== CLASS[row.regime]) cells[3].className = CLASS[row.regime];
    });
    this.press(chosen);
  }

  row(operator) {
    const name = html("button", { type: "button", textContent: operator, onclick: () => this.choose(operator) });
    const cells = Array.from({ length: HEADS.length - 1 }, () => html("td"));
    return html("tr", {}, html("th", { scope: "row" }, name), ...cells);
  }

  press(chosen) {
    for (const { cells } of this.body.rows)
      cells[0].firstChild.setAttribute("aria-pressed", cells[0].textContent === chosen);
  }
}
