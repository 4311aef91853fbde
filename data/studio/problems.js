// What goes wrong, told with what to do about it.

import { element } from "./report/plans.js";
import { Problem } from "./api.js";

const $ = (id) => document.getElementById(id);

/** Says what went wrong, and what may be done about it; `what` it means for the page. */
export function problem(error, what = "") {
  if (error.name === "AbortError") return;
  const box = $("problem");
  const todo = {
    gone: "Is `poet serve` still running? The page goes on by itself when it is.",
    full: "Ask whoever runs the server for room, or wait.",
    invalid: error.field
      ? `It is the field ${error.field.replace("/", "")}; change it on the left.`
      : "Change it on the left.",
    died: "A smaller network or batch, or a server with a larger --memory-limit, may do.",
    time_limit: "The server stopped it; give it a smaller problem.",
    unauthorized: "Load the page again to type another token.",
  }[error instanceof Problem || error.kind ? error.kind : ""];
  const close = element("button", { type: "button" }, "Close");
  close.addEventListener("click", () => (box.hidden = true));
  box.replaceChildren(
    element("strong", {}, what || "That did not work. "),
    ` ${error.message}. ${todo ?? ""}`,
    close,
  );
  box.hidden = false;
}

export const noProblem = () => ($("problem").hidden = true);

/** A token typed by the user; null where none is given. */
export function askForToken() {
  const dialog = $("dialog");
  const input = element("input", { type: "password", name: "token", autocomplete: "off", required: true });
  const form = element(
    "form",
    { method: "dialog" },
    element("h2", {}, "This server wants a token"),
    element("label", { className: "field" }, "Token", input),
    element("button", { type: "submit", className: "main" }, "Go on"),
  );
  dialog.replaceChildren(form);
  dialog.showModal();
  return new Promise((resolve) =>
    dialog.addEventListener("close", () => resolve(input.value || null), { once: true }),
  );
}
