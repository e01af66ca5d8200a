/** Charts as files: a picture, a drawing, or the numbers. */

/**
 * @param {string} name
 * @param {Blob} content
 */
export function download(name, content) {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/**
 * A name that every file system takes.
 * @param {string} title
 * @param {string} ending
 */
export function fileName(title, ending) {
  const stem = title.replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[._]+|_+$/g, "").slice(0, 100);
  return `${stem || "chart"}.${ending}`;
}

/**
 * @param {string[]} head
 * @param {Iterable<(string | number)[]>} rows
 */
export function csv(head, rows) {
  const lines = [head.map(cell).join(",")];
  for (const row of rows) lines.push(row.map(cell).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

/** @param {string | number} value */
function cell(value) {
  if (typeof value === "number") return Number.isNaN(value) ? "NaN" : String(value);
  // A text that a spreadsheet would take for a formula stays a text.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
