// What the site ships: plain modules that run as they stand here, one classic script, one worker, and the editor, which
// the build puts together with CodeMirror.
import js from "@eslint/js";
import globals from "globals";

export default [
  {
    files: ["docs/assets/**/*.js", "docs/overrides/.inline/*.js"],
    ...js.configs.recommended,
    languageOptions: { globals: globals.browser },
    rules: {
      ...js.configs.recommended.rules,
      "no-var": "error",
      "prefer-const": "error",
      "object-shorthand": "error",
      eqeqeq: "error",
      // A name means one thing within a module.
      "no-shadow": "error",
      // Files stay short enough to be read whole. Prettier keeps code to its width, this words and comments.
      "max-lines": ["error", 250],
      "max-len": ["error", 120],
    },
  },
  { files: ["docs/assets/site.js", "docs/overrides/.inline/*.js"], languageOptions: { sourceType: "script" } },
  { files: ["docs/assets/run-worker.js"], languageOptions: { globals: globals.worker } },
  { files: ["docs/assets/search-worker.js"], languageOptions: { sourceType: "script", globals: globals.worker } },
];
