// Who is busy when, and where the energy goes.

import { joules, percent } from "./amounts.js";
import {
  COLOUR,
  bars,
  common,
  deadlineMark,
  inkOn,
  legendAbove,
  lines,
  margins,
  moreLegend,
  narrow,
  stopMark,
  tipText,
  whenText,
} from "./axes.js";
import { homes, movesOf, runsOf, valueName } from "./model.js";
import { moveTip, runTip } from "./schedule.js";

const lasting = (items) => items.reduce((sum, item) => sum + item.t1 - item.t0, 0);

export function lanesOption(view, model) {
  const series = [
    ["computed first", COLOUR.first, runsOf(model, false), 0, runTip],
    ["recomputed", COLOUR.again, runsOf(model, true), 0, runTip],
    ["waiting", COLOUR.wait, model.waits, 0, waitTip],
    ["page-out", COLOUR.out, movesOf(model, "o"), 1, moveTip],
    ["page-in", COLOUR.in, movesOf(model, "i"), 1, moveTip],
    ["load", COLOUR.load, movesOf(model, "l"), 1, moveTip],
    ["to home", COLOUR.home, movesOf(model, "h"), 1, moveTip],
  ]
    .filter(([, , items]) => items.length)
    // Of few steps none may be invisible; of many, as much has to be seen as there is.
    .map(([name, colour, items, lane, tip]) =>
      bars(
        view,
        name,
        colour,
        items,
        () => lane,
        model.steps.length > 2000 ? 0.3 : 2,
        (item) => tip(model, item),
      ),
    );
  const names = series.map((one) => one.name);
  const option = common(view, margins(40 + moreLegend(names), 34), { description: lanesWords(model) });
  return {
    ...option,
    legend: legendAbove(names),
    yAxis: {
      type: "category",
      inverse: true,
      data: ["compute", "storage"],
      axisTick: { show: false },
      axisLine: { lineStyle: { color: COLOUR.axis } },
      axisLabel: { color: COLOUR.ink },
    },
    series: [...series, lines([...stopMark(view, model), ...deadlineMark(view, model)], true)],
  };
}

export function lanesWords(model) {
  const whole = model.figures.runtime;
  const share = (items) => percent(whole > 0 ? lasting(items) / whole : 0);
  // Compute has ended, and the step has not, while the last values are written home.
  const after = whole - lasting(model.runs) - lasting(model.waits);
  const tail = after > 5e-5 * whole ? `, ${percent(after / whole)} at rest until the last transfer ends` : "";
  const compute = `Compute: ${share(runsOf(model, false))} first computations, ${share(runsOf(model, true))} recomputations, ${share(model.waits)} waiting${tail}.`;
  if (!model.moves.length) return `${compute} Storage: nothing is transferred.`;
  if (model.semantics !== "device")
    return `${compute} Storage: transfers take no time in ${model.semantics} semantics; they are shown when they are issued.`;
  const parameters = homes(model)
    ? `, parameters ${share(movesOf(model, "l"))} in, ${share(movesOf(model, "h"))} out`
    : "";
  return `${compute} Storage: ${share(movesOf(model, "i"))} in, ${share(movesOf(model, "o"))} out${parameters}, ${percent(whole > 0 ? Math.max(0, 1 - lasting(model.moves) / whole) : 0)} at rest.`;
}

function waitTip(model, wait) {
  const heading = wait.kind === "w" ? "waiting for" : "blocked by the transfer of";
  return tipText(`${heading} ${valueName(model, wait.value)}`, whenText(model, wait));
}

// --- energy ---

// [name, its colour in COLOUR, its part of the figures]
const COMPUTE = [
  ["compute, first time", "first", (figures) => figures.compute - figures.recompute],
  ["recompute", "again", (figures) => figures.recompute],
];
const PAGING = [
  ["page in", "in", (figures) => figures.page_in],
  ["page out", "out", (figures) => figures.page_out],
];
const IDLE = ["idle", "wait", (figures) => figures.idle];
// Where parameters live on storage, paging in and out is of two kinds: "page in: parameters" is a part of "page in".
const PAGED = {
  "page in": [
    ["page in: parameters", "load", (figures) => figures.load],
    ["page in: other values", "in", (figures) => figures.page_in - figures.load],
  ],
  "page out": [
    ["page out: parameters", "home", (figures) => figures.home],
    ["page out: other values", "out", (figures) => figures.page_out - figures.home],
  ],
};

const pagesParameters = (models) =>
  models.some(({ figures }) => figures.load > 0 || figures.home > 0);

/** What the energy is the sum of. */
export const energyParts = (models) => [
  ...COMPUTE,
  ...PAGING.flatMap((one) => (pagesParameters(models) ? PAGED[one[0]] : [one])),
  IDLE,
];

/** The same for a table: what a row is a part of stands above it. [name, colour, part of the figures, whether it is a part of
    another row] */
export const energyRows = (models) => [
  ...COMPUTE,
  ...PAGING.flatMap(([name, colour, part]) =>
    pagesParameters(models)
      ? [[name, "", part], ...PAGED[name].map((one) => [...one, true])]
      : [[name, colour, part]],
  ),
  IDLE,
];

/** How high the chart of the energy is. */
export const energyHeight = (models) =>
  70 + 44 * models.length + moreLegend(energyParts(models).map(([name]) => name));

export function energyOption(models) {
  const names = energyParts(models).map(([name]) => name);
  const most = Math.max(...models.map((model) => model.figures.energy));
  return {
    animation: false,
    aria: {
      enabled: true,
      label: {
        description: "The energy of the step by what it is spent on; the table below has the figures.",
      },
    },
    textStyle: { color: COLOUR.ink, fontFamily: "system-ui, sans-serif" },
    grid: margins(32 + moreLegend(names), 30),
    legend: { ...legendAbove(names), selectedMode: false },
    tooltip: {
      confine: true,
      formatter: (params) =>
        tipText(params.seriesName, [
          ["energy", joules(params.value)],
          ["of this plan", percent(params.value / models[params.dataIndex].figures.energy)],
        ]),
    },
    xAxis: {
      type: "value",
      min: 0,
      max: most > 0 ? most : 1,
      splitNumber: narrow() ? 3 : 5,
      axisLabel: {
        formatter: (x) => joules(x, 3),
        showMaxLabel: false,
        hideOverlap: true,
        color: COLOUR.soft,
      },
      splitLine: { lineStyle: { color: COLOUR.line } },
    },
    yAxis: {
      type: "category",
      inverse: true,
      data: models.map((model) => (models.length > 1 ? model.title : "energy")),
      axisTick: { show: false },
      axisLabel: { width: margins(0, 0).left - 10, overflow: "truncate", color: COLOUR.ink },
    },
    series: energyParts(models).map(([name, colour, part]) => ({
      type: "bar",
      name,
      stack: "energy",
      barMaxWidth: 30,
      itemStyle: { color: COLOUR[colour] },
      data: models.map((model) => Math.max(0, part(model.figures))),
      label: {
        show: true,
        color: inkOn(colour),
        fontSize: 12,
        formatter: ({ value }) => (most > 0 && value / most > (narrow() ? 0.2 : 0.09) ? joules(value, 3) : ""),
      },
    })),
  };
}
