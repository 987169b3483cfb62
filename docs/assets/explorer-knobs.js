// The knobs: a label, a field, what is wrong with it, and for some a slider.
import { html, write } from "./dom.js";
import { CUSTOM } from "./explorer-state.js";
import { words } from "./explorer-words.js";
import { read, significant } from "./numbers.js";

export class Knobs {
  // turn(changes, key) is told of each turn of a knob, also while a slider is dragged; turned() of its end.
  constructor(id, explorer, turn, turned) {
    Object.assign(this, { id, explorer, turn, turned, inputs: {} });
    const { models, accelerators, masks, traffics, widths, shape } = explorer.presets;
    this.element = html(
      "div",
      { className: "panel" },
      group(
        words.controls,
        this.select("model", [...options(models, (key) => models[key].name), ...options({ [CUSTOM]: words.custom })]),
        this.select("accelerator", byMaker(accelerators)),
        this.select("dtype", []),
        this.select("phase", options({ decode: words.decode, prefill: words.prefill, chunk: words.chunk })),
        this.select("mask", options(Object.fromEntries(masks.map((mask) => [mask, words[mask]])))),
        this.select("traffic", options(Object.fromEntries(traffics.map((traffic) => [traffic, traffic])))),
        this.select("fused", options({ false: words.separate, true: words.together })),
        ...["batch", "context", "query_tokens"].map((field) => this.number(field, words[field], 0.25)),
      ),
      group(
        words.widths,
        this.select("checkpoint", options({ true: words.asStored, false: words.asTurned })),
        ...widths.map((field) => this.number(field, words[field], 1)),
        (this.note = html("p", { className: "note" })),
      ),
      (this.shape = group(words.shape, ...shape.map((field) => this.number(field, words.sizes[field])))),
    );
    this.shape.classList.add("shape");
  }

  select(key, choices) {
    const input = html("select", { id: `${this.id}-${key}` }, ...choices);
    input.addEventListener("change", () => {
      if (key === "phase") this.turnPhase(input.value);
      else if (key === "checkpoint") this.turnStored(input.value === "true");
      else this.turn({ [key]: key === "fused" ? input.value === "true" : input.value }, key);
      this.turned();
    });
    this.inputs[key] = { input };
    return html("div", { className: "knob" }, html("label", { htmlFor: input.id, textContent: words[key] }), input);
  }

  // A field, with a slider beside it where a step is given: so many powers of two from one stop to the next.
  number(field, label, step) {
    const id = `${this.id}-${field}`;
    const typing = { type: "text", inputMode: "decimal", autocomplete: "off" };
    const input = html("input", { id, ...typing, aria: { describedby: `${id}-error` } });
    const error = html("p", { id: `${id}-error`, className: "error", aria: { live: "polite" } });
    input.addEventListener("input", () => this.turnNumber(field, typed(input.value)));
    input.addEventListener("change", () => this.turned());
    this.inputs[field] = { input, error };
    const knob = html("div", { className: "knob" }, html("label", { htmlFor: id, textContent: label }), input);
    if (step) knob.append(this.slider(field, label, step));
    knob.append(error);
    return knob;
  }

  slider(field, label, step) {
    const { limits, widths } = this.explorer.presets;
    const [from, to] = limits[field].map(Math.log2);
    const powers = Array.from({ length: (to - from) / step + 1 }, (_, i) => 2 ** (from + i * step));
    const stops = widths.includes(field) ? powers : [...new Set(powers.map(Math.round))];
    const range = { type: "range", min: 0, max: stops.length - 1, step: 1 };
    const slider = html("input", { ...range, aria: { label: words.slider(label) } });
    slider.addEventListener("input", () => this.turnNumber(field, stops[slider.value]));
    slider.addEventListener("change", () => this.turned());
    Object.assign(this.inputs[field], { slider, stops });
    return slider;
  }

  turnNumber(field, value) {
    if (field === "query_tokens") this.phase = "chunk";
    this.turn({ [field]: value }, field);
  }

  // The phase is a name for the query tokens.
  turnPhase(phase) {
    this.phase = phase;
    const chunk = this.explorer.value(this.state, "query_tokens");
    this.turn({ query_tokens: { decode: 1, prefill: "S", chunk }[phase] }, "phase");
  }

  // Widths of one's own begin with those of the checkpoint.
  turnStored(stored) {
    const [weights, kv] = ["weights", "kv"].map((field) => (stored ? null : this.explorer.value(this.state, field)));
    this.turn({ weights, kv }, "checkpoint");
  }

  complain(problems) {
    for (const [field, { input, error }] of Object.entries(this.inputs)) {
      if (!error) continue;
      const [kind, ...details] = problems[field] ?? [];
      const message = words.errors[kind] ?? "";
      write(error, typeof message === "function" ? message(...details) : message);
      if (kind) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
  }

  // Fields follow the state, but for the one that is being typed in and those that are wrong.
  follow(state, { model }, turnedKey) {
    this.state = state;
    this.shape.hidden = model !== CUSTOM;
    const dtypes = this.explorer.dtypes(state);
    const { input: dtype } = this.inputs.dtype;
    if (dtypes.join() !== [...dtype.options].map((option) => option.value).join())
      dtype.replaceChildren(...options(Object.fromEntries(dtypes.map((name) => [name, name]))));
    const stored = this.explorer
      .stored(state)
      .map(({ name, width, own }) => words.stored(name, significant(Number(width.toPrecision(4))), own));
    const apart = stored.length ? [...stored, words.mean] : [];
    write(this.note, [...apart, words.widthsNote].join(words.end));
    for (const [key, { input, slider, stops, error }] of Object.entries(this.inputs)) {
      const value = this.shown(state, key);
      const typing = key === turnedKey && document.activeElement === input;
      if (!typing && !error?.textContent && input.value !== String(value)) input.value = value;
      if (!slider) continue;
      if (document.activeElement !== slider) slider.value = stops.findLastIndex((stop) => stop <= value);
      slider.setAttribute("aria-valuetext", significant(value));
    }
  }

  shown(state, key) {
    if (key === "phase") return this.phaseOf(state);
    if (key === "checkpoint") return state.weights === null && state.kv === null;
    return this.explorer.value(state, key);
  }

  // Who has chosen an L of their own keeps the choice while it happens to be that of a decode.
  phaseOf({ query_tokens }) {
    if (query_tokens === "S") return "prefill";
    return query_tokens === 1 && this.phase !== "chunk" ? "decode" : "chunk";
  }
}

function group(label, ...knobs) {
  return html("fieldset", { className: "knobs" }, html("legend", { textContent: label }), ...knobs);
}

function options(choices, name = (key) => choices[key]) {
  return Object.keys(choices).map((key) => html("option", { value: key, textContent: name(key) }));
}

// Under each maker its cards; one that nobody makes stands alone.
function byMaker(accelerators) {
  const cards = Object.entries(accelerators);
  return [...new Set(cards.map(([, { maker }]) => maker))].flatMap((maker) => {
    const made = cards.filter(([, card]) => card.maker === maker).map(([key, { name }]) => [key, name]);
    const choices = options(Object.fromEntries(made));
    return maker ? html("optgroup", { label: maker }, ...choices) : choices;
  });
}

// A number, or the text that is none.
function typed(text) {
  const found = read(text);
  return found && !found.unit ? found.value : text.trim();
}
