// Whatever goes wrong, the page says what to do.

import assert from "node:assert/strict";
import { SMALL, enter, figure, plan, planAfter } from "./page.mjs";

export async function tooLittleRamSaysHowMuchWouldDo(context) {
  const page = await context.open("#model=linear&device=jetsontx2&ram=150000&factor=1&seconds=1");
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
  await context.server.kill();
  context.expected.push(
    /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|Failed to fetch/,
  );
  await page.evaluate(() => delete document.body.dataset.plan);
  await enter(page, "ram", "240 KB");
  await page.waitForFunction(() =>
    /cannot be reached; trying again/.test(document.getElementById("plan-status").textContent),
  );
  await context.server.start();
  await plan(page);
  assert.match(await page.locator("#plans h1").textContent(), /240 KB/);
}

export async function aFullQueueIsWaitedFor(context) {
  await context.serve("--workers", "1", "--queue-limit", "1");
  context.expected.push(/429|503/);
  const jobs = `${context.server.url}/api/v1/jobs`;
  const state = async (id) => (await (await fetch(`${jobs}/${id}`)).json()).state;
  const submit = async (budget) => {
    const body = { model: "bert", device: "a72", ram_budget: budget, runtime_budget: 1.05, time_limit: 600 };
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(jobs, { method: "POST", headers, body: JSON.stringify(body) });
    return (await answer.json()).id;
  };
  const running = await submit("500MB"); // takes the worker
  while ((await state(running)) === "queued") await new Promise((resolve) => setTimeout(resolve, 50));
  const queued = await submit("510MB"); // takes the queue
  const page = await context.open(SMALL);
  await page.waitForFunction(() =>
    /jobs? (are|queued).*trying again/.test(document.getElementById("plan-status").textContent),
  );
  for (const id of [queued, running]) await fetch(`${jobs}/${id}`, { method: "DELETE" });
  await plan(page);
}

export async function refusedUploadsSayWhy(context) {
  await context.serve("--upload-limit", "1KB");
  context.expected.push(/503|400/);
  const page = await context.open(SMALL);
  await plan(page);
  const large = context.write("large.onnx", Buffer.alloc(5000, 7));
  await page.setInputFiles("input[name=file]", large);
  await page.waitForSelector("#problem:not([hidden])");
  assert.match(await page.locator("#problem").textContent(), /large\.onnx was not taken.*no room/s);
  assert.match(await page.locator("#problem").textContent(), /Ask whoever runs the server/);
  // One that is no network: taken, and refused when it is read.
  const wrong = context.write("wrong.onnx", "not a network");
  await page.click("#problem button");
  await page.setInputFiles("input[name=file]", wrong);
  await page.waitForSelector("#problem:not([hidden])");
  assert.match(await page.locator("#problem").textContent(), /could not be drawn|no plan to show/);
}

export async function aTokenIsAskedFor(context) {
  const tokens = context.write("tokens", "ann 0123456789abcdef0123\n");
  await context.serve("--token-file", tokens);
  context.expected.push(/401/);
  const page = await context.open(SMALL);
  await page.fill("input[name=token]", "0123456789abcdef0123");
  await page.click("text=Go on");
  await plan(page);
}
