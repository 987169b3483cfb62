{
  const KEY = "operator-roofline-palette";
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.querySelector(".palette");
  const words = JSON.parse(button.dataset.words);
  let choice;

  // The first press must change what is seen: the colours that the system has come second.
  const after = (state) => {
    const round = dark.matches ? ["system", "light", "dark"] : ["system", "dark", "light"];
    return round[(round.indexOf(state) + 1) % 3];
  };

  const show = () => {
    const scheme = choice === "system" ? (dark.matches ? "dark" : "light") : choice;
    document.body.dataset.mdColorScheme = scheme === "dark" ? "slate" : "default";
    document.querySelector("meta[name=color-scheme]").content = scheme;
    button.dataset.choice = choice;
    button.title = button.ariaLabel = words.is[choice] + words.press[after(choice)];
  };

  const recall = () => {
    let kept = choice;
    try {
      kept = localStorage.getItem(KEY);
    } catch {
      /* nothing is kept */
    }
    choice = kept in words.is ? kept : "system";
    show();
  };

  button.addEventListener("click", () => {
    choice = after(choice);
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      /* lasts as long as the page */
    }
    show();
  });
  dark.addEventListener("change", show);
  addEventListener("storage", recall);
  addEventListener("pageshow", ({ persisted }) => persisted && recall());
  button.hidden = false;
  recall();
}
