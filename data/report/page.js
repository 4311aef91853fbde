"use strict";
// The page: the plans' figures, a chart of each kind for each plan, and what moves them together.

const models = JSON.parse(document.getElementById("pictures").textContent).map(modelOf);

/** The step and, if it is near, the deadline; room to say where a replay stopped. */
function timeShown(model) {
  if (model.steps.length < model.planned) return model.makespan * 1.05;
  const near = model.deadline !== null && model.deadline < 1.2 * model.makespan;
  return near ? Math.max(model.makespan, model.deadline * 1.02) : model.makespan;
}

const longest = largest(models.map(timeShown)) || 1;
const view = {
  mode: "time",
  zoom: { start: 0, end: 100 },
  unit: unitFor(longest),
  xMax: { time: longest / unitFor(longest), step: largest(models.map((m) => m.planned)) || 1 },
  ramMax: largest(models.map((m) => axisEnd(m.figures.peak_ram, m.ram_budget))),
  arenaMax: largest(models.map((m) => axisEnd(m.reach, m.ram_budget - m.persistent))),
};
view.ramMin = axisBegin(models, view.ramMax);
const rowClass = models.length > 1 ? "row several" : "row";
const drawn = []; // { chart, option: () => its option, linked: it has the common x axis }

// --- charts ---

function addChart(into, model, height, option, caption, linked = true) {
  const box = element("div", { className: "chart", tabIndex: 0 });
  box.style.height = `${height()}px`;
  const cursor = element("div", { className: "cursor" });
  const figure = element("figure", {}, box, cursor, element("figcaption", {}, caption));
  if (models.length > 1 && model) figure.prepend(element("h3", {}, model.title));
  into.append(figure);
  const chart = echarts.init(box, null, { renderer: "canvas" });
  const one = { chart, box, cursor, height, option, linked };
  drawn.push(one);
  if (linked) link(one);
}

function addPanel(title, words, each) {
  const row = element("div", { className: rowClass });
  document
    .getElementById("charts")
    .append(
      element("section", {}, element("h2", {}, title), element("p", { className: "soft" }, words), row),
    );
  each(row);
}

function energyTable() {
  const head = element(
    "tr",
    {},
    element("th"),
    ...models.flatMap((m) => [
      element("th", { scope: "col" }, models.length > 1 ? m.title : "energy"),
      element("th", { scope: "col" }, "share"),
    ]),
  );
  const line = (name, colour, part) => {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = colour;
    const cells = models.flatMap((m) => [
      element("td", {}, joules(part(m.figures))),
      element("td", {}, percent(m.figures.energy > 0 ? part(m.figures) / m.figures.energy : 0)),
    ]);
    return element("tr", {}, element("th", { scope: "row" }, swatch, name), ...cells);
  };
  const table = element(
    "table",
    {},
    head,
    ...energyParts(models).map((one) => line(...one)),
    line("all", "transparent", (figures) => figures.energy),
  );
  return element("div", { className: "scroll" }, table);
}

function build() {
  const plans = document.getElementById("plans");
  plans.className = rowClass;
  plans.append(...models.map(showPlan));
  const panel = (title, words, height, option, caption) =>
    addPanel(title, words, (row) => {
      for (const m of models)
        addChart(
          row,
          m,
          () => height(m),
          () => option(view, m),
          caption(m),
        );
    });
  panel(
    "Schedule",
    "Each row is a value, in the order of the ops that make them: when it is in RAM, computed, recomputed, stored, moved to storage and back.",
    scheduleHeight,
    scheduleOption,
    scheduleWords,
  );
  if (models.some(homes))
    panel(
      "Parameters on storage",
      "Each row is a parameter, or optimiser state, that lives on storage: when it is loaded, in RAM, and written home after its update.",
      homesHeight,
      homesOption,
      homesWords,
    );
  panel(
    "RAM",
    "Bytes in RAM while each step runs; point at a moment for what they are.",
    () => 310,
    ramOption,
    (m) => ramWords(view, m),
  );
  panel(
    "Compute and storage",
    "What the compute engine and the one storage channel do; shares of the step's time.",
    () => 178,
    lanesOption,
    lanesWords,
  );
  if (models.some((m) => m.allocations.length))
    panel(
      "Arena",
      "Where everything lies: each rectangle is an allocation: of a value, or the workspace of a running op.",
      () => 400,
      arenaOption,
      arenaWords,
    );
  const note =
    "Recomputing is part of the verifier's compute energy; its share is the sum of the cost table over the steps that recompute.";
  addPanel("Energy", note, (row) => {
    row.className = "row";
    addChart(
      row,
      null,
      () => 70 + 44 * models.length,
      () => energyOption(models),
      "",
      false,
    );
    row.append(energyTable());
  });
}

// --- drawing ---

function draw() {
  for (const one of drawn) one.chart.setOption(one.option(), { notMerge: true });
}

function setMode(mode) {
  view.mode = mode;
  document.querySelector(`input[name=axis][value=${mode}]`).checked = true;
  view.zoom = { start: 0, end: 100 };
  draw();
  zoomTo(0, 100);
}

function resize(width) {
  for (const one of drawn) {
    one.box.style.height = `${one.height()}px`;
    one.chart.resize(width ? { width } : undefined);
    one.chart.setOption(one.option(), { notMerge: true });
    if (width) one.chart.getZr().flush();
  }
}

/** #axis=step, #zoom=20-60 (percent of the x axis): what a link can ask for. */
function obeyAddress() {
  const settings = new URLSearchParams(location.hash.slice(1));
  setMode(settings.get("axis") === "step" ? "step" : "time");
  const [from, to] = (settings.get("zoom") ?? "").split("-").map(Number);
  if (to > from) zoomTo(from, to);
}

function listen() {
  for (const input of document.querySelectorAll("input[name=axis]"))
    input.addEventListener("change", () => setMode(input.value));
  for (const button of document.querySelectorAll("button[data-zoom]"))
    button.addEventListener("click", () => zoomBy(button.dataset.zoom));
  const keys = { "+": "in", "=": "in", "-": "out", 0: "all", ArrowLeft: "left", ArrowRight: "right" };
  document.addEventListener("keydown", (event) => {
    if (
      event.target.tagName === "INPUT" ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      !keys[event.key]
    )
      return;
    zoomBy(keys[event.key]);
    event.preventDefault();
  });
  const charts = document.getElementById("charts");
  let width = charts.clientWidth;
  // In the next frame: charts that change their size while the browser lays the page out would be an error.
  const observer = new ResizeObserver(() =>
    requestAnimationFrame(() => {
      if (charts.clientWidth === width) return;
      width = charts.clientWidth;
      resize();
    }),
  );
  observer.observe(charts);
  window.addEventListener("beforeprint", () => resize(700));
  window.addEventListener("afterprint", () => resize());
  window.addEventListener("hashchange", obeyAddress);
}

/** For tests: how many charts are on the page, once each has been drawn, and how long that took. */
function tellWhenDrawn(since) {
  const open = new Set(drawn);
  for (const one of drawn) {
    one.chart.on("finished", () => {
      open.delete(one);
      if (open.size || document.body.dataset.ready) return;
      Object.assign(document.body.dataset, {
        ready: "yes",
        charts: drawn.length,
        axis: view.mode,
        drawMs: Math.round(performance.now() - since),
      });
    });
  }
}

const began = performance.now();
build();
for (const one of drawn) one.chart.resize(); // the first were made before the page was long enough to scroll
tellWhenDrawn(began);
obeyAddress();
listen();
