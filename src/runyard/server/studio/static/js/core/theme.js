/* The reader's choice of light or dark, applied before anything is drawn. Not a module: those come too late. */
"use strict";

(() => {
  const chosen = localStorage.getItem("runyard.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
