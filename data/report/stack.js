// RAM stacked by tensor, as memory profilers draw it, but planned: what came into RAM first lies lowest, and when something goes,
// what lies above it comes down.

const MOST = 160; // tensors one by one; smaller ones are what is left up to the RAM in use

/** Boxes { value, s0, s1, t0, t1, low, high }: intervals in pieces that keep their place. O(pieces x MOST). */
export function stacked(model) {
  const largest = [...model.live]
    .filter((one) => one.bytes > 0)
    .sort((a, b) => b.bytes * (b.s1 - b.s0) - a.bytes * (a.s1 - a.s0));
  const intervals = largest.slice(0, MOST).sort((a, b) => a.s0 - b.s0 || b.s1 - a.s1);
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
