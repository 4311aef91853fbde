// What is in RAM at one moment: the inspector of a step, as inspector.js is that of a tensor.

import { bytes, count, percent, seconds } from "./amounts.js";
import { residentAt, stepText, valueName } from "./model.js";
import { breakable, element } from "./plans.js";

const MOST = 200; // tensors that are listed one by one

/** The step at which most RAM is in use; of several the first. */
export const peakStep = (model) => model.steps.findIndex((step) => step.ram === model.figures.peak_ram);

const FEW = 6; // tensors below a chart that is tapped

/** A line about a step, and a button for each of its largest tensors. */
export function momentList(model, s, select) {
  const step = model.steps[s];
  const button = ({ value, bytes: size }) => {
    const one = element(
      "button",
      { type: "button", className: "name" },
      element("span", {}, ...breakable(valueName(model, value))),
      element("span", {}, bytes(size)),
    );
    one.addEventListener("click", () => select(value));
    return one;
  };
  const all = residentAt(model, s);
  const more = all.length > FEW ? ` ${count(all.length - FEW)} more: tap the chart again.` : "";
  return [
    element("p", {}, element("strong", {}, bytes(step.ram)), ` at ${seconds(step.t0)}, step ${count(s)}: ${stepText(model, s)}.${more}`),
    ...all.slice(0, FEW).map(button),
  ];
}

/** Fills `box` with what is in RAM while step `s` runs. `select(value)`: a tensor was chosen; `of`: whose it is, of several plans. */
export function showMoment(box, model, s, { close, select, of = "" }) {
  const step = model.steps[s];
  const resident = residentAt(model, s);
  const held = resident.reduce((sum, one) => sum + one.bytes, 0);
  const workspace = step.ram - model.persistent - held;
  const button = element("button", { type: "button" }, "Close");
  button.addEventListener("click", close);
  const row = (name, size) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      element("td", {}, bytes(size)),
      element("td", {}, percent(step.ram > 0 ? size / step.ram : 0)),
    );
  const tensor = ({ value, bytes: size }) => {
    const name = element("button", { type: "button", className: "name" }, ...breakable(valueName(model, value)));
    name.addEventListener("click", () => select(value));
    return row(name, size);
  };
  const rest = resident.slice(MOST);
  const rows = resident.slice(0, MOST).map(tensor);
  if (rest.length)
    rows.push(
      row(
        `and ${count(rest.length)} more`,
        rest.reduce((sum, one) => sum + one.bytes, 0),
      ),
    );
  if (workspace > 0) rows.push(row("workspace", workspace));
  if (model.persistent > 0)
    rows.push(row("persistent values", model.persistent));
  const title = s === peakStep(model) ? "RAM at its peak" : `RAM at step ${count(s)}`;
  box.replaceChildren(
    element("div", { className: "heading" }, element("h2", {}, title), button),
    ...(of ? [element("p", {}, `In ${of}`)] : []),
    element(
      "p",
      { className: "soft" },
      `${bytes(step.ram)} while step ${count(s)} runs, from ${seconds(step.t0)}: ${stepText(model, s)}`,
    ),
    element("div", { className: "scroll", tabIndex: 0 }, element("table", {}, ...rows)),
  );
}
