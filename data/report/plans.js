// What stands above the charts: each plan's verdict and figures.

import { bytes, count, counted, joules, percent, seconds } from "./amounts.js";
import { homes, movesOf } from "./model.js";

const ATTRIBUTES = /^(role|list|aria-.*)$/; // what no property sets in every browser

/** An element with properties, attributes and children. */
export function element(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given))
    if (ATTRIBUTES.test(name)) made.setAttribute(name, value);
    else made[name] = value;
  made.append(...children);
  return made;
}

/** A name, which breaks after a dot or before a bracket rather than anywhere. */
export const breakable = (name) =>
  name.split(/(?<=\.)|(?=\[)/).flatMap((piece, i) => (i ? [element("wbr"), piece] : [piece]));

/** A command, whose lines break before an option and never within its name. */
export const commandElement = (command) =>
  element(
    "code",
    {},
    ...command.split(/( )/).map((word) => (word.startsWith("-") ? element("span", {}, word) : word)),
  );

/** What the verifier says, in the units of the page: "259896 bytes of RAM, over the budget of 256765". */
const inUnits = (violation) =>
  violation.replace(
    /(\d+) bytes of RAM, over the budget of (\d+)/,
    (_, ram, budget) => `${bytes(Number(ram))} of RAM, over the budget of ${bytes(Number(budget))}`,
  );

function tile(name, amount, beside = "", over = false) {
  return element(
    "div",
    { className: over ? "over" : "" },
    element("dt", {}, name),
    element("dd", {}, amount, element("small", {}, beside)),
  );
}

/** Whether the plan is the step with everything in RAM. */
export const keepsAll = ({ figures, keep_all: all }) => figures.peak_ram >= all.peak_ram;

/** What tells keeping everything with operators in parts, which share workspace, from keeping it with whole ones. */
export const inParts = (model) => (model.ops.some(([name]) => name.endsWith("]")) ? ", operators in these parts," : "");

/** What the plan bought, in a sentence. */
function bought(model) {
  const { figures, keep_all: all } = model;
  const parts = inParts(model) ? ", operators in parts" : "";
  const stored = homes(model) ? `, ${counted(homes(model), "tensor")} on storage` : "";
  if (keepsAll(model))
    return `Everything is kept${parts}${stored}: ${bytes(all.peak_ram)} of RAM, ${joules(figures.energy)} and ${seconds(figures.runtime)} a step.`;
  const more = (mine, theirs, noun) => {
    const part = theirs > 0 ? mine / theirs - 1 : 0;
    return Math.abs(part) < 5e-5
      ? `no more ${noun}`
      : `${percent(Math.abs(part))} ${part > 0 ? "more" : "less"} ${noun}`;
  };
  return (
    `${bytes(all.peak_ram)} of RAM with everything kept${inParts(model)} become ${bytes(figures.peak_ram)}, ` +
    `for ${more(figures.energy, all.energy, "energy")} and ${more(figures.runtime, all.runtime, "time")} a step.`
  );
}

function verdict(model) {
  const block = element("div", { className: "verdict" });
  const wrong = !model.valid
    ? [isOver(model) ? "Over the limits. " : "Invalid plan. ", model.violation]
    : !model.arena.valid
      ? ["Invalid layout. ", model.arena.violation]
      : null;
  if (!wrong) {
    block.append(
      element("strong", {}, "✓ Valid. "),
      `${bought(model)} All ${count(model.planned)} steps and every address replayed, no rule violated.`,
    );
    return block;
  }
  block.className = "verdict invalid";
  block.setAttribute("role", "alert");
  block.append(element("strong", {}, "✗ " + wrong[0]), inUnits(wrong[1]));
  if (model.steps.length < model.planned)
    block.append(
      element(
        "div",
        { className: "soft" },
        `The verifier stopped at step ${count(model.steps.length)} of ${count(model.planned)}; figures and charts go that far.`,
      ),
    );
  else if (model.figures.peak_ram > model.ram_budget) block.append(element("div", {}, overWords(model)));
  return block;
}

/** What the search claims of the plan, beside what the replay says: how good it is, as far as is proven. */
function proven(model) {
  const { made, figures } = model;
  if (!model.valid)
    return isOver(model) ? "Over the limits: nothing is proven of this plan." : "Nothing is proven of an invalid plan.";
  const optimal = made.status === "optimal";
  const bound = made.bound_joules;
  if (bound === undefined)
    return optimal ? "Optimal, as the search ended." : "Feasible: how good it is was not proven.";
  if (bound > figures.energy * (1 + 1e-6))
    return `The bound that it names, ${joules(bound)}, cannot be right: this plan needs less.`;
  const most = 1 - bound / figures.energy;
  if (most < 1e-6) return `${optimal ? "Proven optimal" : "Feasible"}: no plan needs less energy.`;
  const least = `no plan needs less than ${joules(bound)}`;
  return optimal ? `Proven optimal within ${percent(most)}: ${least}.` : `Feasible: ${least}, ${percent(most)} below it.`;
}

/** How it came about, as its file says; nothing of files that do not. */
function madeBy(model) {
  const { made, written } = model;
  if (!made && !written) return [];
  const when = written ? ` ${made ? "on" : "The file was written on"} ${written}` : "";
  if (!made) return [element("p", { className: "made" }, `${when.trim()}; it does not say by what.`)];
  const limits = [made.paging ? "" : "paging was off", made.rematerialization ? "" : "recomputing was off"];
  const off = limits.filter(Boolean).join(", ");
  return [
    element(
      "p",
      { className: "proven" },
      proven(model),
      off ? ` ${off.charAt(0).toUpperCase()}${off.slice(1)}.` : "",
    ),
    element(
      "p",
      { className: "made" },
      `Made by ${made.by}${when}`,
      ...(made.command ? [": ", commandElement(made.command)] : []),
    ),
  ];
}

/** Whether the plan was replayed to its end and breaks nothing but its limits. */
const isOver = (model) => !model.valid && model.steps.length === model.planned && overLimits(model);
const overLimits = ({ figures, ram_budget, deadline, max_bytes_written: most }) =>
  figures.peak_ram > ram_budget ||
  (deadline !== null && figures.runtime > deadline * (1 + 1e-9)) ||
  (most !== null && figures.bytes_written > most);

export function overWords(model) {
  const most = model.figures.peak_ram - model.ram_budget;
  const over = model.steps.filter((step) => step.ram > model.ram_budget).length;
  return `Over the budget in ${counted(over, "step")}, by up to ${bytes(most)} (${percent(most / model.ram_budget)}).`;
}

function figuresOf(model) {
  const { figures, arena } = model;
  const of = (limit, share, text) => (limit === null ? "no limit" : `${share} of ${text}`);
  const late = model.deadline !== null && figures.runtime > model.deadline * (1 + 1e-9);
  const checked = arena.valid || arena.violation;
  return element(
    "dl",
    {},
    tile("energy", joules(figures.energy)),
    tile(
      "time",
      seconds(figures.runtime),
      model.deadline === null
        ? "no deadline"
        : of(0, percent(figures.runtime / model.deadline), `${seconds(model.deadline)} (deadline)`),
      late,
    ),
    tile(
      "RAM peak",
      bytes(figures.peak_ram),
      of(0, percent(figures.peak_ram / model.ram_budget), `${bytes(model.ram_budget)} (budget)`),
      figures.peak_ram > model.ram_budget,
    ),
    tile(
      "RAM with arena",
      checked ? bytes(arena.ram) : "not checked",
      checked
        ? `arena ${bytes(arena.bytes)}${model.persistent > 0 ? `, persistent ${bytes(model.persistent)}` : ""}`
        : "the plan itself is invalid",
      checked && arena.ram > model.ram_budget,
    ),
    tile("recomputations", count(figures.recomputations), `${counted(model.ops.length, "op")}`),
    ...(homes(model)
      ? [
          tile(
            "parameters on storage",
            bytes(model.values.slice(model.transient).reduce((sum, value) => sum + value[1], 0)),
            counted(homes(model), "tensor"),
          ),
        ]
      : []),
    tile(
      "page-ins, page-outs",
      `${count(figures.page_ins)}, ${count(figures.page_outs)}`,
      (homes(model)
        ? `${count(movesOf(model, "l").length)}, ${count(movesOf(model, "h").length)} of parameters; `
        : "") +
      (!model.channel.length
        ? "no transfers"
        : model.semantics !== "device"
          ? "they take no time here"
          : figures.stalled > 0
            ? `${seconds(figures.stalled)} spent waiting`
            : "nothing waits for them"),
    ),
    tile(
      "written to storage",
      bytes(figures.bytes_written),
      of(
        model.max_bytes_written,
        percent(figures.bytes_written / (model.max_bytes_written || 1)),
        bytes(model.max_bytes_written ?? 0),
      ),
      model.max_bytes_written !== null && figures.bytes_written > model.max_bytes_written,
    ),
  );
}

export function showPlan(model) {
  const batch = model.batch > 1 ? `, batch of ${count(model.batch)}` : "";
  const words = `${model.network || "a network"}${batch} on ${model.device || "a device"}, ${model.semantics} semantics, ${counted(model.planned, "step")}`;
  return element(
    "section",
    { className: "plan" },
    element("h1", {}, model.title || model.network),
    element("p", { className: "soft" }, words),
    verdict(model),
    ...madeBy(model),
    figuresOf(model),
  );
}
