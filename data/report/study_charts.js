// From the rows of a study to its charts: which there are, what curves they have, what is proven.

import { bytes, count, counted, joules, percent, seconds } from "./amounts.js";
import { largest } from "./model.js";

export const X = {
  budget: { text: "RAM budget", format: "bytes", of: (row) => row.ram_budget_bytes },
  peak: { text: "RAM peak", format: "bytes", of: (row) => row.peak_ram_bytes },
  deadline: {
    text: "deadline (step without limits: 1)",
    format: "number",
    of: (row) =>
      row.deadline_seconds && row.baseline_seconds ? row.deadline_seconds / row.baseline_seconds : null,
  },
};
const above = (energy, row) => 100 * (energy / row.baseline_joules - 1);
export const Y = {
  energy: {
    text: "energy",
    format: "joules",
    of: (row) => row.energy_joules,
    proven: (row) => row.bound_joules,
  },
  overhead: {
    text: "energy above the step without limits",
    format: "percent",
    log: true,
    floor: 1e-3,
    of: (row) => above(row.energy_joules, row),
    proven: (row) => above(row.bound_joules, row),
  },
  time: { text: "time of a step", format: "seconds", of: (row) => row.runtime_seconds },
};

export const holds = (row) => row.verdict === "holds" && row.energy_joules !== null;
const hasPlan = (row) => row.energy_joules !== null && row.energy_joules !== undefined;

/** Which x axes tell points apart. */
export function axesFor(rows) {
  const several = (of) => new Set(rows.map(of).filter((x) => x !== null && x !== undefined)).size > 1;
  const names = [];
  // One instance after the other: budgets of two networks differ, and say nothing of either.
  const charts = [...new Set(rows.map((row) => row.chart))].map((chart) =>
    rows.filter((row) => row.chart === chart),
  );
  if (charts.some((own) => new Set(own.map(X.budget.of)).size > 1)) names.push("budget");
  if (
    charts.some((own) => new Set(own.map((row) => row.deadline_seconds ?? null)).size > 1) &&
    several(X.deadline.of)
  )
    names.push("deadline");
  return [...names, "peak"];
}

/** A deadline as it was asked for where that is a factor, on the time of the step without limits: in seconds it differs
    between steps in other parts. */
const factorOf = (row) => (/^[0-9.e+-]+$/.test(row.deadline ?? "") ? row.deadline : undefined);

/** The limit that a chart is for, where there are several: all but what its x axis is of. `value` tells it from others,
    `text` does in rounded figures, `exact` in all digits. */
function limitOf(row, x) {
  if (x === "deadline") {
    const ram = row.ram_budget_bytes;
    return { value: ram, text: `${bytes(ram)} of RAM`, exact: `${count(ram)} B of RAM` };
  }
  const time = row.deadline_seconds;
  if (!time) return { value: "none", text: "no deadline", exact: "no deadline" };
  const factor = factorOf(row);
  if (factor) {
    const text = `within ${factor} times the step without limits`;
    return { value: `times ${factor}`, text, exact: text };
  }
  return { value: time, text: `within ${seconds(time)}`, exact: `within ${time} s` };
}

/** [{ title, rows }] in the order of the rows. */
export function groupsOf(rows, names, x) {
  const groups = new Map();
  for (const row of rows) {
    if (row.ram_budget_bytes === null || row.ram_budget_bytes === undefined) continue;
    const limit = limitOf(row, x);
    const key = `${row.chart} ${limit.value}`;
    if (!groups.has(key)) groups.set(key, { chart: row.chart, limit, rows: [] });
    groups.get(key).rows.push(row);
  }
  const all = [...groups.values()];
  const values = new Map(); // of limits that read the same
  for (const { limit } of all) values.set(limit.text, (values.get(limit.text) ?? new Set()).add(limit.value));
  const several = new Set(all.map((one) => one.limit.value)).size > 1;
  const words = (limit) => (values.get(limit.text).size > 1 ? limit.exact : limit.text);
  return all.map((one) => ({
    ...one,
    title: names[one.chart] + (several ? `, ${words(one.limit)}` : ""),
  }));
}

/** `others`: methods whose points lie at the same place, of which a click reaches only the uppermost. */
function tip(row, method, others) {
  const entries = [
    ["RAM budget", bytes(row.ram_budget_bytes)],
    ["RAM peak", bytes(row.peak_ram_bytes)],
    ["energy", joules(row.energy_joules, 6)],
    ["above the step without limits", percent(row.overhead)],
    ["time", seconds(row.runtime_seconds)],
    ["recomputed, paged in", `${count(row.recomputations)}, ${count(row.page_ins)}`],
  ];
  if (row.bound_joules !== null)
    entries.push([
      row.method === "poet" ? "proven: no plan needs less than" : "no plan of its kind needs less than",
      joules(row.bound_joules, 6),
    ]);
  if (others.length) entries.push(["here, too (their plans: the table)", others.join(", ")]);
  const note = !holds(row) ? `Over the limits: ${row.reason}` : row.hasPlan ? "A click shows the plan." : "";
  return [method.style.title, entries, note];
}

/** Curves of the methods; points over the limits are faint, and on an axis of peaks only. */
function curvesOf(rows, methods, x, y, chosen) {
  const curves = [];
  const place = (row) => [X[x].of(row), Y[y].of(row)].map((value) => Number(value).toPrecision(6)).join();
  const titles = new Map(methods.map((method) => [method.name, method.style.title]));
  const there = new Map();
  for (const row of rows.filter(hasPlan)) there.set(place(row), [...(there.get(place(row)) ?? []), row]);
  const others = (row) =>
    there
      .get(place(row))
      .filter((one) => one !== row)
      .map((one) => titles.get(one.method));
  for (const method of methods) {
    const point = (row) => ({
      x: X[x].of(row),
      y: Y[y].of(row),
      row: row.number,
      chosen: row.number === chosen,
      tip: () => tip(row, method, others(row)),
    });
    const own = rows.filter((row) => row.method === method.name && hasPlan(row) && X[x].of(row) !== null);
    const inOrder = (list) => list.map(point).sort((a, b) => a.x - b.x || a.y - b.y);
    // A plan holds for every larger budget, peak or deadline, up to the next.
    curves.push({ style: method.style, step: "end", points: inOrder(own.filter(holds)) });
    if (x === "peak")
      curves.push({
        id: `${method.name}, over`,
        style: method.style,
        line: false,
        faint: true,
        points: inOrder(own.filter((row) => !holds(row))),
      });
  }
  return curves.filter((curve) => curve.points.length);
}

/** What no plan is below, where it is proven: a bound of more RAM is one of less. With operators in parts, which differ from
    budget to budget, only at the budgets themselves. */
function boundCurves(rows, x, y) {
  if (x === "deadline" || !Y[y].proven) return [];
  const proven = rows
    .filter((row) => row.method === "poet" && holds(row) && row.bound_joules !== null)
    .map((row) => ({
      x: row.ram_budget_bytes,
      y: Y[y].proven(row),
      least: row.least_ram_bytes,
      split: row.split,
    }))
    .sort((a, b) => a.x - b.x);
  if (!proven.length) return [];
  const style = { title: "proven: no plan is below", colour: "#808080", width: 1.2, dashed: true, marker: 0 };
  if (proven.some((one) => one.split === "auto"))
    return [
      {
        style: { ...style, marker: 12 },
        line: false,
        points: proven.map((one) => ({ ...one, tip: () => [style.title, []] })),
      },
    ];
  const first = { ...proven[0], x: Math.min(proven[0].x, proven[0].least ?? proven[0].x) };
  return [{ style, step: "start", below: true, points: [first, ...proven] }];
}

/** The budget below which no plan fits, as is proven of a graph; with operators in parts, which differ from budget to budget, there is
    no single one. */
function leastOf(rows, x) {
  const own = rows.filter((row) => row.method === "poet" && row.least_ram_bytes > 0);
  if (x === "deadline" || own.some((row) => row.split === "auto")) return null;
  const least = new Set(own.map((row) => row.least_ram_bytes));
  return least.size === 1 ? [...least][0] : null;
}

function marksOf(rows, x, y) {
  const [row] = rows;
  const marks = [];
  if (x !== "deadline") {
    const most = largest(rows.map((one) => X[x].of(one) ?? 0));
    const all = row.keep_all_peak_ram_bytes;
    if (all > 0 && all <= 1.3 * most) marks.push({ x: all, text: `everything kept ${bytes(all)}` });
    if (x === "peak" && new Set(rows.map((one) => one.ram_budget_bytes)).size === 1)
      marks.push({ x: row.ram_budget_bytes, text: `budget ${bytes(row.ram_budget_bytes)}` });
  }
  if (y === "energy" && row.baseline_joules)
    marks.push({ y: row.baseline_joules, text: `step without limits ${joules(row.baseline_joules)}` });
  return marks;
}

/** In words, what is with points that do not hold. */
const VERDICTS = {
  "over limits": "over the limits",
  "no plan": "without a plan that was found",
  "not applicable": "of a method that is not defined here",
  failed: "failed",
};

function missing(rows) {
  const by = new Map();
  for (const row of rows.filter((one) => !holds(one))) by.set(row.verdict, (by.get(row.verdict) ?? 0) + 1);
  if (!by.size) return "";
  const all = [...by].map(([verdict, number]) => `${count(number)} ${VERDICTS[verdict] ?? verdict}`);
  return `Of ${counted(rows.length, "point")} ${all.join(", ")}: the table says why.`;
}

function noteOf(rows, isProven, atFloor) {
  const { baseline_joules: energy, baseline_seconds: time, keep_all_peak_ram_bytes: ram } = rows[0];
  return [
    energy
      ? `The step without limits takes ${joules(energy)} and ${seconds(time)}, and ${bytes(ram)} of RAM with everything kept.`
      : "",
    isProven ? "Grey: no plan lies there, as POET has proven." : "",
    atFloor ? `Points of ${atFloor} and less lie on the lower edge: such an axis has no 0.` : "",
    missing(rows),
  ]
    .filter(Boolean)
    .join(" ");
}

/** To two digits of the range that is shown, so that an axis does not begin in the middle of nowhere. */
function rounded(x, range) {
  const unit = 10 ** (Math.floor(Math.log10(range || Math.abs(x) || 1)) - 1);
  return Math.round(x / unit) * unit;
}

/** What makeCurves() draws of a group. */
export function specOf(group, methods, { x, y, hidden, chosen }) {
  const shown = methods.filter((method) => !hidden.has(method.name));
  const rows = group.rows.filter((row) => !hidden.has(row.method));
  const curves = [...boundCurves(rows, x, y), ...curvesOf(rows, shown, x, y, chosen)];
  const lines = curves.map(
    (curve) =>
      `${curve.style.title}: ${curve.points.map((one) => `${X[x].format === "bytes" ? bytes(one.x) : one.x} ${one.y.toPrecision(4)}`).join(", ")}`,
  );
  const marks = marksOf(group.rows, x, y);
  const least = leastOf(group.rows, x);
  const tried = least ? group.rows.map((row) => row.ram_budget_bytes).filter((ram) => ram < least) : [];
  const xs = [
    ...tried,
    ...curves.flatMap((curve) => curve.points.map((one) => one.x)),
    ...marks.filter((m) => m.x).map((m) => m.x),
  ];
  const ys = curves.flatMap((curve) => curve.points.map((one) => one.y));
  const spread = (values, log) => {
    if (!values.length || log) return {};
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const air = 0.06 * (high - low || Math.abs(high) || 1);
    return { min: Math.max(0, rounded(low - air, high - low)), max: rounded(high + air, high - low) };
  };
  return {
    x: { name: X[x].text, format: X[x].format, ...spread(xs, false) },
    y: { name: Y[y].text, format: Y[y].format, log: Y[y].log, floor: Y[y].floor, ...spread(ys, Y[y].log) },
    curves,
    marks,
    areas: tried.length ? [{ to: least, text: `no plan fits in less than ${bytes(least)}` }] : [],
    words: `${group.title}: ${Y[y].text} over ${X[x].text}. ${lines.join(". ") || "No plan holds"}`,
    note: noteOf(
      group.rows,
      curves.some((curve) => curve.below),
      Y[y].floor && ys.some((value) => value <= Y[y].floor) ? percent(Y[y].floor / 100) : "",
    ),
  };
}
