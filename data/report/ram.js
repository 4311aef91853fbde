// RAM over time against the budget: the largest tensors stacked, each where it lies between what came before it and what came after.

import { bytes, count, percent, seconds } from "./amounts.js";
import {
  COLOUR,
  boxes,
  budgetMark,
  byteAxis,
  common,
  deadlineMark,
  finish,
  layout,
  legendAbove,
  lines,
  margins,
  moreLegend,
  narrow,
  start,
  stopMark,
  tipText,
} from "./axes.js";
import { byClass } from "./classes.js";
import { rectangles } from "./many.js";
import { peakStep } from "./moment.js";
import { homes, largest, opName, residentAt, stepAtX, stepText, valueName } from "./model.js";
import { overWords } from "./plans.js";
import { stacked } from "./stack.js";

const TOP = 10;

/** The end of an axis that shows `most`, and `limit` too unless that is so far off that nothing else could be seen. */
export function axisEnd(most, limit) {
  const shown = limit <= 2 * most || most === 0 ? Math.max(most, limit) : most;
  return shown > 0 ? shown * 1.08 : 1;
}

const FAR = 2.5; // times what the chart shows otherwise: a plan is to be seen beside the step with everything in RAM

/** The end of the RAM axis: the plan and its budget, and what keeping everything takes, if it is not far off. */
export function ramEnd(model) {
  const end = axisEnd(model.figures.peak_ram, model.ram_budget);
  const all = axisEnd(model.keep_all.peak_ram, 0);
  return all <= FAR * end ? Math.max(end, all) : end;
}

/** The step with everything in RAM, in its own time; nothing on an axis of step numbers. */
function keepAll(view, model) {
  const { end, ram, peak_ram } = model.keep_all;
  if (view.mode === "step" || peak_ram > view.ramMax) return [];
  const data = end.flatMap((t, i) => [
    [(i ? end[i - 1] : 0) / view.unit, ram[i]],
    [t / view.unit, ram[i]],
  ]);
  return [
    {
      type: "line",
      id: "keep-all",
      name: "everything kept",
      data,
      sampling: "minmax",
      symbol: "none",
      silent: true,
      z: 4,
      emphasis: { disabled: true },
      lineStyle: { color: COLOUR.soft, width: 1.5, type: "dotted" },
      itemStyle: { color: COLOUR.soft },
    },
  ];
}

/** Where the RAM axis begins: at zero, unless most of it would be the persistent values of every plan. */
export function axisBegin(models, end) {
  const least = Math.min(...models.map((model) => model.persistent));
  if (least <= 0.5 * end) return 0;
  const wanted = least - 0.15 * (end - least);
  const unit = 10 ** Math.floor(Math.log10(0.15 * (end - least)));
  return Math.floor(wanted / unit) * unit;
}

export function ramOption(view, model) {
  const points = levels(view, model).flatMap((item) => [
    [start(view, item), item.ram],
    [finish(view, item), item.ram],
  ]);
  const parts = tensors(view, model);
  const ghost = keepAll(view, model);
  const series = [
    {
      type: "line",
      id: "ram",
      name: "RAM",
      data: points,
      sampling: "minmax", // of tens of thousands of steps those that can be seen
      symbol: "none",
      emphasis: { disabled: true },
      lineStyle: { color: "#2b6f9e", width: 1.5 },
      areaStyle: { color: COLOUR.ram, opacity: 0.45 },
    },
    ...parts,
    ...ghost,
    ...peak(view, model),
    boxes(
      "persistent",
      COLOUR.persistent,
      3,
      model.persistent > 0 ? [[0, view.xMax[view.mode], 0, model.persistent]] : [],
    ),
    boxes("over", COLOUR.over, 4, overBudget(view, model)),
    lines([
      ...(model.persistent > 0
        ? [
            {
              yAxis: model.persistent,
              text: `${homes(model) ? "resident" : "persistent"} ${bytes(model.persistent)}`,
              colour: COLOUR.soft,
              position: "insideStartBottom",
            },
          ]
        : []),
      budgetMark(
        model.ram_budget,
        `budget ${bytes(model.ram_budget)}`,
        model.figures.peak_ram > model.ram_budget,
      ),
      ...overMark(model),
      ...stopMark(view, model),
      ...deadlineMark(view, model),
    ]),
  ];
  const names = [...parts, ...ghost].map((one) => one.name);
  const option = common(view, margins(46 + moreLegend(names), 34), {
    description: ramWords(view, model),
    filterMode: "none",
  });
  option.tooltip.trigger = "axis";
  option.tooltip.axisPointer = { type: "line", snap: false, lineStyle: { color: COLOUR.ink } };
  if (narrow()) Object.assign(option.tooltip, belowChart());
  option.tooltip.formatter = (params) => ramTip(model, stepAtX(model, view, params[0].axisValue));
  return {
    ...option,
    legend: legendAbove(names),
    yAxis: byteAxis(view.ramMin, view.ramMax, "RAM"),
    series,
  };
}

/** A tooltip that leaves the chart free, which on a phone it would cover; the inspector (report.css) lies above it. */
const belowChart = () => ({
  confine: false,
  position: (point, params, box, rect, { contentSize, viewSize }) => [
    Math.max(0, Math.min(point[0] - contentSize[0] / 2, viewSize[0] - contentSize[0])),
    viewSize[1],
  ],
  extraCssText: `z-index: 15; max-width: ${layout.width() - 20}px; white-space: normal; overflow-wrap: anywhere`,
});

/** The moment of most RAM, to be clicked. */
function peak(view, model) {
  const s = peakStep(model);
  if (s < 0) return [];
  const step = { s0: s, s1: s + 1, ...model.steps[s] };
  return [
    {
      type: "scatter",
      id: "peak",
      name: "peak",
      data: [[(start(view, step) + finish(view, step)) / 2, step.ram]],
      symbol: "circle",
      symbolSize: 11,
      z: 8,
      emphasis: { scale: 1.4 },
      itemStyle: { color: COLOUR.paper, borderColor: COLOUR.ink, borderWidth: 2 },
      tooltip: { show: false },
    },
  ];
}

/** Tensors one by one, in the colours of their classes. */
function tensors(view, model) {
  return byClass(model, stacked(model)).map(([name, colour, own]) => {
    const rects = own.map((one) => ({
      x0: start(view, one),
      x1: finish(view, one),
      y0: one.low,
      y1: one.high,
      value: one.value,
    }));
    return rectangles(name, colour, rects, { gap: 0.5, z: 3 });
  });
}

/** RAM per step. On a time axis steps without duration count only if they reach above their surroundings. */
function levels(view, model) {
  const items = model.steps.map((step, s) => ({ s0: s, s1: s + 1, ...step }));
  if (view.mode === "step") return items;
  const lasts = items.map((item) => item.t1 > item.t0);
  let before = 0;
  const around = items.map((item, s) => (lasts[s] ? (before = item.ram) : before));
  let after = 0;
  for (let s = items.length - 1; s >= 0; --s) {
    if (lasts[s]) after = items[s].ram;
    around[s] = Math.max(around[s], after);
  }
  return items.filter((item, s) => lasts[s] || item.ram > around[s]);
}

/** How far above the budget the plan goes. */
function overMark(model) {
  const { peak_ram } = model.figures;
  if (peak_ram <= model.ram_budget) return [];
  const share = percent(peak_ram / model.ram_budget - 1);
  const text = `peak ${bytes(peak_ram)}, ${share} over`;
  return [{ yAxis: peak_ram, text, colour: COLOUR.over, position: "insideStartTop" }];
}

/** Steps over the budget, from the budget up. */
function overBudget(view, model) {
  const items = model.steps
    .map((step, s) => ({ s0: s, s1: s + 1, ...step }))
    .filter((step) => step.ram > model.ram_budget);
  return items.map((item) => [start(view, item), finish(view, item), model.ram_budget, item.ram]);
}

export function ramWords(view, model) {
  const { peak_ram, peak_op } = model.figures;
  const peak = `Peak ${bytes(peak_ram)}${peak_op === null ? "" : ` at ${opName(model, peak_op)}`}`;
  const share =
    model.ram_budget > 0
      ? `, ${percent(peak_ram / model.ram_budget)} of the budget of ${bytes(model.ram_budget)}`
      : "";
  const cut = view.ramMin > 0 ? ` The axis begins at ${bytes(view.ramMin)}.` : "";
  const off = axisEnd(peak_ram, model.ram_budget) < model.ram_budget ? " (far above this chart)" : "";
  const over = peak_ram > model.ram_budget ? ` ${overWords(model)}` : "";
  const all = model.keep_all.peak_ram;
  const kept =
    all > view.ramMax ? ` With everything kept it is ${bytes(all)}, which is far above this chart.` : "";
  const loaded = homes(model)
    ? ` Parameters from storage: at most ${bytes(largest(model.loaded))}${model.persistent > 0 ? `; grey: those that stay, ${bytes(model.persistent)}` : ""}.`
    : "";
  return `${peak}${share}${off}.${over}${kept}${loaded}${cut}`;
}

function ramTip(model, s) {
  if (!model.steps.length) return "";
  const step = model.steps[s];
  const resident = residentAt(model, s);
  const top = narrow() ? TOP / 2 : TOP;
  const entries = resident
    .slice(0, top)
    .map((interval) => [valueName(model, interval.value), bytes(interval.bytes)]);
  const rest = resident.slice(top);
  if (rest.length)
    entries.push([
      `and ${count(rest.length)} more`,
      bytes(rest.reduce((sum, interval) => sum + interval.bytes, 0)),
    ]);
  if (model.loaded[s] > 0) entries.push(["of these, parameters from storage", bytes(model.loaded[s])]);
  if (model.persistent > 0)
    entries.push([homes(model) ? "resident parameters" : "persistent values", bytes(model.persistent)]);
  const scratch = step.ram - model.persistent - resident.reduce((sum, interval) => sum + interval.bytes, 0);
  if (scratch > 0) entries.push(["workspace", bytes(scratch)]);
  const over = step.ram > model.ram_budget ? `, ${bytes(step.ram - model.ram_budget)} over budget` : "";
  return tipText(
    `${bytes(step.ram)}${over}`,
    entries,
    `${seconds(step.t0)}, step ${count(s)}: ${stepText(model, s)}`,
  );
}
