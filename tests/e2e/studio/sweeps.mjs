// Sweeps whose page differs: of budgets close to each other, of points without plans.

import assert from "node:assert/strict";
import { SPEC, shownPlan, sweepOf } from "./pages.mjs";

/** However narrow the range of budgets is, marks of the axis differ, and stay so when somebody zooms. */
export async function marksOfASweepDiffer(context) {
  const narrow = { ...SPEC, networks: ["linear"], platforms: ["m4"], persistent: "resident", ram: [0.1, 0.5] };
  sweepOf(context, narrow, "-o", "s.html");
  const page = await context.openFile("s.html");
  const marks = () =>
    page.evaluate(() => {
      const { customValues, formatter } = study.charts[0].drawn.getOption().xAxis[0].axisLabel;
      return customValues.map(formatter);
    });
  for (let zooms = 0; zooms < 4; ++zooms) {
    const texts = await marks();
    assert.ok(texts.length > 1 && new Set(texts).size === texts.length, texts.join());
    await page.locator("[data-zoom=in]").first().click();
  }
  // By the mouse, too.
  const before = (await marks()).join();
  const chart = page.locator("figure.curve .chart").first();
  await chart.hover({ position: { x: 500, y: 200 } });
  await page.keyboard.down("Control");
  for (let i = 0; i < 5; ++i) await page.mouse.wheel(0, 300);
  await page.keyboard.up("Control");
  await page.waitForFunction(
    (texts) => {
      const { customValues, formatter } = study.charts[0].drawn.getOption().xAxis[0].axisLabel;
      return customValues.map(formatter).join() !== texts;
    },
    before,
  );
}

/** Points that were run before plans were kept say so; --plans runs those again. */
export async function aSweepSaysWhosePlanIsMissing(context) {
  const spec = { ...SPEC, networks: ["linear"] };
  sweepOf(context, spec);
  assert.equal(sweepOf(context, spec, "-o", "s.html").run, 0);
  const page = await context.openFile("s.html", "#point=2");
  assert.match(await page.locator("#plans").textContent(), /it was not kept: the same command with --plans/);
  const again = sweepOf(context, spec, "--plans", "-o", "s.html");
  assert.equal(again.run, again.results.filter((row) => row.energy_joules !== null).length);
  const with_plans = await context.openFile("s.html", "#point=2");
  await shownPlan(with_plans);
}

const LIMITS = ["--model", "vgg16_cifar", "--platform", "a72", "--ram-budget", "62MB", "--time-limit", "5s"];
