// Energy over RAM: one line per deadline, points as they are found, the band in which a better plan could still lie, and the budget,
// which can be dragged.

import { bytes, escaped, joules, percent, seconds } from "./report/amounts.js";
import { COLOUR, byteAxis, legendAbove, margins, narrow, tipText } from "./report/axes.js";
import { element } from "./report/plans.js";
import { between, linesOf } from "./points.js";

const LINES = ["first", "again", "in", "out"];

/** A curve in `box`. `choose(ram, done)`: the budget was moved; `done`: and let go. */
export function makeCurve(box, choose) {
  const canvas = element("div", { className: "chart" });
  canvas.style.height = "300px";
  const slider = element("input", { type: "range", step: 1, disabled: true, className: "budget" });
  slider.setAttribute("aria-label", "RAM budget");
  const label = element("output", { className: "budget" });
  box.replaceChildren(canvas, slider, label);
  const curve = {
    chart: echarts.init(canvas, null, { renderer: "canvas" }),
    slider,
    label,
    rows: [],
    ram: undefined,
    factor: undefined,
  };
  slider.addEventListener("input", () => choose(Number(slider.value), false));
  slider.addEventListener("change", () => choose(Number(slider.value), true));
  listen(curve, choose);
  const observer = new ResizeObserver(() =>
    requestAnimationFrame(() => {
      curve.chart.resize();
      draw(curve);
    }),
  );
  observer.observe(box);
  return {
    show(rows) {
      curve.rows = rows;
      draw(curve);
    },
    mark(ram, factor) {
      Object.assign(curve, { ram, factor });
      if (ram) slider.value = ram;
      if (curve.range?.[1] > ram) {
        tell(curve);
        curve.chart.setOption({ series: [budgetSeries(curve)] });
      } else {
        draw(curve);
      }
    },
    redraw: () => draw(curve),
  };
}

/** The range of RAM that is shown. */
function rangeOf(curve) {
  const known = curve.rows
    .flatMap((row) => [row.ram_budget_bytes, row.keep_all_peak_ram_bytes])
    .filter((x) => x > 0);
  const most = Math.max(curve.ram ?? 0, ...known);
  return [0, most > 0 ? 1.05 * most : 1];
}

function draw(curve) {
  const lines = linesOf(curve.rows).map((line, i) => ({ ...line, colour: COLOUR[LINES[i % LINES.length]] }));
  const [from, to] = (curve.range = rangeOf(curve));
  Object.assign(curve.slider, { min: 1, max: Math.round(to), disabled: !curve.rows.length && !curve.ram });
  if (curve.ram) curve.slider.value = curve.ram;
  const energies = curve.rows.flatMap((row) =>
    row.verdict === "holds" ? [row.energy_joules, row.bound_joules ?? row.energy_joules] : [],
  );
  const [low, high] = energies.length ? [Math.min(...energies), Math.max(...energies)] : [0, 1];
  const air = 0.08 * (high - low || high || 1);
  curve.chart.setOption(
    {
      animation: false,
      aria: { enabled: true, label: { description: wordsOf(lines) } },
      textStyle: { color: COLOUR.ink, fontFamily: "system-ui, sans-serif" },
      grid: { ...margins(36, 40), left: narrow() ? 70 : 100 },
      legend: legendAbove(lines.map((line) => line.name)),
      tooltip: {
        confine: true,
        backgroundColor: COLOUR.paper,
        borderColor: COLOUR.axis,
        textStyle: { color: COLOUR.ink, fontSize: 12 },
      },
      xAxis: {
        ...byteAxis(from, to, ""),
        type: "value",
        axisLabel: { formatter: (x) => bytes(x, 3), color: COLOUR.soft, hideOverlap: true },
        splitLine: { show: false },
        name: "RAM budget",
        nameLocation: "middle",
        nameGap: 26,
      },
      yAxis: {
        type: "value",
        min: Math.max(0, low - air),
        max: high + air,
        axisLabel: {
          formatter: (y) => joules(y, 4),
          color: COLOUR.soft,
          showMinLabel: false,
          showMaxLabel: false,
        },
        splitLine: { lineStyle: { color: COLOUR.line } },
      },
      series: [budgetSeries(curve), ...lines.flatMap((line) => seriesOf(line, Math.max(0, low - air)))],
    },
    { notMerge: true },
  );
  tell(curve);
}

function seriesOf(line, floor) {
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

function budgetSeries(curve) {
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
      data: curve.ram
        ? [
            {
              xAxis: curve.ram,
              label: { formatter: () => bytes(curve.ram), color: COLOUR.ink, fontWeight: 600 },
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

const wordsOf = (lines) =>
  lines
    .map(
      (line) =>
        `${line.name}: ${line.rows.map((row) => `${bytes(row.ram_budget_bytes)} ${joules(row.energy_joules)}`).join(", ")}`,
    )
    .join(". ") || "No plan yet";

/** What the budget costs, as far as the curve tells. */
function tell(curve) {
  if (!curve.ram) return void (curve.label.textContent = "");
  const line = linesOf(curve.rows).find((one) => Number(one.deadline || 0) === (curve.factor ?? 0));
  const energy = line && between(line.rows, curve.ram);
  const keepAll = curve.rows.find((row) => row.keep_all_peak_ram_bytes > 0)?.keep_all_peak_ram_bytes;
  const share = keepAll ? `, ${percent(curve.ram / keepAll)} of keeping everything` : "";
  const costs = energy
    ? `: about ${joules(energy)} (${percent(energy / line.rows[0].baseline_joules - 1)} more)`
    : "";
  curve.label.textContent = `${bytes(curve.ram)}${share}${costs}`;
  curve.slider.setAttribute("aria-valuetext", curve.label.textContent);
}

/** Dragging in the chart moves the budget. */
function listen(curve, choose) {
  const zr = curve.chart.getZr();
  let dragging = false;
  const ramAt = (event) => {
    const x = curve.chart.convertFromPixel({ xAxisIndex: 0 }, event.offsetX);
    return Math.round(Math.min(Math.max(1, x), rangeOf(curve)[1]));
  };
  zr.on("mousedown", (event) => {
    if (!curve.chart.containPixel("grid", [event.offsetX, event.offsetY])) return;
    dragging = true;
    choose(ramAt(event), false);
  });
  zr.on("mousemove", (event) => dragging && choose(ramAt(event), false));
  for (const type of ["mouseup", "globalout"])
    zr.on(type, (event) => {
      if (!dragging) return;
      dragging = false;
      choose(type === "mouseup" ? ramAt(event) : undefined, true);
    });
}
