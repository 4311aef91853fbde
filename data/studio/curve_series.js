// What the curve's chart is of: of each deadline the band, the plans and the budgets without one; the budget; all in words.

import { bytes, escaped, joules, percent, seconds } from "./report/amounts.js";
import { COLOUR, tipText } from "./report/axes.js";

/** `floor`: where the chart ends below. */
export function seriesOf(line, floor) {
  const band = {
    type: "custom",
    name: line.name,
    id: `band ${line.name}`,
    silent: true,
    tooltip: { show: false },
    itemStyle: { color: line.colour },
    data: line.rows.slice(1).map((row, i) => {
      const before = line.rows[i];
      return [
        before.ram_budget_bytes,
        before.bound_joules ?? floor,
        before.energy_joules,
        row.ram_budget_bytes,
        row.bound_joules ?? floor,
        row.energy_joules,
      ];
    }),
    renderItem: (params, api) => {
      const at = (x, y) => api.coord([api.value(x), api.value(y)]);
      return {
        type: "polygon",
        shape: { points: [at(0, 1), at(0, 2), at(3, 5), at(3, 4)] },
        style: { fill: line.colour, opacity: 0.22 },
      };
    },
  };
  const plans = {
    type: "line",
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
