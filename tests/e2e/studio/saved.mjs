// The page that `poet show` writes, opened as a file: no server, no network.

import assert from "node:assert/strict";
import { checkWidth, findTensor, placeInChart } from "./page.mjs";
import { openedPlan } from "./pages.mjs";
import { triesAll } from "./support.mjs";

// Its plan pages and recomputes.
const LIMITS = ["--model", "linear", "--platform", "jetsontx2", "--ram-budget", "60%", "--time-limit", "30"];
const opened = (context, hash, options) => openedPlan(context, "p", LIMITS, options, hash);

export async function aPlanForKiBIsToldInKiB(context) {
  const limits = ["--model", "linear", "--platform", "a72", "--ram-budget", "200KiB"];
  const page = await openedPlan(context, "kib", limits);
  const said = await page.locator("body").innerText();
  assert.match(said, /200 KiB \(budget\)/);
  assert.doesNotMatch(said, /[0-9] [KM]B/);
}

export async function aSavedPageKnowsEveryTensor(context) {
  const page = await opened(context, "");
  assert.match(await page.locator(".verdict").textContent(), /RAM with everything kept, operators in these parts, become/);
  // A click on an op of the network, and one on a rectangle of the RAM's chart.
  const canvas = page.locator(".network canvas");
  const [x, y] = await page.evaluate(() => {
    const { places, scale, x, y } = board.graphs[0];
    return [places[0][0] * scale + x, places[0][1] * scale + y];
  });
  await canvas.click({ position: { x, y } });
  await page.waitForSelector("#inspector:not([hidden])");
  const said = await page.locator("#inspector").textContent();
  assert.match(said, /Why(Kept|Paged|Recomputed|On storage)/);
  assert.match(said, /to page it out and in once/);
  await page.keyboard.press("Escape");
  await page.waitForSelector("#inspector", { state: "hidden" });
  // By name, which a link keeps.
  const name = await findTensor(page);
  assert.equal(await page.locator("#inspector h2").textContent(), name);
  assert.equal(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("tensor"), name);
}

/** At every width from a phone's to a wide screen's, in both themes: nothing complains, nothing is wider than the page. */
export async function aSavedPageFitsEveryWidth(context) {
  const page = await opened(context, "", { colorScheme: "dark" });
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.click("#theme");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  const widths = triesAll ? [1280, 800, 640, 610, 601, 600, 599, 590, 480, 390, 360, 1600] : [600, 360, 1600];
  for (const width of widths) await checkWidth(page, width);
}

/** On paper everything is light and as wide as a sheet; on the screen it is as it was before. */
export async function aSavedPageIsPrinted(context) {
  const page = await opened(context, "", { colorScheme: "dark" });
  const look = () =>
    page.evaluate(() => ({
      theme: document.documentElement.dataset.theme,
      charts: [...new Set(board.drawn.map((one) => one.chart.getWidth()))],
      network: board.graphs[0].canvas.clientWidth,
      legend: document.querySelector(".network .swatch").style.background,
    }));
  const before = await look();
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  const printed = await look();
  assert.equal(printed.theme, "light");
  assert.deepEqual(printed.charts, [700]);
  assert.ok(printed.network <= 700);
  assert.notEqual(printed.legend, before.legend);
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.deepEqual(await look(), before);
}

/** Who zooms away from where a link leads stays there; a name that no tensor has is told. */
export async function aSavedPageObeysLinks(context) {
  const page = await opened(context, "#zoom=20-60&tensor=nosuch");
  const shown = () => page.evaluate(() => board.view.zoom);
  assert.deepEqual(await shown(), { start: 20, end: 60 });
  assert.equal(await page.locator("#shown").textContent(), "no tensor is called nosuch");
  await page.click("[data-zoom=in]");
  const name = await findTensor(page);
  assert.equal(await page.locator("#inspector h2").textContent(), name);
  assert.deepEqual(await shown(), { start: 30, end: 50 });
  await page.fill("#find", "nosuch");
  await page.press("#find", "Enter");
  assert.match(await page.locator("#find").evaluate((field) => field.validationMessage), /No tensor/);
}

export async function aSavedPageListsTensors(context) {
  const page = await opened(context, "");
  const section = page.locator('#charts section:has(h2:text-is("Tensors"))');
  const told = () => section.locator("[role=status]").textContent();
  const all = await page.evaluate(() => board.models[0].values.length);
  assert.match(await told(), new RegExp(`^${all} tensors of `));
  // Layers are closed until somebody opens or searches them.
  assert.equal(await section.locator("td.tensor").count(), 0);
  await section.locator("tbody button").first().click();
  assert.notEqual(await section.locator("td.tensor").count(), 0);
  const search = async (text) => {
    const before = await told();
    await section.locator("input").fill(text);
    // The table follows when nobody types any more.
    await section.locator("[role=status]").filter({ hasNotText: before }).waitFor();
  };
  await search("GRAD:FC1");
  const found = await section.locator("td.tensor").allTextContents();
  assert.ok(found.length > 0 && found.every((name) => name.startsWith("grad:")), found.join());
  await search("nothing is called this");
  assert.equal(await told(), "No tensor is like that.");
  // The costliest of a kind, and what is said of it.
  await search("");
  const kinds = await section.locator("select").first().locator("option").allTextContents();
  assert.ok(kinds.length > 1, "the plan does something");
  await section.locator("select").first().selectOption(kinds[1]);
  await section.locator("select").last().selectOption("spent");
  const layer = section.locator("tbody button").first();
  if ((await layer.getAttribute("aria-expanded")) === "false") await layer.click(); // one alone is open
  await section.locator("td.tensor button").first().click();
  assert.match(await page.locator("#inspector").textContent(), new RegExp(`Why${kinds[1]}`, "i"));
}

/** It begins with what is proven, how the plan was made, and when. */
export async function aSavedPageSaysHowItWasMade(context) {
  const page = await opened(context, "");
  assert.match(await page.locator(".proven").textContent(), /^(Proven optimal( within [0-9.]+%)?|Feasible): no plan needs less /);
  const made = await page.locator(".made").textContent();
  assert.match(made, /^Made by poet \d+\.\d+\.\d+ on \d{4}-\d\d-\d\d \d\d:\d\d UTC: /);
  assert.ok(made.endsWith(`poet solve ${LIMITS.join(" ")}`), made);
}

/** The peak is clicked, or its button pressed: all that is in RAM then, each of which leads to what is known of it. */
export async function aSavedPageTellsThePeak(context) {
  const page = await opened(context, "");
  const { step, ram, names } = await page.evaluate(() => {
    const model = board.models[0];
    const step = model.steps.findIndex((one) => one.ram === model.figures.peak_ram);
    const alive = model.live.filter((one) => one.s0 <= step && step < one.held && one.bytes > 0);
    return { step, ram: model.figures.peak_ram, names: alive.map((one) => model.values[one.value][0]) };
  });
  assert.ok(ram > 0 && names.length > 0);
  const at = await placeInChart(page, "RAM", (chart) => {
    const [x, y] = chart.getOption().series.find((one) => one.id === "peak").data[0];
    return [x, y];
  });
  await page.mouse.click(...at);
  await page.waitForSelector("#inspector:not([hidden])");
  assert.equal(await page.locator("#inspector h2").textContent(), "RAM at its peak");
  const listed = await page.locator("#inspector table button").allTextContents();
  assert.deepEqual([...listed].sort(), [...names].sort());
  await page.keyboard.press("Escape");
  await page.waitForSelector("#inspector", { state: "hidden" });
  await page.locator("button.peak").focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("#inspector:not([hidden])");
  assert.equal(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("moment"), String(step));
  await page.locator("#inspector table button").first().click();
  assert.equal(await page.locator("#inspector h2").textContent(), listed[0]);
  await page.goBack();
  assert.equal(await page.locator("#inspector h2").textContent(), "RAM at its peak");
}

/** Two fingers zoom the network about what is between them; one alone scrolls or moves. */
export async function aSavedPageIsPinched(context) {
  const page = await opened(context, "", { hasTouch: true, viewport: { width: 390, height: 844 } });
  const canvas = page.locator(".network canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  const [cx, cy] = [box.x + box.width / 2, box.y + 100];
  const look = () => page.evaluate(() => (({ scale, x, y }) => ({ scale, x, y }))(board.graphs[0]));
  const before = await look();
  const fingers = await page.context().newCDPSession(page);
  const touch = (type, apart) =>
    fingers.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: apart
        ? [
            { x: cx - apart, y: cy, id: 0 },
            { x: cx + apart, y: cy, id: 1 },
          ]
        : [],
    });
  await touch("touchStart", 30);
  for (const apart of [35, 40, 45, 50, 55, 60]) await touch("touchMove", apart);
  await touch("touchEnd", 0);
  const after = await look();
  assert.ok(Math.abs(after.scale / before.scale - 2) < 0.05, `${before.scale} became ${after.scale}`);
  const under = ({ scale, x }) => (box.width / 2 - x) / scale;
  assert.ok(Math.abs(under(after) - under(before)) < 2, "what was between the fingers is there still");
  assert.equal(await page.evaluate(() => visualViewport.scale), 1);
  assert.ok(await page.locator("#inspector").isHidden());
}
