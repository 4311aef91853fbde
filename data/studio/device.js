// A device's profile: every number, where it comes from, and another one instead.

import { element } from "./report/plans.js";

const NOT_NUMBERS = new Set(["format", "name", "description", "origins"]);

/** [pointer, value] of everything that may be changed. */
function leaves(json, pointer = "") {
  return Object.entries(json).flatMap(([name, value]) => {
    if (!pointer && NOT_NUMBERS.has(name)) return [];
    const path = `${pointer}/${name}`;
    return value !== null && typeof value === "object" ? leaves(value, path) : [[path, value]];
  });
}

/** The origin of a number: its own, or that of the nearest object around it that has one. */
function originOf(profile, pointer) {
  for (let at = pointer; at; at = at.slice(0, at.lastIndexOf("/")))
    if (profile.origins?.[at]) return profile.origins[at];
  return "not stated";
}

function put(json, pointer, value) {
  const names = pointer.slice(1).split("/");
  const last = names.pop();
  names.reduce((at, name) => at[name], json)[last] = value;
}

const words = (pointer) => pointer.slice(1).replaceAll("/", " ").replaceAll("_", " ");

/** Shows the profile in the page's dialog; `done` is called with another one if something was changed. */
export function editDevice(profile, done) {
  const dialog = document.getElementById("dialog");
  const edited = structuredClone(profile);
  const rows = leaves(profile).map(([pointer, value]) => {
    const isFlag = typeof value === "boolean";
    const input = element(
      "input",
      isFlag ? { type: "checkbox", checked: value } : { type: "number", step: "any", min: 0, value },
    );
    input.setAttribute("aria-label", words(pointer));
    const origin = element("td", { className: "soft" }, originOf(profile, pointer));
    input.addEventListener("change", () => {
      put(edited, pointer, isFlag ? input.checked : Number(input.value));
      edited.origins = { ...edited.origins, [pointer]: "assumed: edited in the browser" };
      origin.textContent = edited.origins[pointer];
    });
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, words(pointer)),
      element("td", {}, input),
      origin,
    );
  });
  const close = element("button", { type: "button" }, "Cancel");
  close.addEventListener("click", () => dialog.close());
  const form = element(
    "form",
    { method: "dialog" },
    element("h2", {}, profile.name),
    element("p", { className: "soft" }, profile.description ?? ""),
    element("div", { className: "scroll" }, element("table", { className: "profile" }, ...rows)),
    element(
      "div",
      { className: "actions" },
      element("button", { type: "submit", className: "main" }, "Use these numbers"),
      close,
    ),
  );
  form.addEventListener("submit", () => {
    if (JSON.stringify(edited) === JSON.stringify(profile)) return;
    if (!edited.name.endsWith("-edited")) edited.name += "-edited";
    done(edited);
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}
