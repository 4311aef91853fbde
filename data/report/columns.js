// A level over thousands of steps in a few hundred pixels: of the steps that share a pixel column the one with most RAM is drawn,
// with everything that is in RAM at that step.

/** RAM per step. On a time axis steps without duration count only if they reach above their surroundings. */
export function levels(view, model) {
  const items = model.steps.map((step, s) => ({ s0: s, s1: s + 1, ...step }));
  if (view.mode === "step") return items;
  const lasts = items.map((item) => item.t1 > item.t0);
  let before = 0;
  const around = items.map((item, s) => (lasts[s] ? (before = item.ram) : before));
  let after = 0;
  for (let s = items.length - 1; s >= 0; --s) {
    if (lasts[s]) after = items[s].ram;
    around[s] = Math.max(around[s], after);
  }
  return items.filter((item, s) => lasts[s] || item.ram > around[s]);
}

/** [{ left, right, s, ram }] in whole pixels from left to right, each beginning where the one before ends. `spans`: [{ x0, x1, s,
    ram }] in the units of the axis, in order. O(spans). */
export function columnsOf(spans, { map, frame }) {
  const end = frame.x + frame.width;
  const columns = [];
  for (const { x0, x1, s, ram } of spans) {
    const [from, to] = [map.sx * x0 + map.ox, map.sx * x1 + map.ox];
    if (to < frame.x || from > end) continue;
    const left = Math.max(frame.x, to - from < 1 ? Math.floor(from) : Math.round(from));
    const right = Math.min(end, Math.max(left + 1, Math.round(to)));
    const last = columns.at(-1);
    if (last?.left !== left) columns.push({ left, right, s, ram });
    else if (right > left + 1) columns.push({ left: left + 1, right, s, ram }); // a peak before it keeps its pixel
    else if (last.ram < ram) Object.assign(last, { s, ram });
  }
  for (let i = 0; i + 1 < columns.length; ++i) columns[i].right = columns[i + 1].left;
  return columns;
}
