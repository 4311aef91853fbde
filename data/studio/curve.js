// Energy over RAM: one line per deadline, points as they are found, the band in which a better plan could still lie, and the budget,
// which can be dragged.

import { bytes, joules, percent } from "./report/amounts.js";
import { COLOUR, byteAxis, legendAbove, margins, narrow } from "./report/axes.js";
import { element } from "./report/plans.js";
import { shownBudget } from "./choose.js";
import { budgetSeries, seriesOf, wordsOf } from "./curve_series.js";
import { linesOf, rowAt, withPoint } from "./points.js";

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
    swept: [],
    added: [], // plans that were solved on their own
    get rows() {
      return [...this.swept, ...this.added];
    },
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
      curve.swept = rows;
      draw(curve);
    },
    add(row) {
      curve.added = withPoint(curve.added, row);
      draw(curve);
    },
    clear() {
      Object.assign(curve, { swept: [], added: [] });
      draw(curve);
    },
    mark(ram, factor) {
      Object.assign(curve, { ram, factor });
      if (ram) slider.value = ram;
      if (curve.range?.[1] > ram) {
        tell(curve);
        curve.chart.setOption({ series: [budgetSeries(curve.ram)] });
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
  const energies = lines.flatMap((line) =>
    line.rows.flatMap((row) => [row.energy_joules, row.bound_joules ?? row.energy_joules]),
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
      series: [budgetSeries(curve.ram), ...lines.flatMap((line) => seriesOf(line, Math.max(0, low - air)))],
    },
    { notMerge: true },
  );
  tell(curve);
}

/** What the budget costs: by the plan of this budget, or at most what a plan of a smaller one needs. */
function tell(curve) {
  if (!curve.ram) return void (curve.label.textContent = "");
  const line = linesOf(curve.rows).find((one) => Number(one.deadline || 0) === (curve.factor ?? 0));
  const row = line && rowAt(line.rows, curve.ram);
  const keepAll = curve.rows.find((row) => row.keep_all_peak_ram_bytes > 0)?.keep_all_peak_ram_bytes;
  const share = keepAll ? `, ${percent(curve.ram / keepAll)} of keeping everything` : "";
  const limit = row?.ram_budget_bytes === curve.ram && !row.carried ? "" : "at most ";
  const costs = row
    ? `: ${limit}${joules(row.energy_joules)} (${percent(row.energy_joules / row.baseline_joules - 1)} more)`
    : "";
  curve.label.textContent = `${bytes(curve.ram)}${share}${costs}`;
  curve.slider.setAttribute("aria-valuetext", curve.label.textContent);
}

/** Dragging in the chart moves the budget. */
function listen(curve, choose) {
  const zr = curve.chart.getZr();
  let dragging = false;
  let last; // where the budget was dragged to
  const ramAt = (event) => {
    const x = curve.chart.convertFromPixel({ xAxisIndex: 0 }, event.offsetX);
    return (last = shownBudget(Math.min(Math.max(1, x), rangeOf(curve)[1])));
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
      choose(type === "mouseup" ? ramAt(event) : last, true);
    });
}
