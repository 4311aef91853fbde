// The points of the curve: one line per deadline, each with the best plan that is known for its budget.

/** { name, deadline, rows: plans by RAM, none: budgets without one } of each deadline. */
export function linesOf(rows) {
  const by = new Map();
  for (const row of rows) {
    if (!by.has(row.deadline)) by.set(row.deadline, []);
    by.get(row.deadline).push(row);
  }
  return [...by].map(([deadline, own]) => {
    const points = carried(own.filter((row) => row.ram_budget_bytes !== null));
    return {
      name: deadline ? `within ${deadline} × the time` : "no deadline",
      deadline,
      rows: points.filter(holds),
      none: points.filter((row) => !holds(row)),
    };
  });
}

const holds = (row) => row.verdict === "holds" && row.energy_joules !== null;

/** By RAM. A plan of less RAM is one of more RAM, too: where it is better than the one that was found there, it counts. */
function carried(rows) {
  let best = null;
  return [...rows]
    .sort((a, b) => a.ram_budget_bytes - b.ram_budget_bytes)
    .map((row) => {
      const inTime = best && (row.deadline_seconds === null || best.runtime_seconds <= row.deadline_seconds);
      if (inTime && !(holds(row) && row.energy_joules <= best.energy_joules)) {
        const { energy_joules, runtime_seconds } = best;
        return { ...row, verdict: "holds", energy_joules, runtime_seconds, carried: best.ram_budget_bytes };
      }
      if (holds(row) && !(best && best.energy_joules < row.energy_joules)) best = row;
      return row;
    });
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
