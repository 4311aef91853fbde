"use strict";
// RAM over time against the budget, and the map of the arena.

const TOP = 10;

/** The end of an axis that shows `most`, and `limit` too unless that is so far off that nothing else could be seen. */
function axisEnd(most, limit) {
  const shown = limit <= 2 * most || most === 0 ? Math.max(most, limit) : most;
  return shown > 0 ? shown * 1.08 : 1;
}

/** Where the RAM axis begins: at zero, unless most of it would be the persistent values of every plan. */
function axisBegin(models, end) {
  const least = Math.min(...models.map((model) => model.persistent));
  if (least <= 0.5 * end) return 0;
  const wanted = least - 0.15 * (end - least);
  const unit = 10 ** Math.floor(Math.log10(0.15 * (end - least)));
  return Math.floor(wanted / unit) * unit;
}

function ramOption(view, model) {
  const points = levels(view, model).flatMap((item) => [
    [start(view, item), item.ram],
    [finish(view, item), item.ram],
  ]);
  const series = [
    {
      type: "line",
      id: "ram",
      name: "RAM",
      data: points,
      symbol: "none",
      emphasis: { disabled: true },
      lineStyle: { color: "#2b6f9e", width: 1.5 },
      areaStyle: { color: COLOUR.ram, opacity: 0.45 },
    },
    ...(homes(model) ? [loadedArea(view, model)] : []),
    boxes(
      "persistent",
      COLOUR.persistent,
      3,
      model.persistent > 0 ? [[0, view.xMax[view.mode], 0, model.persistent]] : [],
    ),
    boxes("over", COLOUR.over, 4, overBudget(view, model)),
    lines([
      ...(model.persistent > 0
        ? [
            {
              yAxis: model.persistent,
              text: `${homes(model) ? "resident" : "persistent"} ${bytes(model.persistent)}`,
              colour: COLOUR.soft,
              position: "insideStartBottom",
            },
          ]
        : []),
      budgetMark(
        model.ram_budget,
        `budget ${bytes(model.ram_budget)}`,
        model.figures.peak_ram > model.ram_budget,
      ),
      ...overMark(model),
      ...stopMark(view, model),
      ...deadlineMark(view, model),
    ]),
  ];
  const option = common(view, margins(26, 34), { description: ramWords(view, model), filterMode: "none" });
  option.tooltip.trigger = "axis";
  option.tooltip.axisPointer = { type: "line", snap: false, lineStyle: { color: COLOUR.ink } };
  option.tooltip.formatter = (params) => ramTip(model, stepAtX(model, view, params[0].axisValue));
  return { ...option, yAxis: byteAxis(view.ramMin, view.ramMax, "RAM"), series };
}

/** The part of RAM that values from storage have, on top of what is resident. */
function loadedArea(view, model) {
  const points = levels(view, model).flatMap((item) => {
    const y = model.persistent + model.loaded[item.s0];
    return [
      [start(view, item), y],
      [finish(view, item), y],
    ];
  });
  return {
    type: "line",
    id: "loaded",
    name: "parameters from storage",
    data: points,
    symbol: "none",
    z: 3,
    emphasis: { disabled: true },
    lineStyle: { color: COLOUR.parameter, width: 0.5 },
    areaStyle: { color: COLOUR.parameter, opacity: 1 },
  };
}

/** RAM per step. On a time axis steps without duration count only if they reach above their surroundings. */
function levels(view, model) {
  const items = model.steps.map((step, s) => ({ s0: s, s1: s + 1, ...step }));
  if (view.mode === "step") return items;
  const lasts = items.map((item) => item.t1 > item.t0);
  let before = 0;
  const around = items.map((item, s) => (lasts[s] ? (before = item.ram) : before));
  let after = 0;
  for (let s = items.length - 1; s >= 0; --s) {
    if (lasts[s]) after = items[s].ram;
    around[s] = Math.max(around[s], after);
  }
  return items.filter((item, s) => lasts[s] || item.ram > around[s]);
}

/** How far above the budget the plan goes. */
function overMark(model) {
  const { peak_ram } = model.figures;
  if (peak_ram <= model.ram_budget) return [];
  const share = percent(peak_ram / model.ram_budget - 1);
  const text = `peak ${bytes(peak_ram)}, ${share} over`;
  return [{ yAxis: peak_ram, text, colour: COLOUR.over, position: "insideStartTop" }];
}

/** Steps over the budget, from the budget up. */
function overBudget(view, model) {
  const items = model.steps
    .map((step, s) => ({ s0: s, s1: s + 1, ...step }))
    .filter((step) => step.ram > model.ram_budget);
  return items.map((item) => [start(view, item), finish(view, item), model.ram_budget, item.ram]);
}

function ramWords(view, model) {
  const { peak_ram, peak_op } = model.figures;
  const peak = `Peak ${bytes(peak_ram)}${peak_op === null ? "" : ` at ${opName(model, peak_op)}`}`;
  const share =
    model.ram_budget > 0
      ? `, ${percent(peak_ram / model.ram_budget)} of the budget of ${bytes(model.ram_budget)}`
      : "";
  const cut = view.ramMin > 0 ? ` The axis begins at ${bytes(view.ramMin)}.` : "";
  const off = axisEnd(peak_ram, model.ram_budget) < model.ram_budget ? " (far above this chart)" : "";
  const over = peak_ram > model.ram_budget ? ` ${overWords(model)}` : "";
  const loaded = homes(model)
    ? ` Violet: parameters from storage, at most ${bytes(largest(model.loaded))}${model.persistent > 0 ? `; grey: those that stay, ${bytes(model.persistent)}` : ""}.`
    : "";
  return `${peak}${share}${off}.${over}${loaded}${cut}`;
}

function ramTip(model, s) {
  if (!model.steps.length) return "";
  const step = model.steps[s];
  const resident = residentAt(model, s);
  const entries = resident.slice(0, TOP).map((interval) => [valueName(model, interval.value), bytes(interval.bytes)]);
  const rest = resident.slice(TOP);
  if (rest.length)
    entries.push([`and ${count(rest.length)} more`, bytes(rest.reduce((sum, interval) => sum + interval.bytes, 0))]);
  if (model.loaded[s] > 0) entries.push(["of these, parameters from storage", bytes(model.loaded[s])]);
  if (model.persistent > 0)
    entries.push([homes(model) ? "resident parameters" : "persistent values", bytes(model.persistent)]);
  const scratch = step.ram - model.persistent - resident.reduce((sum, interval) => sum + interval.bytes, 0);
  if (scratch > 0) entries.push(["workspace", bytes(scratch)]);
  const over = step.ram > model.ram_budget ? `, ${bytes(step.ram - model.ram_budget)} over budget` : "";
  return tipText(
    `${bytes(step.ram)}${over}`,
    entries,
    `${seconds(step.t0)}, step ${count(s)}: ${stepText(model, s)}`,
  );
}

// --- the arena ---

const LAND = [
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
];
const kindOf = (model, one) => (one.value === null ? "" : model.values[one.value][2]);
const passOf = (model, one) =>
  one.value === null || isHome(model, one.value) ? "" : model.ops[model.rows[model.rowOfValue[one.value]].op][2];

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

function arenaOption(view, model) {
  const lots = lotsOf(model);
  const rest = new Set(lots);
  const series = LAND.map(([name, colour, belongs]) => {
    const own = [...rest].filter((one) => belongs(model, one));
    for (const one of own) rest.delete(one);
    return land(view, model, name, colour, own);
  }).filter((one) => one.data.length);
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
    data: lots.map((one, i) => [start(view, one), finish(view, one), one.offset, one.offset + one.size, i]),
    tooltip: { formatter: (params) => lotTip(model, lots[params.value[4]]) },
    renderItem: (params, api) => {
      const [left, bottom] = api.coord([api.value(0), api.value(2)]);
      const [right, top] = api.coord([api.value(1), api.value(3)]);
      const width = Math.max(1, right - left);
      const height = Math.max(1, bottom - top);
      const edge = width > 4 && height > 4 ? { stroke: "#fff", lineWidth: 1 } : {};
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

function arenaWords(model) {
  const inPlace = model.allocations.filter((one) => one[6] >= 0).length;
  const size =
    model.arena.valid || model.arena.violation
      ? `Arena ${bytes(model.arena.bytes)}`
      : `Not checked, as the plan itself is invalid. Addresses go up to ${bytes(model.reach)}`;
  return `${size}; ${counted(model.allocations.length, "allocation")}, ${count(inPlace)} written in place over an operand (dark edge).`;
}
