// What the explorer can be set to, what it then shows, and the address and the program that say the same.
import { significant } from "./numbers.js";

export const CUSTOM = "custom"; // the model whose shapes are the reader's own, and at first those of the start

export class Explorer {
  // calc: the module calc.js; presets: presets.json. Both are made by the build from roofline_calc.
  constructor(calc, presets) {
    Object.assign(this, { calc, presets });
    this.base = presets.models[presets.defaults.model];
    this.start = { ...presets.defaults, ...this.base.sizes };
  }

  // What is wrong with a state: { field: [error, …its arguments] }.
  problems(state) {
    const found = {};
    for (const field of this.fields(state)) {
      const value = state[field];
      if ((field === "query_tokens" && value === "S") || value === null) continue;
      const [low, high] = this.presets.limits[field];
      if (typeof value === "string") found[field] = value ? ["number", value] : ["empty"];
      else if (!(low <= value && value <= high)) found[field] = ["range", significant(low), significant(high)];
      else if (!this.presets.widths.includes(field) && !Number.isInteger(value)) found[field] = ["whole"];
    }
    if (state.model === CUSTOM && !found.n_q && !found.n_kv && state.n_q % state.n_kv)
      found.n_q = ["heads", state.n_kv];
    const sound = !found.query_tokens && !found.context;
    if (sound && state.mask === "causal" && this.value(state, "query_tokens") > state.context)
      found.query_tokens = ["causal", significant(state.context)];
    return found;
  }

  fields(state) {
    const { widths, shape } = this.presets;
    return ["batch", "context", "query_tokens", ...widths, ...(state.model === CUSTOM ? shape : [])];
  }

  // In prefill the query tokens are "S", and follow it; widths may be null, and follow the checkpoint.
  value(state, field) {
    if (field === "query_tokens" && state[field] === "S") return state.context;
    if (state[field] === null) return this.model(state)[{ weights: "mean", kv: "kv" }[field]];
    return state[field];
  }

  model(state) {
    if (state.model !== CUSTOM) return this.presets.models[state.model];
    return { ...this.base, sizes: { ...this.base.sizes, ...state } };
  }

  // What a checkpoint stores apart: how wide, and in which data type it is multiplied on this card.
  stored(state) {
    if (state.weights !== null) return [];
    const { peaks } = this.presets.accelerators[state.accelerator];
    const parts = Object.entries(this.model(state).stored).filter(([, part]) => part);
    return parts.map(([name, { width, multiplies }]) => ({ name, width, own: multiplies in peaks && multiplies }));
  }

  // Widths and peaks as calc.js takes them.
  widths(state) {
    const { accelerators, multiplied, unstored } = this.presets;
    const { activations, accelerator, dtype } = state;
    const { weights, kv, stored } = this.model(state);
    const { peaks } = accelerators[accelerator];
    const [linear, rest] = peaks[dtype];
    const found = { weights: state.weights ?? weights, kv: state.kv ?? kv, activations, linear, rest };
    for (const name in stored)
      Object.assign(found, {
        [`weights_${name}`]: found[unstored[name]],
        [`activations_${name}`]: activations,
        [`peak_${name}`]: linear,
      });
    for (const { name, width, own } of this.stored(state)) {
      found[`weights_${name}`] = width;
      if (own) Object.assign(found, { [`activations_${name}`]: multiplied[own], [`peak_${name}`]: peaks[own][0] });
    }
    return found;
  }

  // The data types that a card multiplies in, the usual one first.
  dtypes({ accelerator }) {
    return Object.keys(this.presets.accelerators[accelerator].peaks);
  }

  // A card that lacks the data type multiplies in its usual one.
  settle(state) {
    const dtypes = this.dtypes(state);
    if (!dtypes.includes(state.dtype)) [state.dtype] = dtypes;
  }

  // Everything that is shown of a state without problems.
  compute(state) {
    const { calc, presets } = this;
    const { structure, sizes } = this.model(state);
    const of = calc.structures[structure];
    const { bandwidth, memory } = presets.accelerators[state.accelerator];
    const query_tokens = this.value(state, "query_tokens");
    const settings = { ...state, ...sizes, ...this.widths(state), bandwidth, memory, query_tokens };
    const attention = of.attention[`${state.mask} ${state.traffic}`](settings);
    const kernels = { ...of.linear[state.fused](settings), ...attention, ...of.head(settings) };
    const tokens = calc.tokens(settings);
    const rows = Object.entries(kernels).map(([operator, kernel]) => {
      const verdict = calc.verdict({ ...kernel, bandwidth });
      const attainable = this.roof(verdict.intensity, kernel.peak, bandwidth);
      const crossing = of.crossings[operator]?.({ ...settings, ridge: verdict.ridge });
      return { operator, ...kernel, ...verdict, attainable, crossing };
    });
    const peaks = [...new Set(rows.map((row) => row.peak))].sort((a, b) => b - a);
    const { ridge } = calc.verdict({ ...rows[0], peak: peaks[0], bandwidth });
    const step = this.step(of, settings, rows);
    const rates = [step.lower_bound, step.kernel_by_kernel].map((time) => calc.rate({ tokens, seconds: time }));
    return { rows, step, rates, peaks, bandwidth, tokens, ridge, memory: of.memory(settings) };
  }

  // The step's times: what its kernels take, those of the other form of latent attention, and none where it lacks one.
  step(of, settings, rows) {
    const known = { ...of.forms[settings.mask](settings) };
    for (const row of rows) known[row.operator] = row;
    const { bandwidth } = settings;
    const given = { bandwidth, compulsory: of.compulsory(settings) };
    for (const kernel of of.kernels)
      for (const [what, none] of Object.entries(this.calc.absent))
        given[`${what}_${kernel}`] = known[kernel]?.[what] ?? none;
    return of.step(given);
  }

  roof(intensity, peak, bandwidth) {
    return this.calc.attainable({ intensity, peak, bandwidth });
  }

  // The program that prints the same numbers: for the start it is snippets/explorer.py.
  python(state) {
    const { programs } = this.presets;
    const literals = { null: "None", true: "True", false: "False" };
    const values = { ...state, query_tokens: this.value(state, "query_tokens") };
    const program = state.model === CUSTOM ? programs.custom : programs.catalogue;
    return program.replace(/<(\w+)>/g, (_, knob) => literals[values[knob]] ?? values[knob]);
  }

  // Only what differs from the start is in the address.
  toQuery(state) {
    const kept = ["model", "accelerator", "dtype", "mask", "traffic", "fused", "operator", ...this.fields(state)];
    const turned = kept.filter((key) => state[key] !== this.start[key]);
    return new URLSearchParams(turned.map((key) => [key, state[key]])).toString();
  }

  // An address that makes no sense, or no longer, leaves the start where it does not.
  fromQuery(query) {
    const asked = new URLSearchParams(query);
    const { models, accelerators, masks, traffics, shape } = this.presets;
    const state = { ...this.start };
    const choose = (key, known) => {
      if (known.includes(asked.get(key))) state[key] = asked.get(key);
    };
    choose("model", [...Object.keys(models), CUSTOM]);
    choose("accelerator", Object.keys(accelerators));
    this.settle(state);
    choose("dtype", this.dtypes(state));
    choose("mask", masks);
    choose("traffic", traffics);
    state.fused = asked.get("fused") === "true";
    if (asked.get("operator")) state.operator = asked.get("operator");
    for (const field of this.fields(state)) {
      const text = asked.get(field);
      if (text !== null) state[field] = field === "query_tokens" && text === "S" ? "S" : Number(text || NaN);
    }
    for (const field of Object.keys(this.problems(state))) state[field] = this.start[field];
    if (this.problems(state).n_q) for (const field of shape) state[field] = this.start[field];
    return state;
  }
}
