// What tests ask of the page, and what they wait for.

import assert from "node:assert/strict";

export const SMALL = "#model=linear&device=a72&ram=250000&seconds=5";
/** Its plan pages and recomputes, in 56 ops. */
export const BUSY = "#model=linear&device=jetsontx2&ram=156000&seconds=5";

/** The plan on the page, once it is one of `states`. */
export async function plan(page, states = "optimal|feasible") {
  await page.waitForFunction(
    (wanted) => new RegExp(`^(${wanted})$`).test(document.body.dataset.plan ?? ""),
    states,
  );
  return page.evaluate(() => document.body.dataset.plan);
}

/** Does something that asks for another plan, and waits for that. */
export async function planAfter(page, action, states) {
  await page.evaluate(() => delete document.body.dataset.plan);
  await action();
  return plan(page, states);
}

/** Types something into a field of the form. */
export async function enter(page, field, text) {
  await page.fill(`input[name=${field}]`, text);
  await page.press(`input[name=${field}]`, "Enter");
}

/** The RAM budget that the page's address tells. */
export const ramOf = (page) =>
  page.evaluate(() => Number(new URLSearchParams(location.hash.slice(1)).get("ram")));

/** Does something that moves the budget, and waits until the address tells so. */
export async function ramAfter(page, action) {
  const before = await ramOf(page);
  await action();
  await page.waitForFunction(
    (ram) => Number(new URLSearchParams(location.hash.slice(1)).get("ram")) !== ram,
    before,
  );
}

/** What follows in the next frames has followed. */
export const frames = (page, count) =>
  page.evaluate(async (wanted) => {
    for (let i = 0; i < wanted; ++i) await new Promise(requestAnimationFrame);
  }, count);

/** Makes the page so wide: nothing on it is wider, and nothing complains, once charts have followed in the frames after. */
export async function checkWidth(page, width) {
  await page.setViewportSize({ width, height: 900 });
  await page.waitForFunction((wanted) => window.innerWidth === wanted, width);
  await frames(page, 3);
  const fits = (most) => document.documentElement.scrollWidth <= most;
  await page.waitForFunction(fits, width).catch(() => {}); // told below
  const { scrollWidth, error } = await page.evaluate(() => ({
    scrollWidth: document.documentElement.scrollWidth,
    error: document.body.dataset.error,
  }));
  assert.equal(error, undefined);
  assert.ok(scrollWidth <= width, `${scrollWidth} pixels at a width of ${width}`);
}

export const titles = (page) => page.locator("#plans h1").allTextContents();
export const figure = (page, name) =>
  page.locator(`#plans dl > div:has(dt:text-is("${name}")) dd`).first().textContent();

/** The place in the page of a point (x, y) of the n-th chart of the plan, in its axes. */
export async function placeInChart(page, title, pick) {
  const box = page.locator(`#charts section:has(h2:text-is("${title}")) .chart`).first();
  await box.scrollIntoViewIfNeeded();
  const at = await box.evaluate((element, source) => {
    const chart = echarts.getInstanceByDom(element);
    const [x, y] = new Function("chart", `return (${source})(chart)`)(chart);
    return chart.convertToPixel("grid", [x, y]);
  }, pick.toString());
  const { x, y } = await box.boundingBox();
  return [x + at[0], y + at[1]];
}

/** Finds a tensor by its name, as without a mouse; the first one. */
export async function findTensor(page) {
  const name = await page.evaluate(() => document.querySelector("#tensors option").value);
  await page.fill("#find", name);
  await page.press("#find", "Enter");
  return name;
}
