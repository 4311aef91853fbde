// What tests cost, whatever else the machine does.

import fs from "node:fs";

const TICKS = 100; // of Linux, a second

/** Seconds of processor time of this process and of all that it has started. */
export function processorSeconds() {
  const processes = fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .flatMap((id) => {
      try {
        const text = fs.readFileSync(`/proc/${id}/stat`, "latin1");
        const fields = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number);
        return [{ id, parent: fields[1], ticks: fields[11] + fields[12] + fields[13] + fields[14] }];
      } catch {
        return []; // it has ended
      }
    });
  const ours = new Set([process.pid]);
  for (let size = 0; size !== ours.size; ) {
    size = ours.size;
    for (const { id, parent } of processes) if (ours.has(parent)) ours.add(id);
  }
  return processes.reduce((sum, { id, ticks }) => sum + (ours.has(id) ? ticks : 0), 0) / TICKS;
}
