// The page of `poet reproduce`: its figures as charts that can be zoomed, one for each network and device.

import { count, significant } from "./amounts.js";
import { layout } from "./axes.js";
import { listenToPrint } from "./board.js";
import { markerOf } from "./curve_look.js";
import { makeCurves } from "./curves.js";
import { unpacked } from "./packed.js";
import { element } from "./plans.js";
import { listenToTheme } from "./theme.js";

const page = { figures: [], legends: [] };

/** Charts are two beside one another where there is room (reproduction.css). */
layout.width = () => window.innerWidth * (window.innerWidth >= 1100 ? 0.5 : 1);

const FAR = 4; // times the range of nine tenths of the points: what lies beyond would press them to the ground

/** The range of the y axis, and a sentence about points beyond it. A linear axis begins at 0 where that is near. */
function rangeOf(figure, curves) {
  if (figure.log_y) return { range: { min: figure.y_floor }, cut: "" };
  const ys = curves.flatMap((curve) => curve.points.map((point) => point.y)).sort((a, b) => a - b);
  if (!ys.length) return { range: {}, cut: "" };
  const [low, high] = [ys[0], ys.at(-1)];
  const most = ys[Math.floor(0.9 * (ys.length - 1))];
  const range = low > 0 && low < 0.3 * high ? { min: 0 } : {};
  if (!(most > low && high - low > FAR * (most - low))) return { range, cut: "" };
  const max = Number((low + 1.5 * (most - low)).toPrecision(3));
  const beyond = ys.filter((y) => y > max).length;
  const points = beyond === 1 ? "1 point lies" : `${count(beyond)} points lie`;
  return { range: { ...range, max }, cut: `${points} above this chart, up to ${significant(high, 3)}.` };
}

/** What makeCurves() draws of a panel. */
function specOf(figure, panel) {
  const shown = panel.curves.filter((curve) => !figure.hidden.has(curve.style));
  const tip = (style, [x, y]) => [
    style.title,
    [
      [figure.x_name, significant(x, 5)],
      [figure.y_name, significant(y, 5)],
    ],
  ];
  const curves = shown.map(({ style: number, points }) => {
    const style = figure.styles[number];
    return {
      style: { ...style, width: style.width || 1 },
      line: style.width > 0,
      points: points.map((point) => ({ x: point[0], y: point[1], tip: () => tip(style, point) })),
    };
  });
  const axis = (name, log, floor) => ({ name, format: "number", log, floor });
  const { cut, range } = rangeOf(figure, curves);
  const lines = curves.map((curve) => `${curve.style.title}: ${count(curve.points.length)} points`);
  return {
    x: axis(figure.x_name, figure.log_x, 0),
    y: {
      ...axis(figure.y_name, figure.log_y, figure.y_floor),
      ...range,
    },
    curves,
    words: `${panel.title}, ${figure.y_name} over ${figure.x_name}. ${lines.join(", ") || panel.note}`,
    note: curves.length ? cut : panel.note,
  };
}

/** A button for each curve that some panel has, which shows and hides it in all of them. */
function legendOf(figure, redraw) {
  const used = new Set(figure.panels.flatMap((panel) => panel.curves.map((curve) => curve.style)));
  const box = element("div", { className: "methods", role: "group", "aria-label": "Curves that are shown" });
  const fill = () =>
    box.replaceChildren(
      ...figure.styles.flatMap((style, number) => {
        if (!used.has(number)) return [];
        const pressed = String(!figure.hidden.has(number));
        const button = element(
          "button",
          { type: "button", "aria-pressed": pressed },
          markerOf(style),
          style.title,
        );
        button.addEventListener("click", () => {
          if (!figure.hidden.delete(number)) figure.hidden.add(number);
          button.setAttribute("aria-pressed", String(!figure.hidden.has(number)));
          redraw();
        });
        return [button];
      }),
    );
  fill();
  page.legends.push(fill);
  return box;
}

function makeFigure(box, data) {
  const figure = { ...data, hidden: new Set(), charts: [] };
  const grid = element("div", { className: "grid" });
  box.append(
    legendOf(figure, () => figure.charts.forEach((chart) => chart.redraw())),
    grid,
  );
  figure.charts = figure.panels.map((panel) =>
    makeCurves(grid, {
      title: panel.title,
      spec: () => specOf(figure, panel),
      heading: "h4",
      height: window.innerWidth < 600 ? 300 : 380,
    }),
  );
  page.figures.push(figure);
}

const charts = () => page.figures.flatMap((figure) => figure.charts);

async function begin() {
  const { figures } = JSON.parse(document.getElementById("figures").textContent);
  const all = await unpacked(figures);
  listenToTheme(document.getElementById("theme"), () => {
    for (const chart of charts()) chart.redraw();
    for (const fill of page.legends) fill();
  });
  for (const box of document.querySelectorAll("[data-figure]")) makeFigure(box, all[box.dataset.figure]);
  listenToPrint(
    () => null,
    (width) => charts().forEach((chart) => chart.resize(width)),
  );
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (width === window.innerWidth) return;
    width = window.innerWidth;
    for (const chart of charts()) chart.resize();
  });
  self.reproduction = page; // for tests, and for whoever looks at the page with the browser's tools
  document.body.dataset.ready = "yes";
}

begin();
