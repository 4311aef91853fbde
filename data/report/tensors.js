// All tensors of a plan as a table: folded by layer, searched, filtered, sorted.

import { bytes, count, counted, joules } from "./amounts.js";
import { isHome } from "./model.js";
import { breakable, element } from "./plans.js";

const SORTS = [
  ["bytes", "largest first", (a, b) => b.bytes - a.bytes],
  ["spent", "costliest first", (a, b) => b.spent - a.spent || b.bytes - a.bytes],
  ["order", "in the order of the step", (a, b) => a.order - b.order],
];
const MOST = 200; // rows of one layer that are shown at once
const OPENED = 60; // tensors found by a search that are shown without a click
const PAUSE = 150; // milliseconds without typing before the table is searched

const parentOf = (name) => name.slice(0, Math.max(0, name.lastIndexOf(".")));
/** Of a tensor or op without what it is of its layer: "grad:fc4+2[0:8]", "fc4:backward_input" -> "fc4". */
const wholeOf = (name) =>
  name
    .replace(/^grad:/, "")
    .replace(/\[.*$/, "")
    .replace(/:.*$/, "")
    .replace(/\+\d*$/, "");

/** "grad:layer1.0.conv1.weight[0:8]" -> "layer1.0": what tensors of one layer have in common. `ops`: names of whole ops, some of
    which have several results ("dropout.mask") and parameters. */
function layerOf(name, ops) {
  let whole = wholeOf(name).replace(/\.(weight|bias)$/, "");
  if (!ops.has(whole) && ops.has(parentOf(whole))) whole = parentOf(whole);
  return parentOf(whole) || whole;
}

/** { value, name, layer, bytes, decision, reason, spent, order } of each tensor. */
function tensorsOf(model) {
  const ops = new Set(model.ops.map(([name]) => wholeOf(name)));
  return model.values.map(([name, size], value) => {
    const [number, spent] = model.decisions[value] ?? [];
    const [decision, reason] = model.reasons[number] ?? [isHome(model, value) ? "on storage" : "kept", ""];
    return {
      value,
      name,
      layer: layerOf(name, ops),
      bytes: size,
      decision,
      reason,
      spent: spent ?? 0,
      order: value,
    };
  });
}

const sum = (list, name) => list.reduce((all, one) => all + one[name], 0);

/** Groups of the tensors that are asked for, in order. */
function grouped(tensors, { text, decision, sort }) {
  const groups = new Map();
  for (const one of tensors) {
    if (decision && !one.decision.includes(decision)) continue;
    if (text && !one.name.toLowerCase().includes(text)) continue;
    if (!groups.has(one.layer)) groups.set(one.layer, []);
    groups.get(one.layer).push(one);
  }
  const compare = SORTS.find(([name]) => name === sort)[2];
  return [...groups]
    .map(([layer, own]) => ({
      layer,
      own: own.sort(compare),
      bytes: sum(own, "bytes"),
      spent: sum(own, "spent"),
      order: own[0].order,
    }))
    .sort(compare);
}

function tensorRow(one, select) {
  const button = element("button", { type: "button", className: "name" }, ...breakable(one.name));
  button.addEventListener("click", () => select(one.value));
  return element(
    "tr",
    {},
    element("td", { className: "tensor" }, button),
    element("td", { className: "bytes" }, bytes(one.bytes)),
    element("td", { className: "spent" }, one.spent ? joules(one.spent, 3) : "-"),
    element("td", { className: "decisions" }, one.decision),
    element("td", { className: "why" }, one.reason),
  );
}

/** "532 paged, 351 on storage", the most frequent first. */
function decisionsOf(own) {
  const by = new Map();
  for (const { decision } of own) by.set(decision, (by.get(decision) ?? 0) + 1);
  return [...by]
    .sort((a, b) => b[1] - a[1])
    .map(([decision, number]) => `${count(number)} ${decision}`)
    .join(", ");
}

/** A layer's row, and when it is opened those of its tensors. */
function layerRows(group, select, isOpen) {
  const body = element("tbody");
  const { own } = group;
  const button = element("button", { type: "button", className: "name", "aria-expanded": "false" });
  const open = (show) => {
    button.setAttribute("aria-expanded", String(show));
    button.textContent = `${show ? "▾" : "▸"} ${group.layer}`;
    while (body.rows.length > 1) body.rows[1].remove();
    if (!show) return;
    body.append(...own.slice(0, MOST).map((one) => tensorRow(one, select)));
    if (own.length > MOST)
      body.append(
        element(
          "tr",
          {},
          element("td", { colSpan: 5 }, `and ${count(own.length - MOST)} more: search for them`),
        ),
      );
  };
  button.addEventListener("click", () => open(button.getAttribute("aria-expanded") === "false"));
  body.append(
    element(
      "tr",
      {},
      element("th", { scope: "row" }, button, element("span", { className: "soft" }, ` ${counted(own.length, "tensor")}`)),
      element("td", { className: "bytes" }, bytes(group.bytes)),
      element("td", { className: "spent" }, group.spent ? joules(group.spent, 3) : "-"),
      element("td", { className: "decisions", colSpan: 2 }, decisionsOf(own)),
    ),
  );
  open(isOpen);
  return body;
}

function choice(label, options, changed) {
  const select = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
  select.addEventListener("change", () => changed(select.value));
  return element("label", {}, `${label} `, select);
}

/** Fills `box` with the table of a model. `select(value)`: a tensor was clicked. */
export function makeTensors(box, model, select) {
  const tensors = tensorsOf(model);
  const asked = { text: "", decision: "", sort: SORTS[0][0] };
  const table = element("table", { className: "tensors" });
  const told = element("p", { className: "soft", role: "status" });
  const show = () => {
    const groups = grouped(tensors, asked);
    const names = [
      ["layer, tensor", "", ""],
      ["bytes", "", ""],
      ["energy spent", "", "on transfers and on computing it again, idle power during the latter included"],
      ["decision", "decisions", ""],
      ["why", "why", ""],
    ];
    const head = element(
      "tr",
      {},
      ...names.map(([name, className, title]) => element("th", { scope: "col", className, title }, name)),
    );
    const found = sum(
      groups.map(({ own }) => ({ own: own.length })),
      "own",
    );
    const open = groups.length === 1 || (asked.text !== "" && found <= OPENED);
    table.replaceChildren(
      element("thead", {}, head),
      ...groups.map((group) => layerRows(group, select, open)),
    );
    told.textContent = found
      ? `${counted(found, "tensor")} of ${bytes(sum(groups, "bytes"))} in ${counted(groups.length, "layer")}`
      : "No tensor is like that.";
  };
  const change = (name) => (value) => {
    asked[name] = value;
    show();
  };
  const search = element("input", { type: "search", placeholder: "part of a name" });
  let typed;
  search.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(() => change("text")(search.value.trim().toLowerCase()), PAUSE);
  });
  const known = [...new Set(tensors.map((one) => one.decision))];
  const kinds = ["paged", "recomputed", "on storage", "kept"].filter((kind) =>
    known.some((one) => one.includes(kind)),
  );
  box.replaceChildren(
    element(
      "div",
      { className: "asked" },
      element("label", {}, "Search ", search),
      choice("Show", [["", "all"], ...kinds.map((kind) => [kind, kind])], change("decision")),
      choice(
        "Sort",
        SORTS.map(([name, text]) => [name, text]),
        change("sort"),
      ),
    ),
    told,
    element("div", { className: "scroll", tabIndex: 0 }, table),
  );
  show();
}
