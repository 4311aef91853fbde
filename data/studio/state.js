// What is looked at, all of it in the address: links lead to it, and the browser's back is undo.

const USUAL = { model: "resnet18_cifar", device: "a72", batch: 1, optimizer: "sgd" };

/** { model | onnx, file, device, profile, batch, optimizer, factor, ram, seconds, pinned, tensor }; absent: not chosen. */
export const state = {};
const listeners = [];
let step = 0; // how many changes lie behind this entry of the browser's history

export const onChange = (listener) => listeners.push(listener);

function text() {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value === undefined || value === null || value === "") continue;
    given.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return `#${given}`;
}

function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(state)) delete state[name];
  Object.assign(state, [...given.keys()].length ? {} : USUAL);
  for (const [name, value] of given) {
    if (["batch", "factor", "ram", "seconds"].includes(name)) state[name] = Number(value);
    else if (["profile", "pinned"].includes(name)) state[name] = parsed(value);
    else state[name] = value;
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a link that was cut
  }
}

const tell = (changed) => listeners.forEach((listener) => listener(changed));

/** Whether there is something to undo: before the first change lies another page. */
export const canUndo = () => step > 0;

/** Changes some of it. `isStep`: undo goes back to before it; without, it belongs to the step before. */
export function change(values, isStep = true) {
  const changed = Object.keys(values).filter(
    (name) => JSON.stringify(state[name]) !== JSON.stringify(values[name]),
  );
  if (!changed.length) return;
  Object.assign(state, values);
  if (isStep) history.pushState({ step: ++step }, "", text());
  else history.replaceState({ step }, "", text());
  tell(new Set(changed));
}

function obeyAddress() {
  const before = { ...state };
  read();
  if (history.state) step = history.state.step;
  else history.replaceState({ step: ++step }, ""); // an address that was typed
  const names = new Set([...Object.keys(before), ...Object.keys(state)]);
  tell(new Set([...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(state[name]))));
}

export function start() {
  read();
  step = history.state?.step ?? 0;
  history.replaceState({ step }, "", text());
  window.addEventListener("popstate", obeyAddress);
  window.addEventListener("hashchange", obeyAddress);
  tell(new Set(Object.keys(state)));
}
