// For everybody: what axe-core finds, at both widths, light and dark, with everything open.

import assert from "node:assert/strict";
import { check } from "./axe.mjs";
import { SMALL, checkWidth, findTensor, plan } from "./page.mjs";
import { shownPlan } from "./pages.mjs";
import { exhaustive, triesAll } from "./support.mjs";

async function everything(context, options) {
  const page = await context.open(SMALL, options);
  await plan(page);
  await page.waitForSelector(".network[data-ready]");
  if (triesAll) await check(page);
  await page.click("summary:has-text('Reproduce')");
  await findTensor(page);
  await page.waitForSelector("#inspector:not([hidden])");
  await check(page);
  await page.keyboard.press("Escape");
  await page.click("text=Numbers…");
  await check(page);
  // Nothing is wider than the window.
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= window, `${content} pixels in ${window}`);
}

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true };

export const noSeriousFaultOnADesk = (context) => everything(context);
export const noSeriousFaultOnAPhoneInTheDark = (context) => everything(context, { ...PHONE, colorScheme: "dark" });
export const noSeriousFaultOnADeskInTheDark = exhaustive((context) => everything(context, { colorScheme: "dark" }));
export const noSeriousFaultOnAPhone = exhaustive((context) => everything(context, PHONE));

const LIMITS = [
  ...["--model", "vgg16_cifar", "--platform", "a72", "--persistent", "excluded"],
  ...["--ram-budget", "60%", "--gap", "90%"],
];

async function compared(context, options) {
  context.common.once("c.html", (common) =>
    common.run("compare", ...LIMITS, "--quiet", "--methods", "chen-sqrt,dtr,capuchin,poet", "-o", "c.html"),
  );
  const page = await context.openFile("c.html", "", options);
  await page.locator('.results button:text-is("Plan")').last().click();
  await shownPlan(page);
  return page;
}

/** Each method's plan, what is over the budget among them; nobody is kept from any of it. */
async function noFaultIn(context, options) {
  const page = await compared(context, options);
  await check(page);
  for (const width of [1280, 600, 390]) await checkWidth(page, width);
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.deepEqual(await page.evaluate(() => study.charts.map((one) => one.drawn.getWidth())), [700]);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
}

export const noFaultInAComparison = (context) => noFaultIn(context);
export const noFaultInADarkComparison = exhaustive((context) => noFaultIn(context, { colorScheme: "dark" }));
