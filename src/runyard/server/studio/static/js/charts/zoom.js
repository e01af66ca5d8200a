/** What the charts of a page share: the range of x that they show, and the place that somebody points at. */

/** @typedef {{ zoomed(): void, pointed(): void }} Member */

export class ZoomGroup {
  constructor() {
    /** @type {[number, number] | null} */
    this.range = null;
    /** @type {number | null} */
    this.pointer = null;
    /** @type {Set<Member>} */
    this.members = new Set();
  }

  /** @param {[number, number] | null} range Null shows everything again. */
  zoom(range) {
    this.range = range;
    for (const member of this.members) member.zoomed();
  }

  /** @param {number | null} x */
  point(x) {
    if (x === this.pointer) return;
    this.pointer = x;
    for (const member of this.members) member.pointed();
  }
}
