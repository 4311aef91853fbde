// What the tests share: a server, pages that must not complain, and waiting.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

/** A server and its pages, for one test. */
export class Context {
  constructor(browser, poet, build) {
    Object.assign(this, { browser, poet, build, pages: [], complaints: [], expected: [] });
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "poet-studio-"));
  }

  /** Starts the server; on the port of the last one where there was one. */
  async serve(...options) {
    const listen = this.url ? new URL(this.url).host : "127.0.0.1:0";
    this.server = spawn(
      this.poet,
      ["serve", "--listen", listen, "--data", path.join(this.folder, "data"), ...options],
      {
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    this.url = await new Promise((resolve, reject) => {
      let said = "";
      this.server.stderr.on("data", (text) => {
        said += text;
        const url = /serving at (\S+)/.exec(said)?.[1];
        if (url) resolve(url);
      });
      this.server.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    });
  }

  async stop(signal = "SIGTERM") {
    if (!this.server || this.server.exitCode !== null) return;
    const ended = new Promise((resolve) => this.server.on("exit", resolve));
    this.server.kill(signal);
    await ended;
  }

  /** The server's page at what the hash says, or another one; 1280 pixels wide unless `options` say otherwise. */
  async open(hash = "", options = {}, address = `${this.url}/`) {
    const page = await this.browser.newPage({ viewport: { width: 1280, height: 1000 }, ...options });
    page.setDefaultTimeout(120_000);
    page.on("console", (message) => message.type() === "error" && this.complaints.push(message.text()));
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    this.pages.push(page);
    await page.goto(`${address}${hash}`);
    return page;
  }

  /** No complaint of a page but what the test expects, as regular expressions. */
  checkQuiet() {
    const rest = this.complaints.filter((one) => !this.expected.some((known) => known.test(one)));
    assert.deepEqual(rest, []);
  }

  async picture(name) {
    await this.pages.at(-1)?.screenshot({ path: path.join(this.build, name), fullPage: true });
  }

  /** What a command of the program prints. */
  run(...command) {
    const run = spawnSync(this.poet, command, {
      encoding: "utf8",
      cwd: this.folder,
      maxBuffer: 1 << 28,
    });
    assert.ok(run.status <= 1, run.stderr);
    return run.stdout;
  }

  /** What it answers with --json. */
  json(...command) {
    return JSON.parse(this.run(...command, "--json"));
  }

  async end() {
    for (const page of this.pages) await page.close().catch(() => {});
    await this.stop("SIGKILL");
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

export const SMALL = "#model=linear&device=a72&ram=250000&seconds=5";

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

/** The RAM budget that the page's address tells. */
export const ramOf = (page) => Number(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("ram"));

/** Does something that moves the budget, and waits until the address tells so. */
export async function ramAfter(page, action) {
  const before = ramOf(page);
  await action();
  await page.waitForFunction(
    (ram) => Number(new URLSearchParams(location.hash.slice(1)).get("ram")) !== ram,
    before,
  );
}

/** Makes the page so wide: nothing on it is wider, and nothing complains, once charts have followed in the frames after. */
export async function checkWidth(page, width) {
  await page.setViewportSize({ width, height: 900 });
  await page.waitForFunction((wanted) => window.innerWidth === wanted, width);
  await page.evaluate(async () => {
    for (let i = 0; i < 3; ++i) await new Promise(requestAnimationFrame);
  });
  const fits = (most) => document.documentElement.scrollWidth <= most;
  await page.waitForFunction(fits, width, { timeout: 20_000 }).catch(() => {}); // told below
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
