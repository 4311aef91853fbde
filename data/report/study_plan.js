// The plan behind a point, by the charts of `poet show`.

import { dispose, followWidth, makeBoard, mark, setMode } from "./board.js";
import { inspect, valueNamed } from "./inspector.js";
import { modelOf } from "./model.js";
import { showMoment } from "./moment.js";
import { unpacked } from "./packed.js";
import { checkMode, makeTools, offerTensors, tellShown } from "./tools.js";

const $ = (id) => document.getElementById(id);
const shown = { board: null, end: () => {}, mode: "time", asked: 0 };

/** The page is one file: what works on a thread of its own is text in it. */
const layoutWorker = () =>
  new Worker(URL.createObjectURL(new Blob([$("layout-worker").textContent], { type: "text/javascript" })));

export const boardShown = () => shown.board;

function openInspector(open) {
  $("inspector").hidden = !open;
  document.body.classList.toggle("inspecting", open);
}

function closeInspector() {
  openInspector(false);
  if (shown.board) for (const model of shown.board.models) mark(shown.board, model, undefined);
}

function select(model, value) {
  mark(shown.board, model, value);
  openInspector(true);
  inspect($("inspector"), model, value, { of: "", close: closeInspector });
}

function look(model, step) {
  openInspector(true);
  showMoment($("inspector"), model, step, { close: closeInspector, select: (value) => select(model, value) });
}

/** Once, for all plans. `close()`: the plan is not wanted any more. */
export function listenToPlan(close) {
  $("plan-close").addEventListener("click", close);
  makeTools($("tools"), {
    board: () => shown.board,
    setMode(mode) {
      shown.mode = mode;
      if (shown.board) setMode(shown.board, mode);
    },
    find(name) {
      const model = shown.board?.models[0];
      const value = model && valueNamed(model, name);
      if (value !== undefined) select(model, value);
      return value !== undefined || !name;
    },
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && closeInspector());
}

export function redrawPlan() {
  if (shown.board) setMode(shown.board, shown.mode);
}

export function hidePlan() {
  ++shown.asked;
  closeInspector();
  shown.end();
  Object.assign(shown, { board: null, end: () => {} });
  $("plan").hidden = true;
}

/** Shows the plan of a row below `after`, an element. */
export async function showPlanOf(study, row, title, after) {
  hidePlan();
  const asked = shown.asked;
  const [graph, own] = study.plans[row.number];
  study.graphOf[graph] ??= unpacked(study.graphs[graph]);
  const picture = { ...(await study.graphOf[graph]), ...(await unpacked(own)) };
  if (asked !== shown.asked) return; // another one has been asked for since
  const model = modelOf(picture);
  after.after($("plan"));
  $("plan").hidden = false;
  $("plan-title").textContent = title;
  $("plans").replaceChildren();
  $("charts").replaceChildren();
  checkMode(shown.mode);
  shown.board = makeBoard([model], {
    header: $("plans"),
    charts: $("charts"),
    tellShown,
    select,
    look,
    layoutWorker,
  });
  setMode(shown.board, shown.mode);
  offerTensors([model]);
  const { board } = shown;
  const unfollow = followWidth(board);
  shown.end = () => {
    unfollow();
    dispose(board);
  };
}
