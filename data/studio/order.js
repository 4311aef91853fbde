// From what is chosen to what the server, and any of poet's interfaces, are asked for.

/** What to train and on what, as the fields of a request. */
export function subject(state) {
  const order = state.onnx ? { onnx: state.onnx } : { model: state.model };
  order.device = state.profile ?? state.device;
  if (hasBatch(state)) order.batch_size = state.batch;
  if (state.optimizer && state.optimizer !== "sgd") order.optimizer = state.optimizer;
  return order;
}

export function limits(state) {
  const order = { ram_budget: Math.round(state.ram) };
  if (state.factor) order.runtime_budget = state.factor;
  return order;
}

const timeLimit = (state) => state.seconds ?? 30;

/** Whether the batch is as chosen: files say one of their own. */
const hasBatch = (state) => state.batch > 1 || (state.onnx && state.batch);

/** One plan, with why. */
export const planOrder = (state) => ({
  kind: "explain",
  ...subject(state),
  ...limits(state),
  time_limit: timeLimit(state),
});

// From coarse to fine, so that the curve is there early and gets better: parts of what keeping everything takes.
const PARTS = [100, 50, 25, 75, 12, 37, 6, 62, 87, 18, 31, 43, 56, 68, 81, 93, 3, 9, 15, 21, 28, 34, 40, 46];

const DEADLINES = [1.5, 1.15]; // times the time without limits

/** The curve: plans from everything kept down to where there is none, without a deadline and with some. */
export function curveOrder(state) {
  const { onnx, model, device, batch_size, optimizer } = subject(state);
  const network = onnx ? { onnx } : { name: model };
  if (batch_size) network.batch_sizes = [batch_size];
  return {
    kind: "sweep",
    networks: [network],
    platforms: [device],
    ...(optimizer ? { optimizer } : {}),
    persistent: "auto",
    split: "auto",
    ram: PARTS.map((part) => `${part}%`),
    deadlines: [null, ...[...new Set([...DEADLINES, state.factor ?? DEADLINES[0]])].sort((a, b) => b - a)],
    methods: ["poet"],
    time_limit: 5,
  };
}

const quoted = (text) => (/^[\w./:=-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`);
const networkFile = (state) => state.file || "network.onnx";

/** The same plan by poet's other interfaces: [title, text]. */
export function calls(state) {
  const { ram_budget, runtime_budget } = limits(state);
  const device = state.profile ? "device.json" : state.device;
  const command = [
    "poet solve",
    state.onnx ? `--onnx ${quoted(networkFile(state))}` : `--model ${quoted(state.model)}`,
  ];
  command.push(`--platform ${quoted(device)}`, `--ram-budget ${ram_budget}`);
  if (runtime_budget) command.push(`--runtime-budget ${runtime_budget}`);
  if (hasBatch(state)) command.push(`--batch-size ${state.batch}`);
  if (state.optimizer && state.optimizer !== "sgd") command.push(`--optimizer ${state.optimizer}`);
  command.push(`--time-limit ${timeLimit(state)}`);
  command.push("--plan-out poet.plan");
  const python = [
    "import poet",
    "",
    "result = poet.solve(",
    state.onnx
      ? `    onnx=${JSON.stringify(networkFile(state))},`
      : `    model=${JSON.stringify(state.model)},`,
    `    device=${JSON.stringify(device)},`,
    `    ram_budget=${ram_budget},`,
    ...(runtime_budget ? [`    runtime_budget=${runtime_budget},`] : []),
    ...(hasBatch(state) ? [`    batch_size=${state.batch},`] : []),
    ...(state.optimizer && state.optimizer !== "sgd"
      ? [`    optimizer=${JSON.stringify(state.optimizer)},`]
      : []),
    `    time_limit=${timeLimit(state)},`,
    ")",
    "print(result.status, result.energy, result.gap)",
    'result.plan.save("poet.plan")',
  ];
  return [
    ["Command line", command.join(" \\\n  ")],
    ["Python", python.join("\n")],
    ["C++", cpp(state, ram_budget, runtime_budget, device)],
    [
      "HTTP",
      `curl ${location.origin}/api/v1/jobs -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(planOrder(state)))}`,
    ],
  ];
}

function cpp(state, ram, factor, device) {
  const source = state.onnx
    ? `poet::OnnxFile{${JSON.stringify(networkFile(state))}, {}}`
    : `poet::BuiltInNetwork{${JSON.stringify(state.model)}, {}}`;
  return [
    "#include <cstdio>",
    "#include <utility>",
    "",
    '#include "poet/poet.h"',
    "",
    "int main() {",
    `  poet::NetworkSpec network{.source = ${source}};`,
    ...(hasBatch(state) ? [`  network.batch_size = ${state.batch};`] : []),
    ...(state.optimizer && state.optimizer !== "sgd"
      ? [`  network.optimizer = poet::Optimizer::${state.optimizer};`]
      : []),
    "  poet::Policy policy;",
    `  policy.ram = poet::Bytes(${ram});`,
    ...(factor ? [`  policy.deadline = {.factor = ${factor}};`] : []),
    "  policy.persistent = poet::PersistentPolicy::automatic;",
    "  policy.split = {.automatic = true, .tables = true};",
    "  poet::CompileRequest how;",
    `  how.options.time_limit_seconds = ${timeLimit(state)};`,
    `  poet::Workload workload = poet::load(network, {.name = ${JSON.stringify(device)}}, policy);`,
    "  const poet::Answer answer = poet::answered(poet::posed_answer(how, std::move(workload), policy));",
    "  if (!poet::has_plan(answer)) return 1;",
    '  std::printf("%.9g J\\n", answer.result.report.energy.value());',
    "  const poet::CompileRequest& asked = answer.request;",
    "  const poet::CompileResult& result = answer.result;",
    '  poet::write_plan({asked.instance, asked.semantics, asked.limits, result.plan, result.layout}, "poet.plan");',
    "}",
  ].join("\n");
}
