// The roofline explorer. It draws and formats; every number comes from calc.js, which the build makes from
// roofline_calc.

// All is asked for at once: modules that import one another would otherwise come one round trip after the other.
const parts = ["dom", "numbers", "explorer-words", "explorer-chart", "explorer-knobs", "explorer-table"];

export async function mount(root) {
  for (const part of parts) import(`./${part}.js`);
  const [calc, presets, { Explorer }, { Panel }] = await Promise.all([
    import("./calc.js"),
    fetch(new URL("presets.json", import.meta.url)).then((response) => response.json()),
    import("./explorer-state.js"),
    import("./explorer-panel.js"),
  ]);
  new Panel(root, new Explorer(calc, presets));
}
