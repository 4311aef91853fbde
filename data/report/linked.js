"use strict";
// All charts have one x axis: they zoom and move together, and a line marks the moment that is pointed at.

function link(one) {
  one.chart.on("datazoom", (event) => {
    const moved = (event.batch ?? [event]).find(
      (part) => part.dataZoomId === "x" || part.dataZoomId === "x-slider",
    );
    if (moved) zoomTo(moved.start, moved.end, one);
  });
  const zr = one.chart.getZr();
  zr.on("mousemove", ({ offsetX, offsetY }) => {
    const inside = one.chart.containPixel("grid", [offsetX, offsetY]);
    showCursor(inside ? one.chart.convertFromPixel({ xAxisIndex: 0 }, offsetX) : null, one);
  });
  zr.on("globalout", () => showCursor(null, one));
}

/** A line at x in every chart but the one that the mouse is in. */
function showCursor(x, from) {
  for (const one of drawn) {
    if (!one.linked) continue;
    const at = x === null || one === from ? NaN : one.chart.convertToPixel({ xAxisIndex: 0 }, x);
    const { left, right, top, bottom } = one.chart.getOption().grid[0];
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

function zoomTo(from, to, except = null) {
  const width = Math.min(100, Math.max(0.01, to - from));
  const begin = Math.min(100 - width, Math.max(0, from));
  view.zoom = { start: begin, end: begin + width };
  for (const one of drawn) {
    if (one.linked && one !== except)
      one.chart.dispatchAction({ type: "dataZoom", dataZoomId: "x", ...view.zoom }, { silent: true });
  }
  const most = view.xMax[view.mode];
  document.getElementById("shown").textContent =
    width > 99.9
      ? ""
      : `shown: ${xText(view, (view.zoom.start / 100) * most)} to ${xText(view, (view.zoom.end / 100) * most)}`;
}

function zoomBy(action) {
  const { start: from, end: to } = view.zoom;
  const width = to - from;
  if (action === "in") zoomTo(from + width / 4, to - width / 4);
  if (action === "out") zoomTo(from - width / 2, to + width / 2);
  if (action === "left") zoomTo(from - width / 4, to - width / 4);
  if (action === "right") zoomTo(from + width / 4, to + width / 4);
  if (action === "all") zoomTo(0, 100);
}
