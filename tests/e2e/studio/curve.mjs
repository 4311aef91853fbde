// The curve of energy over RAM, and the budget that is moved on it.

import assert from "node:assert/strict";
import { SMALL, enter, figure, plan, planAfter, ramAfter, ramOf, titles } from "./page.mjs";

export async function curveFillsAndThePlanFollowsTheBudget(context) {
  await context.serve(); // which ends with all the points that are not there yet
  const page = await context.open("#model=linear&device=jetsontx2&seconds=1", { hasWholeCurve: true });
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
    for (let step = 1; step <= 10; ++step) await page.mouse.move(chart.x + x + 8 * step, chart.y + 150);
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
  const page = await context.open(SMALL);
  await plan(page);
  await page.waitForFunction(() => !document.querySelector("input.budget").disabled);
  const { x, y, width } = await page.locator("#curve .chart").boundingBox();
  await page.mouse.move(x + 0.9 * width, y + 150);
  await page.mouse.down();
  for (const part of [0.87, 0.84, 0.81]) await ramAfter(page, () => page.mouse.move(x + part * width, y + 150));
  await page.mouse.up();
  assert.notEqual(await ramOf(page), 250000);
  await planAfter(page, () => page.click("#undo"));
  assert.equal(await ramOf(page), 250000);
  // Before that there is nothing to undo.
  await page.evaluate(() => (history.back = () => (document.body.dataset.wentBack = "yes")));
  await page.click("#undo");
  assert.equal(await page.evaluate(() => document.body.dataset.wentBack), undefined);
}

/** The plan that is shown is a point of the curve, so that the curve never says that its budget costs more. */
export async function theShownPlanIsOnTheCurve(context) {
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
  await enter(page, "batch", "2");
  const left = () =>
    echarts
      .getInstanceByDom(document.querySelector("#curve .chart"))
      .getOption()
      .series.some((one) => one.id === "no deadline" && one.data.some((point) => point.row.batch_size === 1));
  assert.equal(await page.evaluate(left), false); // the curve of another network begins anew
}

/** A budget is shown with all its digits, so that Enter changes nothing. */
export async function aBudgetKeepsItsDigits(context) {
  const page = await context.open("#model=linear&device=m4&ram=262144&seconds=3");
  await plan(page);
  const field = page.locator("input[name=ram]");
  assert.equal(await field.inputValue(), "256 KiB");
  await field.fill("256 KiB ");
  await field.press("Enter");
  assert.equal(await ramOf(page), 262144);
  const isTaken = async (text) => {
    await field.fill(text);
    await field.press("Enter");
    return field.evaluate((input) => input.checkValidity());
  };
  assert.equal(await isTaken("much"), false);
  assert.equal(await isTaken("256 KiB"), true); // as it is set already
  assert.equal(await ramOf(page), 262144);
  await planAfter(page, () => enter(page, "ram", "250123"));
  assert.equal(await ramOf(page), 250123);
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
  const page = await context.open("#model=linear&device=a72&ram=330000&seconds=5");
  await plan(page);
  await planAfter(page, async () => {
    await page.focus("input.budget");
    for (let i = 0; i < 3; ++i) await page.keyboard.press("PageDown");
  });
  assert.ok((await ramOf(page)) < 330000);
}
