// RAM stacked by tensor, as memory profilers draw it, but planned: what came into RAM first lies lowest, and when something is freed,
// what lies above it comes down. The largest tensors are boxes of their own; above them each class has a band with its remaining
// tensors, so that the classes always add up to the RAM in use.

import { CLASSES, classOf } from "./classes.js";

const MOST = 160; // tensors drawn one by one

/** { boxes, bands }: `boxes` as boxesOf(); `bands`: [{ name, colour, low, high }] of the classes with smaller tensors or workspace,
    arrays of bytes by step. O(tensors log tensors + steps x classes + pieces x MOST). */
export function stacked(model) {
  const largest = model.live
    .map((one) => ({ ...one, s1: one.held }))
    .filter((one) => one.bytes > 0 && one.s0 < one.s1)
    .sort((a, b) => b.bytes * (b.s1 - b.s0) - a.bytes * (a.s1 - a.s0));
  return {
    boxes: boxesOf(model, largest.slice(0, MOST)),
    bands: bandsOf(model, largest.slice(0, MOST), largest.slice(MOST)),
  };
}

/** Adds the bytes of an interval to the changes from step to step. */
const change = (by, { s0, s1, bytes }) => {
  by[s0] += bytes;
  by[s1] -= bytes;
};

function bandsOf(model, drawn, rest) {
  const steps = model.steps.length;
  const below = new Float64Array(steps + 1);
  const parts = CLASSES.map(() => new Float64Array(steps + 1));
  for (const one of drawn) change(below, one);
  for (const one of rest) change(parts[classOf(model, one)], one);
  for (const by of [below, ...parts]) for (let s = 1; s < steps; ++s) by[s] += by[s - 1];
  const workspace = parts[classOf(model, { value: null })];
  for (let s = 0; s < steps; ++s) {
    below[s] += model.persistent;
    const known = parts.reduce((sum, by) => sum + by[s], below[s]);
    workspace[s] += Math.max(0, model.steps[s].ram - known);
  }
  let low = below;
  const bands = CLASSES.map(([name, colour], i) => {
    const high = parts[i].map((bytes, s) => low[s] + bytes);
    const band = { name, colour, low, high };
    low = high;
    return band;
  });
  return bands.filter((_, i) => parts[i].subarray(0, steps).some((bytes) => bytes > 0));
}

/** Boxes { value, s0, s1, t0, t1, low, high }: intervals in pieces that keep their place. O(pieces x intervals). */
function boxesOf(model, drawn) {
  const intervals = drawn.sort((a, b) => a.s0 - b.s0 || b.s1 - a.s1);
  const moments = [...new Set(intervals.flatMap((one) => [one.s0, one.s1]))].sort((a, b) => a - b);
  const boxes = [];
  let alive = []; // { one, from, low }
  let next = 0;
  for (const s of moments) {
    const close = (entry) => {
      const { one, from, low } = entry;
      if (from < s)
        boxes.push({
          ...one,
          s0: from,
          s1: s,
          t0: model.timeOf(from),
          t1: model.timeOf(s),
          low,
          high: low + one.bytes,
        });
    };
    alive = alive.filter((entry) => entry.one.s1 > s || close(entry));
    for (; next < intervals.length && intervals[next].s0 === s; ++next)
      if (intervals[next].s1 > s) alive.push({ one: intervals[next], from: s, low: -1 });
    let low = model.persistent;
    for (const entry of alive) {
      if (entry.low !== low) {
        if (entry.low >= 0) close(entry);
        Object.assign(entry, { from: s, low });
      }
      low += entry.one.bytes;
    }
  }
  return boxes;
}
