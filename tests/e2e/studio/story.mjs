// The plan on the page, as an engineer looks at it.

import assert from "node:assert/strict";
import { BUSY, SMALL, enter, figure, findTensor, frames, placeInChart, plan, planAfter, titles } from "./page.mjs";

export async function aTensorSaysWhy(context) {
  const page = await context.open(BUSY);
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
  const name = await findTensor(page);
  assert.equal(await page.locator("#inspector h2").textContent(), name);
  // A click in the network selects, too.
  await page.waitForSelector(".network[data-ready]");
  await page.evaluate(() => (location.hash = location.hash.replace(/&tensor=[^&]*/, "")));
  await page.waitForSelector("#inspector", { state: "hidden" });
  const box = page.locator(".network canvas");
  await box.scrollIntoViewIfNeeded();
  await frames(page, 1);
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
  const page = await context.open(SMALL);
  await plan(page);
  const first = await titles(page);
  await planAfter(page, () => page.click("text=Pin to compare"));
  await planAfter(page, () => enter(page, "ram", "240 KB"));
  assert.deepEqual(await titles(page), [...first, "240 KB"]);
  assert.equal(
    await page.locator("#charts .chart, #charts .network, #charts .asked").count(),
    2 * (await page.locator("#charts .row.several").count()) + 1,
  );
  await planAfter(page, () => page.click("text=Stop comparing"));
  assert.deepEqual(await titles(page), ["240 KB"]);
}

export async function aLinkLeadsToTheSame(context) {
  const page = await context.open(SMALL);
  await plan(page);
  await planAfter(page, () => enter(page, "factor", "1.4"));
  const other = await context.open(new URL(page.url()).hash);
  await plan(other);
  assert.deepEqual(await titles(other), await titles(page));
  for (const name of ["energy", "time", "RAM peak"])
    assert.equal(await figure(other, name), await figure(page, name));
}

export async function aDevicesNumbersMayBeChanged(context) {
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
  const page = await context.open(SMALL, { colorScheme: "light" });
  await plan(page);
  await page.click("#theme");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.reload();
  await plan(page);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(18, 24, 31)");
}
