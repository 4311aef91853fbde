// A chart of curves that can be zoomed: energy over RAM, say, a line per method, its points to be clicked.

import { bytes, joules, percent, seconds, significant } from "./amounts.js";
import { COLOUR, narrow, tipText } from "./axes.js";
import { element } from "./plans.js";

const FORMATS = {
  bytes: (x) => bytes(x, 3),
  joules: (x) => joules(x, 4),
  seconds: (x) => seconds(x, 3),
  percent: (x) => percent(x / 100, 3),
  number: (x) => significant(x, 4),
};

// What gnuplot's point types are here: [symbol, whether it is filled, degrees].
const CROSS = "path://M0,1 L1,0 L5,4 L9,0 L10,1 L6,5 L10,9 L9,10 L5,6 L1,10 L0,9 L4,5 Z";
const PLUS = "path://M4,0 L6,0 L6,4 L10,4 L10,6 L6,6 L6,10 L4,10 L4,6 L0,6 L0,4 L4,4 Z";
const STAR =
  "path://M4,0 L6,0 L6,3 L9,1 L10,3 L7,5 L10,7 L9,9 L6,7 L6,10 L4,10 L4,7 L1,9 L0,7 L3,5 L0,3 L1,1 L4,3 Z";
const MARKERS = {
  1: [PLUS, true, 0],
  2: [CROSS, true, 0],
  3: [STAR, true, 0],
  4: ["rect", false, 0],
  5: ["rect", true, 0],
  6: ["circle", false, 0],
  7: ["circle", true, 0],
  8: ["triangle", false, 0],
  9: ["triangle", true, 0],
  10: ["triangle", false, 180],
  11: ["triangle", true, 180],
  12: ["diamond", false, 0],
  13: ["diamond", true, 0],
};

const GLYPHS = "╌+✕✱□■○●△▲▽▼◇◆";

/** The marker of a style as a letter, for legends; it is no text to be read. */
export function markerOf(style) {
  const glyph = element("span", { className: "marker", "aria-hidden": "true" });
  glyph.dataset.glyph = GLYPHS[style.marker] ?? "●";
  glyph.style.color = colourOf(style);
  return glyph;
}

/** A method's colour in the theme of now: black is what text is drawn in. */
const colourOf = (style) => (style.colour === "#000000" ? COLOUR.ink : style.colour);

function pointLook(style) {
  const [symbol, filled, symbolRotate] = MARKERS[style.marker] ?? MARKERS[7];
  const colour = colourOf(style);
  const itemStyle = filled ? { color: colour } : { color: COLOUR.paper, borderColor: colour, borderWidth: 2 };
  return { symbol, symbolRotate, symbolSize: style.width > 2 ? 10 : 8, itemStyle };
}

/** One of the spec's curves as a series of ECharts. */
function seriesOf(curve, spec) {
  const { style, points } = curve;
  const y = (value) => (spec.y.log ? Math.max(value, spec.y.floor) : value);
  const data = points.map((point) => ({ value: [point.x, y(point.y)], point }));
  const look = style.marker ? pointLook(style) : { symbol: "none", symbolSize: 0 };
  return {
    type: "line",
    name: style.title,
    id: curve.id ?? style.title,
    data,
    step: curve.step ?? false,
    color: colourOf(style),
    ...look,
    showSymbol: true,
    showAllSymbol: true,
    silent: !style.marker,
    cursor: points.some((point) => point.row !== undefined) ? "pointer" : "default",
    z: style.width > 2 ? 5 : 3,
    emphasis: { scale: 1.5, focus: "none" },
    lineStyle: {
      color: colourOf(style),
      width: curve.line === false ? 0 : style.width * 1.2,
      type: style.dashed ? "dashed" : "solid",
    },
    ...(curve.below ? { areaStyle: { color: colourOf(style), opacity: 0.12, origin: "start" } } : {}),
    ...(curve.faint ? { itemStyle: { ...look.itemStyle, opacity: 0.45 } } : {}),
    tooltip: { show: Boolean(style.marker) },
  };
}

/** Lines across the chart: [{ x | y, text }]. */
function marksOf(marks) {
  return {
    type: "line",
    id: "marks",
    data: [],
    silent: true,
    tooltip: { show: false },
    markLine: {
      silent: true,
      symbol: "none",
      animation: false,
      precision: -1,
      data: marks.map(({ x, y, text }) => ({
        ...(x === undefined ? { yAxis: y } : { xAxis: x }),
        lineStyle: { color: COLOUR.soft, type: "dotted", width: 1.5 },
        label: {
          formatter: () => text,
          color: COLOUR.soft,
          fontSize: 11,
          position: x === undefined ? "insideStartTop" : "insideEndTop",
        },
      })),
    },
  };
}

function axisOf(axis, isX) {
  const format = FORMATS[axis.format] ?? FORMATS.number;
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
    splitNumber: narrow() ? 4 : 8,
    minorTick: { show: axis.log === true },
  };
}

const zoomOf = (id, axis, zoom) => ({
  id,
  type: "inside",
  [axis]: 0,
  filterMode: "none",
  zoomOnMouseWheel: "ctrl",
  moveOnMouseWheel: false,
  disabled: matchMedia("(pointer: coarse)").matches,
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
    xAxis: axisOf(spec.x, true),
    yAxis: axisOf(spec.y, false),
    dataZoom: [zoomOf("x", "xAxisIndex", chart.zoom.x), zoomOf("y", "yAxisIndex", chart.zoom.y)],
    series: [
      ...spec.curves.map((curve) => seriesOf(curve, spec)),
      marksOf(spec.marks ?? []),
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
