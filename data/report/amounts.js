// Amounts as the command line program prints them: the unit that reads best, four digits, no zeros at the end.

const DECIMAL = [
  ["KB", 1e3],
  ["MB", 1e6],
  ["GB", 1e9],
  ["TB", 1e12],
];
const BINARY = [
  ["KiB", 2 ** 10],
  ["MiB", 2 ** 20],
  ["GiB", 2 ** 30],
  ["TiB", 2 ** 40],
];
let byteUnits = DECIMAL;

/** From here on bytes are told in "binary" units, KiB, or in "decimal" ones, KB. */
export function useUnits(name) {
  byteUnits = name === "binary" ? BINARY : DECIMAL;
}

/** The same by RAM budgets: KiB where all are whole numbers of KiB that are not of KB. */
export function useUnitsOf(budgets) {
  useUnits(budgets.every((budget) => budget % 1024 === 0 && budget % 1000 !== 0) ? "binary" : "decimal");
}

const ENERGY_UNITS = [
  ["nJ", 1e-9],
  ["uJ", 1e-6],
  ["mJ", 1e-3],
  ["J", 1],
  ["kJ", 1e3],
];
const TIME_UNITS = [
  ["ns", 1e-9],
  ["us", 1e-6],
  ["ms", 1e-3],
  ["s", 1],
];

/** Digits of what is round already, marks of axes say: all that it has. */
export const EXACT = 10;

/** As toFixed(), but what lies in the middle goes to the even digit, as the program rounds: 15.625 is 15.62. */
function fixed(number, decimals) {
  const text = number.toFixed(decimals);
  const all = number.toFixed(Math.min(100, decimals + 55)); // every digit of a double of this size
  const cut = all.length - (Math.min(100, decimals + 55) - decimals);
  if (!/^50*$/.test(all.slice(cut))) return text;
  const down = all.slice(0, cut).replace(/\.$/, "");
  return Number(down.at(-1)) % 2 === 0 ? down : text;
}

export function significant(number, digits) {
  if (number === 0) return "0";
  const exponent = Number(number.toExponential(digits - 1).split("e")[1]);
  const text = fixed(number, Math.max(0, Math.min(20, digits - 1 - exponent)));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function withUnit(value, digits, units, zeroUnit) {
  if (value === 0) return "0 " + zeroUnit;
  if (!Number.isFinite(value)) return "?";
  let best = units[0];
  for (const unit of units) if (Math.abs(value / unit[1]) >= 1 - 0.5 * 10 ** -digits) best = unit;
  return significant(value / best[1], digits) + " " + best[0];
}

export const count = (number) => number.toLocaleString("en-US");
export const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
export const bytes = (value, digits = 4) =>
  Math.abs(value) < 1e4 ? count(value) + " B" : withUnit(value, digits, byteUnits, "B");
export const joules = (value, digits = 4) => withUnit(value, digits, ENERGY_UNITS, "J");

/** Marks for an axis of bytes from `low` to `high`, about `most`: 1, 2 or 5 times a power of ten of one unit, which all of them
    have: 5 KiB, 10 KiB. { values, text(value) } */
export function byteMarks(low, high, most) {
  let unit = ["B", 1];
  for (const one of byteUnits) if (high >= 2 * one[1]) unit = one;
  const [name, size] = unit;
  const rough = (high - low) / size / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = [1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) * power;
  const step = size === 1 ? Math.max(1, nice) : nice;
  const first = Math.ceil((low / size / step) * (1 - 1e-12));
  const values = [];
  for (let i = 0; i <= 2 * most && (first + i) * step * size <= high; ++i) values.push((first + i) * step * size);
  return { values, text: (value) => (value === 0 ? "0 B" : `${significant(value / size, EXACT)} ${name}`) };
}

export function seconds(value, digits = 4) {
  if (Math.abs(value) >= 7200) return withUnit(value, digits, [["h", 3600]], "h");
  if (Math.abs(value) >= 120) return withUnit(value, digits, [["min", 60]], "min");
  return withUnit(value, digits, TIME_UNITS, "s");
}

export function percent(fraction, digits = 3) {
  const value = 100 * fraction;
  if (!Number.isFinite(value)) return "?";
  if (value === 0) return "0%";
  if (Math.abs(value) < 1e-4) return "<0.0001%";
  const text = significant(value, digits);
  const point = text.indexOf(".");
  return (point < 0 ? text : text.slice(0, point + 5).replace(/\.?0+$/, "")) + "%";
}

/** For text that goes into a tooltip's HTML. */
export const escaped = (text) =>
  String(text).replace(
    /[&<>"']/g,
    (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[c],
  );
