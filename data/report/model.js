// From a picture (poet/report/picture_json.h) to what is drawn: when each value is in RAM, what the compute engine and
// the channel do. Everything is placed twice: [t0, t1] in seconds, [s0, s1] in step numbers.

// Moves of persistent values that live on storage are of kinds of their own: l, load, and h, to home.
const PART = { o: "page out", i: "page in", l: "load", h: "to home", w: "wait for", c: "compute", f: "free" };

export const runsOf = (model, again) => model.runs.filter((run) => run.again === again);
export const movesOf = (model, kind) => model.moves.filter((move) => move.kind === kind);
export const isHome = (model, value) => value !== null && value >= model.transient;
export const homes = (model) => model.values.length - model.transient;
export const largest = (numbers) => numbers.reduce((most, number) => Math.max(most, number), 0);

export function modelOf(picture) {
  const { kind, id, end, ram } = picture.steps;
  const steps = end.map((t1, i) => ({ kind: kind[i], id: id[i], t0: i ? end[i - 1] : 0, t1, ram: ram[i] }));
  for (const step of steps)
    if (step.kind !== "c" && isHome(picture, step.id)) step.kind = { i: "l", o: "h" }[step.kind] ?? step.kind;
  const model = {
    ...picture,
    steps,
    live: [],
    runs: [],
    waits: [],
    moves: [],
    stored: [],
    rows: [],
    homeRows: [],
    rowsOfOp: [],
    rowOfValue: [],
  };
  const ends = picture.channel.map((move) => move[2]);
  model.makespan = largest([picture.figures.runtime, steps.length ? steps.at(-1).t1 : 0, ...ends]);
  model.reach = largest(picture.allocations.map((one) => one[4] + one[5])); // the highest address
  model.timeOf = (s) => (s < steps.length ? steps[s].t0 : model.makespan);
  addRows(model);
  addRuns(model);
  addLive(model);
  addMoves(model);
  return model;
}

/** A row per value, in the order of the ops; an op without results in RAM has one as well. */
function addRows(model) {
  model.ops.forEach(([name, , , writes], op) => {
    model.rowsOfOp[op] = [];
    const add = (value, label) => {
      model.rowsOfOp[op].push(model.rows.length);
      if (value !== null) model.rowOfValue[value] = model.rows.length;
      model.rows.push({ op, value, label });
    };
    if (!writes.length) add(null, name);
    for (const value of writes) add(value, writes.length === 1 ? name : model.values[value][0]);
  });
  // Those that live on storage have a chart of their own, in the order in which they are loaded first.
  for (const { kind, id } of model.steps) {
    if (kind !== "l" || model.rowOfValue[id] !== undefined) continue;
    model.rowOfValue[id] = model.homeRows.length;
    model.homeRows.push({ op: null, value: id, label: model.values[id][0] });
  }
}

/** Computations, the time spent waiting, and who reads a value when. */
function addRuns(model) {
  const done = new Set();
  model.readers = model.values.map(() => []);
  model.steps.forEach((step, s) => {
    const place = { s0: s, s1: s + 1, t0: step.t0, t1: step.t1, step: s };
    if (step.kind === "c") {
      model.runs.push({ ...place, op: step.id, again: done.has(step.id) });
      done.add(step.id);
      for (const value of model.ops[step.id][4]) model.readers[value].push(s);
    } else if (step.t1 > step.t0) {
      model.waits.push({ ...place, kind: step.kind, value: step.id });
    }
  });
}

/** Live intervals: from the step that takes the memory to the one that gives it back. */
function addLive(model) {
  const open = new Map();
  const begin = (value, s, from) => {
    if (!open.has(value)) open.set(value, { value, s0: s, t0: model.steps[s].t0, from });
  };
  const close = (value, s) => {
    const interval = open.get(value);
    if (interval)
      model.live.push({
        ...interval,
        s1: s,
        t1: model.timeOf(s),
        bytes: model.values[value][1],
        kept: s === model.steps.length,
      });
    open.delete(value);
  };
  const computed = new Set();
  model.steps.forEach((step, s) => {
    if (step.kind === "i") begin(step.id, s, "page in");
    if (step.kind === "l") begin(step.id, s, "load");
    if (step.kind === "f") close(step.id, s);
    if (step.kind !== "c") return;
    for (const value of model.ops[step.id][3])
      begin(value, s, computed.has(step.id) ? "recompute" : "compute");
    computed.add(step.id);
  });
  for (const value of [...open.keys()]) close(value, model.steps.length);
  addTakeovers(model);
  const change = new Array(model.steps.length + 1).fill(0);
  for (const { value, s0, s1, bytes } of model.live) {
    if (!isHome(model, value)) continue;
    change[s0] += bytes;
    change[s1] -= bytes;
  }
  let loaded = 0;
  model.loaded = change.map((by) => (loaded += by)); // bytes of values that live on storage, by step
}

/** `held` of each live interval: the step until which its bytes count. A result that is written over an operand counts once in the
    RAM of the plan, though the operand is freed only after the op. */
function addTakeovers(model) {
  const { steps, ops } = model;
  const counted = new Float64Array(steps.length + 1);
  const ofValue = new Map();
  for (const one of model.live) {
    one.held = one.s1;
    counted[one.s0] += one.bytes;
    counted[one.s1] -= one.bytes;
    ofValue.set(one.value, [...(ofValue.get(one.value) ?? []), one]);
  }
  let sum = model.persistent;
  for (let s = 0; s < steps.length; ++s) {
    sum += counted[s];
    if (steps[s].kind !== "c" || sum <= steps[s].ram) continue;
    const [operand] = ops[steps[s].id][4]
      .flatMap((value) => ofValue.get(value) ?? [])
      .filter((one) => one.s0 < s && s < one.held && one.bytes <= sum - steps[s].ram)
      .sort((a, b) => b.bytes - a.bytes || a.s1 - b.s1);
    if (!operand) continue;
    operand.held = s;
    counted[operand.s1] += operand.bytes;
    sum -= operand.bytes;
  }
}

/** The first step of which `holds` is true, as it is of all later ones; the number of steps if there is none. */
function firstStep(steps, holds) {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(steps[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Transfers, and what is on storage in between. In steps: from the one that issues it (or in which the channel comes to it) to the one in which it ends. */
function addMoves(model) {
  const { steps } = model;
  const stepAt = (t, before) => {
    const low = firstStep(steps, (step) => !before(step.t1, t));
    if (low === steps.length) return low;
    const { t0, t1 } = steps[low];
    return low + (t1 > t0 ? Math.max(0, (t - t0) / (t1 - t0)) : 0);
  };
  const last = new Map(); // of each value
  for (const [step, t0, t1] of model.channel) {
    if (step >= steps.length) continue;
    const s0 = Math.max(
      step,
      stepAt(t0, (end, t) => end <= t),
    );
    const s1 =
      t1 > t0
        ? Math.max(
            s0,
            stepAt(t1, (end, t) => end < t),
          )
        : step + 1;
    const { kind, id: value } = steps[step];
    const move = { step, kind, value, s0: t1 > t0 ? s0 : step, s1, t0, t1 };
    const before = last.get(value);
    if (kind === "i" && before && before.s1 < move.s0)
      model.stored.push({ value, s0: before.s1, t0: before.t1, s1: move.s0, t1: t0 });
    last.set(value, move);
    model.moves.push(move);
  }
}

/** What is in RAM while step s runs, largest first. */
export function residentAt(model, s) {
  return model.live
    .filter((interval) => interval.s0 <= s && s < interval.held && interval.bytes > 0)
    .sort((a, b) => b.bytes - a.bytes || a.s0 - b.s0);
}

/** The step that runs at x. */
export function stepAtX(model, view, x) {
  if (view.mode === "step") return Math.max(0, Math.min(model.steps.length - 1, Math.floor(x)));
  const s = firstStep(model.steps, (step) => step.t1 > x * view.unit);
  return Math.min(s, model.steps.length - 1);
}

export const valueName = (model, value) => (value === null ? "?" : model.values[value][0]);
export const opName = (model, op) => (op === null ? "?" : model.ops[op][0]);
export const stepText = (model, s) => {
  const step = model.steps[s];
  return `${PART[step.kind]} ${step.kind === "c" ? opName(model, step.id) : valueName(model, step.id)}`;
};
