// What the curve's chart is of: of each deadline the band, the plans and the budgets without one; the budget; all in words.

import { bytes, escaped, joules, percent, seconds } from "./report/amounts.js";
import { COLOUR, tipText } from "./report/axes.js";
import { sameGraph } from "./points.js";

/** Where a better plan could still lie: [from, to, low, high] of each stretch of budgets. A plan holds for every larger budget, a
    bound for every smaller one of the same graph; between budgets of different graphs nothing is proven, and a stretch is a line
    at the budget itself. */
export function bandOf(rows) {
  const proven = (row) => row.bound_joules !== null && row.bound_joules !== undefined;
  return rows.flatMap((row, i) => {
    const before = rows[i - 1];
    const at = row.ram_budget_bytes;
    if (!proven(row)) return [];
    const own = [at, at, row.bound_joules, row.energy_joules];
    return before && sameGraph(before, row)
      ? [[before.ram_budget_bytes, at, Math.min(row.bound_joules, before.energy_joules), before.energy_joules], own]
      : [own];
  });
}

/** `floor`: where the chart ends below. */
export function seriesOf(line, floor) {
  const band = {
    type: "custom",
    name: line.name,
    id: `band ${line.name}`,
    silent: true,
    tooltip: { show: false },
    itemStyle: { color: line.colour },
    data: bandOf(line.rows),
    renderItem: (params, api) => {
      const [left, bottom] = api.coord([api.value(0), api.value(2)]);
      const [right, top] = api.coord([api.value(1), api.value(3)]);
      const isLine = right - left < 1;
      return {
        type: "rect",
        shape: { x: isLine ? left - 1 : left, y: top, width: isLine ? 2 : right - left, height: bottom - top },
        style: { fill: line.colour, opacity: isLine ? 0.5 : 0.22 },
      };
    },
  };
  const plans = {
    type: "line",
    step: "end", // a plan holds for larger budgets up to the next
    name: line.name,
    id: line.name,
    color: line.colour,
    symbolSize: 8,
    symbol: "circle",
    lineStyle: { width: 1.5 },
    data: line.rows.map((row) => ({ value: [row.ram_budget_bytes, row.energy_joules], row })),
    tooltip: { formatter: ({ data }) => tipOf(data.row) },
  };
  const none = {
    type: "scatter",
    name: line.name,
    id: `none ${line.name}`,
    color: line.colour,
    symbol: "path://M0,0 L4,4 M4,0 L0,4",
    symbolSize: 9,
    itemStyle: { borderColor: line.colour, borderWidth: 2 },
    data: line.none.map((row) => ({ value: [row.ram_budget_bytes, floor], row })),
    tooltip: {
      formatter: ({ data }) =>
        `<strong>${escaped(bytes(data.row.ram_budget_bytes))}</strong><div>${escaped(data.row.verdict)}</div>`,
    },
  };
  return [band, plans, none];
}

/** The line at the budget, where there is one. */
export function budgetSeries(ram) {
  return {
    type: "line",
    id: "budget",
    data: [],
    silent: true,
    markLine: {
      silent: true,
      symbol: "none",
      animation: false,
      precision: -1,
      data: ram
        ? [
            {
              xAxis: ram,
              label: { formatter: () => bytes(ram), color: COLOUR.ink, fontWeight: 600 },
              lineStyle: { color: COLOUR.ink, width: 2, type: "solid" },
            },
          ]
        : [],
    },
  };
}

function tipOf(row) {
  const over = row.baseline_joules > 0 ? row.energy_joules / row.baseline_joules - 1 : 0;
  return tipText(`${bytes(row.ram_budget_bytes)}: ${joules(row.energy_joules)}`, [
    ["more than keeping everything", percent(over)],
    ["proven: no plan needs less than", row.bound_joules === null ? "?" : joules(row.bound_joules)],
    ["a step takes", seconds(row.runtime_seconds)],
    ...(row.carried ? [["by the plan of", bytes(row.carried)]] : []),
  ]);
}

export const wordsOf = (lines) =>
  lines
    .map(
      (line) =>
        `${line.name}: ${line.rows.map((row) => `${bytes(row.ram_budget_bytes)} ${joules(row.energy_joules)}`).join(", ")}`,
    )
    .join(". ") || "No plan yet";
