// Pictures of the page beside those that were looked at when they were taken: small and blurred, as fonts differ between machines.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { plan } from "./page.mjs";
import { exhaustive } from "./support.mjs";

const SCREENS = fileURLToPath(new URL("./screens", import.meta.url));
const MOST = 0.04; // mean difference of a channel, of its range

/** The mean difference of two PNGs, both 200 pixels wide; and the first at that size. */
async function difference(page, png, other) {
  return page.evaluate(
    async ([a, b]) => {
      const small = async (base64) => {
        const image = new Image();
        image.src = `data:image/png;base64,${base64}`;
        await image.decode();
        const canvas = Object.assign(document.createElement("canvas"), {
          width: 200,
          height: Math.round((200 * image.height) / image.width),
        });
        const pen = canvas.getContext("2d");
        pen.imageSmoothingQuality = "high";
        pen.drawImage(image, 0, 0, canvas.width, canvas.height);
        return { canvas, data: pen.getImageData(0, 0, canvas.width, canvas.height).data };
      };
      const one = await small(a);
      const text = one.canvas.toDataURL("image/png").split(",")[1];
      if (!b) return { text, mean: 0 };
      const two = await small(b);
      const length = Math.min(one.data.length, two.data.length);
      let sum = 0;
      for (let i = 0; i < length; ++i) sum += Math.abs(one.data[i] - two.data[i]);
      return {
        text,
        mean: sum / length / 255 + Math.abs(one.data.length - two.data.length) / one.data.length,
      };
    },
    [png.toString("base64"), other?.toString("base64")],
  );
}

/** The whole page's picture, once it is twice the same. */
async function stillPicture(page) {
  let before;
  for (let i = 0; i < 20; ++i) {
    const now = await page.screenshot({ fullPage: true });
    if (before?.equals(now)) break;
    before = now;
  }
  return before;
}

async function looksAsBefore(context, name, hash, options) {
  const page = await context.open(hash, options);
  await plan(page);
  await page.waitForSelector(".network[data-ready]");
  // The curve was of more points when the pictures were taken.
  await page.waitForSelector("body[data-curve=done]");
  await page.evaluate(() => (document.getElementById("curve").style.visibility = "hidden"));
  const file = path.join(SCREENS, `${name}.png`);
  const known = fs.existsSync(file) ? fs.readFileSync(file) : undefined;
  const { text, mean } = await difference(page, await stillPicture(page), known);
  fs.writeFileSync(path.join(context.common.build, `${name}.now.png`), Buffer.from(text, "base64"));
  assert.ok(known, `${file} is missing; ${name}.now.png in the build folder is what to look at`);
  assert.ok(
    mean < MOST,
    `${name} differs by ${mean.toFixed(3)} from what it was; look at ${name}.now.png in the build folder`,
  );
}

const RESNET = "#model=resnet18_cifar&device=a72&ram=56000000";

export const deskLooksAsBefore = (context) => looksAsBefore(context, "desk", RESNET);
export const darkLooksAsBefore = exhaustive((context) =>
  looksAsBefore(context, "dark", RESNET, { colorScheme: "dark" }),
);
export const phoneLooksAsBefore = (context) =>
  looksAsBefore(context, "phone", RESNET, { viewport: { width: 390, height: 844 } });
