// The page: what is chosen on the left, the curve of it above, the plan at the budget below.

import { useUnits } from "./report/amounts.js";
import { layout } from "./report/axes.js";
import { listenToPrint, mark, setMode } from "./report/board.js";
import { inspect, openInspector, valueNamed } from "./report/inspector.js";
import { element } from "./report/plans.js";
import { showMoment } from "./report/moment.js";
import { listenToTheme } from "./report/theme.js";
import { makeTools, offerTensors } from "./report/tools.js";
import { Problem, download, onTokenNeeded, run, waitingText } from "./api.js";
import { makeForm, shownBudget } from "./choose.js";
import { makeCurve } from "./curve.js";
import { calls, curveOrder, planOrder } from "./order.js";
import { showBoard, solved, verdictOf } from "./plan.js";
import { pointOf } from "./points.js";
import { askForToken, noProblem, problem } from "./problems.js";
import { canUndo, change, onChange, start, state } from "./state.js";

const $ = (id) => document.getElementById(id);
const SUBJECT = ["model", "onnx", "device", "profile", "batch", "optimizer", "factor"];
const page = { shown: null, view: null, curveJob: null, planJob: null, mode: "time", clicked: null };

const SMALL = 16 * 2 ** 20; // bytes of RAM: devices with less count it in KiB

/** Bytes are told in KiB where the budget is a whole number of those and not of KB, and on small devices. */
function chooseUnits(devices) {
  const device = state.profile ?? devices.find((one) => one.name === state.device);
  const binary = state.ram ? state.ram % 1024 === 0 && state.ram % 1000 !== 0 : false;
  const isSmall = device?.ram_bytes < SMALL && !(state.ram % 1000 === 0);
  useUnits(binary || isSmall ? "binary" : "decimal");
}

// --- the curve ---

async function showCurve(curve) {
  page.curveJob?.abort();
  const job = (page.curveJob = new AbortController());
  const say = (text) => ($("curve-status").textContent = text);
  curve.clear();
  try {
    const ended = await run(curveOrder(state), {
      signal: job.signal,
      wait: (problem) => say(waitingText(problem)),
      tell: (now) => {
        const { rows = [], done = 0, of } = now.progress ?? {};
        if (rows.length) curve.show(rows);
        say(now.state === "queued" ? "waiting for a worker …" : of ? `${done} of ${of} points` : "");
        chooseRam(rows);
      },
    });
    if (ended.state === "failed")
      problem(
        Object.assign(new Error(ended.error.message), { kind: ended.error.error, field: ended.error.field }),
        "The curve could not be drawn.",
      );
    say(ended.state === "done" ? "" : `the curve is ${ended.state}`);
    const rows = ended.progress?.rows ?? [];
    if (rows.length && rows.every((row) => row.verdict === "failed"))
      problem(new Error(rows[0].reason), "The curve could not be drawn.");
    document.body.dataset.curve = ended.state;
  } catch (error) {
    problem(error, "The curve could not be drawn.");
  }
}

/** Where no budget was chosen yet: half of what keeping everything takes. */
function chooseRam(rows) {
  const most = rows.find((row) => row.keep_all_peak_ram_bytes > 0)?.keep_all_peak_ram_bytes;
  if (!state.ram && most) change({ ram: shownBudget(most / 2) }, false);
}

// --- the plan ---

async function showPlan(curve) {
  page.planJob?.abort();
  if (!state.ram) return;
  const job = (page.planJob = new AbortController());
  const say = (text) => ($("plan-status").textContent = text);
  document.body.dataset.plan = "asked";
  try {
    const orders = [...(state.pinned ? [{ ...state.pinned, kind: "explain" }] : []), planOrder(state)];
    const answers = [];
    for (const order of orders) answers.push(await solved(order, say, job.signal));
    if (job.signal.aborted) return;
    say("");
    noProblem();
    const point = pointOf(answers.at(-1).answer, state.factor);
    if (point) curve.add(point);
    render(answers);
  } catch (error) {
    if (error.name === "AbortError") return;
    say("");
    document.body.dataset.plan = "problem";
    problem(error, "There is no plan to show.");
  }
}

function render(answers) {
  const shown = (page.shown = answers.at(-1));
  const models = answers.filter((one) => one.model).map((one) => one.model);
  page.view?.end();
  page.view = null;
  const verdicts = answers.map((one) => verdictOf(one.answer, (ram) => change({ ram })));
  if (verdicts.length > 1) for (const [i, one] of verdicts.entries()) one.prepend(i ? "Now: " : "Pinned: ");
  $("verdict").replaceChildren(...verdicts);
  $("tools").hidden = !models.length;
  $("plans").replaceChildren();
  $("charts").replaceChildren();
  renderActions(shown);
  if (models.length) {
    layout.width = () => $("charts").clientWidth / (models.length > 1 && window.innerWidth >= 1200 ? 2.2 : 1);
    const select = (model, value) => {
      page.clicked = model;
      change({ tensor: model.values[value][0] });
      showTensor(); // one of the same name of the other plan changes no address
    };
    page.view = showBoard(models, page.mode, select, (model, step) => showStep(model, step, select));
  }
  page.clicked = null;
  offerTensors(models);
  showTensor();
  document.body.dataset.plan = shown.answer.status;
}

function renderActions({ job, model }) {
  const button = (text, action, attributes = {}) => {
    const made = element("button", { type: "button", ...attributes }, text);
    made.addEventListener("click", () => Promise.resolve(action()).catch(problem));
    return made;
  };
  const file = (text, name) => button(text, () => download(`/api/v1/jobs/${job.id}/${name}`));
  const copy = element(
    "details",
    { className: "calls" },
    element("summary", {}, "Reproduce"),
    ...calls(state).map(([title, text]) => {
      const copied = button("Copy", async () => {
        await navigator.clipboard.writeText(text);
        copied.textContent = "Copied";
      });
      copied.setAttribute("aria-label", `Copy the call from ${title}`);
      return element("div", {}, element("h3", {}, title, " ", copied), element("pre", { tabIndex: 0 }, text));
    }),
  );
  $("actions").replaceChildren(
    ...(state.pinned ? [button("Stop comparing", () => change({ pinned: undefined }))] : []),
    ...(model
      ? [
          ...(state.pinned
            ? []
            : [
                button("Pin to compare", () => change({ pinned: planOrder(state) }), {
                  title: "keeps this plan beside those that you look at next",
                }),
              ]),
          file("Plan file", "plan"),
          file("Page", "page.html"),
          file("Figure", "figure.svg"),
          file("Firmware", "firmware.tar.gz"),
        ]
      : []),
    copy,
  );
}

/** The plan on the page with a tensor of that name: the one that was clicked last, the one that is looked at, the pinned one. */
const withTensor = (name) =>
  [page.clicked, page.shown?.model, ...(page.view?.board.models ?? [])].find(
    (model) => model && valueNamed(model, name) !== undefined,
  );

function showTensor() {
  const box = $("inspector");
  const model = state.tensor ? withTensor(state.tensor) : undefined;
  const value = model && valueNamed(model, state.tensor);
  openInspector(box, value !== undefined);
  if (page.view) mark(page.view.board, model, value);
  const of = page.view?.board.models.length > 1 ? model?.title : "";
  if (value !== undefined) inspect(box, model, value, { of, close: () => change({ tensor: undefined }) });
}

/** What is in RAM at a step: looked at for a moment, and no part of the address. */
function showStep(model, step, select) {
  change({ tensor: undefined });
  const box = $("inspector");
  openInspector(box, true);
  const of = page.view.board.models.length > 1 ? model.title : "";
  showMoment(box, model, step, { of, close: showTensor, select: (value) => select(model, value) });
}

// --- the page ---

function listen(curve) {
  const undo = () => canUndo() && history.back();
  $("undo").addEventListener("click", undo);
  $("redo").addEventListener("click", () => history.forward());
  const again = () => page.view && setMode(page.view.board, page.mode);
  listenToTheme($("theme"), () => {
    curve.redraw();
    again();
  });
  listenToPrint(() => page.view?.board);
  makeTools($("tools"), {
    board: () => page.view?.board,
    setMode: (mode) => {
      page.mode = mode;
      again();
    },
    find(tensor) {
      if (tensor && !withTensor(tensor)) return false;
      change({ tensor: tensor || undefined });
      return true;
    },
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.tensor) change({ tensor: undefined });
    else if (event.key === "Escape" && !$("inspector").hidden) showTensor();
    const typing = ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName);
    if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !typing) {
      event.preventDefault();
      if (event.shiftKey) history.forward();
      else undo();
    }
  });
}

async function begin() {
  onTokenNeeded(askForToken);
  const form = await makeForm($("choose"), problem);
  let waiting = 0;
  let dragged = false; // and undo has a step for it
  const curve = makeCurve($("curve"), (ram, done) => {
    if (ram) curve.mark(ram, state.factor);
    clearTimeout(waiting);
    // While it is dragged the plan follows, and undo goes back to where the drag began.
    const obey = () => {
      const moved = ram !== state.ram;
      change({ ram }, !dragged);
      dragged = !done && (dragged || moved);
    };
    if (ram) waiting = setTimeout(obey, done ? 0 : 250);
  });
  listen(curve);
  onChange((changed) => {
    const subject = SUBJECT.some((name) => changed.has(name));
    chooseUnits(form.devices);
    form.show();
    $("subject").textContent =
      `${state.file ?? state.model ?? ""} on ${state.profile?.name ?? state.device ?? ""}`;
    curve.mark(state.ram, state.factor);
    if (subject) showCurve(curve);
    if (subject || ["ram", "pinned", "seconds"].some((name) => changed.has(name))) showPlan(curve);
    else if (changed.has("tensor")) showTensor();
  });
  start();
  document.body.dataset.started = "yes";
}

async function beginWhenThere() {
  try {
    await begin();
  } catch (error) {
    problem(error, "The page could not start.");
    if (error instanceof Problem && error.status === 0) setTimeout(() => location.reload(), 3000);
    else if (!(error instanceof Problem)) throw error;
  }
}

beginWhenThere();
