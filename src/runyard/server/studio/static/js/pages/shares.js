/** Bars whose lengths the server has written as numbers: the content policy allows no style in the markup. */

document.querySelectorAll("[data-share]").forEach((each) => {
  if (each instanceof HTMLElement) each.style.flexGrow = each.dataset.share ?? "0";
});
document.querySelectorAll("[data-part]").forEach((each) => {
  if (!(each instanceof HTMLElement)) return;
  const part = Number(each.dataset.part);
  each.style.width = `${Math.round(100 * part)}%`;
  if (part > 0.95) each.classList.add("bad");
  else if (part > 0.85) each.classList.add("warn");
});
