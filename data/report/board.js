// Plans as charts: their figures, a chart of each kind for each plan, and what moves them together. The page of `poet show` is
// one board; so is what poet's server shows of a plan.

import { energyHeight, energyOption, energyRows, lanesOption, lanesWords } from "./activity.js";
import { joules, percent } from "./amounts.js";
import { isTouch, swatch, unitFor } from "./axes.js";
import { link, zoomTo } from "./linked.js";
import { arenaOption, arenaWords } from "./arena.js";
import { makeGraph } from "./graph.js";
import { rectPointedAt } from "./many.js";
import { homes, largest, stepAtX } from "./model.js";
import { momentList, peakStep } from "./moment.js";
import { element, showPlan } from "./plans.js";
import { axisBegin, axisEnd, ramEnd, ramOption, ramWords } from "./ram.js";
import { makeTensors } from "./tensors.js";
import {
  homesHeight,
  homesOption,
  homesWords,
  scheduleHeight,
  scheduleOption,
  scheduleWords,
} from "./schedule.js";
import { isDark, setTheme } from "./theme.js";

/** The step and, if it is near, the deadline; room to say where a replay stopped. */
function timeShown(model) {
  if (model.steps.length < model.planned) return model.makespan * 1.05;
  const near = model.deadline !== null && model.deadline < 1.2 * model.makespan;
  return near ? Math.max(model.makespan, model.deadline * 1.02) : model.makespan;
}

/** What all charts of these plans have in common. */
function viewOf(models) {
  const longest = largest(models.map(timeShown)) || 1;
  const view = {
    mode: "time",
    zoom: { start: 0, end: 100 },
    unit: unitFor(longest),
    xMax: { time: longest / unitFor(longest), step: largest(models.map((m) => m.planned)) || 1 },
    ramMax: largest(models.map(ramEnd)),
    arenaMax: largest(models.map((m) => axisEnd(m.reach, m.ram_budget - m.persistent))),
  };
  view.ramMin = axisBegin(models, view.ramMax);
  // Where the axis does not begin at zero there is no reason for so much air above.
  if (view.ramMin > 0) view.ramMax = view.ramMin + 1.12 * (view.ramMax / 1.08 - view.ramMin);
  return view;
}

/** Fills `header` with figures and `charts` with charts. `select(model, value)`: a value was clicked; `look(model, step)`: a moment
    was; `layoutWorker()`: as makeGraph() asks for. */
export function makeBoard(models, { header, charts, tellShown, select, look, layoutWorker }) {
  const board = { models, view: viewOf(models), drawn: [], graphs: [], charts, tellShown, select, look };
  const rows = models.length > 1 ? "row several" : "row";
  header.className = rows;
  header.append(...models.map(showPlan));
  const panel = (title, words, height, option, caption) =>
    addPanel(board, title, words, (row) => {
      row.className = rows;
      for (const m of models)
        addChart(
          board,
          row,
          m,
          () => height(m),
          Object.assign(() => option(board.view, m), { taps: option === ramOption }),
          caption(m),
        );
    });
  addCharts(board, panel, () => addNetworks(board, rows, layoutWorker));
  for (const one of board.drawn) one.chart.resize(); // the first were made before the page was long enough to scroll
  return board;
}

function addCharts(board, panel, networks) {
  const { models } = board;
  panel(
    "RAM",
    "Bytes in RAM while each step runs, the largest tensors one by one; point at a moment for what they are, click the peak for all of them.",
    () => 330,
    ramOption,
    (m) => ramCaption(board, m),
  );
  networks();
  panel(
    "Schedule",
    "Each row is a value, in the order of the ops that make them: when it is in RAM, computed, recomputed, stored, moved to storage and back.",
    scheduleHeight,
    scheduleOption,
    scheduleWords,
  );
  if (models.some(homes))
    panel(
      "Parameters on storage",
      "Each row is a parameter, or optimiser state, that lives on storage: when it is loaded, in RAM, and written home after its update.",
      homesHeight,
      homesOption,
      homesWords,
    );
  panel(
    "Compute and storage",
    "What the compute engine and the one storage channel do; shares of the step's time.",
    () => 178,
    lanesOption,
    lanesWords,
  );
  if (models.some((m) => m.allocations.length))
    panel(
      "Arena",
      "Where everything lies: each rectangle is an allocation: of a value, or the workspace of a running op.",
      () => 400,
      arenaOption,
      arenaWords,
    );
  addTensors(board);
  const note =
    "Recomputing is part of the verifier's compute energy; its share is the sum of the cost table over the steps that recompute.";
  addPanel(board, "Energy", note, (row) => {
    addChart(
      board,
      row,
      null,
      () => energyHeight(models),
      () => energyOption(models),
      "",
      false,
    );
    row.append(energyTable(models));
  });
}

function addNetworks(board, rows, layoutWorker) {
  const how = isTouch()
    ? "Pinch to zoom, drag to move, tap to select."
    : "Ctrl + wheel zooms, dragging moves, a click selects.";
  const words = `Ops of the training step, coloured by what becomes of their results. ${how}`;
  addPanel(board, "Network", words, (row) => {
    row.className = rows;
    for (const m of board.models) {
      const box = element("div", { className: "network" });
      const figure = element("figure", {}, box);
      if (board.models.length > 1) figure.prepend(element("h3", {}, m.title));
      row.append(figure);
      board.graphs.push(makeGraph(box, m, (value) => board.select(m, value), layoutWorker));
    }
  });
}

function addTensors(board) {
  const words =
    "Every tensor that the plan decides about; a click opens a layer, or says all about a tensor.";
  addPanel(board, "Tensors", words, (row) => {
    row.className = board.models.length > 1 ? "row several" : "row";
    for (const m of board.models) {
      const box = element("div", { className: "of" });
      const figure = element("figure", {}, box);
      if (board.models.length > 1) figure.prepend(element("h3", {}, m.title));
      row.append(figure);
      makeTensors(box, m, (value) => board.select(m, value));
    }
  });
}

/** Marks a value of a model; undefined: none. */
export function mark(board, model, value) {
  for (const graph of board.graphs) graph.choose(graph.model === model ? value : undefined);
}

function addPanel(board, title, words, fill) {
  const row = element("div", { className: "row" });
  board.charts.append(
    element("section", {}, element("h2", {}, title), element("p", { className: "soft" }, words), row),
  );
  fill(row);
}

function addChart(board, into, model, height, option, caption, linked = true) {
  const box = element("div", { className: "chart", tabIndex: 0 });
  box.style.height = `${height()}px`;
  const cursor = element("div", { className: "cursor" });
  const figure = element("figure", {}, box, cursor, element("figcaption", {}, caption));
  if (board.models.length > 1 && model) figure.prepend(element("h3", {}, model.title));
  into.append(figure);
  const chart = echarts.init(box, null, { renderer: "canvas" });
  chart.on("click", { seriesId: "peak" }, () => isTouch() || board.look(model, peakStep(model)));
  chart.on("click", { seriesType: "custom" }, () => {
    if (option.taps && isTouch()) return;
    const value = rectPointedAt()?.rect.value;
    if (model && value !== undefined && value !== null) board.select(model, value);
  });
  if (option.taps && isTouch()) listenToTaps(board, chart, model, figure);
  const one = { chart, box, cursor, height, option, linked };
  board.drawn.push(one);
  if (linked) link(board, one);
}

/** A tap tells the moment and its largest tensors below the chart; another one at the same step opens all of it. */
function listenToTaps(board, chart, model, figure) {
  const list = element("div", { className: "taps", role: "status" });
  figure.append(list);
  let last = -1;
  chart.getZr().on("click", ({ offsetX, offsetY }) => {
    if (!chart.containPixel("grid", [offsetX, offsetY])) return;
    const s = stepAtX(model, board.view, chart.convertFromPixel({ xAxisIndex: 0 }, offsetX));
    if (s === last) return board.look(model, s);
    last = s;
    list.replaceChildren(...momentList(model, s, (value) => board.select(model, value)));
  });
}

/** In words, with a button for what a click on the peak does. */
function ramCaption(board, model) {
  const words = element("span", {}, ramWords(board.view, model));
  if (!model.steps.length) return words;
  const button = element("button", { type: "button", className: "peak" }, "What is in RAM at the peak");
  button.addEventListener("click", () => board.look(model, peakStep(model)));
  words.append(" ", button);
  return words;
}

function energyTable(models) {
  const head = element(
    "tr",
    {},
    element("th"),
    ...models.flatMap((m) => [
      element("th", { scope: "col" }, models.length > 1 ? m.title : "energy"),
      element("th", { scope: "col" }, "share"),
    ]),
  );
  const line = (name, colour, part, isPart) => {
    const cells = models.flatMap((m) => [
      element("td", {}, joules(part(m.figures))),
      element("td", {}, percent(m.figures.energy > 0 ? part(m.figures) / m.figures.energy : 0)),
    ]);
    const className = isPart ? "part" : "";
    return element("tr", { className }, element("th", { scope: "row" }, swatch(colour), name), ...cells);
  };
  const table = element(
    "table",
    {},
    head,
    ...energyRows(models).map((one) => line(...one)),
    line("all", "", (figures) => figures.energy),
  );
  return element("div", { className: "scroll" }, table);
}

function drawOne(one) {
  const option = one.option();
  one.grid = option.grid;
  one.chart.setOption(option, { notMerge: true });
}

export function draw(board) {
  board.drawn.forEach(drawOne);
  for (const graph of board.graphs) graph.redraw();
}

/** Which x axis: "time" or "step". */
export function setMode(board, mode) {
  board.view.mode = mode;
  board.view.zoom = { start: 0, end: 100 };
  draw(board);
  zoomTo(board, 0, 100);
}

/** To the width that there is, or to one for printing. */
function resize(board, width) {
  for (const one of board.drawn) {
    one.box.style.height = `${one.height()}px`;
    one.chart.resize({ width: width ?? "auto" }); // without, a chart keeps the last one that it was given
    drawOne(one);
    if (width) one.chart.getZr().flush();
  }
}

const PAPER = 700; // pixels across a sheet

/** Prints what `board()` shows, if anything, in light colours and as wide as a sheet; `others(width)`: what else is drawn is to
    be as wide, without a width as wide as there is room. */
export function listenToPrint(board, others = () => {}) {
  let dark = false;
  const become = (isNowDark, width) => {
    setTheme(isNowDark);
    others(width);
    if (!board()) return;
    resize(board(), width);
    for (const graph of board().graphs) graph.print(width);
  };
  window.addEventListener("beforeprint", () => {
    dark = isDark();
    become(false, PAPER);
  });
  window.addEventListener("afterprint", () => become(dark));
}

/** Resizes the charts whenever there is another width; what to call when they are gone. */
export function followWidth(board) {
  let width = board.charts.clientWidth;
  // In the next frame: charts that change their size while the browser lays the page out would be an error.
  const observer = new ResizeObserver(() =>
    requestAnimationFrame(() => {
      if (board.charts.clientWidth === width) return;
      width = board.charts.clientWidth;
      resize(board);
    }),
  );
  observer.observe(board.charts);
  return () => observer.disconnect();
}

/** The charts go; what they were in is left to its owner. */
export function dispose(board) {
  for (const one of board.drawn) one.chart.dispose();
  for (const graph of board.graphs) graph.dispose();
  board.drawn.length = 0;
}
