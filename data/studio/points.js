// The points of the curve: one line per deadline, each with the best plan and the highest bound that are known for its budget.

const FIELDS = [
  ...["ram_budget_bytes", "deadline_seconds", "energy_joules", "bound_joules", "baseline_joules", "runtime_seconds"],
  ...["keep_all_peak_ram_bytes", "part_bytes", "ops", "batch_size"],
];

/** The point of a plan that was solved on its own, within `factor` times the time; undefined of an answer without a plan. */
export function pointOf(answer, factor) {
  if (answer.energy_joules === null) return undefined;
  const row = { deadline: factor ? String(factor) : "", verdict: "holds" };
  for (const field of FIELDS) row[field] = answer[field];
  return row;
}

/** `rows` with `row`: of several with the same limits the one of least energy. */
export function withPoint(rows, row) {
  const same = (other) => other.ram_budget_bytes === row.ram_budget_bytes && other.deadline === row.deadline;
  if (rows.some((other) => same(other) && other.energy_joules <= row.energy_joules)) return rows;
  return [...rows.filter((other) => !same(other)), row];
}

/** { name, deadline, rows: plans by RAM, none: budgets without one } of each deadline. */
export function linesOf(rows) {
  const by = new Map();
  for (const row of carried(rows.filter((one) => one.ram_budget_bytes !== null))) {
    if (!by.has(row.deadline)) by.set(row.deadline, []);
    by.get(row.deadline).push(row);
  }
  return [...by].map(([deadline, own]) => ({
    name: deadline ? `within ${deadline} × the time` : "no deadline",
    deadline,
    rows: own.filter(holds).sort((a, b) => a.ram_budget_bytes - b.ram_budget_bytes),
    none: own.filter((row) => !holds(row)),
  }));
}

const holds = (row) => row.verdict === "holds" && row.energy_joules !== null;
const latest = (row) => row.deadline_seconds ?? Infinity;

/** A plan of less RAM or time is one of more, too, and a bound proven for more RAM or time is one for less: where they are
    better than what was found there, they count. */
function carried(rows) {
  return rows.map((row) => {
    const from = bestPlan(rows, row);
    if (!from) return row;
    const bound_joules = highestBound(rows, row, from);
    if (from === row) return { ...row, bound_joules };
    const { energy_joules, baseline_joules, runtime_seconds, part_bytes, ops } = from;
    return {
      ...row,
      part_bytes,
      ops,
      verdict: "holds",
      energy_joules,
      baseline_joules,
      runtime_seconds,
      bound_joules,
      carried: from.ram_budget_bytes === row.ram_budget_bytes ? undefined : from.ram_budget_bytes,
    };
  });
}

/** The row with the least energy whose plan fits the limits of `row`: itself, where no other needs less. */
function bestPlan(rows, row) {
  let best = holds(row) ? row : undefined;
  for (const other of rows) {
    const fits =
      holds(other) && other.ram_budget_bytes <= row.ram_budget_bytes && other.runtime_seconds <= latest(row);
    if (fits && !(best && best.energy_joules <= other.energy_joules)) best = other;
  }
  return best;
}

/** Whether the plans of two rows are of the same graph: operators in other parts are another one. */
export const sameGraph = (a, b) => a.part_bytes === b.part_bytes && a.ops === b.ops;

/** What is proven within the limits of `row`, of the graph that the plan of `plan` is of: operators in other parts are another
    graph, whose plans may need less. */
function highestBound(rows, row, plan) {
  const bounds = rows.filter(
    (other) =>
      Number.isFinite(other.bound_joules) &&
      sameGraph(other, plan) &&
      other.ram_budget_bytes >= row.ram_budget_bytes &&
      latest(other) >= latest(row),
  );
  return bounds.length ? Math.max(...bounds.map((other) => other.bound_joules)) : null;
}

/** The row whose plan is known for a budget: the one of the largest budget up to it; undefined where there is none. */
export const rowAt = (rows, ram) => rows.findLast((row) => row.ram_budget_bytes <= ram);
