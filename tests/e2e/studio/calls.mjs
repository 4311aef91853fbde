// The calls that the page shows make the plan that it shows.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { SMALL, figure, plan } from "./page.mjs";

/** What a Python program prints, by the interpreter that the package was built for; nothing where there is none. */
function runPython(context, text) {
  const { POET_PYTHON: python, POET_PYTHON_PATH: package_ } = process.env;
  if (!python) return null;
  fs.writeFileSync(path.join(context.folder, "call.py"), text);
  const env = { ...process.env, PYTHONPATH: package_, PYTHONDONTWRITEBYTECODE: "1" };
  return execFileSync(python, ["call.py"], { cwd: context.folder, env, encoding: "utf8" });
}

/** What a C++ program prints, made as another project makes it: of what `cmake --install` leaves. */
function runCpp(context, text) {
  const { POET_BUILD: build, POET_CXX: compiler, POET_CXX_FLAGS: flags = "" } = process.env;
  const project = path.join(context.folder, "call");
  // A program of one's own does not know where a tree was moved to.
  const env = { ...process.env, POET_DATA_DIR: path.join(context.folder, "prefix", "share", "poet") };
  const inFolder = { cwd: context.folder, env, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" };
  fs.mkdirSync(project);
  fs.writeFileSync(path.join(project, "call.cc"), `${text}\n`);
  fs.writeFileSync(
    path.join(project, "CMakeLists.txt"),
    `cmake_minimum_required(VERSION 3.25)
project(call LANGUAGES CXX)
find_package(poet REQUIRED)
add_executable(call call.cc)
target_link_libraries(call PRIVATE poet::poet)
target_compile_options(call PRIVATE -Wall -Wextra -Werror)
`,
  );
  const run = (command, ...words) => execFileSync(command, words, inFolder);
  run("cmake", "--install", build, "--prefix", path.join(context.folder, "prefix"));
  const options = [`-DCMAKE_PREFIX_PATH=${context.folder}/prefix`, `-DCMAKE_CXX_COMPILER=${compiler}`];
  run("cmake", "-S", "call", "-B", "built", ...options, `-DCMAKE_CXX_FLAGS=${flags}`);
  run("cmake", "--build", "built");
  return run(path.join(context.folder, "built", "call"));
}

export async function callsReproduceThePlan(context) {
  const page = await context.open(SMALL + "&factor=1.4&batch=2");
  await plan(page);
  await page.click("summary:has-text('Reproduce')");
  const [command, python, cpp, http] = await page.locator(".calls pre").allTextContents();
  const words = command.replaceAll("\\\n", " ").split(/\s+/).slice(1);
  const answer = context.json(...words);
  assert.equal(
    await page
      .locator("#verdict")
      .textContent()
      .then((text) => text.includes("Proven optimal")),
    answer.status === "optimal",
  );
  assert.equal(answer.ram_budget_bytes, 250000);
  assert.equal(answer.batch_size, 2);
  assert.equal(
    parseFloat(await figure(page, "energy")).toPrecision(3),
    (1e3 * answer.energy_joules).toPrecision(3),
  );
  assert.match(
    python,
    /poet\.solve\(\n {4}model="linear",\n {4}device="a72",\n {4}ram_budget=250000,\n {4}runtime_budget=1\.4,\n {4}batch_size=2,\n {4}time_limit=5,\n\)/,
  );
  const energy = await figure(page, "energy");
  const inMillijoules = (text) => (1e3 * parseFloat(text)).toPrecision(3);
  const ofPython = runPython(context, python);
  if (ofPython) {
    const [status, joules] = ofPython.split(" ");
    assert.equal(inMillijoules(joules), parseFloat(energy).toPrecision(3), ofPython);
    assert.equal(status, answer.status);
    assert.equal(context.json("verify", "poet.plan").valid, true);
    fs.rmSync(path.join(context.folder, "poet.plan"));
  }
  assert.equal(inMillijoules(runCpp(context, cpp)), parseFloat(energy).toPrecision(3));
  const written = context.json("verify", "poet.plan");
  assert.ok(written.valid);
  assert.equal(inMillijoules(written.energy_joules), parseFloat(energy).toPrecision(3));
  assert.match(http, /^curl http.*"ram_budget":250000/s);
}
