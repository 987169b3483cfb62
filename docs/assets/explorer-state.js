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
      if (field === "query_tokens" && state[field] === "S") continue;
      const value = state[field];
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

  // In prefill the query tokens are "S", and follow it.
  value(state, field) {
    return field === "query_tokens" && state[field] === "S" ? state.context : state[field];
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
    const model =
      state.model === CUSTOM ? { ...this.base, sizes: { ...this.base.sizes, ...state } } : presets.models[state.model];
    const of = calc.structures[model.structure];
    const { bandwidth, peaks } = presets.accelerators[state.accelerator];
    const [linear, rest] = peaks[state.dtype];
    const roofs = { linear, rest, bandwidth };
    const settings = { ...state, ...model.sizes, ...roofs, query_tokens: this.value(state, "query_tokens") };
    const attention = of.attention[`${state.mask} ${state.traffic}`](settings);
    const kernels = { ...of.linear(settings), ...attention, ...of.head(settings) };
    const tokens = calc.tokens(settings);
    const rows = Object.entries(kernels).map(([operator, kernel]) => {
      const verdict = calc.verdict({ ...kernel, bandwidth });
      const attainable = this.roof(verdict.intensity, kernel.peak, bandwidth);
      const crossing = of.crossings[operator]?.({ ...settings, ridge: verdict.ridge });
      return { operator, ...kernel, ...verdict, attainable, crossing };
    });
    const seconds = Object.fromEntries(rows.map((row) => [row.operator, row.seconds]));
    const { ridge } = calc.verdict({ ...rows[0], peak: linear, bandwidth });
    const step = { ...of.step({ ...of.absent, ...seconds }), lower_bound: of.lower_bound[state.mask](settings) };
    const rates = [step.lower_bound, step.kernel_by_kernel].map((time) => calc.rate({ tokens, seconds: time }));
    return { rows, step, rates, roofs, tokens, ridge };
  }

  roof(intensity, peak, bandwidth) {
    return this.calc.attainable({ intensity, peak, bandwidth });
  }

  // The program that prints the same numbers: for the start it is snippets/explorer.py.
  python(state) {
    const { programs } = this.presets;
    const values = { ...state, query_tokens: this.value(state, "query_tokens") };
    const program = state.model === CUSTOM ? programs.custom : programs.catalogue;
    return program.replace(/<(\w+)>/g, (_, knob) => values[knob]);
  }

  // Only what differs from the start is in the address.
  toQuery(state) {
    const kept = ["model", "accelerator", "dtype", "mask", "traffic", "operator", ...this.fields(state)];
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
