// One tensor: its life, its size, what the alternatives cost, and why the plan decided so.

import { bytes, count, joules, seconds } from "./report/amounts.js";
import { isHome } from "./report/model.js";
import { element } from "./report/plans.js";

/** Shows a value of a model in `box`. `answer`: of `poet explain`; `close`: what closing does. */
export function inspect(box, model, value, answer, close) {
  const [name, size, persistence] = model.values[value];
  const decision = answer?.decisions?.find((one) => one.name === name);
  const parameter = answer?.persistent_values?.find((one) => one.name === name);
  const op = model.ops.findIndex(([, , , writes]) => writes.includes(value));
  const button = element("button", { type: "button" }, "Close");
  button.addEventListener("click", close);
  box.replaceChildren(
    element("div", { className: "heading" }, element("h2", {}, name), button),
    element(
      "p",
      { className: "soft" },
      `${bytes(size)}, ${persistence.replaceAll("_", " ")}${op >= 0 ? `, made by ${model.ops[op][0]} (${model.ops[op][1]})` : ""}`,
    ),
    element("h3", {}, "Why"),
    element("p", {}, why(decision, parameter)),
    alternatives(decision),
    element("h3", {}, "Its life"),
    life(model, value),
    element("h3", {}, "Read by"),
    element("p", {}, readers(model, value)),
  );
  box.hidden = false;
}

function why(decision, parameter) {
  if (decision) return `${capital(decision.decision)}: ${decision.reason}.`;
  if (parameter)
    return `${parameter.paged ? "At home on storage" : "In RAM from step to step"}: ${parameter.reason}.`;
  return "The plan has nothing to decide about it.";
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function alternatives(decision) {
  if (!decision) return "";
  const cost = (joulesOf, perByte) =>
    joulesOf === null
      ? "not possible"
      : `${joules(joulesOf)}${perByte === null ? "" : `, ${joules(perByte, 3)} per byte`}`;
  const row = (name, text) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, text));
  return element(
    "table",
    {},
    row("to page it out and in once", cost(decision.page_joules, decision.page_joules_per_byte)),
    row("to compute it again", cost(decision.recompute_joules, decision.recompute_joules_per_byte)),
    row("spent on it in this plan", joules(decision.spent_joules)),
  );
}

/** Everything that happens to it, in order. */
function life(model, value) {
  const events = [];
  for (const one of model.live)
    if (one.value === value)
      events.push([
        one.t0,
        `${{ compute: "computed", recompute: "computed again", "page in": "paged in", load: "loaded" }[one.from]}, in RAM for ${seconds(one.t1 - one.t0)}`,
      ]);
  for (const move of model.moves)
    if (move.value === value && (move.kind === "o" || move.kind === "h"))
      events.push([
        move.t0,
        `${move.kind === "o" ? "written to storage" : "written home"} in ${seconds(move.t1 - move.t0)}`,
      ]);
  events.sort((a, b) => a[0] - b[0]);
  if (!events.length)
    return element("p", {}, isHome(model, value) ? "On storage all the time." : "Never in RAM by itself.");
  const shown = events.slice(0, 12).map(([t, text]) => element("li", {}, `${seconds(t)}: ${text}`));
  if (events.length > 12) shown.push(element("li", {}, `and ${count(events.length - 12)} more`));
  return element("ol", {}, ...shown);
}

function readers(model, value) {
  const names = [...new Set(model.readers[value].map((s) => model.ops[model.steps[s].id][0]))];
  return names.length
    ? names.slice(0, 8).join(", ") + (names.length > 8 ? ` and ${count(names.length - 8)} more` : "")
    : "Nobody.";
}

/** The value of a name; nothing where there is none. */
export const valueNamed = (model, name) => {
  const at = model.values.findIndex(([one]) => one === name);
  return at < 0 ? undefined : at;
};
