// The plan behind a point, by the charts of `poet show`.

import { dispose, followWidth, makeBoard, mark, setMode } from "./board.js";
import { inspect, openInspector, valueNamed } from "./inspector.js";
import { modelOf, valueName } from "./model.js";
import { showMoment } from "./moment.js";
import { unpacked } from "./packed.js";
import { checkMode, makeTools, offerTensors, tellShown } from "./tools.js";

const $ = (id) => document.getElementById(id);
const shown = { board: null, end: () => {}, mode: "time", turn: 0, wanted: {}, change: () => {} };

/** The page is one file: what works on a thread of its own is text in it. */
const layoutWorker = () =>
  new Worker(URL.createObjectURL(new Blob([$("layout-worker").textContent], { type: "text/javascript" })));

export const boardShown = () => shown.board;

function hideInspector() {
  openInspector($("inspector"), false);
  if (shown.board) for (const model of shown.board.models) mark(shown.board, model, undefined);
}

const close = () => shown.change({ tensor: undefined, moment: undefined });
const select = (model, value) => shown.change({ tensor: valueName(model, value), moment: undefined });
const look = (model, step) => shown.change({ moment: step, tensor: undefined });

/** What the address says of the plan: { axis, tensor, moment }, each may be absent. For the next one as well. */
export function obeyPlan(wanted) {
  shown.wanted = wanted;
  const { board, mode } = shown;
  shown.mode = wanted.axis === "step" ? "step" : "time";
  checkMode(shown.mode);
  if (!board) return;
  if (mode !== shown.mode) setMode(board, shown.mode);
  const [model] = board.models;
  const value = wanted.tensor ? valueNamed(model, wanted.tensor) : undefined;
  if (value !== undefined) {
    mark(board, model, value);
    openInspector($("inspector"), true);
    inspect($("inspector"), model, value, { of: "", close });
  } else if (model.steps[wanted.moment]) {
    mark(board, model, undefined);
    openInspector($("inspector"), true);
    showMoment($("inspector"), model, Number(wanted.moment), { close, select: (one) => select(model, one) });
  } else {
    if (!$("inspector").hidden) hideInspector();
    if (wanted.tensor) tellShown(`no tensor is called ${wanted.tensor}`);
  }
}

/** Once, for all plans. `closePlan()`: the plan is not wanted any more; `change(values)`: the address is to say other things of it. */
export function listenToPlan(closePlan, change) {
  shown.change = change;
  $("plan-close").addEventListener("click", closePlan);
  makeTools($("tools"), {
    board: () => shown.board,
    setMode: (mode) => change({ axis: mode === "step" ? mode : undefined }),
    find(name) {
      const model = shown.board?.models[0];
      if (name && (!model || valueNamed(model, name) === undefined)) return false;
      change({ tensor: name || undefined, moment: undefined });
      return true;
    },
  });
  document.addEventListener(
    "keydown",
    (event) => event.key === "Escape" && !$("inspector").hidden && close(),
  );
}

export function redrawPlan() {
  if (shown.board) setMode(shown.board, shown.mode);
}

export function hidePlan() {
  ++shown.turn;
  hideInspector();
  shown.end();
  Object.assign(shown, { board: null, end: () => {} });
  $("plan").hidden = true;
}

/** Shows the plan of a row below `after`, an element. */
export async function showPlanOf(study, row, title, after) {
  hidePlan();
  const { turn } = shown;
  const [graph, own] = study.plans[row.number];
  study.graphOf[graph] ??= unpacked(study.graphs[graph]);
  const picture = { ...(await study.graphOf[graph]), ...(await unpacked(own)) };
  if (turn !== shown.turn) return; // another one has been asked for since
  if (picture.made && !picture.made.command) picture.made = { ...picture.made, command: study.command };
  const model = modelOf(picture);
  after.after($("plan"));
  $("plan").hidden = false;
  $("plan-title").textContent = title;
  $("plans").replaceChildren();
  $("charts").replaceChildren();
  shown.board = makeBoard([model], {
    header: $("plans"),
    charts: $("charts"),
    tellShown,
    select,
    look,
    layoutWorker,
  });
  $("plans").querySelector("h1").remove(); // the panel's title says the same
  setMode(shown.board, shown.mode);
  offerTensors([model]);
  const { board } = shown;
  const unfollow = followWidth(board);
  shown.end = () => {
    unfollow();
    dispose(board);
  };
  obeyPlan(shown.wanted);
}
