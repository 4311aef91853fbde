// What values are to training: the classes that memory is drawn in.

import { COLOUR } from "./axes.js";
import { isHome } from "./model.js";

/** [name, colour, whether an item is one]: the first that fits. */
export const CLASSES = [
  [
    "activations",
    "#8db9dc",
    (model, one) => passOf(model, one) === "forward" && kindOf(model, one) !== "input",
  ],
  ["parameters from storage", COLOUR.parameter, (model, one) => isHome(model, one.value)],
  ["inputs", "#b9bec4", (model, one) => kindOf(model, one) === "input"],
  [
    "gradients",
    "#f0b679",
    (model, one) => passOf(model, one) !== "forward" && kindOf(model, one) === "activation",
  ],
  ["parameter gradients", "#8fcbb0", (model, one) => kindOf(model, one) === "parameter_gradient"],
  ["workspace", "#5f6b78", (_, one) => one.value === null],
  ["other", "#9aa3ab", () => true],
];
const kindOf = (model, one) => (one.value === null ? "" : model.values[one.value][2]);
const passOf = (model, one) =>
  one.value === null || isHome(model, one.value)
    ? ""
    : model.ops[model.rows[model.rowOfValue[one.value]].op][2];

/** The number of the class of an item { value }. */
export const classOf = (model, one) => CLASSES.findIndex(([, , belongs]) => belongs(model, one));

/** [name, colour, items] of each class that some of the items { value, op } are of. */
export function byClass(model, items) {
  const parts = CLASSES.map(([name, colour]) => [name, colour, []]);
  for (const one of items) parts[classOf(model, one)][2].push(one);
  return parts.filter(([, , own]) => own.length);
}
