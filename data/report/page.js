// The page of `poet show`: a board of the plans that are written in it, and its tools.

import { layout } from "./axes.js";
import { followWidth, makeBoard, resize, setMode } from "./board.js";
import { zoomBy, zoomOfKey, zoomTo } from "./linked.js";
import { modelOf } from "./model.js";

const models = JSON.parse(document.getElementById("pictures").textContent).map(modelOf);

// Two plans stand side by side where there is room (report.css).
layout.width = () => window.innerWidth * (models.length > 1 && window.innerWidth >= 1200 ? 0.45 : 1);

function chooseMode(board, mode) {
  document.querySelector(`input[name=axis][value=${mode}]`).checked = true;
  setMode(board, mode);
}

/** #axis=step, #zoom=20-60 (percent of the x axis): what a link can ask for. */
function obeyAddress(board) {
  const settings = new URLSearchParams(location.hash.slice(1));
  chooseMode(board, settings.get("axis") === "step" ? "step" : "time");
  const [from, to] = (settings.get("zoom") ?? "").split("-").map(Number);
  if (to > from) zoomTo(board, from, to);
}

function listen(board) {
  for (const input of document.querySelectorAll("input[name=axis]"))
    input.addEventListener("change", () => chooseMode(board, input.value));
  for (const button of document.querySelectorAll("button[data-zoom]"))
    button.addEventListener("click", () => zoomBy(board, button.dataset.zoom));
  document.addEventListener("keydown", (event) => {
    const action = zoomOfKey(event);
    if (!action) return;
    zoomBy(board, action);
    event.preventDefault();
  });
  followWidth(board);
  window.addEventListener("beforeprint", () => resize(board, 700));
  window.addEventListener("afterprint", () => resize(board));
  window.addEventListener("hashchange", () => obeyAddress(board));
}

/** For tests: how many charts are on the page, once each has been drawn, and how long that took. */
function tellWhenDrawn(board, since) {
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
const board = makeBoard(models, {
  header: document.getElementById("plans"),
  charts: document.getElementById("charts"),
  tellShown: (text) => (document.getElementById("shown").textContent = text),
});
const { drawn } = board;
tellWhenDrawn(board, began);
obeyAddress(board);
listen(board);
