// The plan within the budget: asked for, followed while it is solved, shown as a board; alone or beside the one that is pinned.

import { bytes, joules, percent, seconds } from "./report/amounts.js";
import { followWidth, dispose, makeBoard, setMode } from "./report/board.js";
import { modelOf } from "./report/model.js";
import { element } from "./report/plans.js";
import { tellShown } from "./report/tools.js";
import { json, run, waitingText } from "./api.js";

/** { job, answer, model } of an order; of what has no plan without a model. `tell(text)` says how it goes. */
export async function solved(order, tell, signal) {
  const job = await run(order, {
    signal,
    tell: (now) => tell(progressText(now)),
    wait: (problem) => tell(waitingText(problem)),
  });
  if (job.state === "failed")
    throw Object.assign(new Error(job.error?.message ?? "it failed"), {
      kind: job.error?.error,
      field: job.error?.field,
    });
  if (job.state === "cancelled")
    throw Object.assign(new Error("the job was cancelled"), { kind: "cancelled" });
  const answer = await json(`/api/v1/jobs/${job.id}/result`, { signal });
  if (!job.has_plan) return { job, answer };
  const [picture] = await pictureOf(job.id, signal);
  picture.title = `${bytes(answer.ram_budget_bytes)}${answer.deadline_seconds ? `, ${seconds(answer.deadline_seconds)}` : ""}`;
  return { job, answer, model: modelOf(picture) };
}

/** Others may have files made at the same moment. */
async function pictureOf(id, signal) {
  for (let tries = 0; ; ++tries) {
    try {
      return await json(`/api/v1/jobs/${id}/picture.json`, { signal });
    } catch (error) {
      if (error.status !== 503 || tries > 10) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

function progressText(job) {
  if (job.state === "queued")
    return job.ahead ? `waiting for ${job.ahead} other jobs …` : "waiting for a worker …";
  if (job.state !== "running") return "";
  const {
    phase,
    plan_joules: plan,
    schedule_joules: found,
    bound_joules: bound,
    elapsed_seconds: time,
  } = job.progress ?? {};
  if (!phase) return "solving …";
  const parts = [
    phase,
    plan ? `a plan of ${joules(plan)}` : "",
    found && !(plan <= found) ? `a schedule of ${joules(found)}, not placed yet` : "",
    bound ? `no plan below ${joules(bound)}` : "",
    time ? seconds(time, 2) : "",
  ];
  return `${parts.filter(Boolean).join(", ")} …`;
}

/** Optimal is what is within the gap that was asked for. */
function provenOptimal({ energy_gap: gap }) {
  return gap > 1e-6 ? `Proven optimal within ${percent(gap)}. ` : "Proven optimal. ";
}

/** What the plan bought, in a sentence; of what has no plan why, and what to do. */
export function verdictOf(answer, useRam) {
  const block = element("div", { className: "verdict" });
  if (answer.energy_joules !== null) {
    const gap =
      answer.status === "optimal" ? "" : `; a better plan might save up to ${percent(answer.energy_gap)}`;
    const kept = answer.overhead <= 1e-9 && answer.recomputations + answer.page_outs + answer.page_ins === 0;
    block.append(
      element("strong", {}, answer.status === "optimal" ? provenOptimal(answer) : "Feasible. "),
      kept
        ? `Everything can be kept in ${bytes(answer.peak_ram_bytes)}: ${joules(answer.energy_joules)} and ${seconds(answer.runtime_seconds)} a step.`
        : `${bytes(answer.keep_all_peak_ram_bytes)} of RAM with everything kept${answer.part_bytes ? ", operators in these parts," : ""} become ${bytes(answer.peak_ram_bytes)} for ${percent(answer.overhead)} more energy (${joules(answer.energy_joules)}) and ${percent(answer.runtime_seconds / answer.baseline_seconds - 1)} more time${gap}.`,
    );
    return block;
  }
  block.className = "verdict invalid";
  const { reason, least_ram_bytes: least, floor_ram_bytes: floor, way_out: suggestions } = answer.explanation;
  block.append(
    element(
      "strong",
      {},
      answer.status === "infeasible" ? "No plan fits. " : "No plan was found in the time. ",
    ),
    `${capital(reason ?? "")}. `,
  );
  if (suggestions?.length)
    block.append(
      element("p", {}, "Suggestions:"),
      element("ul", {}, ...suggestions.map((one) => element("li", {}, suggestionText(one)))),
    );
  const enough = least ?? (floor > answer.ram_budget_bytes ? floor : null);
  if (enough) {
    const button = element("button", { type: "button", className: "main" }, `Use ${bytes(enough)} of RAM`);
    button.addEventListener("click", () => useRam(enough));
    block.append(button);
  }
  return block;
}

/** An option of the program in words. */
const suggestionText = (suggestion) =>
  suggestion
    .replace(/--ram-budget (\d+)/, (_, amount) => `a RAM budget of ${bytes(Number(amount))}`)
    .replace(/--deadline ([\d.e+-]+)/, (_, time) => `a deadline of ${seconds(Number(time))}`)
    .replace(/--batch-size (\d+)/, (_, size) => `a batch size of ${size}`)
    .replace(/--split (\d+)/, (_, size) => `with operators in parts of ${bytes(Number(size))}`)
    .replace(/--time-limit (\S+)/, (_, time) => `a longer search: ${time}`);

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** The charts of one plan, or of two side by side; the board, which dispose() ends. */
export function showBoard(models, mode, select, look) {
  const header = document.getElementById("plans");
  const charts = document.getElementById("charts");
  header.replaceChildren();
  charts.replaceChildren();
  const board = makeBoard(models, {
    header,
    charts,
    select,
    look,
    tellShown,
    layoutWorker: () => new Worker(new URL("./report/layout_worker.js", import.meta.url)),
  });
  setMode(board, mode);
  const unfollow = followWidth(board);
  return {
    board,
    end() {
      unfollow();
      dispose(board);
    },
  };
}
