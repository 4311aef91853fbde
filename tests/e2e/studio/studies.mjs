// The page of `poet sweep`: curves, the table, and the plans behind the points.

import assert from "node:assert/strict";
import fs from "node:fs";
import { shownPlan, swept } from "./pages.mjs";

/** Every pair of network and device has a chart, in which a point is clicked: its plan comes up below. */
export async function aSweepIsDrawnWithItsPlans(context) {
  const { page, answer } = await swept(context, "");
  const titles = await page.locator("figure.curve h2").allTextContents();
  assert.deepEqual(titles, [
    "linear on a72, parameters elsewhere",
    "vgg16_cifar on a72, parameters elsewhere",
  ]);
  const held = answer.results.filter((row) => row.verdict === "holds").length;
  assert.match(
    await page.locator(".verdict").first().textContent(),
    new RegExp(`^${held} of 18 points hold`),
  );
  const made = /^Made by poet \S+ on \d{4}-\d\d-\d\d \d\d:\d\d UTC: poet sweep spec\.json .*-o s\.html/;
  assert.match(await page.locator(".made").textContent(), made);
  const wanted = answer.results.findIndex((row) => row.network === "linear" && row.method === "poet");
  const box = page.locator("figure.curve .chart").first();
  const at = await box.evaluate((element, row) => {
    const chart = echarts.getInstanceByDom(element);
    const all = chart.getOption().series.flatMap((series) => series.data ?? []);
    return chart.convertToPixel("grid", all.find((one) => one.point?.row === row).value);
  }, wanted);
  await box.click({ position: { x: at[0], y: at[1] } });
  await shownPlan(page);
  assert.match(await page.locator("#plan-title").textContent(), /^POET: linear on a72/);
  assert.equal(await page.evaluate(() => study.charts[0].figure.nextElementSibling.id), "plan");
  const shown = await page.evaluate(() => {
    const [text] = [...document.querySelectorAll("#plans dl > div")].map((one) => one.textContent);
    return text;
  });
  assert.match(await page.locator("#plans .made").textContent(), /^Made by poet .*: poet sweep spec\.json /);
  const energy = parseFloat(shown.replace("energy", ""));
  assert.equal(energy.toPrecision(3), (1e3 * answer.results[wanted].energy_joules).toPrecision(3));
  // Its peak and its tensors, as on the page of a plan.
  await page.click("button.peak");
  await page.locator("#inspector table button").first().click();
  assert.match(await page.locator("#inspector").textContent(), /Why/);
  await page.keyboard.press("Escape");
  await page.waitForSelector("#inspector", { state: "hidden" });
  // Another axis of the curves moves the plan, and makes no other one.
  await page.evaluate(() => (document.querySelector("#charts canvas").isThatOfBefore = true));
  await page.check('input[name="x"][value="peak"]');
  assert.ok(await page.evaluate(() => document.querySelector("#charts canvas").isThatOfBefore));
  assert.equal(await page.evaluate(() => study.charts[0].figure.nextElementSibling.id), "plan");
  await page.goBack();
  // The browser's back closes the plan.
  await page.goBack();
  await page.waitForSelector("#plan", { state: "hidden" });
}

/** A link leads to a plan, axes and methods; the table is sorted, searched, and taken along as CSV. */
export async function aSweepIsLookedThrough(context) {
  const { page, answer } = await swept(context, "#x=peak&y=time&hide=dtr&point=2");
  await shownPlan(page);
  assert.match(await page.locator("#plan-title").textContent(), /^POET/);
  assert.ok(await page.locator('input[name="y"][value="time"]').isChecked());
  assert.equal(await page.locator('[data-method="dtr"]').getAttribute("aria-pressed"), "false");
  const names = () => page.evaluate(() => study.charts[0].spec().curves.map((one) => one.style.title));
  assert.ok(!(await names()).includes("DTR"));
  await page.click('[data-method="dtr"]');
  assert.ok((await names()).includes("DTR"));
  await page.check('input[name="y"][value="energy"]');
  await page.check('input[name="x"][value="budget"]');
  assert.ok((await names()).includes("proven: no plan is below"));
  // The bound that is drawn at a budget is the one that was proven there.
  const bound = await page.evaluate(() =>
    study.charts[0]
      .spec()
      .curves[0].points.slice(1)
      .map((one) => one.y),
  );
  const proven = answer.results.filter((row) => row.network === "linear" && row.method === "poet");
  assert.deepEqual(
    bound,
    proven.map((row) => row.bound_joules),
  );
  const rows = page.locator(".results tbody tr");
  assert.equal(await rows.count(), 18);
  await page.fill("#table input", "linear POET");
  assert.equal(await rows.count(), 3);
  await page.fill("#table input", "");
  await page.click('.results th button:has-text("energy")');
  assert.equal(await page.locator('th[aria-sort="ascending"]').textContent(), "energy ▴");
  const order = await rows.evaluateAll((all) =>
    all.map((one) => study.study.rows[one.dataset.row].energy_joules),
  );
  const there = order.filter((x) => x !== null);
  assert.deepEqual(
    there,
    [...there].sort((a, b) => a - b),
  );
  assert.deepEqual(order.slice(there.length), Array(order.length - there.length).fill(null));
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#table a")]);
  const file = context.path("taken.csv");
  await download.saveAs(file);
  assert.equal(download.suggestedFilename(), "spec.csv");
  assert.equal(fs.readFileSync(file, "utf8"), fs.readFileSync(context.common.path("s.csv"), "utf8"));
}

/** What is looked at in a plan is in the address, and a link leads there. */
export async function aPlanOfASweepIsLinkedTo(context) {
  const { page } = await swept(context, "#point=2");
  await shownPlan(page);
  await page.check('#tools input[value="step"]');
  await page.click("button.peak");
  await page.waitForSelector("#inspector:not([hidden])");
  assert.match(page.url(), /moment=\d+/);
  await page.locator("#inspector table button").first().click();
  const hash = new URL(page.url()).hash;
  const asked = new URLSearchParams(hash.slice(1));
  assert.equal(asked.get("axis"), "step");
  assert.equal(asked.get("moment"), null);
  const linked = await context.openFile("s.html", hash);
  await shownPlan(linked);
  await linked.waitForSelector("#inspector:not([hidden])");
  assert.ok((await linked.locator("#inspector").textContent()).includes(asked.get("tensor")));
  assert.ok(await linked.locator('#tools input[value="step"]').isChecked());
  // Of another plan nothing is selected.
  await linked.locator('.results button:text-is("Plan")').first().click();
  await linked.waitForSelector("#inspector", { state: "hidden" });
  assert.ok(!new URL(linked.url()).hash.includes("tensor"));
}

/** Charts are of one limit each, told by its value; captions say what became of the points that do not hold. */
export async function aStudySaysWhatItsChartsAreOf(context) {
  const { page } = await swept(context, "");
  await page.evaluate(() => {
    const row = (number, limits) => ({
      ...study.study.rows[0],
      verdict: "holds",
      chart: 0,
      number,
      ...limits,
    });
    const times = [0.1, 0.1 + 1e-9].map((deadline_seconds, i) =>
      row(i, { deadline_seconds, deadline: `${deadline_seconds} s` }),
    );
    const factors = [0.2, 0.3].map((deadline_seconds, i) =>
      row(2 + i, { deadline_seconds, deadline: "1.5" }),
    );
    study.study.rows = [...times, ...factors];
    study.study.rows[1].verdict = "no plan";
    study.study.rows[3].verdict = "failed";
    study.now = undefined;
    location.hash = "#x=peak&y=overhead";
  });
  await page.waitForFunction(() => study.charts.length === 3);
  const { titles, notes } = await page.evaluate(() => ({
    titles: study.charts.map((chart) => chart.title),
    notes: study.charts.map((chart) => chart.spec().note),
  }));
  assert.deepEqual(
    titles.map((title) => title.replace(/^.*elsewhere, /, "")),
    ["within 0.1 s", "within 0.100000001 s", "within 1.5 times the step without limits"],
  );
  assert.match(notes[1], /Of 1 point 1 without a plan that was found: the table says why/);
  assert.match(notes[2], /Of 2 points 1 failed: the table says why/);
}

/** By the keyboard: a chart is zoomed, all of it is seen again, and a row's button shows its plan. */
export async function aSweepIsZoomed(context) {
  const { page } = await swept(context, "");
  const chart = page.locator("figure.curve .chart").first();
  const shown = () => page.evaluate(() => ({ ...study.charts[0].zoom.x }));
  await chart.focus();
  await page.keyboard.press("+");
  assert.deepEqual(await shown(), { start: 25, end: 75 });
  await page.keyboard.press("ArrowRight");
  assert.deepEqual(await shown(), { start: 37.5, end: 87.5 });
  await page.keyboard.press("0");
  assert.deepEqual(await shown(), { start: 0, end: 100 });
  await page.locator("[data-zoom=in]").first().click();
  assert.deepEqual(await shown(), { start: 25, end: 75 });
  await page.locator('.results button:text-is("Plan")').first().press("Enter");
  await shownPlan(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), "plan-title");
}
