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
  isTouch,
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
import { CLASSES, byClass } from "./classes.js";
import { columnsOf, levels } from "./columns.js";
import { drawn, inOnePath, rectangles } from "./many.js";
import { peakStep } from "./moment.js";
import { homes, largest, opName, residentAt, stepAtX, stepText, valueName } from "./model.js";
import { inParts, keepsAll, overWords } from "./plans.js";
import { stacked } from "./stack.js";

const TOP = 10;
const DENSE = 2000; // steps

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

const DOTS = "path://M0,4 h2 v2 h-2 z M4,4 h2 v2 h-2 z M8,4 h2 v2 h-2 z"; // a dotted line, for the legend

/** The step with everything in RAM, in its own time; nothing on an axis of step numbers, nor where the plan is that step. */
function keepAll(view, model) {
  const { end, ram, peak_ram } = model.keep_all;
  if (view.mode === "step" || peak_ram > view.ramMax || keepsAll(model)) return [];
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

/** Where keeping everything lies above the chart: a line at its upper edge that says so. */
function keepAllMark(view, model) {
  const { peak_ram } = model.keep_all;
  if (peak_ram <= view.ramMax || keepsAll(model)) return [];
  return [
    {
      yAxis: view.ramMax,
      text: `↑ everything kept ${bytes(peak_ram)}${narrow() ? "" : ", above this chart"}`,
      colour: COLOUR.soft,
      dash: "dotted",
      position: "insideStartTop",
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
  const columns = columnsIn(view, model);
  const { boxes: largestOnes, bands } = stacked(model);
  const parts = tensors(view, model, largestOnes);
  const rests = bands.map(({ name, colour, low, high }) =>
    band(columns, `rest ${name}`, name, colour, 3, (s) => [low[s], high[s]]),
  );
  const ghost = keepAll(view, model);
  const series = [
    {
      type: "line",
      id: "ram",
      name: "RAM",
      data: points,
      sampling: "minmax",
      symbol: "none",
      emphasis: { disabled: true },
      lineStyle: { opacity: 0 }, // it is there to be pointed at; the outline is drawn column by column
    },
    ...parts,
    ...rests,
    outline(columns),
    ...ghost,
    ...peak(view, model),
    boxes(
      "persistent",
      COLOUR.persistent,
      3,
      model.persistent > 0 ? [[0, view.xMax[view.mode], 0, model.persistent]] : [],
    ),
    ...(model.figures.peak_ram > model.ram_budget
      ? [
          band(columns, "over", "over the budget", COLOUR.over, 4, (s) => [
            model.ram_budget,
            model.steps[s].ram,
          ], { opacity: 0.35 }),
        ]
      : []),
    lines([
      ...(model.persistent > 0
        ? [
            {
              yAxis: model.persistent,
              text: `persistent ${bytes(model.persistent)}`,
              colour: COLOUR.ink,
              position: "insideEndBottom", // labels close by, of the budget and the peak, stand at the other end or above
            },
          ]
        : []),
      budgetMark(
        model.ram_budget,
        `budget ${bytes(model.ram_budget)}`,
        model.figures.peak_ram > model.ram_budget,
      ),
      ...overMark(model),
      ...keepAllMark(view, model),
      ...stopMark(view, model),
      ...deadlineMark(view, model),
    ]),
  ];
  const known = new Set([...parts, ...rests].map((one) => one.name));
  const names = CLASSES.map(([name]) => name).filter((name) => known.has(name));
  const shown = [...names, ...ghost.map((one) => ({ name: one.name, icon: DOTS }))];
  names.push(...ghost.map((one) => one.name));
  const option = common(view, margins(46 + moreLegend(names), 34), {
    description: ramWords(view, model),
    filterMode: "none",
  });
  option.tooltip.trigger = "axis";
  option.tooltip.axisPointer = { type: "line", snap: false, lineStyle: { color: COLOUR.ink } };
  Object.assign(option.tooltip, isTouch() ? { showContent: false } : narrow() ? belowChart() : besideCurve());
  option.tooltip.formatter = (params) => ramTip(model, stepAtX(model, view, params[0].axisValue));
  return {
    ...option,
    legend: legendAbove(shown),
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

/** Below the chart where the window has room for it there, else on the side of the chart that is not pointed at. */
const besideCurve = () => ({
  confine: false,
  position: (point, params, box, rect, { contentSize, viewSize }) => {
    const { bottom } = box.parentElement.getBoundingClientRect();
    const left = Math.max(0, Math.min(point[0] - contentSize[0] / 2, viewSize[0] - contentSize[0]));
    if (bottom + contentSize[1] <= window.innerHeight) return [left, viewSize[1] - 4];
    return [point[0] < viewSize[0] / 2 ? viewSize[0] - contentSize[0] - 50 : 190, 40];
  },
  extraCssText: "z-index: 15; max-width: 420px; white-space: normal; overflow-wrap: anywhere",
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
function tensors(view, model, items) {
  return byClass(model, items).map(([name, colour, own]) => {
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

/** What draws columns of pixels: a band from `low` to `high`, bytes by step, or all that is above a level. */
function band(columns, id, name, colour, z, bytesOf, style = {}) {
  return drawn(id, name, colour, z, (place) => {
    const y = (value) => place.map.sy * value + place.map.oy;
    const rects = columns(place).flatMap(({ left, right, s }) => {
      const [low, high] = bytesOf(s);
      return high > low ? [{ x0: left, x1: right, y0: y(low), y1: y(high) }] : [];
    });
    return inOnePath(rects, place.frame, { fill: colour, ...style });
  });
}

/** The RAM in use as a line of steps. */
const outline = (columns) =>
  drawn("outline", "outline", COLOUR.ramLine, 5, (place) => ({
    type: "polyline",
    silent: true,
    shape: {
      points: columns(place).flatMap(({ left, right, ram }) => {
        const y = place.map.sy * ram + place.map.oy;
        return [
          [left, y],
          [right, y],
        ];
      }),
    },
    style: { fill: "none", stroke: COLOUR.ramLine, lineWidth: narrow() ? 1 : 1.5 },
  }));

/** The columns of a place, computed once for all series that are drawn there. */
function columnsIn(view, model) {
  const spans = levels(view, model).map((item) => ({
    x0: start(view, item),
    x1: finish(view, item),
    s: item.s0,
    ram: item.ram,
  }));
  let known = {};
  return ({ map, frame }) => {
    const key = [map.sx, map.ox, frame.x, frame.width].join();
    if (known.key !== key) known = { key, columns: columnsOf(spans, { map, frame }) };
    return known.columns;
  };
}

/** How far above the budget the plan goes. */
function overMark(model) {
  const { peak_ram } = model.figures;
  if (peak_ram <= model.ram_budget) return [];
  const share = percent(peak_ram / model.ram_budget - 1);
  const text = `peak ${bytes(peak_ram)}, ${share} over`;
  return [{ yAxis: peak_ram, text, colour: COLOUR.over, position: "insideStartTop" }];
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
    all > view.ramMax ? ` With everything kept${inParts(model)} it is ${bytes(all)}, which is far above this chart.` : "";
  const dense =
    model.steps.length > DENSE ? " Where steps share a pixel, the one with most RAM is drawn." : "";
  const loaded = homes(model)
    ? ` Parameters from storage: at most ${bytes(largest(model.loaded))}${model.persistent > 0 ? `; grey: those that stay, ${bytes(model.persistent)}` : ""}.`
    : "";
  return `${peak}${share}${off}.${over}${kept}${loaded}${cut}${dense}`;
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
    entries.push(["persistent values", bytes(model.persistent)]);
  const scratch = step.ram - model.persistent - resident.reduce((sum, interval) => sum + interval.bytes, 0);
  if (scratch > 0) entries.push(["workspace", bytes(scratch)]);
  const over = step.ram > model.ram_budget ? `, ${bytes(step.ram - model.ram_budget)} over budget` : "";
  return tipText(
    `${bytes(step.ram)}${over}`,
    entries,
    `${seconds(step.t0)}, step ${count(s)}: ${stepText(model, s)}`,
  );
}
