// The map of the arena: address over time.

import { bytes, count, counted } from "./amounts.js";
import { COLOUR, budgetMark, byteAxis, common, finish, legendAbove, lines, manyBoxes, margins, rectangle, start, stopMark, tipText, whenText } from "./axes.js";
import { byClass } from "./classes.js";
import { homes, opName, valueName } from "./model.js";

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
  const option = common(view, margins(40, 34), { description: arenaWords(model) });
  return {
    ...option,
    legend: legendAbove(series.map((one) => one.name)),
    yAxis: byteAxis(0, view.arenaMax, "address"),
    series: [
      ...series,
      lines([
        budgetMark(
          room,
          `budget${model.persistent > 0 ? ` less ${homes(model) ? "resident" : "persistent"} values` : ""} ${bytes(room)}`,
          model.reach > room,
        ),
        ...stopMark(view, model),
      ]),
    ],
  };
}

function land(view, model, name, colour, lots) {
  return {
    ...manyBoxes(name, colour),
    encode: { x: [0, 1], y: [2, 3] },
    data: lots.map((one, i) => [start(view, one), finish(view, one), one.offset, one.offset + one.size, i, one.value]),
    tooltip: { formatter: (params) => lotTip(model, lots[params.value[4]]) },
    renderItem: (params, api) => {
      const [left, bottom] = api.coord([api.value(0), api.value(2)]);
      const [right, top] = api.coord([api.value(1), api.value(3)]);
      const width = Math.max(1, right - left);
      const height = Math.max(1, bottom - top);
      const edge = width > 4 && height > 4 ? { stroke: COLOUR.paper, lineWidth: 1 } : {};
      const box = rectangle(params, left, top, width, height, { fill: colour, ...edge });
      if (!box || lots[api.value(4)].over < 0) return box;
      // Written over another one, in place.
      const seam = rectangle(params, left, top, Math.min(3, width), height, { fill: COLOUR.ink });
      return seam ? { type: "group", children: [box, seam] } : box;
    },
  };
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
