// The page of `poet reproduce`, from studies of a few points.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { check } from "./axe.mjs";
import { checkWidth } from "./page.mjs";
import { triesAll } from "./support.mjs";

const DATA = process.env.POET_TEST_DATA;
const METHODS = ["checkpoint-all", "dtr", "capuchin", "pofo", "poet-no-paging", "poet-no-remat", "poet"];

/** A data folder with studies that take seconds, by the names of the real ones. */
function smallStudies(folder) {
  const data = folder.path("small");
  const quick = path.join(data, "reproduction", "quick");
  fs.mkdirSync(quick, { recursive: true });
  for (const shared of ["devices", "published", "report"])
    fs.symlinkSync(path.join(DATA, shared), path.join(data, shared));
  for (const file of fs.readdirSync(path.join(DATA, "reproduction", "quick"))) {
    const study = {
      format: 1,
      networks: ["linear"],
      platforms: [/table3/.test(file) ? "jetsontx2" : "a72"],
      ram: /less_ram/.test(file) ? ["70%", "100%"] : [0.5, 1],
      deadlines: /figure4/.test(file) ? [1.1, 1.3] : [null],
      methods: /less_ram/.test(file) ? ["poet"] : METHODS,
      gap: "90%", // so that searches end soon
    };
    if (/published/.test(file)) study.semantics = "published";
    else
      study.persistent = /less_ram_auto/.test(file)
        ? "auto"
        : /less_ram/.test(file)
          ? "resident"
          : "excluded";
    fs.writeFileSync(path.join(quick, file), JSON.stringify(study));
  }
  return data;
}

function reproduced(context, options) {
  context.common.once("out", (common) => {
    const run = spawnSync(common.poet, ["reproduce", "--quick", "--quiet", "-o", "out"], {
      encoding: "utf8",
      cwd: common.folder,
      env: { ...process.env, POET_DATA_DIR: smallStudies(common) },
    });
    assert.equal(run.status, 0, run.stderr);
  });
  return context.openFile("out/report.html", "", options);
}

/** It begins with what holds; each figure is charts that are zoomed, with its data beside it. */
export async function aReproductionBeginsWithItsVerdict(context) {
  const page = await reproduced(context);
  const said = await page.locator(".verdict").textContent();
  const [all, hold, partly, fail, ...rest] = said.match(/\d+/g).map(Number);
  const undecided = said.includes("One is undecided") ? 1 : rest[0] ?? 0;
  assert.equal(hold + partly + fail + undecided, all);
  const marks = await page.locator(".claims td:first-child").allTextContents();
  assert.equal(marks.length, all);
  assert.equal(marks.filter((mark) => mark.includes("holds")).length, hold);
  const figures = await page.locator("[data-figure]").count();
  assert.ok(figures >= 9, `${figures} figures`);
  for (const name of await page.locator(".figure a[href$='.csv']").allTextContents()) {
    const lines = fs.readFileSync(context.common.path(`out/${name}`), "utf8").trim().split("\n");
    const points = await page.evaluate(
      (figure) => {
        const at = [...document.querySelectorAll("[data-figure]")].findIndex(
          (box) => box.dataset.figure === figure,
        );
        return reproduction.figures[at].panels.flatMap((panel) => panel.curves.flatMap((one) => one.points))
          .length;
      },
      name.replace(".csv", ""),
    );
    assert.equal(lines.length - 1, points, name);
  }
  const chart = page.locator("figure.curve .chart").first();
  await chart.focus();
  await page.keyboard.press("+");
  assert.deepEqual(await page.evaluate(() => ({ ...reproduction.figures[0].charts[0].zoom.x })), {
    start: 25,
    end: 75,
  });
  const shown = () => page.evaluate(() => reproduction.figures[0].charts[0].spec().curves.length);
  const before = await shown();
  await page.locator(".panels").first().locator(".methods button").last().click();
  assert.equal(await shown(), before - 1);
}

/** Nobody is kept from any of it, at any width, in either theme, on paper. */
export async function aReproductionIsForEverybody(context) {
  const page = await reproduced(context, { colorScheme: "dark" });
  await check(page);
  await page.click("#theme");
  if (triesAll) await check(page);
  for (const width of [1280, 600, 390]) await checkWidth(page, width);
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  const drawn = await page.evaluate(() =>
    reproduction.figures.flatMap((one) => one.charts.map((chart) => chart.drawn.getWidth())),
  );
  assert.deepEqual([...new Set(drawn)], [700]);
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
}
