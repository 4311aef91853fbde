// Runs every test of the page, each with a server and a browser page of its own, and writes a report that counts them.

import fs from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";
import * as access from "./access.mjs";
import * as files from "./files.mjs";
import * as names from "./names.mjs";
import * as reproduction from "./reproduction.mjs";
import * as saved from "./saved.mjs";
import * as screens from "./screens.mjs";
import * as states from "./states.mjs";
import * as story from "./story.mjs";
import * as studies from "./studies.mjs";
import { Context } from "./support.mjs";

const [, , browserPath, program, report, build] = process.argv;
const poet = path.resolve(program);
const only = process.env.POET_STUDIO_TEST;

const escaped = (text) =>
  text
    .replace(/[^\x20-\x7e\n]/g, "?")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll('"', "&quot;");

const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--font-render-hinting=none"],
});
const cases = [];
for (const tests of [story, files, states, access, saved, names, studies, reproduction, screens]) {
  for (const [name, test] of Object.entries(tests)) {
    if (only && !name.includes(only)) continue;
    const context = new Context(browser, poet, build);
    const began = Date.now();
    let failure = "";
    try {
      await test(context);
      context.checkQuiet();
    } catch (error) {
      failure = error.stack ?? String(error);
      await context.picture(`${name}.png`).catch(() => {});
    }
    await context.end();
    const seconds = (Date.now() - began) / 1000;
    console.log(
      `${failure ? "FAILED" : "ok"} ${name} (${seconds.toFixed(1)} s)${failure ? `\n${failure}` : ""}`,
    );
    cases.push(
      `<testcase name="${name}" time="${seconds}">${failure ? `<failure>${escaped(failure)}</failure>` : ""}</testcase>`,
    );
    process.exitCode ||= failure ? 1 : 0;
  }
}
await browser.close();
if (report)
  fs.writeFileSync(
    report,
    `<testsuites><testsuite name="studio">${cases.join("")}</testsuite></testsuites>\n`,
  );
