/** Signs on the buttons of charts, drawn as lines. */

const SHAPES = {
  table: "M3 4h14v12H3zM3 8h14M3 12h14M8 8v8",
  download: "M10 3v9M6 9l4 4 4-4M4 16h12",
  large: "M4 8V4h4M12 4h4v4M16 12v4h-4M8 16H4v-4",
  log: "M4 3v13h13M6 14c0-6 3-9 10-9",
  reset: "M4 10a6 6 0 1 0 2-4.5M4 3v4h4",
  close: "M5 5l10 10M15 5L5 15",
  copy: "M7 7h9v9H7zM4 13V4h9",
  link: "M8 12l4-4M7 9l-2 2a3 3 0 0 0 4 4l2-2M13 11l2-2a3 3 0 0 0-4-4L9 7",
};

/** @param {string} name */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  drawing.setAttribute("viewBox", "0 0 20 20");
  drawing.setAttribute("class", "chart-icon");
  drawing.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", SHAPES[/** @type {keyof typeof SHAPES} */ (name)] ?? "");
  drawing.append(path);
  return drawing;
}
