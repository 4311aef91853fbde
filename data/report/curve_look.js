// How a curve looks: markers and colours of methods, its series in a chart, the lines across.

import { COLOUR } from "./axes.js";
import { element } from "./plans.js";

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
export function seriesOf(curve, spec) {
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
    ...(curve.faint ? { itemStyle: { ...look.itemStyle, opacity: 0.6 } } : {}),
    tooltip: { show: Boolean(style.marker) },
  };
}

/** Lines across the chart: [{ x | y, text }]; areas from its left edge: [{ to, text }]. */
export function marksOf(marks, areas = []) {
  return {
    type: "line",
    id: "marks",
    data: [],
    silent: true,
    tooltip: { show: false },
    markArea: {
      silent: true,
      animation: false,
      z: 1,
      itemStyle: { color: "#808080", opacity: 0.12 },
      label: { color: COLOUR.soft, fontSize: 11, position: "inside" },
      data: areas.map(({ to, text }) => [{ xAxis: -Infinity, name: text }, { xAxis: to }]),
    },
    markLine: {
      silent: true,
      symbol: "none",
      animation: false,
      z: 2, // below the points
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
