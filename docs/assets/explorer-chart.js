// The roofline and its points. It draws; what it draws, and within which axes, comes from the calculator.
import { svg } from "./dom.js";
import { words } from "./explorer-words.js";
import { scaled, significant } from "./numbers.js";

const HEIGHT = 440;
const LEFT = 52;
const RIGHT = 14;
const TOP = 14;
const BOTTOM = 50;
const LINE = 15; // of a label
const LETTER = 6.6;

export const CLASS = { "memory-bound": "memory", "compute-bound": "compute" };
const MARK = {
  "memory-bound": "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0",
  "compute-bound": "M-5-5h10v10h-10z",
};

export class Chart {
  constructor(explorer, choose) {
    Object.assign(this, { explorer, choose, points: new Map() });
    this.back = svg("g", { "aria-hidden": "true" });
    this.front = svg("g", {});
    this.labels = svg("g", { "aria-hidden": "true", class: "labels" });
    const label = { class: "chart", role: "group", "aria-label": words.chart };
    this.svg = svg("svg", label, this.back, this.labels, this.front);
  }

  draw(width, found, chosen) {
    const scales = this.scales(width, found);
    const placed = found.rows.map((row) => ({ row, x: scales.x(row.intensity), y: scales.y(row.attainable / 1e12) }));
    this.placePoints(placed, chosen);
    this.labels.replaceChildren(...labels(placed, width));
    const frame = [width, ...scales.ends, ...found.peaks, found.bandwidth].join();
    if (frame === this.frame) return; // most turns of a knob move the points alone
    this.frame = frame;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.back.replaceChildren(...axes(width, scales), ...this.roofs(width, scales, found));
  }

  // The axes are those of the static chart, and wider only where they must be; y is in TFLOP/s.
  scales(width, { rows, peaks, ridge }) {
    const { intensity, performance } = this.explorer.presets.axes;
    const intensities = rows.map((row) => row.intensity);
    const x0 = Math.min(intensity[0], Math.min(...intensities) / 1.5);
    const x1 = Math.max(intensity[1], Math.max(...intensities) * 1.5, ridge * 4);
    const y0 = Math.min(performance[0], Math.min(...rows.map((row) => row.attainable / 1e12)) / 1.5);
    const y1 = Math.max(performance[1], (peaks[0] / 1e12) * 1.6);
    const x = scale(x0, x1, LEFT, width - RIGHT);
    return { x, y: scale(y0, y1, HEIGHT - BOTTOM, TOP), ends: [x0, x1, y0, y1] };
  }

  roofs(width, { x, y, ends: [x0, x1, y0] }, { peaks: [highest, ...lower], bandwidth, ridge }) {
    const right = width - RIGHT;
    const height = (flops) => y(flops / 1e12);
    // The memory roof is cut off where it leaves the chart.
    const start = Math.max(x0, (y0 * ridge * 1e12) / highest);
    const [startX, startY] = [x(start), height(this.explorer.roof(start, highest, bandwidth))];
    const [ridgeX, ridgeY] = [x(ridge), height(highest)];
    const along = `translate(${startX + (ridgeX - startX) * 0.12} ${startY + (ridgeY - startY) * 0.12})`;
    const slope = (Math.atan2(ridgeY - startY, ridgeX - startX) * 180) / Math.PI;
    const parts = [
      line("roof memory", startX, startY, ridgeX, ridgeY),
      line("roof compute", ridgeX, ridgeY, right, ridgeY),
      line("ridge", ridgeX, ridgeY, ridgeX, HEIGHT - BOTTOM),
      text("tick", ridgeX - 6, HEIGHT - BOTTOM - 8, `${words.ridge} ${significant(ridge)}`, "end"),
      text("bound memory", 0, -8, `${words["memory-bound"]} I·B`, "start", `${along} rotate(${slope})`),
      text("bound compute", right, ridgeY - 8, `${words["compute-bound"]} P`, "end"),
    ];
    const beneath = lower.map((peak) => {
      const from = x(Math.min(x1, (ridge * peak) / highest));
      return line("roof rest", from, height(peak), right, height(peak));
    });
    return [...parts, ...beneath];
  }

  // Points are kept and moved, so that one in focus stays in focus.
  placePoints(placed, chosen) {
    const names = placed.map(({ row }) => row.operator);
    if (names.join() !== [...this.points.keys()].join()) {
      this.points = new Map(names.map((name) => [name, this.point(name)]));
      this.front.replaceChildren(...this.points.values());
    }
    for (const { row, x, y } of placed) {
      const point = this.points.get(row.operator);
      const { operator, intensity, regime, seconds } = row;
      point.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
      point.setAttribute("class", `point ${CLASS[regime]}`);
      point.setAttribute(
        "aria-label",
        words.point(operator, significant(intensity), words[regime], scaled(seconds, "s")),
      );
      point.lastChild.setAttribute("d", MARK[regime]);
    }
    this.press(chosen);
  }

  press(chosen) {
    for (const [name, point] of this.points) point.setAttribute("aria-pressed", name === chosen);
  }

  point(operator) {
    const point = svg(
      "g",
      { tabindex: 0, role: "button", "data-operator": operator },
      svg("circle", { r: 13, class: "hit" }),
      svg("path", {}),
    );
    const choose = () => this.choose(operator);
    point.addEventListener("focus", choose);
    point.addEventListener("click", choose);
    point.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose();
    });
    return point;
  }
}

function scale(low, high, from, to) {
  return (value) => from + (Math.log(value / low) / Math.log(high / low)) * (to - from);
}

function line(kind, x1, y1, x2, y2) {
  return svg("line", { class: kind, x1, y1, x2, y2 });
}

function text(kind, x, y, label, anchor, transform) {
  return svg("text", { class: kind, x, y, "text-anchor": anchor, ...(transform && { transform }) }, label);
}

function axes(width, { x, y, ends: [x0, x1, y0, y1] }) {
  const [right, low] = [width - RIGHT, HEIGHT - BOTTOM];
  const upright = `translate(13 ${(TOP + low) / 2}) rotate(-90)`;
  return [
    ...decades(x0, x1).flatMap((power) => [
      line("grid", x(power), TOP, x(power), low),
      text("tick", x(power), low + 17, String(power), "middle"),
    ]),
    ...decades(y0, y1).flatMap((power) => [
      line("grid", LEFT, y(power), right, y(power)),
      text("tick", LEFT - 6, y(power) + 4, String(power), "end"),
    ]),
    line("axis", LEFT, low, right, low),
    line("axis", LEFT, TOP, LEFT, low),
    text("title", (LEFT + right) / 2, HEIGHT - 12, words.intensity, "middle"),
    text("title", 0, 0, words.performance, "middle", upright),
  ];
}

function decades(low, high) {
  const from = Math.ceil(Math.log10(low));
  const count = Math.floor(Math.log10(high)) - from + 1;
  return Array.from({ length: count }, (_, i) => Number(`1e${from + i}`));
}

// Names beneath the marks. Marks too close to tell apart share a column of names, each in the colour of its regime;
// the table has the names for which there is no room.
function labels(placed, width) {
  const columns = [];
  for (const mark of [...placed].sort((a, b) => a.x - b.x)) {
    const column = columns.at(-1);
    if (column && mark.x - column[0].x < 70) column.push(mark);
    else columns.push([mark]);
  }
  const taken = [];
  return columns.flatMap((column) => {
    const lines = named(column, width > 480 ? 18 : 1);
    const wide = Math.max(...lines.map(({ label }) => label.length)) * LETTER + 12;
    const before = column[0].x + wide > width;
    const at = before ? Math.min(column.at(-1).x + 8, width - RIGHT) : column[0].x + 8;
    const box = { left: before ? at - wide : at, right: before ? at : at + wide, lines: lines.length };
    const lowest = HEIGHT - BOTTOM - 6 - (lines.length - 1) * LINE;
    box.top = Math.min(Math.max(...column.map((mark) => mark.y)) + 22, lowest);
    for (const other of taken) {
      const beneath = other.top + other.lines * LINE;
      if (box.left < other.right && other.left < box.right && box.top < beneath) box.top = Math.min(beneath, lowest);
    }
    taken.push(box);
    return lines.map(({ regime, label }, i) =>
      text(CLASS[regime], at, box.top + i * LINE, label, before ? "end" : "start"),
    );
  });
}

// The lines of a column: names of marks in one place share a line of so many letters.
function named(column, letters, most = 6) {
  const lines = [];
  for (const { row, x } of column) {
    const { regime, operator } = row;
    const last = lines.at(-1);
    if (last && last.regime === regime && x - last.x < 4 && last.label.length < letters) last.label += `, ${operator}`;
    else lines.push({ regime, x, label: operator });
  }
  const more = lines.length - most + 1;
  if (lines.length > most) lines.splice(most - 1, Infinity, { ...lines[most - 1], label: `+ ${more} …` });
  return lines;
}
