// The page of a plan for so little RAM that parameters live on storage, as `poet show` writes it.

import assert from "node:assert/strict";
import { frames } from "./page.mjs";
import { openedPlan } from "./pages.mjs";

const LITTLE = [
  ...["--model", "linear", "--platform", "m0", "--ram-budget", "24KiB"],
  ...["--split", "8KiB", "--gap", "90%", "--time-limit", "5"],
];
const openedLittle = (context, options) => openedPlan(context, "l", LITTLE, options);

/** Page-ins of parameters are page-ins: the page, poet verify and poet show count the same. */
export async function pageInsAreOneThing(context) {
  const page = await openedLittle(context);
  const report = context.common.json("verify", "l.plan");
  const tile = page.locator('#plans dl > div:has(dt:text-is("page-ins, page-outs")) dd');
  const number = (count) => count.toLocaleString("en-US");
  assert.ok((await tile.textContent()).startsWith(`${number(report.page_ins)}, ${number(report.page_outs)}`));
  const row = page.locator('#charts tr:has(th:text-is("page in")) td').first();
  const shown = parseFloat(await row.textContent());
  assert.equal(shown.toPrecision(4), (1e3 * report.page_in_joules).toPrecision(4));
  assert.match(context.common.run("show", "l.plan"), new RegExp(`page-in +${shown} mJ`));
  assert.equal(await page.locator('#charts tr.part th:text-is("page in: parameters")').count(), 1);
  // Far more than the chart shows, as it says.
  assert.match(await page.locator("#charts figcaption").first().textContent(), /With everything kept, operators in these parts, it is .*far above/);
  // A layer is one group, however many parts and sums it has.
  const layers = await page.locator(".tensors th[scope=row] button").allTextContents();
  assert.ok(layers.some((name) => name.endsWith("fc4")));
  assert.ok(!layers.some((name) => name.includes("+")), layers.join());
}

/** What is clicked stays where it is when the inspector opens; what that says is not cut off. */
export async function theInspectorMovesNothing(context) {
  const page = await openedLittle(context);
  await page.locator(".tensors tbody button").first().click();
  const name = page.locator("td.tensor button").nth(2);
  await name.scrollIntoViewIfNeeded();
  const before = (await name.boundingBox()).y;
  await name.click();
  await page.waitForSelector("#inspector:not([hidden])");
  await frames(page, 8); // charts follow the width a few frames later
  assert.ok(Math.abs((await name.boundingBox()).y - before) < 4, "the row moved");
  assert.ok(await page.locator("#inspector").evaluate((box) => box.scrollWidth <= box.clientWidth));
}

/** On a phone names of ops are read, and what a finger points at does not hide the curve. */
export async function aPhoneShowsNames(context) {
  const page = await openedLittle(context, { viewport: { width: 360, height: 800 } });
  assert.ok(await page.evaluate(() => board.graphs[0].scale >= 0.8));
  const box = page.locator(".chart").first();
  await box.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await box.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  const tip = box.locator("div:has(> strong)");
  await tip.waitFor();
  assert.ok((await tip.boundingBox()).y >= y + height - 1, "the tooltip lies below the chart");
  await page.locator(".tensors tbody button").first().click();
  const why = page.locator(".tensors tbody .why").first();
  assert.ok((await why.boundingBox()).width >= 80);
}
