// What the page of a study begins with: how many points hold, who needs the least energy, what is proven.

import { count, counted, percent } from "./amounts.js";
import { commandElement, element } from "./plans.js";
import { holds } from "./study_charts.js";

/** Of each set of limits on each network the methods that need least energy. */
function winners(study) {
  const limits = new Map();
  for (const row of study.rows.filter(holds)) {
    const key = [row.chart, row.ram_budget_bytes, row.deadline_seconds].join();
    if (!limits.has(key)) limits.set(key, []);
    limits.get(key).push(row);
  }
  const wins = new Map();
  for (const rows of limits.values()) {
    const least = Math.min(...rows.map((row) => row.energy_joules));
    for (const row of rows)
      if (row.energy_joules <= least * (1 + 1e-9)) wins.set(row.method, (wins.get(row.method) ?? 0) + 1);
  }
  const ties = [...limits.values()].length < [...wins.values()].reduce((sum, n) => sum + n, 0);
  return { of: limits.size, wins, ties };
}

function verdictOf(study) {
  const { rows, methods } = study;
  const { of, wins, ties } = winners(study);
  const named = methods
    .filter((method) => wins.has(method.name))
    .sort((a, b) => wins.get(b.name) - wins.get(a.name))
    .map((method) => method.style.title + (of > 1 ? ` at ${count(wins.get(method.name))}` : ""));
  const most =
    named.slice(0, 4).join("; ") +
    (named.length > 4 ? ` and ${counted(named.length - 4, "method")} more` : "");
  const proven = rows.filter((row) => row.method === "poet" && holds(row) && row.gap !== null);
  const limits = rows.some((row) => row.deadline_seconds) ? "sets of limits" : "budgets";
  const tried = rows.filter((row) => row.method === "poet").length;
  const gaps = proven.map((row) => (row.energy_joules - row.bound_joules) / row.energy_joules);
  const held = rows.filter(holds).length;
  const block = element("div", { className: held ? "verdict" : "verdict invalid" });
  block.append(
    element(
      "strong",
      {},
      held
        ? `${count(held)} of ${counted(rows.length, "point")} hold their limits. `
        : `None of ${counted(rows.length, "point")} holds its limits: the table says why. `,
    ),
    of
      ? `Least energy${of > 1 ? `, at ${count(of)} ${limits} that a method holds` : ""}: ${most}${ties ? " (ties count for each)" : ""}. `
      : "",
    gaps.length
      ? `Lower bounds are proven for POET at ${tried === 1 ? "its point" : gaps.length === tried ? `each of its ${count(tried)} points` : `${count(gaps.length)} of its ${count(tried)} points`}: there a better plan could save at most ${percent(Math.max(...gaps), 2)} of the energy.`
      : "",
  );
  return block;
}

/** Fills `box`: what the study is of, what holds, what is proven, and how it was made. */
export function fillHead(box, study) {
  const charts = new Set(study.rows.map((row) => row.chart)).size;
  const pairs = charts === 1 ? "1 network and device" : `${count(charts)} pairs of network and device`;
  box.replaceChildren(
    element("h1", {}, study.title),
    element(
      "p",
      { className: "soft" },
      `${counted(study.methods.length, "method")}, ${pairs}, ${counted(study.rows.length, "point")}`,
    ),
    verdictOf(study),
    ...study.notes.map((note) => element("p", {}, note)),
    element(
      "p",
      { className: "made" },
      `Made by poet ${study.version} on ${study.written}: `,
      commandElement(study.command),
    ),
  );
}
