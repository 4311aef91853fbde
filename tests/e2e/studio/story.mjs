// The page as an engineer uses it.

import assert from "node:assert/strict";
import { SMALL, figure, placeInChart, plan, planAfter, ramAfter, ramOf, titles } from "./support.mjs";

export async function curveFillsAndThePlanFollowsTheBudget(context) {
  await context.serve();
  const page = await context.open("#model=linear&device=a72&seconds=3");
  await plan(page); // at half of what keeping everything takes, once that is known
  const half = await page.inputValue("input[name=ram]");
  assert.match(half, /KB$/);
  await page.waitForFunction(() =>
    echarts
      .getInstanceByDom(document.querySelector("#curve .chart"))
      .getOption()
      .series.some((one) => one.id === "no deadline" && one.data.length >= 3),
  );
  // Drag it to the right: more RAM, less energy.
  const chart = await page.locator("#curve .chart").boundingBox();
  const x = await page.evaluate(() => {
    const curve = echarts.getInstanceByDom(document.querySelector("#curve .chart"));
    return curve.convertToPixel(
      { xAxisIndex: 0 },
      curve.getOption().series.find((one) => one.id === "budget").markLine.data[0].xAxis,
    );
  });
  const before = await figure(page, "energy");
  await planAfter(page, async () => {
    await page.mouse.move(chart.x + x, chart.y + 150);
    await page.mouse.down();
    for (let step = 1; step <= 10; ++step) await page.mouse.move(chart.x + x + 18 * step, chart.y + 150);
    await page.mouse.up();
    await page.evaluate(() => new Promise((done) => setTimeout(done))); // the page obeys in a timer of its own
  });
  // The plan of a place on the way may have come before.
  await page.waitForFunction(() => {
    const shown = [...document.querySelectorAll("#plans h1")].map((one) => one.textContent);
    return shown.join() === document.querySelector("input[name=ram]").value;
  });
  const more = await page.inputValue("input[name=ram]");
  assert.ok(parseFloat(more) > parseFloat(half), `${more} after ${half}`);
  assert.ok(parseFloat(await figure(page, "energy")) <= parseFloat(before));
  assert.deepEqual(await titles(page), [more]);
  assert.match(await page.locator("output.budget").textContent(), /of keeping everything: .*J \(.* more\)/);
  // Undo leads back, redo forth.
  await planAfter(page, () => page.click("#undo"));
  assert.equal(await page.inputValue("input[name=ram]"), half);
  await planAfter(page, () => page.click("#redo"));
  assert.equal(await page.inputValue("input[name=ram]"), more);
}

export async function aSlowDragIsOneStepToUndo(context) {
  await context.serve();
  const page = await context.open("#model=linear&device=a72&ram=200000&seconds=3");
  await plan(page);
  await page.waitForFunction(() => !document.querySelector("input.budget").disabled);
  const { x, y } = await page.locator("#curve .chart").boundingBox();
  await page.mouse.move(x + 500, y + 150);
  await page.mouse.down();
  for (const to of [450, 400, 350]) await ramAfter(page, () => page.mouse.move(x + to, y + 150));
  await page.mouse.up();
  assert.notEqual(ramOf(page), 200000);
  await planAfter(page, () => page.click("#undo"));
  assert.equal(ramOf(page), 200000);
  // Before that there is nothing to undo.
  await page.click("#undo");
  await page.waitForTimeout(200);
  assert.equal(ramOf(page), 200000);
}

export async function aPlanOfLessRamCountsForMore(context) {
  await context.serve();
  const page = await context.open(SMALL);
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
  await context.serve();
  const page = await context.open(SMALL);
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
  await context.serve();
  const page = await context.open(SMALL);
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

/** The plan that is shown is a point of the curve, so that the curve never says that its budget costs more. */
export async function theShownPlanIsOnTheCurve(context) {
  await context.serve();
  const page = await context.open("#model=linear&device=a72&ram=230123&seconds=3"); // no budget of the curve's own
  await plan(page);
  const point = await page.evaluate(() =>
    echarts
      .getInstanceByDom(document.querySelector("#curve .chart"))
      .getOption()
      .series.find((one) => one.id === "no deadline")
      .data.map((one) => one.row)
      .find((row) => row.ram_budget_bytes === 230123),
  );
  assert.equal(point.verdict, "holds");
  assert.match(await page.locator("output.budget").textContent(), /of keeping everything: (at most )?[\d.]+ mJ \(/);
  await page.fill("input[name=batch]", "2");
  await page.press("input[name=batch]", "Enter");
  const left = () =>
    echarts
      .getInstanceByDom(document.querySelector("#curve .chart"))
      .getOption()
      .series.some((one) => one.id === "no deadline" && one.data.some((point) => point.row.batch_size === 1));
  assert.equal(await page.evaluate(left), false); // the curve of another network begins anew
}

/** A budget is shown with all its digits, so that Enter changes nothing. */
export async function aBudgetKeepsItsDigits(context) {
  await context.serve();
  const page = await context.open("#model=linear&device=m4&ram=131072&seconds=3");
  await plan(page);
  const field = page.locator("input[name=ram]");
  assert.equal(await field.inputValue(), "128 KiB");
  await field.fill("128 KiB ");
  await field.press("Enter");
  await page.waitForTimeout(200);
  assert.equal(ramOf(page), 131072);
  const isTaken = async (text) => {
    await field.fill(text);
    await field.press("Enter");
    return field.evaluate((input) => input.checkValidity());
  };
  assert.equal(await isTaken("much"), false);
  assert.equal(await isTaken("128 KiB"), true); // as it is set already
  assert.equal(ramOf(page), 131072);
  await planAfter(page, async () => {
    await field.fill("250123");
    await field.press("Enter");
  });
  assert.equal(ramOf(page), 250123);
  const read = await page.evaluate(async () => {
    const { amountOf, exactBytes } = await import("/choose.js");
    return [1, 131072, 131100, 250123, 2 ** 31 + 1].map((ram) => amountOf(exactBytes(ram)));
  });
  assert.deepEqual(read, [1, 131072, 131100, 250123, 2 ** 31 + 1]);
  const typed = await page.evaluate(async () => {
    const { amountOf } = await import("/choose.js");
    const texts = ["1.5 MB", "1,500 kB", "1,500,000", "1,5 MB", "1,50 MB", "15,00", "1,5000 B", ",5 MB", "1.2.3", "MB", ""];
    return texts.map((text) => amountOf(text) ?? "none");
  });
  assert.deepEqual(typed, [1500000, 1500000, 1500000, ...Array(8).fill("none")]);
}

export async function theBudgetMovesByKeyboard(context) {
  await context.serve();
  const page = await context.open(SMALL);
  await plan(page);
  await planAfter(
    page,
    async () => {
      await page.focus("input.budget");
      for (let i = 0; i < 3; ++i) await page.keyboard.press("PageDown");
    },
    "optimal|feasible|infeasible|unknown",
  );
  assert.ok(ramOf(page) < 250000);
}

export async function aTensorSaysWhy(context) {
  await context.serve();
  const page = await context.open("#model=resnet18_cifar&device=a72&ram=46000000&seconds=4");
  await plan(page);
  // The first tensor that is stacked in the chart of RAM.
  const [x, y] = await placeInChart(page, "RAM", (chart) => {
    const { rects } = chart.getOption().series.find((one) => one.name === "activations").renderItem;
    const area = ({ x0, x1, y0, y1 }) => (x1 - x0) * (y1 - y0);
    const { x0, x1, y0, y1 } = rects.reduce((a, b) => (area(b) > area(a) ? b : a));
    return [(x0 + x1) / 2, (y0 + y1) / 2];
  });
  await page.mouse.click(x, y);
  await page.waitForSelector("#inspector:not([hidden])");
  const said = await page.locator("#inspector").textContent();
  assert.match(said, /Why(Kept|Paged|Recomputed|Paged and recomputed): /);
  assert.match(said, /to page it out and in once.*J.*to compute it again/s);
  assert.match(said, /Its life.*computed, in RAM for/s);
  await page.keyboard.press("Escape");
  await page.waitForSelector("#inspector", { state: "hidden" });
  // By name, as without a mouse.
  const name = await page.evaluate(() => document.querySelector("#tensors option").value);
  await page.fill("#find", name);
  await page.press("#find", "Enter");
  assert.equal(await page.locator("#inspector h2").textContent(), name);
  // A click in the network selects, too.
  await page.waitForSelector(".network[data-ready]");
  await page.evaluate(() => (location.hash = location.hash.replace(/&tensor=[^&]*/, "")));
  await page.waitForSelector("#inspector", { state: "hidden" });
  const box = page.locator(".network canvas");
  await box.scrollIntoViewIfNeeded();
  await box.evaluate(() => new Promise(requestAnimationFrame));
  const { x: left, y: top } = await box.boundingBox();
  const node = await box.evaluate((canvas) => {
    // The first node's colour, found on the picture itself.
    const pen = canvas.getContext("2d");
    const { data, width, height } = pen.getImageData(0, 0, canvas.width, canvas.height);
    const paper = data.slice(0, 3).join();
    for (let y = 0; y < height; y += 2)
      for (let x = 0; x < width; x += 2) {
        const solid = [0, 1, 2, 3].every(
          (d) =>
            data.slice(4 * ((y + d) * width + x + d), 4 * ((y + d) * width + x + d) + 3).join() ===
            data.slice(4 * (y * width + x), 4 * (y * width + x) + 3).join(),
        );
        if (solid && data.slice(4 * (y * width + x), 4 * (y * width + x) + 3).join() !== paper)
          return [x + 2, y + 2].map((at) => at / devicePixelRatio);
      }
    return null;
  });
  assert.ok(node, "the network has a node that can be seen");
  await page.mouse.click(left + node[0], top + node[1]);
  await page.waitForSelector("#inspector:not([hidden])");
}

export async function twoPlansSideBySide(context) {
  await context.serve();
  const page = await context.open(SMALL);
  await plan(page);
  const first = await titles(page);
  await planAfter(page, () => page.click("text=Pin to compare"));
  await planAfter(page, async () => {
    await page.fill("input[name=ram]", "200 KB");
    await page.press("input[name=ram]", "Enter");
  });
  assert.deepEqual(await titles(page), [...first, "200 KB"]);
  assert.equal(
    await page.locator("#charts .chart, #charts .network, #charts .asked").count(),
    2 * (await page.locator("#charts .row.several").count()) + 1,
  );
  await planAfter(page, () => page.click("text=Stop comparing"));
  assert.deepEqual(await titles(page), ["200 KB"]);
}

export async function aLinkLeadsToTheSame(context) {
  await context.serve();
  const page = await context.open(SMALL);
  await plan(page);
  await planAfter(page, async () => {
    await page.fill("input[name=factor]", "1.4");
    await page.press("input[name=factor]", "Enter");
  });
  const other = await context.open(new URL(page.url()).hash);
  await plan(other);
  assert.deepEqual(await titles(other), await titles(page));
  for (const name of ["energy", "time", "RAM peak"])
    assert.equal(await figure(other, name), await figure(page, name));
}

export async function aDevicesNumbersMayBeChanged(context) {
  await context.serve();
  const page = await context.open(SMALL);
  await plan(page);
  const before = await figure(page, "energy");
  await page.click("text=Numbers…");
  assert.match(
    await page.locator("tr:has(th:text-is('active watts')) td.soft").textContent(),
    /^published: /,
  );
  await planAfter(page, async () => {
    await page.fill("input[aria-label='active watts']", "6");
    await page.press("input[aria-label='active watts']", "Tab");
    assert.equal(
      await page.locator("tr:has(th:text-is('active watts')) td.soft").textContent(),
      "assumed: edited in the browser",
    );
    await page.click("text=Use these numbers");
  });
  assert.notEqual(await figure(page, "energy"), before);
  assert.match(await page.locator("#subject").textContent(), /a72-edited$/);
}

export async function darkIsRemembered(context) {
  await context.serve();
  const page = await context.open(SMALL, { colorScheme: "light" });
  await plan(page);
  await page.click("#theme");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.reload();
  await plan(page);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(18, 24, 31)");
}
