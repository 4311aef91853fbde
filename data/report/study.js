// The page of `poet sweep` and `poet compare`: curves of each network and device, all points, and the plan behind one of them.

import { useUnits, useUnitsOf } from "./amounts.js";
import { isTouch, layout } from "./axes.js";
import { listenToPrint } from "./board.js";
import { markerOf } from "./curve_look.js";
import { makeCurves } from "./curves.js";
import { unpacked } from "./packed.js";
import { element } from "./plans.js";
import { makeTable } from "./results_table.js";
import { Y, axesFor, groupsOf, specOf } from "./study_charts.js";
import { fillHead } from "./study_head.js";
import { boardShown, hidePlan, listenToPlan, obeyPlan, redrawPlan, showPlanOf } from "./study_plan.js";
import { listenToTheme } from "./theme.js";

const $ = (id) => document.getElementById(id);
const page = { study: null, charts: [], table: null, hidden: new Set(), row: undefined };

layout.width = () => window.innerWidth;

async function readStudy() {
  const { head, rows, csv, graphs, plans } = JSON.parse($("study").textContent);
  const study = { ...(await unpacked(head)), csv: await unpacked(csv), graphs, plans, graphOf: [] };
  study.methods = study.methods.map(({ name, ...style }) => ({ name, style }));
  study.rows = (await unpacked(rows)).map((row, number) => ({
    ...row,
    number,
    chart: study.chart_of[number],
    hasPlan: plans[number] !== undefined,
  }));
  return study;
}

// --- settings, all of them in the address ---

const settings = () => new URLSearchParams(location.hash.slice(1));

/** What is said of the plan leaves no trace behind the browser's back: that leads to other plans. */
function change(values, write = "pushState") {
  const changed = settings();
  if ("point" in values) for (const name of ["tensor", "moment"]) changed.delete(name); // they were of another plan
  for (const [name, value] of Object.entries(values))
    if (value === undefined) changed.delete(name);
    else changed.set(name, value);
  if (`${changed}` !== `${settings()}`) history[write](null, "", `#${changed}`);
  obeyAddress();
}

/** #x=peak, #y=time, #hide=dtr,rotor, #point=NUMBER, and of its plan #axis=step, #tensor=NAME, #moment=STEP: what a link can
    ask for. */
function asked() {
  const given = settings();
  const axes = axesFor(page.study.rows);
  const x = axes.includes(given.get("x")) ? given.get("x") : axes[0];
  const y = Y[given.get("y")] ? given.get("y") : "energy";
  const point = given.get("point") ?? "";
  const row = /^\d+$/.test(point) ? page.study.rows[Number(point)] : undefined;
  const plan = Object.fromEntries(["axis", "tensor", "moment"].map((name) => [name, given.get(name)]));
  return { x, y, hidden: new Set((given.get("hide") ?? "").split(",").filter(Boolean)), row, plan };
}

function choiceOf(name, legend, options, chosen) {
  const radio = ([value, text]) => {
    const input = element("input", { type: "radio", name, value, checked: value === chosen });
    input.addEventListener("change", () => {
      change({ [name]: value });
      document.querySelector(`#choices [name="${name}"][value="${value}"]`).focus();
    });
    return element("label", {}, input, ` ${text}`);
  };
  return element("fieldset", {}, element("legend", {}, legend), ...options.map(radio));
}

function fillChoices(now) {
  const { study } = page;
  const names = { energy: "energy", overhead: "overhead", time: "time" };
  const xs = { budget: "RAM budget", peak: "RAM peak", deadline: "deadline" };
  const method = ({ name, style }) => {
    const button = element(
      "button",
      { type: "button", "aria-pressed": String(!now.hidden.has(name)) },
      markerOf(style),
      style.title,
    );
    button.dataset.method = name;
    button.addEventListener("click", () => {
      const hidden = new Set(now.hidden);
      if (!hidden.delete(name)) hidden.add(name);
      change({ hide: hidden.size ? [...hidden].join() : undefined });
      document.querySelector(`[data-method="${name}"]`).focus();
    });
    return button;
  };
  $("choices").replaceChildren(
    choiceOf("y", "up", Object.entries(names), now.y),
    choiceOf(
      "x",
      "across",
      axesFor(study.rows).map((name) => [name, xs[name]]),
      now.x,
    ),
    element(
      "span",
      { className: "hint" },
      isTouch()
        ? "The buttons zoom, a tap on a point shows its plan."
        : "Ctrl + wheel zooms, dragging moves, a click on a point shows its plan.",
    ),
    element(
      "div",
      { className: "methods", role: "group", "aria-label": "Methods that are shown" },
      ...study.methods.map(method),
    ),
  );
}

// --- charts ---

function makeCharts(now) {
  for (const chart of page.charts) chart.dispose();
  $("table").before($("plan")); // not to go with the chart that it is below
  $("curves").replaceChildren();
  const groups = groupsOf(page.study.rows, page.study.charts, now.x);
  page.charts = groups.map((group) =>
    Object.assign(
      makeCurves($("curves"), {
        title: group.title,
        spec: () => specOf(group, page.study.methods, { ...page.now, chosen: page.row }),
        choose: (number) => change({ point: number }),
        height: window.innerWidth < 600 ? 320 : 440,
      }),
      { rows: new Set(group.rows.map((row) => row.number)) },
    ),
  );
}

function nameOf(row) {
  const { study } = page;
  const title = study.methods.find((method) => method.name === row.method)?.style.title ?? row.method;
  return `${title}: ${study.charts[row.chart]}`;
}

/** What the plan of a row stands below. */
const placeOf = (row) => page.charts.find((chart) => chart.rows.has(row.number))?.figure ?? $("curves");

async function showRow(row) {
  page.table.choose(page.row);
  if (!row) return hidePlan();
  const below = placeOf(row);
  if (!row.hasPlan) {
    hidePlan();
    const say =
      row.energy_joules === null
        ? "it has none"
        : "it was not kept: the same command with --plans runs the point again";
    below.after($("plan"));
    $("plan").hidden = false;
    $("plan-title").textContent = nameOf(row);
    $("plans").replaceChildren(element("p", {}, `There is no plan to show: ${say}.`));
    $("charts").replaceChildren();
    $("tools").hidden = true;
  } else {
    $("tools").hidden = false;
    await showPlanOf(page.study, row, nameOf(row), below);
  }
  $("plan").scrollIntoView({ block: "start" });
  $("plan-title").focus({ preventScroll: true });
  document.body.dataset.point = row.number;
}

function obeyAddress() {
  const now = asked();
  const before = page.now;
  page.now = now;
  fillChoices(now);
  const isRow = now.row?.number !== page.row;
  page.row = now.row?.number;
  if (!before || before.x !== now.x) makeCharts(now);
  else for (const chart of page.charts) chart.redraw();
  if (isRow) showRow(now.row);
  else if (now.row && before.x !== now.x) placeOf(now.row).after($("plan"));
  obeyPlan(now.plan);
}

function listen() {
  window.addEventListener("hashchange", obeyAddress);
  window.addEventListener("popstate", obeyAddress);
  listenToPlan(
    () => change({ point: undefined }),
    (values) => change(values, "replaceState"),
  );
  listenToPrint(
    () => boardShown(),
    (width) => page.charts.forEach((chart) => chart.resize(width)),
  );
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (width === window.innerWidth) return;
    width = window.innerWidth;
    for (const chart of page.charts) chart.resize();
  });
}

async function begin() {
  page.study = await readStudy();
  if (page.study.byte_units) useUnits(page.study.byte_units);
  else useUnitsOf(page.study.rows.map((row) => row.ram_budget_bytes).filter(Boolean));
  document.title = `${page.study.title} · poet`;
  listenToTheme($("theme"), () => {
    for (const chart of page.charts) chart.redraw();
    if (page.now) fillChoices(page.now);
    redrawPlan();
  });
  fillHead($("head"), page.study);
  page.table = makeTable($("table"), page.study, (number) => change({ point: number }));
  listen();
  obeyAddress();
  self.study = page; // for tests, and for whoever looks at the page with the browser's tools
  document.body.dataset.ready = "yes";
}

begin();
