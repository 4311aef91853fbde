// One tensor: its life, its size, what the alternatives cost, and why the plan decided so.

import { bytes, count, joules, seconds } from "./amounts.js";
import { isHome } from "./model.js";
import { breakable, element } from "./plans.js";

/** What somebody looks at: what was clicked last, if it can be seen, else what is in the middle. */
function lookedAt(box) {
  const clicked = document.activeElement;
  const { top, bottom } = clicked.getBoundingClientRect();
  const isSeen = bottom > 0 && top < window.innerHeight && clicked !== document.body && !box.contains(clicked);
  return isSeen ? clicked : document.elementFromPoint(window.innerWidth / 4, window.innerHeight / 2);
}

/** Opens or closes the inspector. It makes the page narrower, and what is above what somebody looks at may become higher: that stays
    where it is on the screen. */
export function openInspector(box, open) {
  const anchor = box.hidden === open ? lookedAt(box) : null;
  const top = anchor?.getBoundingClientRect().top;
  document.body.classList.toggle("inspecting", open);
  box.hidden = !open;
  let frames = 4; // charts follow the width a few frames later
  const hold = () => {
    if (anchor.isConnected)
      window.scrollBy({ top: anchor.getBoundingClientRect().top - top, behavior: "instant" });
    if (--frames > 0) requestAnimationFrame(hold);
  };
  if (anchor) hold();
}

/** Shows a value of a model in `box`; `of`: which plan, where there are several; `close`: what closing does. */
export function inspect(box, model, value, { of = "", close }) {
  const [name, size, persistence] = model.values[value];
  const op = model.ops.findIndex(([, , , writes]) => writes.includes(value));
  const button = element("button", { type: "button" }, "Close");
  button.addEventListener("click", close);
  box.replaceChildren(
    element("div", { className: "heading" }, element("h2", {}, ...breakable(name)), button),
    ...(of ? [element("p", {}, `In ${of}`)] : []),
    element(
      "p",
      { className: "soft" },
      `${bytes(size)}, ${persistence.replaceAll("_", " ")}${op >= 0 ? `, made by ${model.ops[op][0]} (${model.ops[op][1]})` : ""}`,
    ),
    ...why(model, value),
    element("h3", {}, "Its life"),
    life(model, value),
    element("h3", {}, "Read by"),
    element("p", {}, readers(model, value)),
  );
  box.hidden = false;
}

/** What the plan decided, and what the alternatives would have cost; nothing of an invalid plan. */
function why(model, value) {
  if (!model.decisions.length) return [];
  const title = element("h3", {}, "Why");
  if (!model.decisions[value])
    return [title, element("p", {}, "It takes no room: there is nothing to decide.")];
  const [number, spent, page, recompute] = model.decisions[value];
  const [decision, reason] = model.reasons[number];
  return [
    title,
    element("p", {}, `${decision.charAt(0).toUpperCase()}${decision.slice(1)}: ${reason}.`),
    costs(model.values[value][1], isHome(model, value) ? [[HOME, page]] : [[PAGE, page], [AGAIN, recompute]], spent),
  ];
}

const PAGE = "to page it out and in once";
const AGAIN = "to compute it again, idle power included";
const HOME = "to load it and write it home once";

/** `alternatives`: [what would be done, its energy or null]. */
function costs(size, alternatives, spent) {
  const cost = (energy) =>
    energy === null ? "not possible" : `${joules(energy)}, ${joules(energy / size, 3)} per byte`;
  const row = (name, text) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, text));
  const again = alternatives.some(([name]) => name === AGAIN);
  return element(
    "table",
    {},
    ...alternatives.map(([name, energy]) => row(name, cost(energy))),
    row(`spent on it in this plan${again ? ", with idle power while it is computed again" : ""}`, joules(spent)),
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
