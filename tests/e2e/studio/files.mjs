// What goes in and comes out: ONNX files, plans, pages, firmware.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { SMALL, figure, plan, planAfter } from "./page.mjs";

async function downloaded(context, page, text) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.click(`#actions >> text="${text}"`),
  ]);
  const file = context.path(download.suggestedFilename());
  await download.saveAs(file);
  return file;
}

export async function downloadsAreThePlan(context) {
  const page = await context.open(SMALL);
  await plan(page);
  const verdict = context.json("verify", await downloaded(context, page, "Plan file"));
  assert.equal(verdict.valid, true);
  assert.equal(
    parseFloat(await figure(page, "energy")).toPrecision(3),
    (1e3 * verdict.energy_joules).toPrecision(3),
  );
  const html = fs.readFileSync(await downloaded(context, page, "Page"), "utf8");
  assert.match(html, /<script type="application\/json" id="pictures">/);
  const firmware = await downloaded(context, page, "Firmware");
  assert.match(execFileSync("tar", ["-tzf", firmware], { encoding: "utf8" }), /firmware\/Makefile/);
}

export async function anOnnxFileIsDropped(context) {
  const limits = ["--model", "linear", "--platform", "a72", "--ram-budget", "1MB"];
  context.json("solve", ...limits, "--plan-out", "p.plan");
  context.json("run", "p.plan", "--steps", "1", "--onnx-out", "net.onnx");
  const file = context.path("net.onnx");
  const page = await context.open("#model=linear&device=jetsontx2&ram=250000&seconds=1");
  await plan(page);
  await planAfter(page, () => page.setInputFiles("input[name=file]", file));
  assert.match(await page.locator("#subject").textContent(), /^net\.onnx on jetsontx2/);
  assert.match(await page.locator("#plans .soft").first().textContent(), /device semantics/);
  // By dragging, which scripts have to make up.
  await planAfter(page, () => page.selectOption("select[name=model]", "linear"));
  const bytes = fs.readFileSync(file).toString("base64");
  await planAfter(page, () =>
    page.evaluate(async (text) => {
      const blob = await (
        await fetch(`data:application/octet-stream;base64,${text}`).catch(() => null)
      )?.blob();
      const content = blob ?? new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]);
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], "dropped.onnx"));
      document.body.dispatchEvent(
        new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }),
      );
    }, bytes),
  );
  assert.match(await page.locator("#subject").textContent(), /^dropped\.onnx/);
  context.expected.push(/Content Security Policy/); // of the data: address that this test tried first
}

/** Not by Brotli, which takes seconds for the largest one on every visit. */
export async function scriptsComeByGzip(context) {
  const { url } = await context.common.server();
  const headers = { "Accept-Encoding": "gzip, deflate, br" };
  const script = await fetch(`${url}/echarts.min.js`, { headers });
  assert.equal(script.headers.get("Content-Encoding"), "gzip");
  assert.match(await script.text(), /echarts/);
}
