// What the cases of a concern share, and what each has of its own: servers, pages that must not complain, files.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Server } from "./server.mjs";

export const PATIENCE = 600_000; // milliseconds until what is waited for will never come

/** A case that only `./test --all` tries. */
export const exhaustive = (test) => Object.assign(test, { isExhaustive: true });
export const triesAll = Boolean(process.env.POET_TEST_ALL);
export const isLeftOut = (test) => test.isExhaustive && !triesAll;

/** A folder in which the program is run. */
class Folder {
  constructor(poet) {
    this.poet = poet;
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "poet-studio-"));
  }

  path(name) {
    return path.join(this.folder, name);
  }

  write(name, text) {
    fs.writeFileSync(this.path(name), text, { mode: 0o600 });  // as files of tokens must be
    return this.path(name);
  }

  /** What a command of the program prints. */
  run(...command) {
    const run = spawnSync(this.poet, command, { encoding: "utf8", cwd: this.folder, maxBuffer: 1 << 28 });
    assert.ok(run.status <= 1, run.stderr);
    return run.stdout;
  }

  /** What it answers with --json. */
  json(...command) {
    return JSON.parse(this.run(...command, "--json"));
  }

  remove() {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Of all cases of a concern: the browser, a server, a page that is left and opened again, and what is made once. */
export class Common extends Folder {
  constructor(browser, poet, build) {
    super(poet);
    Object.assign(this, { browser, build, made: new Map(), complaints: [] });
  }

  server() {
    return (this.started ??= new Server(this.poet, this.path("data"), []).start());
  }

  /** What `make(this)` returns, which is asked only once. */
  once(name, make) {
    if (!this.made.has(name)) this.made.set(name, make(this));
    return this.made.get(name);
  }

  /** A page with nothing of others in it, 1280 pixels wide unless `options` say otherwise. */
  async newPage({ hasWholeCurve, ...options }) {
    const page = await this.browser.newPage({ viewport: { width: 1280, height: 1000 }, ...options });
    page.setDefaultTimeout(PATIENCE);
    page.on("console", (message) => message.type() === "error" && this.complaints.push(message.text()));
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    await page.addInitScript(askForQuickCurves, Boolean(hasWholeCurve));
    return page;
  }

  /** The page that cases use one after another: what it has read already is there sooner. */
  async usualPage() {
    this.page ??= await this.newPage({});
    await this.page.setViewportSize({ width: 1280, height: 1000 });
    return this.page;
  }

  /** Forgets what the usual page remembers. */
  async leaveUsualPage() {
    await this.page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await this.page.goto("about:blank");
  }

  async end() {
    await this.started?.then((server) => server.kill()).catch(() => {}); // one that did not start failed a case
    this.remove();
  }
}

/** Curves of points that take no time, two instead of 72, or 24 if they are to be whole: of the order everything else stays. */
function askForQuickCurves(areWhole) {
  const ask = window.fetch;
  const quick = ({ ram, deadlines, ...rest }) => ({
    ...rest,
    ram: areWhole ? ram.slice(0, 8).map((part) => `${88 + parseFloat(part) / 8.5}%`) : ["100%", "90%"],
    deadlines: areWhole ? deadlines : [null],
  });
  window.fetch = (path, options) => {
    const order = options?.method === "POST" && typeof options.body === "string" ? JSON.parse(options.body) : {};
    return ask(path, order.kind === "sweep" ? { ...options, body: JSON.stringify(quick(order)) } : options);
  };
}

/** One case. */
export class Context extends Folder {
  constructor(common) {
    super(common.poet);
    Object.assign(this, { common, pages: [], expected: [] });
    common.complaints.length = 0;
  }

  /** Starts a server of this case alone, with options. */
  async serve(...options) {
    this.server = await new Server(this.poet, this.path("data"), options).start();
  }

  /** The page of this case's server, or of the common one, at what the hash says. */
  async open(hash = "", options = undefined) {
    const { url } = this.server ?? (await this.common.server());
    return this.openAddress(`${url}/${hash}`, options);
  }

  /** A page that was written into the case's folder, or into the common one. */
  async openFile(name, hash = "", options = undefined) {
    const file = fs.existsSync(this.path(name)) ? this.path(name) : this.common.path(name);
    const page = await this.openAddress(`file://${file}${hash}`, options);
    await page.waitForSelector("body[data-ready]");
    return page;
  }

  /** In the usual page, if no options and no second page are asked for. */
  async openAddress(address, options) {
    const isUsual = !options && !this.pages.length;
    const page = isUsual ? await this.common.usualPage() : await this.common.newPage(options ?? {});
    this.pages.push(page);
    await page.goto(address);
    return page;
  }

  /** No complaint of a page but what the test expects, as regular expressions. */
  checkQuiet() {
    assert.deepEqual(
      this.common.complaints.filter((one) => !this.expected.some((known) => known.test(one))),
      [],
    );
  }

  async picture(name) {
    await this.pages.at(-1)?.screenshot({ path: path.join(this.common.build, name), fullPage: true });
  }

  /** Closes its pages; the usual one too, after a failure. */
  async end(hasFailed) {
    if (hasFailed) this.common.page = undefined;
    for (const page of this.pages) {
      if (page === this.common.page) await this.common.leaveUsualPage();
      else await page.close().catch(() => {});
    }
    await this.server?.kill();
    this.remove();
  }
}
