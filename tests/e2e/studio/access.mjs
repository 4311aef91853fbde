// For everybody: what axe-core finds, at both widths, light and dark, with everything open.

import assert from "node:assert/strict";
import { check } from "./axe.mjs";
import { SMALL, plan } from "./support.mjs";

async function everything(context, options) {
  await context.serve();
  const page = await context.open(SMALL, options);
  await plan(page);
  await page.waitForSelector(".network[data-ready]");
  await check(page);
  await page.click("summary:has-text('Reproduce')");
  await page.fill("#find", await page.evaluate(() => document.querySelector("#tensors option").value));
  await page.press("#find", "Enter");
  await page.waitForSelector("#inspector:not([hidden])");
  await check(page);
  await page.keyboard.press("Escape");
  await page.click("text=Numbers…");
  await check(page);
  // Nothing is wider than the window.
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= window, `${content} pixels in ${window}`);
}

export const noSeriousFaultOnADesk = (context) => everything(context, {});
export const noSeriousFaultInTheDark = (context) => everything(context, { colorScheme: "dark" });
export const noSeriousFaultOnAPhone = (context) =>
  everything(context, { viewport: { width: 390, height: 844 }, hasTouch: true });
