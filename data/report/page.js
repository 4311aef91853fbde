// The page of `poet show`: a board of the plans that are written in it, its tools, and what is known of a tensor.

import { useUnits } from "./amounts.js";
import { layout } from "./axes.js";
import { followWidth, listenToPrint, makeBoard, mark, setMode } from "./board.js";
import { inspect, openInspector, valueNamed } from "./inspector.js";
import { zoomTo } from "./linked.js";
import { modelOf } from "./model.js";
import { showMoment } from "./moment.js";
import { listenToTheme } from "./theme.js";
import { checkMode, makeTools, offerTensors, tellShown } from "./tools.js";

const $ = (id) => document.getElementById(id);
const models = JSON.parse($("pictures").textContent).map(modelOf);
useUnits(models[0].byte_units);
let board; // made once the tools are there
let clicked; // the plan of which a tensor was clicked last
let zoomed = ""; // what the address asked for last

// Two plans stand side by side where there is room (report.css).
layout.width = () => window.innerWidth * (models.length > 1 && window.innerWidth >= 1200 ? 0.45 : 1);

/** The page is one file: what works on a thread of its own is text in it. */
const layoutWorker = () =>
  new Worker(URL.createObjectURL(new Blob([$("layout-worker").textContent], { type: "text/javascript" })));

function chooseMode(mode) {
  checkMode(mode);
  setMode(board, mode);
}

const nameOf = (model) => (models.length > 1 ? model?.title : "");

function show(model, value) {
  mark(board, model, value);
  openInspector($("inspector"), value !== undefined);
  const close = () => change("tensor");
  if (value !== undefined) inspect($("inspector"), model, value, { of: nameOf(model), close });
}

/** What is in RAM at a step of the plan that was clicked last. */
function showStep(model, step) {
  mark(board, model, undefined);
  openInspector($("inspector"), true);
  showMoment($("inspector"), model, step, {
    of: nameOf(model),
    close: () => change("moment"),
    select: (value) => selected(model, value),
  });
}

function selected(model, value) {
  clicked = model;
  change("tensor", model.values[value][0]);
}

/** The plan with a tensor of that name; of several the one that was clicked last. */
const withTensor = (name) => [clicked, ...models].find((one) => one && valueNamed(one, name) !== undefined);

function showNamed(name) {
  const model = withTensor(name);
  show(model, model && valueNamed(model, name));
  if (name && !model) tellShown(`no tensor is called ${name}`);
}

const settings = () => new URLSearchParams(location.hash.slice(1));

/** Writes a setting into the address, or takes it out, and does what it says. */
function change(name, value) {
  const changed = settings();
  if (value === undefined) changed.delete(name);
  else changed.set(name, value);
  if (name === "axis") changed.delete("zoom"); // it was of the other axis
  if (value !== undefined && ["tensor", "moment"].includes(name))
    changed.delete(name === "tensor" ? "moment" : "tensor"); // there is one inspector
  if (`${changed}` !== `${settings()}`) history.pushState(null, "", `#${changed}`);
  obeyAddress();
}

/** #axis=step, #zoom=20-60 (percent of the x axis), #tensor=NAME, #moment=STEP: what a link can ask for. */
function obeyAddress() {
  const asked = settings();
  const mode = asked.get("axis") === "step" ? "step" : "time";
  const isOther = mode !== board.view.mode || !document.body.dataset.ready;
  if (isOther) chooseMode(mode);
  const zoom = asked.get("zoom") ?? "";
  const [from, to] = zoom.split("-").map(Number);
  // Who has zoomed elsewhere since stays there.
  if (isOther || zoom !== zoomed) zoomTo(board, ...(to > from ? [from, to] : [0, 100]));
  zoomed = zoom;
  const step = Number(asked.get("moment") ?? NaN);
  const model = clicked ?? models[0];
  if (!asked.has("tensor") && model.steps[step]) showStep(model, step);
  else showNamed(asked.get("tensor"));
}

function listen() {
  window.addEventListener("hashchange", obeyAddress);
  window.addEventListener("popstate", obeyAddress);
  document.addEventListener(
    "keydown",
    (event) =>
      event.key === "Escape" && ["tensor", "moment"].forEach((name) => settings().has(name) && change(name)),
  );
  listenToPrint(() => board);
}

/** For tests: how many charts are on the page, once each has been drawn, and how long that took. */
function tellWhenDrawn(since) {
  const open = new Set(board.drawn);
  for (const one of board.drawn) {
    one.chart.on("finished", () => {
      open.delete(one);
      if (open.size || document.body.dataset.ready) return;
      Object.assign(document.body.dataset, {
        ready: "yes",
        charts: board.drawn.length,
        axis: board.view.mode,
        drawMs: Math.round(performance.now() - since),
      });
    });
  }
}

const began = performance.now();
listenToTheme($("theme"), () => setMode(board, board.view.mode));
makeTools($("tools"), {
  board: () => board,
  setMode: (mode) => change("axis", mode),
  find(name) {
    if (name && !withTensor(name)) return false;
    change("tensor", name || undefined);
    return true;
  },
});
offerTensors(models);
board = makeBoard(models, {
  header: $("plans"),
  charts: $("charts"),
  tellShown,
  select: selected,
  look(model, step) {
    clicked = model;
    change("moment", step);
  },
  layoutWorker,
});
self.board = board; // for tests, and for whoever looks at the page with the browser's tools
tellWhenDrawn(began);
followWidth(board); // before a link opens what makes them narrower
obeyAddress();
listen();
