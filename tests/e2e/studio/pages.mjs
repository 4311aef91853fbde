// Pages that the program writes: of a plan, of a sweep.

/** A page of what `poet solve` finds within limits, made once. */
export async function openedPlan(context, name, limits, options, hash) {
  context.common.once(name, (common) => {
    common.run("solve", ...limits, "--plan-out", `${name}.plan`);
    common.run("show", `${name}.plan`, "-o", `${name}.html`);
  });
  const page = await context.openFile(`${name}.html`, hash, options);
  await page.waitForSelector(".network[data-ready]");
  return page;
}

export const SPEC = {
  format: 1,
  networks: ["linear", "vgg16_cifar"],
  platforms: ["a72"],
  persistent: "excluded",
  ram: [0.3, 0.6, 1.0],
  methods: ["checkpoint-all", "dtr", "poet"],
  gap: "90%", // so that searches end soon
};

/** What `poet sweep` answers, in a folder. */
export const sweepOf = (folder, spec, ...options) => {
  folder.write("spec.json", JSON.stringify(spec));
  return folder.json("sweep", "spec.json", "--quiet", "--store", "s.sqlite", ...options);
};

/** A page of SPEC's sweep, which is made once. */
export async function swept(context, hash) {
  const answer = context.common.once("s.html", (common) => sweepOf(common, SPEC, "--csv", "s.csv", "-o", "s.html"));
  return { page: await context.openFile("s.html", hash), answer };
}

/** The plan behind a point, once it is there. */
export const shownPlan = (page) => page.waitForSelector("#plan:not([hidden]) .network[data-ready]");
