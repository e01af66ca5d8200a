/** What the table shows, as its address says it: filter, order, columns, page. */

/**
 * @typedef {object} View
 * @property {string} q the filter
 * @property {string} sort
 * @property {string[]} columns
 * @property {string[]} pinned
 * @property {number} page from 1
 * @property {number} size
 * @property {string} group
 * @property {boolean} flat with child runs
 */

/**
 * @param {string} search what stands after the `?`
 * @param {string[]} usual the columns where none are named
 * @returns {View}
 */
export function read(search, usual) {
  const given = new URLSearchParams(search);
  const columns = given.getAll("col");
  return {
    q: given.get("q") ?? "",
    sort: given.get("sort") || "-created",
    columns: columns.length ? columns : usual,
    pinned: given.getAll("pin"),
    page: Math.max(1, Number(given.get("page")) || 1),
    size: Number(given.get("size")) || 50,
    group: given.get("group") ?? "",
    flat: given.get("flat") === "1",
  };
}

/**
 * @param {View} view
 * @param {string[]} usual
 * @returns {string}
 */
export function write(view, usual) {
  const told = new URLSearchParams();
  if (view.q) told.set("q", view.q);
  if (view.sort !== "-created") told.set("sort", view.sort);
  if (view.columns.join("\n") !== usual.join("\n")) for (const each of view.columns) told.append("col", each);
  for (const each of view.pinned) told.append("pin", each);
  if (view.page > 1) told.set("page", String(view.page));
  if (view.size !== 50) told.set("size", String(view.size));
  if (view.group) told.set("group", view.group);
  if (view.flat) told.set("flat", "1");
  return told.toString();
}

/**
 * What the server is asked for.
 * @param {View} view
 * @returns {URLSearchParams}
 */
export function question(view) {
  const asked = new URLSearchParams({ filter: view.q, sort: view.sort });
  if (view.flat) asked.set("children", "true");
  for (const each of view.columns) {
    const [family, name] = parts(each);
    if (family === "metrics") asked.append("metric", name);
    else if (family === "params") asked.append("param", name);
    else if (family === "tag") asked.append("tag", name);
  }
  return asked;
}

/**
 * The family of a column and its name in there; a column without one has an empty family.
 * @param {string} column
 * @returns {[string, string]}
 */
export function parts(column) {
  const dot = column.indexOf(".");
  return dot < 0 ? ["", column] : [column.slice(0, dot), column.slice(dot + 1)];
}

/**
 * A value as the filter's language writes it.
 * @param {string} text
 * @returns {string}
 */
export function quoted(text) {
  return /^[\w./@+-]+$/.test(text) && !text.startsWith("-") ? text : `"${text.replace(/[\\"]/g, "\\$&")}"`;
}
