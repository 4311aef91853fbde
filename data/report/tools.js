// The tools above the charts: which x axis, zoom, and a field to find a tensor in.

import { zoomBy, zoomOfKey } from "./linked.js";
import { isTouch } from "./axes.js";
import { valueName } from "./model.js";
import { element } from "./plans.js";

const ZOOMS = [
  ["in", "+", "zoom in", "+"],
  ["out", "−", "zoom out", "-"],
  ["left", "←", "earlier", "left arrow"],
  ["right", "→", "later", "right arrow"],
  ["all", "all", "all of it", "0"],
];

/** Fills `nav`. `board()`: the one that is shown, if any; `setMode(mode)` and `find(name)`: what is asked for;
    false where no tensor has that name. */
export function makeTools(nav, { board, setMode, find }) {
  const axis = (mode, text) => {
    const input = element("input", { type: "radio", name: "axis", value: mode, checked: mode === "time" });
    input.addEventListener("change", () => setMode(mode));
    return element("label", {}, input, ` ${text}`);
  };
  const zoom = ([action, text, name, key]) => {
    const button = element("button", { type: "button", title: `${name} (${key})`, "aria-label": name }, text);
    button.dataset.zoom = action;
    button.addEventListener("click", () => board() && zoomBy(board(), action));
    return button;
  };
  const zooms = element(
    "span",
    { role: "group", "aria-label": "Zoom and move all charts" },
    ...ZOOMS.map(zoom),
  );
  const field = element("input", { id: "find", list: "tensors", autocomplete: "off", placeholder: "name" });
  field.addEventListener("input", () => field.setCustomValidity(""));
  field.addEventListener("change", () => {
    field.setCustomValidity(find(field.value.trim()) ? "" : "No tensor has this name.");
    field.reportValidity();
  });
  const shown = element("span", { id: "shown", "aria-live": "polite" });
  nav.replaceChildren(
    element(
      "fieldset",
      {},
      element("legend", {}, "x axis"),
      axis("time", "time"),
      axis("step", "step number"),
    ),
    zooms,
    element("label", { className: "find" }, "Tensor ", field),
    element("datalist", { id: "tensors" }),
    shown,
    element("span", { className: "hint" }, isTouch() ? "The buttons zoom, a tap selects." : "Ctrl + wheel zooms, dragging moves, a click selects a tensor."),
  );
  document.addEventListener("keydown", (event) => {
    const action = zoomOfKey(event);
    if (!action || !board()) return;
    zoomBy(board(), action);
    event.preventDefault();
  });
}

/** Which x axis the tools say. */
export const checkMode = (mode) => (document.querySelector(`input[name=axis][value=${mode}]`).checked = true);

/** What part of the charts is shown, in words. */
export const tellShown = (text) => (document.getElementById("shown").textContent = text);

/** The names that the field offers: the largest tensors. */
export function offerTensors(models, most = 400) {
  const names = new Set();
  for (const model of models) {
    const order = model.values.map((_, value) => value);
    order.sort((a, b) => model.values[b][1] - model.values[a][1]);
    for (const value of order.slice(0, most)) names.add(valueName(model, value));
  }
  const options = [...names].map((value) => element("option", { value }));
  document.getElementById("tensors").replaceChildren(...options);
}
