// What all charts share: colours, margins, axes, bars, tooltips.

import { byteMarks, count, escaped, seconds, significant } from "./amounts.js";
import { rectangles } from "./many.js";

// Told apart by the colour-blind (after Okabe and Ito) and, by their lightness, in print.
export const COLOUR = {
  resident: "#b7c4d2",
  stored: "#f2cfe5",
  first: "#0072b2",
  again: "#e69f00",
  in: "#009e73",
  out: "#b3478f",
  wait: "#8a8f95",
  over: "#c1121f",
  persistent: "#c4c8cc",
  parameter: "#b8a6d9",
  load: "#7a9a01",
  home: "#8c564b",
  ram: "#7fb2d6",
  ramLine: "#2b6f9e",
  ink: "#1b2733",
  soft: "#5b6876",
  line: "#e3e8ed",
  axis: "#8b96a1",
  paper: "#ffffff",
};
const LIGHT = { ...COLOUR };
const DARK = {
  resident: "#4a5a6b",
  stored: "#6d3f5c",
  first: "#4ba3e3",
  again: "#e6a93a",
  in: "#2fc39a",
  out: "#d977b3",
  persistent: "#59616a",
  over: "#ff6b6b",
  ram: "#35536b",
  ramLine: "#7fb8e6",
  ink: "#e6ebf0",
  soft: "#9fadba",
  line: "#2c3742",
  axis: "#6c7884",
  paper: "#12181f",
};

/** The colours of charts that are drawn from now on. */
export function setDark(dark) {
  Object.assign(COLOUR, LIGHT, dark ? DARK : {});
  for (const square of document.querySelectorAll(".swatch")) recolour(square);
}

const recolour = (square) => (square.style.background = COLOUR[square.dataset.colour] ?? "transparent");

/** A square in one of these colours, whatever the theme becomes. */
export function swatch(colour) {
  const square = document.createElement("span");
  square.className = "swatch";
  square.dataset.colour = colour;
  recolour(square);
  return square;
}

/** What can be read on one of these colours: dark text on the light ones. */
export const inkOn = (colour) =>
  colour === "resident"
    ? COLOUR.ink
    : colour === "again"
      ? LIGHT.ink
      : DARK[colour]
        ? COLOUR.paper
        : LIGHT.paper;

/** Whether the page is pointed at with fingers. */
export const isTouch = () => matchMedia("(pointer: coarse)").matches;

/** How wide charts are; for whoever lays them out to say. */
export const layout = { width: () => window.innerWidth };
export const narrow = () => layout.width() < 600;
/** Pixels beside an axis of names; charts that share a page with others have less. */
const beside = () => (narrow() ? Math.max(86, Math.round(0.28 * layout.width())) : 178);
/** A name as an axis has it: { fontSize, most letters }. */
export function nameRoom() {
  const fontSize = narrow() ? 10 : 11;
  return { fontSize, most: Math.floor((beside() - 8) / (0.61 * fontSize)) };
}
// The same left and right for all charts, so that moments are above one another.
export const margins = (top, bottom) => ({
  left: beside(),
  right: narrow() ? 30 : 46,
  top,
  bottom,
  outerBoundsMode: "none",
});

// A place on the x axis: a step number, or a time in `view.unit` seconds, so that its marks are whole minutes or hours
// where times are printed in those.
export const unitFor = (time) => (time >= 7200 ? 3600 : time >= 120 ? 60 : 1);
export const place = (view, time, step) => (view.mode === "time" ? time / view.unit : step);
export const start = (view, item) => place(view, item.t0, item.s0);
export const finish = (view, item) => place(view, item.t1, item.s1);

export function xText(view, x, digits = 4) {
  if (view.mode === "step") return count(Math.round(x));
  const names = { 60: "min", 3600: "h" };
  return view.unit > 1 && x > 0 ? `${significant(x, digits)} ${names[view.unit]}` : seconds(x, digits);
}

/** Enough digits to tell the marks of an axis apart that shows `part` of `whole`. */
const digitsFor = (whole, part) => 3 + Math.max(0, Math.ceil(Math.log10(whole / part)));

export function common(view, grid, extra) {
  return {
    animation: false,
    aria: { enabled: true, label: { description: extra.description } },
    textStyle: { color: COLOUR.ink, fontFamily: "system-ui, sans-serif" },
    grid,
    tooltip: {
      confine: true,
      transitionDuration: 0,
      padding: [6, 10],
      borderColor: COLOUR.axis,
      backgroundColor: COLOUR.paper,
      textStyle: { color: COLOUR.ink, fontSize: 12 },
      extraCssText: "max-width: 420px; white-space: normal; overflow-wrap: anywhere",
    },
    xAxis: {
      type: "value",
      min: 0,
      max: view.xMax[view.mode],
      minInterval: view.mode === "step" ? 1 : 0,
      splitLine: { show: false },
      axisLine: { show: true, onZero: false, lineStyle: { color: COLOUR.axis } },
      axisTick: { show: true },
      axisLabel: {
        formatter: (x) =>
          x === 0 && view.mode === "step"
            ? "step 0"
            : xText(view, x, digitsFor(100, view.zoom.end - view.zoom.start)),
        hideOverlap: true,
        showMaxLabel: false,
        color: COLOUR.soft,
      },
    },
    dataZoom: [
      {
        id: "x",
        type: "inside",
        xAxisIndex: 0,
        filterMode: extra.filterMode ?? "weakFilter",
        zoomOnMouseWheel: "ctrl",
        moveOnMouseWheel: false,
        disabled: isTouch(),
        ...view.zoom,
      },
    ],
  };
}

/** Where an axis of bytes has its marks, and how they read. */
export function byteTicks(min, max, most) {
  const { values, text } = byteMarks(min, max, most);
  return {
    axisTick: { customValues: values },
    axisLabel: { customValues: values, formatter: text, hideOverlap: true, color: COLOUR.soft },
  };
}

export function byteAxis(min, max, title) {
  return {
    type: "value",
    min,
    max,
    name: title,
    nameLocation: "middle",
    nameGap: narrow() ? 66 : 84,
    nameTextStyle: { color: COLOUR.soft },
    ...byteTicks(min, max, 6),
    splitLine: { lineStyle: { color: COLOUR.line } },
  };
}

/** Bars of items in rows, never narrower or lower than `least` pixels. */
export function bars(view, name, colour, items, rowOf, least, tip) {
  const rects = items.map((item) => {
    const row = rowOf(item);
    return {
      x0: start(view, item),
      x1: finish(view, item),
      y0: row - 0.4,
      y1: row + 0.4,
      item,
      value: item.value,
    };
  });
  return rectangles(name, colour, rects, { least, tip: (rect) => tip(rect.item) });
}

/** Boxes in one colour from [x0, x1, y0, y1], not to be pointed at. */
export function boxes(id, colour, z, data) {
  return {
    type: "custom",
    id,
    silent: true,
    clip: true,
    z,
    encode: { x: [0, 1], y: [2, 3] },
    tooltip: { show: false },
    data,
    renderItem: (params, api) => {
      const [left, bottom] = api.coord([api.value(0), api.value(2)]);
      const [right, top] = api.coord([api.value(1), api.value(3)]);
      return rectangle(params, left, top, Math.max(3, right - left), Math.max(1, bottom - top), {
        fill: colour,
      });
    },
  };
}

export function rectangle(params, x, y, width, height, style) {
  const shape = echarts.graphic.clipRectByRect({ x, y, width, height }, params.coordSys);
  return shape && { type: "rect", shape, style };
}

/** A budget's line; where something rises above it, its name keeps out of the way. */
export const budgetMark = (at, text, over) => ({
  yAxis: at,
  text,
  colour: COLOUR.ink,
  dash: true,
  position: over ? "insideStartBottom" : "insideEndTop",
});

/** Lines across a chart that belong to no series: [{ xAxis | yAxis, text, colour }]. Those across x say what they are
    above the chart, which is where they begin when the y axis is `upsideDown`. */
export function lines(marks, upsideDown = false) {
  return {
    type: "line",
    id: "lines",
    silent: true,
    data: [],
    tooltip: { show: false },
    markLine: {
      silent: true,
      symbol: "none",
      animation: false,
      precision: -1, // never rounded
      data: marks.map(({ text, colour, dash, position, ...at }) => ({
        ...at,
        lineStyle: { color: colour, type: dash === true ? "dashed" : (dash ?? "solid"), width: 1.5 },
        label: {
          formatter: () => text,
          color: colour,
          position: position ?? ("xAxis" in at ? (upsideDown ? "start" : "end") : "insideEndTop"),
          fontSize: 12,
          fontWeight: 600,
        },
      })),
    },
  };
}

const legendGap = () => (narrow() ? 8 : 14);

/** Pixels that a legend of these names takes below its first row, which charts have room for. */
export function moreLegend(names) {
  let [rows, x] = [1, 0];
  for (const name of names) {
    const width = 19 + 7 * name.length;
    if (x > 0 && x + width > layout.width() - 20) [rows, x] = [rows + 1, 0];
    x += width + legendGap();
  }
  return 20 * (rows - 1);
}

export const legendAbove = (names) => ({
  top: 4,
  left: 0,
  padding: 0,
  icon: "rect",
  itemWidth: 14,
  itemHeight: 10,
  itemGap: legendGap(),
  data: names,
  textStyle: { color: COLOUR.ink },
});

/** Where the verifier stopped, if it did. */
export function stopMark(view, model) {
  if (model.valid || model.steps.length >= model.planned) return [];
  return [
    {
      xAxis: place(view, model.timeOf(model.steps.length), model.steps.length),
      text: "stops here",
      colour: COLOUR.over,
    },
  ];
}

export function deadlineMark(view, model) {
  if (view.mode !== "time" || model.deadline === null || model.deadline > view.xMax.time * view.unit)
    return [];
  const late = model.figures.runtime > model.deadline * (1 + 1e-9);
  return [
    {
      xAxis: model.deadline / view.unit,
      text: "deadline",
      colour: late ? COLOUR.over : COLOUR.ink,
      dash: true,
    },
  ];
}

/** A tooltip: a heading and lines of [what, amount]. */
export function tipText(heading, entries, note = "") {
  const rows = entries.map(
    ([what, amount]) => `<tr><th>${escaped(what)}</th><td>${escaped(amount)}</td></tr>`,
  );
  return `<strong>${escaped(heading)}</strong><table class="tip">${rows.join("")}</table>${note ? `<div>${escaped(note)}</div>` : ""}`;
}

export const whenText = (model, item) => [
  ["begins", `${seconds(item.t0)}, step ${count(Math.floor(item.s0))}`],
  ["ends", `${seconds(item.t1)}, step ${count(Math.ceil(item.s1))}`],
  ["lasts", seconds(item.t1 - item.t0)],
];

const ending = (text, most) => (text.length <= most ? text : `…${text.slice(text.length - most + 1)}`);

/** The end of a name without its part; the number of its layer, "4.1" in "layer4.1.conv", stays if there is room for both. */
function endOfLayer(name, most) {
  const [word] = /[^.:]*\d(\.\d+)*/.exec(name) ?? [""];
  const number = word.slice(word.search(/\d/));
  if (name.length <= most || !word || name.search(/\d/) > name.length - most) return ending(name, most);
  for (const kept of [word, number]) {
    const before = name.startsWith(kept) ? "" : "…";
    const room = most - before.length - kept.length - 1;
    if (3 * room >= most) return `${before}${kept}…${name.slice(name.length - room)}`;
  }
  return ending(name, most);
}

/** A name in at most `most` characters: what tells names apart is their end. Of "layer1.conv[0:32]" the part, which is last, gives
    way first, down to a third; layer_name() of poet/report/layer_name.h does the same. */
export function shortened(name, most) {
  if (name.length <= most) return name;
  const [, layer, part] = /^([^[]*)(.*)$/s.exec(name);
  const forPart = Math.min(part.length, Math.max(most - layer.length, Math.floor(most / 3)));
  return endOfLayer(layer, most - forPart) + ending(part, forPart);
}

export function someNames(names, most) {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${count(names.length - most)} more` : shown;
}
