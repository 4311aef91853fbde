// What charts are made of: points of curves, names in little room, marks of axes. No plan is asked for.

import assert from "node:assert/strict";

/** A page of the server in which nothing runs. */
function emptyPage(context) {
  context.expected.push(/404/); // it has no icon
  return context.open("report/amounts.js");
}

export async function aPlanOfLessRamCountsForMore(context) {
  const page = await emptyPage(context);
  const lines = await page.evaluate(async () => {
    const row = (ram, energy, runtime, deadline = null) => ({
      deadline: deadline ? "1.5" : "",
      deadline_seconds: deadline,
      ram_budget_bytes: ram,
      verdict: energy ? "holds" : "no plan",
      energy_joules: energy,
      runtime_seconds: runtime,
    });
    const { linesOf } = await import("/points.js");
    return linesOf([
      row(30, 5, 2),
      row(10, 4, 9),
      row(20, null, null),
      row(10, 4, 9, 9),
      row(20, null, null, 8),
    ]);
  });
  assert.deepEqual(
    lines.map((line) => line.rows.map((row) => [row.ram_budget_bytes, row.energy_joules, row.carried ?? 0])),
    [
      [
        [10, 4, 0],
        [20, 4, 10],
        [30, 4, 10],
      ],
      [[10, 4, 0]], // the plan is too late for the other
    ],
  );
  assert.equal(lines[1].none.length, 1);
}

export async function aBoundOfMoreRamOrTimeCountsForLess(context) {
  const page = await emptyPage(context);
  const bounds = await page.evaluate(async () => {
    const row = (ram, energy, bound, factor, part = 100) => ({
      deadline: factor ? String(factor) : "",
      deadline_seconds: factor,
      ram_budget_bytes: ram,
      verdict: energy ? "holds" : "no plan",
      energy_joules: energy,
      runtime_seconds: 1,
      bound_joules: bound,
      part_bytes: part,
      ops: 7,
    });
    const { linesOf } = await import("/points.js");
    const boundsOf = (rows) => linesOf(rows).map((line) => line.rows.map((one) => one.bound_joules));
    return {
      ram: boundsOf([row(30, 5, 4, null), row(10, 9, 3, null), row(20, 7, 5, null)]),
      time: boundsOf([
        row(20, 5, 4, null),
        row(30, 5, 4.5, null),
        row(20, 6, 2, 2),
        row(20, 7, 5, 1),
        row(30, 5, null, 1),
      ]),
      parts: boundsOf([row(30, 5, 4, null, 50), row(20, 6, 3, null), row(10, 9, 2, null)]),
      // The plan with more RAM is of other parts, and its bound says nothing of the better one.
      better: boundsOf([row(30, 8, 7, null, 50), row(20, 6, 5, null)]),
      none: boundsOf([row(30, null, null, null), row(20, 6, 5, null)]),
    };
  });
  assert.deepEqual(bounds, {
    ram: [[5, 5, 4]],
    time: [[4.5, 4.5], [4.5], [5, 4.5]],
    parts: [[3, 3, 4]],
    better: [[5, null]],
    none: [[5, null]],
  });
}

/** A plan holds for larger budgets, a bound for smaller ones of the same graph, and nothing is claimed between. */
export async function nothingIsInterpolatedBetweenBudgets(context) {
  const page = await emptyPage(context);
  const { band, energies } = await page.evaluate(async () => {
    const { bandOf } = await import("/curve_series.js");
    const { rowAt } = await import("/points.js");
    const row = (ram, energy, bound, part = 100) => ({
      ram_budget_bytes: ram,
      energy_joules: energy,
      bound_joules: bound,
      part_bytes: part,
      ops: 7,
    });
    const rows = [row(10, 9, 8), row(20, 6, 5), row(30, 4, 3, 50)];
    const energyAt = (ram) => rowAt(rows, ram)?.energy_joules ?? null;
    return { band: bandOf(rows), energies: [5, 10, 19, 20, 99].map(energyAt) };
  });
  assert.deepEqual(band, [
    [10, 10, 8, 9],
    [10, 20, 5, 9],
    [20, 20, 5, 6],
    [30, 30, 3, 4], // of other parts: nothing is proven between
  ]);
  assert.deepEqual(energies, [null, 9, 9, 6, 4]);
}

/** Of a name what tells it from others stays: the number of the layer, and the part. */
export async function namesKeepLayerAndPart(context) {
  const page = await emptyPage(context);
  const examples = [
    ["fc4[0:8]", 8, "fc4[0:8]"],
    ["relu4[40:80]", 11, "relu4…0:80]"],
    ["grad:fc4.weight[120:160,0:25]", 25, "grad:fc4.weight…160,0:25]"],
    ["fc4:backward_weight[40:80,75:100]", 25, "fc4…ckward_weight…75:100]"],
    ["layer4.1.conv2.weight[0:512,384:512]", 25, "…4.1.conv2.weight…84:512]"],
    ["layer4.1.conv2.weight[0:512,384:512]", 16, "…4.1…weight…512]"],
    ["bert.encoder.layer.11.attention.self.query.weight", 25, "…11…ion.self.query.weight"],
    ["input_identifiers", 10, "…entifiers"],
  ];
  const said = await page.evaluate(async (all) => {
    const { shortened } = await import("/report/axes.js");
    return all.map(([name, most]) => shortened(name, most));
  }, examples);
  assert.deepEqual(
    said,
    examples.map(([, , wanted]) => wanted),
  );
}

/** Marks are round in one unit, and no two read alike. */
export async function marksOfBytesAreRound(context) {
  const page = await emptyPage(context);
  const said = await page.evaluate(async () => {
    const { byteMarks, useUnitsOf } = await import("/report/amounts.js");
    const marks = (budget, low, high, most) => {
      useUnitsOf([budget]);
      const { values, text } = byteMarks(low, high, most);
      return values.map(text).join(", ");
    };
    return [
      marks(24_576, 0, 26_000, 6),
      marks(24_576, 0, 3 * 2 ** 20, 6),
      marks(24_576, 0, 900, 5),
      marks(256_765, 256_400, 261_000, 8),
      marks(256_765, 0, 1, 5),
    ];
  });
  assert.deepEqual(said, [
    "0 B, 5 KiB, 10 KiB, 15 KiB, 20 KiB, 25 KiB",
    "0 B, 0.5 MiB, 1 MiB, 1.5 MiB, 2 MiB, 2.5 MiB, 3 MiB",
    "0 B, 200 B, 400 B, 600 B, 800 B",
    "257 KB, 258 KB, 259 KB, 260 KB, 261 KB",
    "0 B, 1 B",
  ]);
}
