/** The page of experiments: archiving, and keys. */

import { onBack, report, send } from "../core/api.js";
import { on } from "../core/dom.js";
import { rowKeys } from "../core/keys.js";

const table = document.getElementById("experiments");

if (table) {
  on(table, "click", "[data-archive]", async (_, button) => {
    const row = button.closest("tr");
    try {
      await send("PATCH", `/api/experiments/${encodeURIComponent(row.dataset.id)}`, { archived: button.dataset.archive === "true" });
      row.remove();
    } catch (error) {
      report(error);
    }
  });
  rowKeys(() => /** @type {HTMLElement[]} */ ([...table.querySelectorAll("tbody tr")]), {
    what: "experiment",
    open: (row) => row.querySelector("a")?.click(),
  });
}
onBack(() => location.reload());
