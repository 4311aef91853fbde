// The points of the curve: one line per deadline, each with the best plan and the highest bound that are known for its budget.

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
    const { energy_joules, runtime_seconds } = from;
    return {
      ...row,
      verdict: "holds",
      energy_joules,
      runtime_seconds,
      bound_joules,
      carried: from.ram_budget_bytes,
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

/** What is proven within the limits of `row`, of the graph that the plan of `plan` is of: operators in other parts are another
    graph, whose plans may need less. */
function highestBound(rows, row, plan) {
  const bounds = rows.filter(
    (other) =>
      Number.isFinite(other.bound_joules) &&
      other.part_bytes === plan.part_bytes &&
      other.ops === plan.ops &&
      other.ram_budget_bytes >= row.ram_budget_bytes &&
      latest(other) >= latest(row),
  );
  return bounds.length ? Math.max(...bounds.map((other) => other.bound_joules)) : null;
}

/** The energy at a budget, between the points beside it; nothing where there is no plan. */
export function between(rows, ram) {
  const after = rows.findIndex((row) => row.ram_budget_bytes >= ram);
  if (after < 0) return rows.at(-1)?.energy_joules;
  if (after === 0) return rows[0].ram_budget_bytes === ram ? rows[0].energy_joules : undefined;
  const [a, b] = [rows[after - 1], rows[after]];
  const t = (ram - a.ram_budget_bytes) / (b.ram_budget_bytes - a.ram_budget_bytes);
  return a.energy_joules + t * (b.energy_joules - a.energy_joules);
}
