// Whatever goes wrong, the page says what to do.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { SMALL, figure, plan, planAfter } from "./support.mjs";

export async function tooLittleRamSaysHowMuchWouldDo(context) {
  await context.serve();
  const page = await context.open("#model=linear&device=a72&ram=150000&factor=1&seconds=3");
  await plan(page, "infeasible|unknown");
  const said = await page.locator("#verdict").textContent();
  assert.match(said, /^No plan (fits|was found in the time)\. /);
  assert.match(said, /Suggestions:.*a RAM budget of [\d.]+ KB.*(a deadline of|no deadline)/s);
  const enough = said.match(/a RAM budget of ([\d.]+ KB)/)[1];
  assert.equal(await page.locator("#tools").isHidden(), true);
  await planAfter(page, () => page.click("text=/^Use .* of RAM$/"));
  assert.ok((await figure(page, "RAM peak")).endsWith(`% of ${enough} (budget)`));
}

export async function aServerThatIsGoneIsWaitedFor(context) {
  await context.serve();
  const page = await context.open(SMALL);
  await plan(page);
  await context.stop("SIGKILL");
  context.expected.push(
    /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|Failed to fetch/,
  );
  await page.evaluate(() => delete document.body.dataset.plan);
  await page.fill("input[name=ram]", "240 KB");
  await page.press("input[name=ram]", "Enter");
  await page.waitForFunction(() =>
    /cannot be reached; trying again/.test(document.getElementById("plan-status").textContent),
  );
  await context.serve();
  await plan(page);
  assert.match(await page.locator("#plans h1").textContent(), /240 KB/);
}

export async function aFullQueueIsWaitedFor(context) {
  await context.serve("--workers", "2", "--queue-limit", "1");
  context.expected.push(/429|503/);
  // What takes both workers, and what takes the queue.
  const jobs = [];
  for (const budget of [500, 510, 520]) {
    const order = {
      model: "bert",
      device: "a72",
      ram_budget: `${budget}MB`,
      runtime_budget: 1.05,
      time_limit: 60,
    };
    const headers = { "Content-Type": "application/json" };
    const submitted = await fetch(`${context.url}/api/v1/jobs`, {
      method: "POST",
      headers,
      body: JSON.stringify(order),
    });
    jobs.push(await submitted.json());
    const state = async () =>
      (await (await fetch(`${context.url}/api/v1/jobs/${jobs.at(-1).id}`)).json()).state;
    const end = Date.now() + 30_000;
    while (jobs.length < 3 && (await state()) !== "running") {
      assert.ok(Date.now() < end, `the job is ${await state()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  const page = await context.open(SMALL);
  await page.waitForFunction(() =>
    /jobs? (are|queued).*trying again/.test(document.getElementById("plan-status").textContent),
  );
  for (const job of jobs.reverse()) await fetch(`${context.url}/api/v1/jobs/${job.id}`, { method: "DELETE" });
  await plan(page);
}

export async function refusedUploadsSayWhy(context) {
  await context.serve("--upload-limit", "1KB");
  context.expected.push(/503|400/);
  const page = await context.open(SMALL);
  await plan(page);
  const large = path.join(context.folder, "large.onnx");
  fs.writeFileSync(large, Buffer.alloc(5000, 7));
  await page.setInputFiles("input[name=file]", large);
  await page.waitForSelector("#problem:not([hidden])");
  assert.match(await page.locator("#problem").textContent(), /large\.onnx was not taken.*no room/s);
  assert.match(await page.locator("#problem").textContent(), /Ask whoever runs the server/);
  // One that is no network: taken, and refused when it is read.
  const wrong = path.join(context.folder, "wrong.onnx");
  fs.writeFileSync(wrong, "not a network");
  await page.click("#problem button");
  await page.setInputFiles("input[name=file]", wrong);
  await page.waitForSelector("#problem:not([hidden])");
  assert.match(await page.locator("#problem").textContent(), /could not be drawn|no plan to show/);
}

export async function aTokenIsAskedFor(context) {
  const tokens = path.join(context.folder, "tokens");
  fs.writeFileSync(tokens, "ann 0123456789abcdef0123\n");
  await context.serve("--token-file", tokens);
  context.expected.push(/401/);
  const page = await context.open(SMALL);
  await page.fill("input[name=token]", "0123456789abcdef0123");
  await page.click("text=Go on");
  await plan(page);
}
