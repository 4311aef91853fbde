// A chart of curves that can be zoomed: energy over RAM, say, a line per method, its points to be clicked.

import { EXACT, bytes, joules, percent, seconds, significant } from "./amounts.js";
import { COLOUR, byteTicks, isTouch, narrow, tipText } from "./axes.js";
import { marksOf, seriesOf } from "./curve_look.js";
import { element } from "./plans.js";

// Marks are round: with all their digits no two read alike, however far somebody zooms.
const FORMATS = {
  bytes: (x) => bytes(x, EXACT),
  joules: (x) => joules(x, EXACT),
  seconds: (x) => seconds(x, EXACT),
  percent: (x) => percent(x / 100, EXACT),
  number: (x) => significant(x, EXACT),
};

const marksAtOnce = () => (narrow() ? 4 : 8);

/** Marks of an axis of bytes, of the part of it that is shown; of others ECharts finds them. */
function ticksOf(axis, { start, end }) {
  const { min, max } = axis;
  if (axis.format !== "bytes" || axis.log || !(max > min)) return {};
  const at = (part) => min + ((max - min) * part) / 100;
  return byteTicks(at(start), at(end), marksAtOnce());
}

function axisOf(axis, isX, zoom) {
  const plain = FORMATS[axis.format] ?? FORMATS.number;
  // Everything up to the floor, 0 above all, is drawn on the lower edge of such an axis.
  const format = (x) => (axis.log && axis.floor && x <= axis.floor * (1 + 1e-9) ? "≤ " : "") + plain(x);
  return {
    type: axis.log ? "log" : "value",
    min: axis.min,
    max: axis.max,
    scale: true,
    name: axis.name,
    nameLocation: "middle",
    nameGap: isX ? 28 : narrow() ? 54 : 72,
    nameTextStyle: { color: COLOUR.soft },
    axisLine: { show: true, onZero: false, lineStyle: { color: COLOUR.axis } },
    axisLabel: {
      formatter: format,
      color: COLOUR.soft,
      hideOverlap: true,
      showMinLabel: axis.log === true,
      showMaxLabel: axis.log === true,
    },
    splitLine: { show: !isX, lineStyle: { color: COLOUR.line } },
    splitNumber: marksAtOnce(),
    minorTick: { show: axis.log === true },
    ...ticksOf(axis, zoom),
  };
}

const zoomOf = (id, axis, zoom) => ({
  id,
  type: "inside",
  [axis]: 0,
  filterMode: "none",
  zoomOnMouseWheel: "ctrl",
  moveOnMouseWheel: false,
  minSpan: 1e-4, // percent: what is nearer no figure tells apart
  disabled: isTouch(),
  ...zoom,
});

function optionOf(chart) {
  const spec = chart.spec();
  const look = narrow();
  const [chosen] = spec.curves.flatMap((curve) => curve.points).filter((point) => point.chosen);
  return {
    animation: false,
    aria: { enabled: true, label: { description: spec.words } },
    textStyle: { color: COLOUR.ink, fontFamily: "system-ui, sans-serif" },
    grid: { left: look ? 74 : 100, right: look ? 12 : 24, top: 14, bottom: 48 },
    tooltip: {
      trigger: "item",
      confine: true,
      transitionDuration: 0,
      borderColor: COLOUR.axis,
      backgroundColor: COLOUR.paper,
      textStyle: { color: COLOUR.ink, fontSize: 12 },
      extraCssText: "max-width: 420px; white-space: normal; overflow-wrap: anywhere",
      formatter: ({ data }) => (data?.point ? tipText(...data.point.tip()) : ""),
    },
    xAxis: axisOf(spec.x, true, chart.zoom.x),
    yAxis: axisOf(spec.y, false, chart.zoom.y),
    dataZoom: [zoomOf("x", "xAxisIndex", chart.zoom.x), zoomOf("y", "yAxisIndex", chart.zoom.y)],
    series: [
      ...spec.curves.map((curve) => seriesOf(curve, spec)),
      marksOf(spec.marks ?? [], spec.areas),
      {
        type: "scatter",
        id: "chosen",
        silent: true,
        symbol: "circle",
        symbolSize: 20,
        z: 9,
        itemStyle: { color: "transparent", borderColor: COLOUR.ink, borderWidth: 2 },
        data: chosen ? [[chosen.x, spec.y.log ? Math.max(chosen.y, spec.y.floor) : chosen.y]] : [],
      },
    ],
  };
}

const ALL = { start: 0, end: 100 };

function moved({ start, end }, action) {
  const width = end - start;
  const by = { in: [0.25, -0.25], out: [-0.5, 0.5], left: [-0.25, -0.25], right: [0.25, 0.25] }[action];
  const part = Math.min(100, width * (1 + by[1] - by[0]));
  const from = Math.min(100 - part, Math.max(0, start + by[0] * width));
  return { start: from, end: from + part };
}

function zoomChart(chart, action) {
  const { zoom } = chart;
  if (action === "all") Object.assign(zoom, { x: ALL, y: ALL });
  else if (action === "in" || action === "out")
    Object.assign(zoom, { x: moved(zoom.x, action), y: moved(zoom.y, action) });
  else zoom.x = moved(zoom.x, action);
  draw(chart);
}

const KEYS = { "+": "in", "=": "in", "-": "out", 0: "all", ArrowLeft: "left", ArrowRight: "right" };
const ZOOMS = [
  ["in", "+", "zoom in"],
  ["out", "−", "zoom out"],
  ["left", "←", "move left"],
  ["right", "→", "move right"],
  ["all", "all", "all of it"],
];

function draw(chart) {
  if (!chart.drawn) return;
  chart.drawn.setOption(optionOf(chart), { notMerge: true });
}

/** Draws it once it comes near what is seen. */
function begin(chart) {
  if (chart.drawn) return;
  chart.drawn = echarts.init(chart.box, null, { renderer: "canvas" });
  draw(chart);
  chart.drawn.on("click", ({ data }) => data?.point?.row !== undefined && chart.choose?.(data.point.row));
  chart.drawn.on("datazoom", () => {
    for (const { id, start, end } of chart.drawn.getOption().dataZoom) chart.zoom[id] = { start, end };
    const { x, y } = chart.spec();
    chart.drawn.setOption({ xAxis: ticksOf(x, chart.zoom.x), yAxis: ticksOf(y, chart.zoom.y) });
  });
}

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) begin(target.curves);
  },
  { rootMargin: "600px" },
);

/** A chart in `into`, with its title and what zooms it. `spec()`: { x, y, curves, marks, words, note } as they are now: axes
    { name, format, log, floor, min, max }, curves { style, points: [{ x, y, tip(), row, chosen }], step, line, below, faint }.
    `choose(row)`: a point was clicked; `heading`: the element of the title. */
export function makeCurves(into, { title, spec, choose, height = 420, heading = "h2" }) {
  const box = element("div", { className: "chart", tabIndex: 0 });
  box.style.height = `${height}px`;
  const chart = { box, spec, choose, height, zoom: { x: ALL, y: ALL }, drawn: null };
  const zoom = ([action, text, name]) => {
    const button = element(
      "button",
      { type: "button", title: name, "aria-label": `${name}: ${title}` },
      text,
    );
    button.dataset.zoom = action;
    button.addEventListener("click", () => zoomChart(chart, action));
    return button;
  };
  box.addEventListener("keydown", (event) => {
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : KEYS[event.key];
    if (!action) return;
    zoomChart(chart, action);
    event.preventDefault();
    event.stopPropagation();
  });
  const caption = element("figcaption", {}, spec().note ?? "");
  const head = element(
    "div",
    { className: "heading" },
    element(heading, {}, title),
    element("span", { role: "group", "aria-label": `Zoom ${title}`, className: "zooms" }, ...ZOOMS.map(zoom)),
  );
  const figure = element("figure", { className: "curve" }, head, box, caption);
  into.append(figure);
  box.curves = chart;
  near.observe(box);
  return Object.assign(chart, {
    figure,
    title,
    redraw() {
      caption.firstChild.textContent = spec().note ?? "";
      draw(chart);
    },
    /** To the width that there is, or to one for printing, for which it has to be there. */
    resize(width) {
      if (width) begin(chart);
      chart.drawn?.resize({ width: width ?? "auto" });
      draw(chart);
      if (width) chart.drawn.getZr().flush();
    },
    dispose() {
      near.unobserve(box);
      chart.drawn?.dispose();
    },
  });
}
