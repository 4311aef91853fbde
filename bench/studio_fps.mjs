// Frames per second of the server's page while charts and network are panned, for networks of several sizes.
//
//   poet serve --data /tmp/studio & node bench/studio_fps.mjs http://127.0.0.1:8080 build/tests/studio
//
// The second argument is a folder with Playwright in node_modules, as the page's tests leave it. Chromium draws without a graphics
// processor here, which is the slowest way there is.

import { createRequire } from "node:module";
import path from "node:path";

const [, , url, modules] = process.argv;
const { chromium } = createRequire(path.resolve(modules, "package.json"))("playwright-core");

const PLANS = [
  ["ResNet-18, 240 ops", "#model=resnet18_cifar&device=a72&ram=56000000"],
  ["BERT, 759 ops", "#model=bert&device=a72&ram=650000000"],
  ["ResNet-18 in parts of 32 KB", "#model=resnet18_cifar&device=m4&ram=230000"],
  ["ResNet-18 in parts of 16 KB", "#model=resnet18_cifar&device=m4&ram=131072"],
];
const SECONDS = 3;

/** Counts frames while the mouse drags to and fro. */
async function panned(page, x, y) {
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.evaluate(() => {
    globalThis.frames_ = [];
    const count = (now) => {
      globalThis.frames_.push(now);
      globalThis.counting = requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  });
  const end = Date.now() + 1000 * SECONDS;
  for (let i = 0; Date.now() < end; ++i) await page.mouse.move(x + 120 * Math.sin(i / 12), y);
  const frames = await page.evaluate(() => {
    cancelAnimationFrame(globalThis.counting);
    return globalThis.frames_;
  });
  await page.mouse.up();
  const gaps = frames
    .slice(1)
    .map((at, i) => at - frames[i])
    .sort((a, b) => a - b);
  const rate = (1000 * gaps.length) / (frames.at(-1) - frames[0]);
  return `${rate.toFixed(0)} frames/s, longest ${gaps.at(-1).toFixed(0)} ms, 95% within ${gaps[Math.floor(0.95 * gaps.length)].toFixed(0)} ms`;
}

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const [name, hash] of PLANS) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  await page.goto(`${url}/${hash}`);
  await page.waitForFunction(() => /optimal|feasible/.test(document.body.dataset.plan ?? ""), null, {
    timeout: 180_000,
  });
  await page.waitForSelector(".network[data-ready]", { timeout: 120_000 });
  await page.waitForTimeout(2000);
  console.log(`${name}: ${await page.locator("#plans p").first().textContent()}`);
  for (const title of ["RAM", "Schedule", "Arena"]) {
    const box = page.locator(`#charts section:has(h2:text-is("${title}")) .chart`).first();
    await box.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await box.boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.keyboard.down("Control");
    for (let i = 0; i < 8; ++i) await page.mouse.wheel(0, -100);
    await page.keyboard.up("Control");
    await page.waitForTimeout(500);
    console.log(`  ${title}: ${await panned(page, x + width / 2, y + height / 2)}`);
    await page.click("[data-zoom=all]");
  }
  const canvas = page.locator(".network canvas");
  await canvas.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await canvas.boundingBox();
  console.log(`  Network: ${await panned(page, x + width / 2, y + height / 2)}`);
  await page.close();
}
await browser.close();
