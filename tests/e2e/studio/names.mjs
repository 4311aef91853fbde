// Names in little room, and marks of axes of bytes: what charts say at any width.

import assert from "node:assert/strict";
import path from "node:path";

/** One of the server in which nothing runs. */
async function emptyPage(context) {
  context.expected.push(/404/); // it has no icon
  await context.serve();
  return context.open("", {}, `${context.url}/report/amounts.js`);
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

const LITTLE = ["--model", "linear", "--platform", "m0", "--ram-budget", "24KiB", "--time-limit", "3"];

async function openedPlan(context, options) {
  context.json("solve", ...LITTLE, "--plan-out", "l.plan");
  context.run("show", "l.plan", "-o", "l.html");
  const page = await context.open("", options, `file://${path.join(context.folder, "l.html")}`);
  await page.waitForSelector("body[data-ready]");
  await page.waitForSelector(".network[data-ready]");
  return page;
}

/** Page-ins of parameters are page-ins: the page, poet verify and poet show count the same. */
export async function pageInsAreOneThing(context) {
  const page = await openedPlan(context, {});
  const report = context.json("verify", "l.plan");
  const tile = page.locator('#plans dl > div:has(dt:text-is("page-ins, page-outs")) dd');
  const number = (count) => count.toLocaleString("en-US");
  assert.ok((await tile.textContent()).startsWith(`${number(report.page_ins)}, ${number(report.page_outs)}`));
  const row = page.locator('#charts tr:has(th:text-is("page in")) td').first();
  const shown = parseFloat(await row.textContent());
  assert.equal(shown.toPrecision(4), (1e3 * report.page_in_joules).toPrecision(4));
  assert.match(context.run("show", "l.plan"), new RegExp(`page-in +${shown} mJ`));
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
  const page = await openedPlan(context, {});
  await page.locator(".tensors tbody button").first().click();
  const name = page.locator("td.tensor button").nth(2);
  await name.scrollIntoViewIfNeeded();
  const before = (await name.boundingBox()).y;
  await name.click();
  await page.waitForSelector("#inspector:not([hidden])");
  await page.waitForTimeout(500);
  assert.ok(Math.abs((await name.boundingBox()).y - before) < 4, "the row moved");
  assert.ok(await page.locator("#inspector").evaluate((box) => box.scrollWidth <= box.clientWidth));
}

/** On a phone names of ops are read, and what a finger points at does not hide the curve. */
export async function aPhoneShowsNames(context) {
  const page = await openedPlan(context, { viewport: { width: 360, height: 800 } });
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
