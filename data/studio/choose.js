// What to train, and on what.

import { EXACT, bytes, count } from "./report/amounts.js";
import { element } from "./report/plans.js";
import { json } from "./api.js";
import { editDevice } from "./device.js";
import { change, state } from "./state.js";

const field = (label, control, note = "") =>
  element(
    "label",
    { className: "field" },
    element("span", {}, label),
    control,
    element("small", { className: "soft" }, note),
  );

function choices(options, chosen, name) {
  const select = element("select", { name });
  for (const [value, text] of options)
    select.append(element("option", { value, selected: value === chosen }, text));
  return select;
}

/** Fills the form; it follows the state from then on with the function that is returned. `fail`: told of a Problem. */
export async function makeForm(form, fail) {
  const [models, devices] = await Promise.all([json("/api/v1/models"), json("/api/v1/devices")]);
  const show = () => render(form, models.models, devices.devices, fail);
  form.addEventListener("submit", (event) => event.preventDefault());
  acceptFiles(fail);
  return { show, devices: devices.devices };
}

function render(form, models, devices, fail) {
  const focused = document.activeElement?.name;
  const network = choices(
    [
      ...(state.onnx ? [["", `${state.file ?? "uploaded file"} (ONNX)`]] : []),
      ...models.map((one) => [one.name, one.name]),
    ],
    state.onnx ? "" : state.model,
    "model",
  );
  network.addEventListener(
    "change",
    () =>
      network.value &&
      change({ model: network.value, onnx: undefined, file: undefined, ram: undefined, tensor: undefined }),
  );
  const file = element("input", { type: "file", accept: ".onnx", name: "file", className: "file" });
  file.addEventListener("change", () => file.files[0] && upload(file.files[0], fail));
  const chosen = models.find((one) => one.name === state.model && !state.onnx);
  const device = choices(
    [
      ...(state.profile ? [["", `${state.profile.name} (edited)`]] : []),
      ...devices.map((one) => [one.name, one.name]),
    ],
    state.profile ? "" : state.device,
    "device",
  );
  device.addEventListener(
    "change",
    () => device.value && change({ device: device.value, profile: undefined }),
  );
  const profile = state.profile ?? devices.find((one) => one.name === state.device);
  const edit = element("button", { type: "button" }, "Numbers…");
  edit.addEventListener(
    "click",
    () => profile && editDevice(profile, (edited) => change({ profile: edited })),
  );
  form.replaceChildren(
    element("h2", {}, "Network"),
    field(
      "built in",
      network,
      chosen
        ? `${count(chosen.parameters)} parameters, ${count(chosen.ops)} ops; keeping everything takes ${bytes(chosen.keep_all_peak_ram_bytes)}`
        : "",
    ),
    element("label", { className: "drop" }, "or drop an ONNX file here", file),
    number("batch size", "batch", { min: 1, step: 1, placeholder: state.onnx ? "as in the file" : "1" }),
    field("optimiser", optimizer(), ""),
    element("h2", {}, "Device"),
    field("profile", device, profile?.description ?? ""),
    edit,
    element("h2", {}, "Limits"),
    number("deadline, × the time without limits", "factor", { min: 1, step: 0.05, placeholder: "none" }),
    ram(),
    number("search for at most, in seconds", "seconds", { min: 1, step: 1, placeholder: "30" }),
  );
  if (focused) form.elements[focused]?.focus();
}

function optimizer() {
  const select = choices(
    ["sgd", "momentum", "adam", "adamw"].map((name) => [name, name]),
    state.optimizer,
    "optimizer",
  );
  select.addEventListener("change", () => change({ optimizer: select.value }));
  return select;
}

function number(label, name, attributes) {
  const input = element("input", { type: "number", name, value: state[name] ?? "", ...attributes });
  input.addEventListener("change", () => {
    const value = Number(input.value);
    change({ [name]: input.value && value >= attributes.min ? value : undefined });
  });
  return field(label, input);
}

function ram() {
  const input = element("input", {
    type: "text",
    name: "ram",
    value: state.ram ? exactBytes(state.ram) : "",
    inputMode: "decimal",
  });
  input.addEventListener("change", () => {
    const amount = amountOf(input.value);
    input.setCustomValidity(amount ? "" : "as in 300 KiB or 2 MB");
    input.reportValidity();
    if (amount) change({ ram: amount });
  });
  return field("RAM budget", input, "as in 300 KiB or 2 MB");
}

/** An amount with all its digits, which amountOf() reads back. */
export function exactBytes(amount) {
  const text = bytes(amount, EXACT);
  return amountOf(text) === amount ? text : `${count(amount)} B`;
}

/** The budget as headings show it, so that what was dragged to and what is written are one number. */
export const shownBudget = (amount) => amountOf(bytes(amount)) ?? Math.round(amount);

/** Bytes of "300 KiB", "2MB", "737,719"; nothing where it is no amount: in "1,5 MB" no thousands end. */
export function amountOf(text) {
  const parts = /^\s*((?:\d+(?:,\d{3})*)?(?:\.\d*)?)\s*([kmgt]?)(i?)b?\s*$/i.exec(text);
  if (!parts) return undefined;
  const base = parts[3] ? 1024 : 1000;
  const amount =
    Number(parts[1].replaceAll(",", "")) * base ** ["", "k", "m", "g", "t"].indexOf(parts[2].toLowerCase());
  return amount >= 1 ? Math.round(amount) : undefined;
}

async function upload(file, fail) {
  try {
    const { id } = await json("/api/v1/uploads", {
      method: "POST",
      body: file,
      type: "application/octet-stream",
    });
    change({
      onnx: id,
      file: file.name,
      model: undefined,
      batch: undefined,
      ram: undefined,
      tensor: undefined,
    });
  } catch (error) {
    fail(error, `${file.name} was not taken`);
  }
}

/** A file may be dropped anywhere. */
function acceptFiles(fail) {
  const over = (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", event.type === "dragover");
  };
  for (const type of ["dragover", "dragleave"]) document.addEventListener(type, over);
  document.addEventListener("drop", (event) => {
    over(event);
    const [file] = event.dataTransfer.files;
    if (file) upload(file, fail);
  });
}
