import js from "@eslint/js";
import globals from "globals";

const studio = "src/runyard/server/studio/static/js/**/*.js";

export default [
  {
    files: [studio],
    ...js.configs.recommended,
    languageOptions: { ecmaVersion: 2022, sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: true },
    rules: {
      ...js.configs.recommended.rules,
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-var": "error",
      "prefer-const": "error",
      // Text that somebody else wrote becomes elements in one way alone: as text.
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Use h() of core/dom.js." },
        { property: "outerHTML", message: "Use h() of core/dom.js." },
        { property: "insertAdjacentHTML", message: "Use h() of core/dom.js." },
      ],
    },
  },
];
