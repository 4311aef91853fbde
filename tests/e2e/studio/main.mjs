// Runs the cases of one concern in one browser, and writes a report that counts them.

import fs from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";
import { processorSeconds } from "./processor.mjs";
import { Common, Context, PATIENCE, isLeftOut } from "./support.mjs";

const [, , concern, browserPath, program, report, build] = process.argv;
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
  timeout: PATIENCE,
});
const common = new Common(browser, path.resolve(program), build);
const cases = [];
for (const [name, test] of Object.entries(await import(`./${concern}.mjs`))) {
  if (only ? !name.includes(only) : isLeftOut(test)) continue;
  const context = new Context(common);
  const began = Date.now();
  const before = processorSeconds();
  let failure = "";
  try {
    await test(context);
    context.checkQuiet();
  } catch (error) {
    failure = error.stack ?? String(error);
    await context.picture(`${name}.png`).catch(() => {});
  }
  await context.end(failure !== "");
  const seconds = (Date.now() - began) / 1000;
  const processor = (processorSeconds() - before).toFixed(1);
  console.log(
    `${failure ? "FAILED" : "ok"} ${name} (${seconds.toFixed(1)} s, ${processor} s of processor time)${failure && `\n${failure}`}`,
  );
  cases.push(
    `<testcase name="${name}" time="${seconds}">${failure ? `<failure>${escaped(failure)}</failure>` : ""}</testcase>`,
  );
  process.exitCode ||= failure ? 1 : 0;
}
console.log(`${processorSeconds().toFixed(1)} s of processor time`);
await common.end();
await browser.close();
fs.writeFileSync(
  report,
  `<testsuites><testsuite name="${concern}">${cases.join("")}</testsuite></testsuites>\n`,
);
