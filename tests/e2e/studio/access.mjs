// For everybody: what axe-core finds, at both widths, light and dark, with everything open.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import { SMALL, plan } from "./support.mjs";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** No serious fault of the page as it is now. */
async function check(page) {
  await page.evaluate(axe); // by the debugger, which the page's policy does not bind
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ["violations"] }),
  );
  const serious = violations.filter((one) => ["serious", "critical"].includes(one.impact));
  assert.deepEqual(
    serious.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`),
    [],
  );
}

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
