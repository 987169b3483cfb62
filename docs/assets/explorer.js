// The roofline explorer. It draws and formats; every number comes from calc.js, which the build makes from roofline_calc.
import { read, scaled, significant } from "./numbers.js";

const WORDS = {
  zh: {
    chart: "roofline 图，双对数坐标：横轴算术强度，纵轴可达性能", intensity: "算术强度 I（FLOP/byte）",
    performance: "可达性能（TFLOP/s）", ridge: "拐点 I* =", "memory-bound": "访存受限", "compute-bound": "算力受限",
    controls: "旋钮", model: "模型", accelerator: "加速器", dtype: "乘法的数据类型", batch: "batch（序列数）",
    context: "上下文 S（token）", query_tokens: "query token 数 L", phase: "阶段", mask: "掩码", traffic: "attention 记账",
    decode: "decode，L = 1", prefill: "prefill，L = S", chunk: "自定 L", causal: "因果", none: "无",
    weights: "权重", activations: "激活", kv: "KV 缓存", widths: "每个元素的字节数",
    widthsNote: "「激活」也管 Q、O、输出和 lm_head。", custom: "自定义形状", shape: "形状（稠密模型，GQA）",
    sizes: { hidden: "hidden", layers: "层数", n_q: "n_q", n_kv: "n_kv", head_dim: "head_dim", intermediate: "intermediate", vocab: "词表" },
    slider: (label) => `${label}，滑块`, reset: "重置", copy: "复制 Python", copied: "已复制", python: "得到同样数字的 Python",
    table: "这一步的算子", operator: "算子", flops: "FLOPs", bytes: "访存", regime: "受限于", floor: "时间下界", share: "占比",
    step: (time, rate) => `整步至少 ${time}，至多 ${rate} token/s`,
    note: "把各层、各条序列的矩阵 kernel 相加；RMSNorm、RoPE 等逐元素算子不计。",
    rest: (dtype) => `attention 与 lm_head 按 ${dtype} 的峰值`,
    point: (name, I, regime, time) => `${name}：I = ${I} FLOP/byte，${regime}，至少 ${time}`,
    crosses: (at, now) => `M = ${at} 起算力受限，现在 M = ${now}。`, rows: (at, now) => `采样 ${at} 行起算力受限，现在 ${now} 行。`,
    never: "没有交点：它的强度上限低于拐点，M 再大也是访存受限。", unmoved: "它没有权重，M 不改变它的强度。",
    errors: {
      empty: "请填一个数。", number: (text) => `「${text}」不是数。`, whole: "请填整数。",
      range: (low, high) => `请填 ${low} 到 ${high} 之间的数。`, heads: (n_kv) => `n_q 必须是 n_kv（${n_kv}）的整数倍。`,
      causal: (S) => `有因果掩码时 L 不能超过 S（${S}）。`,
    },
  },
  en: {
    chart: "roofline, log-log axes: arithmetic intensity against attainable performance", intensity: "arithmetic intensity I (FLOP/byte)",
    performance: "attainable performance (TFLOP/s)", ridge: "ridge point I* =", "memory-bound": "memory-bound", "compute-bound": "compute-bound",
    controls: "knobs", model: "model", accelerator: "accelerator", dtype: "data type of the products", batch: "batch (sequences)",
    context: "context S (tokens)", query_tokens: "query tokens L", phase: "phase", mask: "mask", traffic: "attention accounting",
    decode: "decode, L = 1", prefill: "prefill, L = S", chunk: "an L of your own", causal: "causal", none: "none",
    weights: "weights", activations: "activations", kv: "KV cache", widths: "bytes per element",
    widthsNote: "“activations” includes Q, O, outputs and lm_head.", custom: "custom shapes", shape: "shapes (a dense model with GQA)",
    sizes: { hidden: "hidden", layers: "layers", n_q: "n_q", n_kv: "n_kv", head_dim: "head_dim", intermediate: "intermediate", vocab: "vocabulary" },
    slider: (label) => `${label}, slider`, reset: "Reset", copy: "Copy Python", copied: "Copied", python: "Python that gives the same numbers",
    table: "The operators of this step", operator: "operator", flops: "FLOPs", bytes: "traffic", regime: "limited by", floor: "time floor", share: "share",
    step: (time, rate) => `the step takes at least ${time}: at most ${rate} tokens/s`,
    note: "Matrix kernels, summed over all layers and sequences; element-wise operators such as RMSNorm and RoPE are left out.",
    rest: (dtype) => `attention and lm_head under the peak of ${dtype}`,
    point: (name, I, regime, time) => `${name}: I = ${I} FLOP/byte, ${regime}, at least ${time}`,
    crosses: (at, now) => `Compute-bound from M = ${at}; now M = ${now}.`, rows: (at, now) => `Compute-bound from ${at} sampled rows; now ${now}.`,
    never: "It never crosses: its ceiling lies below the ridge, so it is memory-bound at any M.", unmoved: "It has no weights, so M does not change its intensity.",
    errors: {
      empty: "Enter a number.", number: (text) => `“${text}” is not a number.`, whole: "Enter a whole number.",
      range: (low, high) => `Enter a number from ${low} to ${high}.`, heads: (n_kv) => `n_q must be a multiple of n_kv (${n_kv}).`,
      causal: (S) => `Under a causal mask L is at most S (${S}).`,
    },
  },
};

// ------------------------------------------------------------------------------------------------- the state

const CUSTOM = "custom";
const CUSTOM_BASE = "qwen2.5-7b";  // whose shapes the reader starts to change

export class Explorer {
  constructor(calc, presets) {
    Object.assign(this, { calc, presets });
    this.start = { ...presets.defaults, ...presets.models[CUSTOM_BASE].sizes };
  }

  // What is wrong with a state: { field: [error, …its arguments] }.
  problems(state) {
    const found = {};
    for (const field of this.fields(state)) {
      if (field === "query_tokens" && state[field] === "S") continue;
      const value = state[field], [low, high] = this.presets.limits[field];
      if (typeof value === "string") found[field] = value ? ["number", value] : ["empty"];
      else if (!(low <= value && value <= high)) found[field] = ["range", significant(low), significant(high)];
      else if (!this.presets.widths.includes(field) && !Number.isInteger(value)) found[field] = ["whole"];
    }
    if (state.model === CUSTOM && !found.n_q && !found.n_kv && state.n_q % state.n_kv) found.n_q = ["heads", state.n_kv];
    if (state.mask === "causal" && !found.query_tokens && !found.context && this.value(state, "query_tokens") > state.context)
      found.query_tokens = ["causal", significant(state.context)];
    return found;
  }

  fields(state) {
    return ["batch", "context", "query_tokens", ...this.presets.widths, ...(state.model === CUSTOM ? this.presets.shape : [])];
  }

  // In prefill the query tokens are "S", and follow it.
  value(state, field) {
    return field === "query_tokens" && state[field] === "S" ? state.context : state[field];
  }

  // Everything that is shown of a state without problems.
  compute(state) {
    const { calc } = this;
    const model = this.presets.models[state.model === CUSTOM ? CUSTOM_BASE : state.model];
    const sizes = state.model === CUSTOM ? state : model.sizes;
    const of = calc.structures[model.structure];
    const roofs = this.presets.accelerators[state.accelerator].roofs[state.dtype];
    const settings = { ...state, ...sizes, ...roofs, query_tokens: this.value(state, "query_tokens") };
    const kernels = { ...of.kernels(settings), ...of.attention[`${state.mask} ${state.traffic}`](settings) };
    const tokens = calc.tokens(settings), { bandwidth } = roofs;
    const rows = Object.entries(kernels).map(([operator, kernel]) => {
      const verdict = calc.verdict({ ...kernel, bandwidth });
      const attainable = calc.attainable({ intensity: verdict.intensity, peak: kernel.peak, bandwidth });
      const crossing = of.crossings[operator]?.({ ...settings, ridge: verdict.ridge });
      return { operator, ...kernel, ...verdict, attainable, crossing };
    });
    const step = of.step({ ...Object.fromEntries(rows.map((row) => [row.operator, row.seconds])), tokens });
    return { rows, step, roofs, tokens, ridge: calc.verdict({ ...rows[0], peak: roofs.linear, bandwidth }).ridge };
  }

  roof(intensity, peak, bandwidth) {
    return this.calc.attainable({ intensity, peak, bandwidth });
  }

  // The call that reproduces the numbers; for the first state it is snippets/explorer.py.
  python(state) {
    const L = this.value(state, "query_tokens"), custom = state.model === CUSTOM;
    const sizes = this.presets.shape.map((field) => `${field}=${state[field]}`).join(", ");
    return [
      ...(custom ? ["from dataclasses import replace", ""] : []),
      "from roofline_calc import ACCELERATORS, MODELS, Precision, analyse", "",
      custom ? `model = replace(MODELS["${CUSTOM_BASE}"], name="custom", ${sizes})` : `model = MODELS["${state.model}"]`,
      `card = ACCELERATORS["${state.accelerator}"]`,
      `widths = Precision(weights=${state.weights}, activations=${state.activations}, kv=${state.kv}, others=${state.activations})`,
      `step = model.matrix_kernels({(${L}, ${state.context}): ${state.batch}}, mask="${state.mask}", traffic="${state.traffic}", precision=widths)`,
      `report = analyse(step, card, "${state.dtype}")`,
      `tokens = ${state.batch} * ${L}`, "",
    ].join("\n") + "\n" + this.presets.report;
  }

  // Only what differs from the start is in the address.
  toQuery(state) {
    const kept = ["model", "accelerator", "dtype", "mask", "traffic", "operator", ...this.fields(state)];
    return new URLSearchParams(kept.filter((key) => state[key] !== this.start[key]).map((key) => [key, state[key]])).toString();
  }

  // An address that makes no sense, or no longer, leaves the start where it does not.
  fromQuery(query) {
    const asked = new URLSearchParams(query), { models, accelerators, masks, traffics } = this.presets;
    const state = { ...this.start };
    const choose = (key, known) => known.includes(asked.get(key)) && (state[key] = asked.get(key));
    choose("model", [...Object.keys(models), CUSTOM]);
    choose("accelerator", Object.keys(accelerators));
    this.settle(state);
    choose("dtype", Object.keys(accelerators[state.accelerator].roofs));
    choose("mask", masks);
    choose("traffic", traffics);
    if (asked.get("operator")) state.operator = asked.get("operator");
    for (const field of this.fields(state)) {
      const text = asked.get(field);
      if (text !== null) state[field] = field === "query_tokens" && text === "S" ? "S" : Number(text || NaN);
    }
    for (const field of Object.keys(this.problems(state))) state[field] = this.start[field];
    if (state.model === CUSTOM && this.problems(state).n_q) for (const field of this.presets.shape) state[field] = this.start[field];
    return state;
  }

  // A card that lacks the data type multiplies in its usual one.
  settle(state) {
    const { roofs } = this.presets.accelerators[state.accelerator];
    if (!(state.dtype in roofs)) state.dtype = Object.keys(roofs)[0];
  }
}

// ----------------------------------------------------------------------------------------------- the chart

const SVG = "http://www.w3.org/2000/svg";
export const X_RANGE = [0.4, 4096], Y_RANGE = [0.3, 520];  // as in roofline_calc/figure.py, and wider only where it must be
const HEIGHT = 440, LEFT = 52, RIGHT = 14, TOP = 14, BOTTOM = 50, LINE = 15, LETTER = 6.6;

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function html(tag, { dataset, aria, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  Object.assign(element.dataset, dataset);
  for (const [name, value] of Object.entries(aria ?? {})) element.setAttribute(`aria-${name}`, value);
  element.append(...children);
  return element;
}

// What does not change is left alone: it costs no layout, and a screen reader does not say it again.
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const CLASS = { "memory-bound": "memory", "compute-bound": "compute" };
const MARK = { "memory-bound": "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0", "compute-bound": "M-5-5h10v10h-10z" };

class Chart {
  constructor(words, choose) {
    Object.assign(this, { words, choose, points: new Map() });
    this.back = svg("g", { "aria-hidden": "true" });
    this.front = svg("g", {});
    this.labels = svg("g", { "aria-hidden": "true", class: "labels" });
    this.svg = svg("svg", { class: "chart", role: "group", "aria-label": words.chart }, this.back, this.labels, this.front);
  }

  draw(width, explorer, { rows, roofs, ridge }, chosen) {
    const { linear, rest, bandwidth } = roofs;
    const intensities = rows.map((row) => row.intensity), heights = rows.map((row) => row.attainable / 1e12);
    const [x0, x1] = [Math.min(X_RANGE[0], Math.min(...intensities) / 1.5), Math.max(X_RANGE[1], Math.max(...intensities) * 1.5, ridge * 4)];
    const [y0, y1] = [Math.min(Y_RANGE[0], Math.min(...heights) / 1.5), Math.max(Y_RANGE[1], (linear / 1e12) * 1.6)];
    const scale = (low, high, from, to) => (value) => from + (Math.log(value / low) / Math.log(high / low)) * (to - from);
    const x = scale(x0, x1, LEFT, width - RIGHT), yT = scale(y0, y1, HEIGHT - BOTTOM, TOP), y = (flops) => yT(flops / 1e12);
    const placed = rows.map((row) => ({ row, x: x(row.intensity), y: y(row.attainable) }));
    this.placePoints(placed, chosen);
    this.labels.replaceChildren(...labels(placed, width));
    const frame = [width, x0, x1, y0, y1, linear, rest, bandwidth].join();
    if (frame === this.frame) return;  // most turns of a knob move the points alone
    this.frame = frame;

    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const line = (kind, ax, ay, bx, by) => svg("line", { class: kind, x1: ax, y1: ay, x2: bx, y2: by });
    const text = (kind, at, label, more) => svg("text", { class: kind, x: at[0], y: at[1], ...more }, label);
    const parts = [];
    for (const power of decades(x0, x1)) parts.push(line("grid", x(power), TOP, x(power), HEIGHT - BOTTOM), text("tick", [x(power), HEIGHT - BOTTOM + 17], String(power), { "text-anchor": "middle" }));
    for (const power of decades(y0, y1)) parts.push(line("grid", LEFT, yT(power), width - RIGHT, yT(power)), text("tick", [LEFT - 6, yT(power) + 4], String(power), { "text-anchor": "end" }));
    parts.push(
      line("axis", LEFT, HEIGHT - BOTTOM, width - RIGHT, HEIGHT - BOTTOM), line("axis", LEFT, TOP, LEFT, HEIGHT - BOTTOM),
      text("title", [(LEFT + width - RIGHT) / 2, HEIGHT - 12], this.words.intensity, { "text-anchor": "middle" }),
      text("title", [0, 0], this.words.performance, { "text-anchor": "middle", transform: `translate(13 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)` }),
    );
    // The memory roof, cut off where it leaves the chart.
    const start = Math.max(x0, (y0 * ridge * 1e12) / linear);
    const [sx, sy, rx, ry] = [x(start), y(explorer.roof(start, linear, bandwidth)), x(ridge), y(linear)];
    parts.push(
      line("roof memory", sx, sy, rx, ry), line("roof compute", rx, ry, width - RIGHT, ry), line("ridge", rx, ry, rx, HEIGHT - BOTTOM),
      text("tick", [rx - 6, HEIGHT - BOTTOM - 8], `${this.words.ridge} ${significant(ridge)}`, { "text-anchor": "end" }),
      text("bound memory", [0, -8], `${this.words["memory-bound"]} I·B`, { transform: `translate(${sx + (rx - sx) * 0.12} ${sy + (ry - sy) * 0.12}) rotate(${(Math.atan2(ry - sy, rx - sx) * 180) / Math.PI})` }),
      text("bound compute", [width - RIGHT, ry - 8], `${this.words["compute-bound"]} P`, { "text-anchor": "end" }),
    );
    if (rest !== linear) parts.push(line("roof rest", x(Math.min(x1, (ridge * rest) / linear)), y(rest), width - RIGHT, y(rest)));
    this.back.replaceChildren(...parts);
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
      point.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
      point.setAttribute("class", `point ${CLASS[row.regime]}`);
      point.setAttribute("aria-pressed", row.operator === chosen);
      point.setAttribute("aria-label", this.words.point(row.operator, significant(row.intensity), this.words[row.regime], scaled(row.seconds, "s")));
      point.lastChild.setAttribute("d", MARK[row.regime]);
    }
  }

  point(operator) {
    const point = svg("g", { tabindex: 0, role: "button", "data-operator": operator }, svg("circle", { r: 13, class: "hit" }), svg("path", {}));
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

function decades(low, high) {
  const from = Math.ceil(Math.log10(low)), count = Math.floor(Math.log10(high)) - from + 1;
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
    const wide = Math.max(...lines.map((line) => line.label.length)) * LETTER + 12;
    const before = column[0].x + wide > width;
    const at = before ? Math.min(column.at(-1).x + 8, width - RIGHT) : column[0].x + 8;
    const box = { left: before ? at - wide : at, right: before ? at : at + wide, lines: lines.length };
    const lowest = HEIGHT - BOTTOM - 6 - (lines.length - 1) * LINE;
    box.top = Math.min(Math.max(...column.map((mark) => mark.y)) + 22, lowest);
    for (const other of taken)
      if (box.left < other.right && other.left < box.right && box.top < other.top + other.lines * LINE) box.top = Math.min(other.top + other.lines * LINE, lowest);
    taken.push(box);
    return lines.map(({ regime, label }, i) =>
      svg("text", { class: CLASS[regime], x: at, y: box.top + i * LINE, "text-anchor": before ? "end" : "start" }, label));
  });
}

// The lines of a column: names of marks in one place share a line of so many letters.
function named(column, letters, most = 6) {
  const lines = [];
  for (const { row: { regime, operator }, x } of column) {
    const last = lines.at(-1);
    if (last && last.regime === regime && x - last.x < 4 && last.label.length < letters) last.label += `, ${operator}`;
    else lines.push({ regime, x, label: operator });
  }
  if (lines.length > most) lines.splice(most - 1, Infinity, { ...lines[most - 1], label: `+ ${lines.length - most + 1} …` });
  return lines;
}

// --------------------------------------------------------------------------------------------- the page's part

let mounted = 0;

export async function mount(root) {
  const [calc, presets] = await Promise.all([
    import("./calc.js"), fetch(new URL("presets.json", import.meta.url)).then((response) => response.json()),
  ]);
  new Panel(root, new Explorer(calc, presets), WORDS[document.documentElement.lang.slice(0, 2)] ?? WORDS.en);
}

class Panel {
  constructor(root, explorer, words) {
    Object.assign(this, { root, explorer, words, id: `explorer${++mounted}`, inputs: {} });
    this.state = explorer.fromQuery(location.search);
    this.build();
    new ResizeObserver(() => this.draw()).observe(this.place);
    addEventListener("popstate", () => this.show(explorer.fromQuery(location.search)));
    this.show(this.state);
  }

  build() {
    const { words, explorer: { presets } } = this;
    const options = (keys, name) => keys.map((key) => html("option", { value: key, textContent: name(key) }));
    const knobs = html("fieldset", { className: "knobs" }, html("legend", { textContent: words.controls }),
      this.select("model", [...options(Object.keys(presets.models), (key) => presets.models[key].name), ...options([CUSTOM], () => words.custom)]),
      this.select("accelerator", options(Object.keys(presets.accelerators), (key) => presets.accelerators[key].name)),
      this.select("dtype", []),
      this.select("phase", options(["decode", "prefill", "chunk"], (key) => words[key])),
      this.select("mask", options(presets.masks, (key) => words[key])),
      this.select("traffic", options(presets.traffics, (key) => key)),
      ...["batch", "context", "query_tokens"].map((field) => this.number(field, words[field], 0.25)));
    const widths = html("fieldset", { className: "knobs" }, html("legend", { textContent: words.widths }),
      ...presets.widths.map((field) => this.number(field, words[field], 1)), html("p", { className: "note", textContent: words.widthsNote }));
    this.shape = html("fieldset", { className: "knobs shape" }, html("legend", { textContent: words.shape }),
      ...presets.shape.map((field) => this.number(field, words.sizes[field])));

    this.chart = new Chart(words, (operator) => this.choose(operator));
    this.place = html("div", { className: "place" }, this.chart.svg);
    this.detail = html("p", { className: "detail", role: "status" });
    this.summary = html("p", { className: "summary" });
    this.rest = html("p", { className: "note" });
    this.body = html("tbody");
    const heads = [words.operator, words.flops, words.bytes, "I", words.regime, words.floor, words.share];
    const table = html("table", { aria: { label: words.table } }, html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col", textContent: head })))), this.body);
    const scroll = html("div", { className: "scroll", role: "group", tabIndex: 0, aria: { label: words.table } }, table);

    this.code = html("code", { tabIndex: 0 });
    this.said = html("span", { role: "status" });
    const button = (label, act) => {
      const made = html("button", { type: "button", className: "button", textContent: label });
      made.addEventListener("click", act);
      return made;
    };
    const buttons = html("p", { className: "buttons" },
      button(words.reset, () => { this.show({ ...this.explorer.start }); this.remember(); }),
      button(words.copy, async () => { await navigator.clipboard.writeText(this.code.textContent); this.said.textContent = words.copied; }), this.said);
    const listing = html("div", { className: "run" }, html("pre", {}, this.code));
    const program = html("details", {}, html("summary", { textContent: words.python }), listing);
    program.addEventListener("toggle", async () => { this.restore = (await import("./run.js")).mount(listing, "explorer.py"); }, { once: true });
    this.root.replaceChildren(html("div", { className: "panel" }, knobs, widths, this.shape), this.place, this.summary, this.detail, this.rest, scroll,
      html("p", { className: "note", textContent: words.note }), buttons, program);
  }

  select(key, options) {
    const input = html("select", { id: `${this.id}-${key}` }, ...options);
    input.addEventListener("change", () => { this.turn(key, input.value); this.remember(); });
    this.inputs[key] = { input };
    return html("div", { className: "knob" }, html("label", { htmlFor: input.id, textContent: this.words[key] }), input);
  }

  // A field, with a slider beside it where a step is given: so many powers of two from one stop to the next.
  number(field, label, step) {
    const id = `${this.id}-${field}`, [low, high] = this.explorer.presets.limits[field];
    const input = html("input", { id, type: "text", inputMode: "decimal", autocomplete: "off", aria: { describedby: `${id}-error` } });
    const error = html("p", { id: `${id}-error`, className: "error", aria: { live: "polite" } });
    input.addEventListener("input", () => this.turn(field, this.typed(input.value)));
    input.addEventListener("change", () => this.remember());
    const knob = html("div", { className: "knob" }, html("label", { htmlFor: id, textContent: label }), input);
    this.inputs[field] = { input, error };
    if (step) {
      const whole = !this.explorer.presets.widths.includes(field), [from, to] = [Math.log2(low), Math.log2(high)];
      const powers = Array.from({ length: (to - from) / step + 1 }, (_, i) => 2 ** (from + i * step));
      const stops = whole ? [...new Set(powers.map(Math.round))] : powers;
      const slider = html("input", { type: "range", min: 0, max: stops.length - 1, step: 1, aria: { label: this.words.slider(label) } });
      slider.addEventListener("input", () => this.turn(field, stops[slider.value]));
      slider.addEventListener("change", () => this.remember());
      Object.assign(this.inputs[field], { slider, stops });
      knob.append(slider);
    }
    knob.append(error);
    return knob;
  }

  // A number, or the text that is none.
  typed(text) {
    const found = read(text);
    return found && !found.unit ? found.value : text.trim();
  }

  // One knob was turned: the picture follows, unless the value makes no sense.
  turn(key, value) {
    const state = { ...this.wanted, [key]: value };
    if (key === "phase") {
      delete state.phase;
      state.query_tokens = { decode: 1, prefill: "S", chunk: this.explorer.value(this.state, "query_tokens") }[value];
      this.phase = value;
    } else if (key === "query_tokens") this.phase = "chunk";
    this.explorer.settle(state);
    this.show(state, key);
  }

  // `wanted` is what the fields say, `state` the last of it that made sense.
  show(state, source) {
    this.wanted = state;
    const problems = this.explorer.problems(state);
    for (const [field, { input, error }] of Object.entries(this.inputs)) {
      if (!error) continue;
      const [kind, ...details] = problems[field] ?? [], message = this.words.errors[kind] ?? "";
      write(error, typeof message === "function" ? message(...details) : message);
      if (kind) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
    if (!Object.keys(problems).length) this.state = state;
    this.fill(source);
    this.draw();
  }

  // Fields follow the state, but for the one that is being typed in and those that are wrong.
  fill(source) {
    const { state, words, explorer } = this;
    const dtypes = Object.keys(explorer.presets.accelerators[state.accelerator].roofs);
    const { input: dtype } = this.inputs.dtype;
    if (dtypes.join() !== [...dtype.options].map((option) => option.value).join())
      dtype.replaceChildren(...dtypes.map((name) => html("option", { value: name, textContent: name })));
    const L = state.query_tokens;
    const phase = this.phase === "chunk" && L !== "S" ? "chunk" : L === "S" ? "prefill" : L === 1 ? "decode" : "chunk";
    for (const [key, { input, slider, stops, error }] of Object.entries(this.inputs)) {
      const value = key === "phase" ? phase : explorer.value(state, key);
      const typing = key === source && document.activeElement === input;
      if (!typing && !(error && error.textContent) && input.value !== String(value)) input.value = value;
      if (slider && document.activeElement !== slider) slider.value = stops.findLastIndex((stop) => stop <= value);
      slider?.setAttribute("aria-valuetext", significant(value));
    }
    this.shape.hidden = this.wanted.model !== CUSTOM;
    const program = explorer.python(state);
    if (this.code.textContent !== program) this.restore?.();  // an edit or an output of the last one
    write(this.code, program);
    write(this.said, "");
  }

  draw() {
    const width = this.place.clientWidth;
    if (!width) return;
    const { state, words } = this, found = this.explorer.compute(state);
    const [first] = found.rows;
    this.chosen = (found.rows.find((row) => row.operator === state.operator) ?? first).operator;
    this.chart.draw(width, this.explorer, found, this.chosen);
    write(this.summary, words.step(scaled(found.step.seconds, "s"), significant(Number(found.step.tokens_per_second.toPrecision(4)))));
    write(this.rest, found.roofs.rest === found.roofs.linear ? "" : words.rest(this.wide()));
    this.fillTable(found);
    this.found = found;
    this.describe();
  }

  wide() {
    return ["bf16", "fp16"].find((name) => name in this.explorer.presets.accelerators[this.state.accelerator].roofs) ?? "fp32";
  }

  fillTable({ rows, step }) {
    const names = rows.map((row) => row.operator).join();
    if (names !== this.names) {
      this.names = names;
      this.body.replaceChildren(...rows.map(({ operator }) => {
        const button = html("button", { type: "button", textContent: operator });
        button.addEventListener("click", () => this.choose(operator));
        return html("tr", {}, html("th", { scope: "row" }, button), ...Array.from({ length: 6 }, () => html("td")));
      }));
    }
    rows.forEach((row, i) => {
      const [head, ...cells] = this.body.rows[i].cells;
      head.firstChild.setAttribute("aria-pressed", row.operator === this.chosen);
      const texts = [scaled(row.flops, "FLOP"), scaled(row.bytes, "B"), significant(Number(row.intensity.toPrecision(4))),
        this.words[row.regime], scaled(row.seconds, "s"), `${(100 * step.share[row.operator]).toFixed(1)}%`];
      cells.forEach((cell, j) => write(cell, texts[j]));
      if (cells[3].className !== CLASS[row.regime]) cells[3].className = CLASS[row.regime];
    });
  }

  // Looking at an operator is no turn of a knob: the address follows, but the back button does not stop there.
  choose(operator) {
    this.chosen = this.state.operator = this.wanted.operator = operator;
    history.replaceState(null, "", this.address());
    for (const [name, point] of this.chart.points) point.setAttribute("aria-pressed", name === operator);
    for (const row of this.body.rows) row.cells[0].firstChild.setAttribute("aria-pressed", row.cells[0].textContent === operator);
    this.describe();
  }

  describe() {
    const { words, found } = this, row = found.rows.find(({ operator }) => operator === this.chosen);
    const facts = words.point(row.operator, significant(Number(row.intensity.toPrecision(4))), words[row.regime], scaled(row.seconds, "s"));
    const [say, now] = row.operator === "lm_head" ? [words.rows, this.state.batch] : [words.crosses, found.tokens];
    const turns = row.crossing === undefined ? words.unmoved : row.crossing === null ? words.never : say(significant(row.crossing), significant(now));
    const end = document.documentElement.lang.startsWith("zh") ? "。" : ". ";
    const said = facts + end + turns;
    write(this.detail, said);
  }

  // The address says what is shown; the back button takes one turn of a knob back.
  remember() {
    if (this.address() !== `${location.pathname}${location.search}${location.hash}`) history.pushState(null, "", this.address());
  }

  address() {
    const query = this.explorer.toQuery(this.state);
    return `${location.pathname}${query && `?${query}`}${location.hash}`;
  }
}
