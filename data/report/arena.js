// The map of the arena: address over time.

import { bytes, count, counted } from "./amounts.js";
import {
  COLOUR,
  budgetMark,
  byteAxis,
  common,
  finish,
  legendAbove,
  lines,
  margins,
  moreLegend,
  start,
  stopMark,
  tipText,
  whenText,
} from "./axes.js";
import { byClass } from "./classes.js";
import { rectangles } from "./many.js";
import { opName, valueName } from "./model.js";

/** Allocations as far as the replay came. */
function lotsOf(model) {
  return model.allocations
    .map(([value, op, s0, s1, size, offset, over]) => ({
      value,
      op,
      s0,
      s1: Math.min(s1, model.steps.length),
      size,
      offset,
      over,
    }))
    .filter((one) => one.s0 >= 0 && one.s0 < one.s1)
    .map((one) => ({ ...one, t0: model.timeOf(one.s0), t1: model.timeOf(one.s1) }));
}

export function arenaOption(view, model) {
  const lots = lotsOf(model);
  const series = byClass(model, lots).map(([name, colour, own]) => land(view, model, name, colour, own));
  const room = model.ram_budget - model.persistent;
  const names = series.map((one) => one.name);
  const option = common(view, margins(40 + moreLegend(names), 34), { description: arenaWords(model) });
  return {
    ...option,
    legend: legendAbove(names),
    yAxis: byteAxis(0, view.arenaMax, "address"),
    series: [
      ...series,
      lines([
        budgetMark(
          room,
          `budget${model.persistent > 0 ? " less persistent values" : ""} ${bytes(room)}`,
          model.reach > room,
        ),
        ...stopMark(view, model),
      ]),
    ],
  };
}

function land(view, model, name, colour, lots) {
  const rects = lots.map((one) => ({
    x0: start(view, one),
    x1: finish(view, one),
    y0: one.offset,
    y1: one.offset + one.size,
    one,
    value: one.value,
  }));
  // Written over another one, in place.
  const inPlace = rects.filter(({ one }) => one.over >= 0);
  return rectangles(name, colour, rects, {
    gap: 1,
    seam: [inPlace, COLOUR.ink],
    tip: ({ one }) => lotTip(model, one),
  });
}

function lotTip(model, one) {
  const name = one.value === null ? `workspace of ${opName(model, one.op)}` : valueName(model, one.value);
  const before = one.over >= 0 ? model.allocations[one.over] : undefined;
  const note = before
    ? `Written in place, over ${before[0] === null ? "workspace" : valueName(model, before[0])}.`
    : "";
  return tipText(
    name,
    [
      ["bytes", bytes(one.size)],
      ["address", `${count(one.offset)} to ${count(one.offset + one.size)}`],
      ...whenText(model, one),
    ],
    note,
  );
}

export function arenaWords(model) {
  const inPlace = model.allocations.filter((one) => one[6] >= 0).length;
  const size =
    model.arena.valid || model.arena.violation
      ? `Arena ${bytes(model.arena.bytes)}`
      : `Not checked, as the plan itself is invalid. Addresses go up to ${bytes(model.reach)}`;
  return `${size}; ${counted(model.allocations.length, "allocation")}, ${count(inPlace)} written in place over an operand (dark edge).`;
}
