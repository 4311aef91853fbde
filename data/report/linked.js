// All charts of a board have one x axis: they zoom and move together, and a line marks the moment that is pointed at.
// A board: { drawn: its charts, view, tellShown: told what part is shown, as text }.

import { xText } from "./axes.js";

export function link(board, one) {
  one.chart.on("datazoom", (event) => {
    const moved = (event.batch ?? [event]).find(
      (part) => part.dataZoomId === "x" || part.dataZoomId === "x-slider",
    );
    if (moved) zoomTo(board, moved.start, moved.end, one);
  });
  const zr = one.chart.getZr();
  zr.on("mousemove", ({ offsetX, offsetY }) => {
    const inside = one.chart.containPixel("grid", [offsetX, offsetY]);
    showCursor(board, inside ? one.chart.convertFromPixel({ xAxisIndex: 0 }, offsetX) : null, one);
  });
  zr.on("globalout", () => showCursor(board, null, one));
}

/** A line at x in every chart but the one that the mouse is in. */
function showCursor(board, x, from) {
  for (const one of board.drawn) {
    if (!one.linked) continue;
    const at = x === null || one === from ? NaN : one.chart.convertToPixel({ xAxisIndex: 0 }, x);
    const { left, right, top, bottom } = one.grid;
    const seen = at >= left && at <= one.box.clientWidth - right;
    one.cursor.style.display = seen ? "block" : "none";
    if (seen)
      Object.assign(one.cursor.style, {
        left: `${at}px`,
        top: `${one.box.offsetTop + top}px`,
        height: `${one.box.clientHeight - top - bottom}px`,
      });
  }
}

/** Shows a part of the x axis, in percent of it. */
export function zoomTo(board, from, to, except = null) {
  const { view } = board;
  const width = Math.min(100, Math.max(0.01, to - from));
  const begin = Math.min(100 - width, Math.max(0, from));
  view.zoom = { start: begin, end: begin + width };
  for (const one of board.drawn) one.stale = one.linked && one !== except;
  refresh(board);
  const most = view.xMax[view.mode];
  const edges = [view.zoom.start, view.zoom.end].map((percent) => xText(view, (percent / 100) * most));
  board.tellShown(width > 99.9 ? "" : `shown: ${edges[0]} to ${edges[1]}`);
}

/** Charts that are out of sight follow when the rest has come to rest. */
function refresh(board) {
  const show = (one) => {
    one.stale = false;
    one.chart.dispatchAction({ type: "dataZoom", dataZoomId: "x", ...board.view.zoom }, { silent: true });
  };
  const inSight = ({ box }) => {
    const { top, bottom } = box.getBoundingClientRect();
    return bottom > 0 && top < window.innerHeight;
  };
  cancelAnimationFrame(board.frame);
  clearTimeout(board.rest);
  board.frame = requestAnimationFrame(() =>
    board.drawn.filter((one) => one.stale && inSight(one)).forEach(show),
  );
  board.rest = setTimeout(() => board.drawn.filter((one) => one.stale).forEach(show), 120);
}

export function zoomBy(board, action) {
  const { start: from, end: to } = board.view.zoom;
  const width = to - from;
  if (action === "in") zoomTo(board, from + width / 4, to - width / 4);
  if (action === "out") zoomTo(board, from - width / 2, to + width / 2);
  if (action === "left") zoomTo(board, from - width / 4, to - width / 4);
  if (action === "right") zoomTo(board, from + width / 4, to + width / 4);
  if (action === "all") zoomTo(board, 0, 100);
}

const KEYS = { "+": "in", "=": "in", "-": "out", 0: "all", ArrowLeft: "left", ArrowRight: "right" };

/** The zoom that a key asks for; nothing where it is typed into a field or means something else. */
export function zoomOfKey(event) {
  const taken = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  return taken || event.ctrlKey || event.metaKey || event.altKey ? undefined : KEYS[event.key];
}
