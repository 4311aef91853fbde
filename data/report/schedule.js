// The paper's Figure 2 for any plan: what is computed, kept and moved when.

import { bytes, count, counted } from "./amounts.js";
import {
  COLOUR,
  bars,
  common,
  deadlineMark,
  legendAbove,
  lines,
  margins,
  moreLegend,
  nameRoom,
  narrow,
  shortened,
  someNames,
  stopMark,
  tipText,
  whenText,
} from "./axes.js";
import { homes, isHome, largest, movesOf, opName, runsOf, valueName } from "./model.js";

const rowsHeight = (rows) => Math.max(180, Math.min(narrow() ? 520 : 700, 16 * rows.length));

export function scheduleHeight(model) {
  return rowsHeight(model.rows) + 100;
}

/** Up to two thirds as high as the schedule. */
export function homesHeight(model) {
  return Math.max(60, Math.min(440, 16 * model.homeRows.length)) + 100;
}

export function scheduleOption(view, model) {
  // An op of several results is drawn in the row of each.
  const spread = (runs) =>
    runs.flatMap((run) =>
      model.rowsOfOp[run.op].map((row) => ({ ...run, row, value: model.rows[row].value })),
    );
  const byRow = (item) => item.row;
  const byValue = (item) => model.rowOfValue[item.value];
  const transient = (item) => !isHome(model, item.value);
  const series = [
    bars(view, "stored", COLOUR.stored, model.stored, byValue, 1, (interval) => storedTip(model, interval)),
    bars(view, "in RAM", COLOUR.resident, model.live.filter(transient), byValue, 1, (interval) =>
      liveTip(model, interval),
    ),
    bars(view, "computed first", COLOUR.first, spread(runsOf(model, false)), byRow, 2, (run) =>
      runTip(model, run),
    ),
    bars(view, "recomputed", COLOUR.again, spread(runsOf(model, true)), byRow, 3, (run) =>
      runTip(model, run),
    ),
    bars(view, "page-out", COLOUR.out, movesOf(model, "o"), byValue, 3, (move) => moveTip(model, move)),
    bars(view, "page-in", COLOUR.in, movesOf(model, "i"), byValue, 3, (move) => moveTip(model, move)),
  ];
  return rowsOption(view, model, model.rows, rowsHeight(model.rows), series, scheduleWords(model));
}

/** Persistent values that live on storage: when they are in RAM, loaded and written home. */
export function homesOption(view, model) {
  const byValue = (item) => model.rowOfValue[item.value];
  const here = model.live.filter((interval) => isHome(model, interval.value));
  const series = [
    bars(view, "in RAM", COLOUR.parameter, here, byValue, 1, (interval) => liveTip(model, interval)),
    bars(view, "load", COLOUR.load, movesOf(model, "l"), byValue, 3, (move) => moveTip(model, move)),
    bars(view, "to home", COLOUR.home, movesOf(model, "h"), byValue, 3, (move) => moveTip(model, move)),
  ];
  return rowsOption(view, model, model.homeRows, homesHeight(model) - 100, series, homesWords(model));
}

export function homesWords(model) {
  if (!homes(model)) return "Every parameter is in RAM from step to step.";
  const size = (values) => bytes(values.reduce((sum, value) => sum + value[1], 0));
  const moved = (kind) => movesOf(model, kind).map((move) => model.values[move.value]);
  const [loads, written] = [moved("l"), moved("h")];
  return `${counted(homes(model), "parameter")} (${size(model.values.slice(model.transient))}) on storage, at most ${bytes(largest(model.loaded))} in RAM at a time: ${counted(loads.length, "load")} of ${size(loads)}, ${counted(written.length, "update")} of ${size(written)} written home.`;
}

function rowsOption(view, model, rows, height, series, description) {
  const names = series.filter((one) => one.data.length).map((one) => one.name);
  const option = common(view, margins(40 + moreLegend(names), 60), { description });
  const { fontSize, most } = nameRoom();
  return {
    ...option,
    legend: legendAbove(names),
    yAxis: {
      type: "value",
      inverse: true,
      min: -0.5,
      max: Math.max(1, rows.length) - 0.5,
      minInterval: 1,
      splitNumber: Math.ceil(height / 17),
      axisTick: { show: false },
      axisLine: { lineStyle: { color: COLOUR.axis } },
      splitLine: { show: false },
      axisLabel: {
        formatter: (row) => shortened(rows[row]?.label ?? "", most),
        fontSize,
        color: COLOUR.ink,
      },
    },
    dataZoom: [
      ...option.dataZoom,
      {
        id: "x-slider",
        type: "slider",
        xAxisIndex: 0,
        filterMode: "weakFilter",
        bottom: 8,
        height: 18,
        showDetail: false,
        brushSelect: false,
        ...view.zoom,
      },
      {
        id: "y",
        type: "inside",
        yAxisIndex: 0,
        filterMode: "weakFilter",
        zoomOnMouseWheel: "shift",
        moveOnMouseWheel: false,
        disabled: option.dataZoom[0].disabled,
      },
      {
        id: "y-slider",
        type: "slider",
        yAxisIndex: 0,
        filterMode: "weakFilter",
        right: 6,
        width: 16,
        showDetail: false,
        brushSelect: false,
      },
    ],
    series: [...series, lines([...stopMark(view, model), ...deadlineMark(view, model)], true)],
  };
}

export function scheduleWords(model) {
  const { recomputations } = model.figures;
  const moved = (kind) => movesOf(model, kind).length;
  return `${counted(model.ops.length, "op")} against time: ${counted(recomputations, "recomputation")}, ${counted(moved("o"), "page-out")}, ${counted(moved("i"), "page-in")}${homes(model) ? "; those of parameters are below" : ""}.`;
}

export function runTip(model, run) {
  const [name, kind, pass, writes] = model.ops[run.op];
  const size = writes.reduce((sum, value) => sum + model.values[value][1], 0);
  const what = [["op", `${kind}, ${pass}`], ["results", bytes(size)], ...whenText(model, run)];
  return tipText(
    `${name}: ${run.again ? "recomputed" : "computed first"}`,
    what,
    run.again ? whyAgain(model, run) : "",
  );
}

/** Who reads a result of this run before it is given up. */
function whyAgain(model, run) {
  const readers = new Set();
  for (const value of model.ops[run.op][3]) {
    const interval = model.live.find((one) => one.value === value && one.s0 <= run.step && run.step < one.s1);
    for (const s of model.readers[value])
      if (s > run.step && interval && s < interval.s1) readers.add(opName(model, model.steps[s].id));
  }
  const names = [...readers];
  return names.length ? `Had been given up; needed again by ${someNames(names, 3)}.` : "";
}

function liveTip(model, interval) {
  const readers = model.readers[interval.value]
    .filter((s) => s > interval.s0 && s < interval.s1)
    .map((s) => opName(model, model.steps[s].id));
  const came = { compute: "computed", recompute: "recomputed", "page in": "paged in", load: "loaded" }[
    interval.from
  ];
  const why = readers.length
    ? `Read by ${someNames([...new Set(readers)], 4)}.`
    : "Nobody reads it before it is freed.";
  const end = interval.kept ? " Kept to the end." : "";
  return tipText(
    `${valueName(model, interval.value)}: in RAM`,
    [["bytes", bytes(interval.bytes)], ["came", came], ...whenText(model, interval)],
    why + end,
  );
}

function storedTip(model, interval) {
  const size = ["bytes", bytes(model.values[interval.value][1])];
  return tipText(`${valueName(model, interval.value)}: on storage`, [size, ...whenText(model, interval)]);
}

export function moveTip(model, move) {
  const entries = [
    ["bytes", bytes(model.values[move.value][1])],
    ["issued", `step ${count(move.step)}`],
    ...whenText(model, move),
  ];
  if (move.kind === "h")
    return tipText(
      `${valueName(model, move.value)}: to home`,
      entries,
      "What its update has made of it; the next step begins with that.",
    );
  if (move.kind === "o") {
    const back = model.moves.find(
      (other) => other.kind === "i" && other.value === move.value && other.step > move.step,
    );
    const why = back
      ? `Frees its RAM until it is paged in again at step ${count(back.step)}.`
      : "It does not come back.";
    return tipText(`${valueName(model, move.value)}: page-out`, entries, why);
  }
  const reader = model.readers[move.value].find((s) => s > move.step);
  const why =
    reader === undefined
      ? "Nobody reads it afterwards."
      : `For ${opName(model, model.steps[reader].id)}, step ${count(reader)}.`;
  const what = move.kind === "l" ? "load" : "page-in";
  return tipText(`${valueName(model, move.value)}: ${what}`, entries, why);
}
