// All points of a study as a table: sorted by any column, searched, and taken along as CSV.

import { bytes, count, counted, joules, percent, seconds } from "./amounts.js";
import { element } from "./plans.js";

const MOST = 400; // rows that are shown at once

const figure = (name, text, format) => ({ name, text, of: (row) => row[name], format });
const words = (name, text, of = (row) => row[name]) => ({ name, text, of, format: String, isText: true });

/** The names of the charts without what all of them have after the network and the device. */
function shortNames(charts) {
  const rest = charts.map((name) => name.slice(`${name}, `.indexOf(", ")));
  return new Set(rest).size === 1 ? charts.map((name) => name.slice(0, name.length - rest[0].length)) : charts;
}

function columnsOf(study) {
  const charts = shortNames(study.charts);
  const several = (of) => new Set(study.rows.map(of)).size > 1;
  const title = new Map(study.methods.map((method) => [method.name, method.style.title]));
  return [
    ...(several((row) => row.chart) ? [words("chart", "network", (row) => charts[row.chart])] : []),
    words("method", "method", (row) => title.get(row.method) ?? row.method),
    figure("ram_budget_bytes", "RAM budget", bytes),
    ...(study.rows.some((row) => row.deadline_seconds)
      ? [figure("deadline_seconds", "deadline", seconds)]
      : []),
    figure("energy_joules", "energy", (x) => joules(x, 6)),
    figure("overhead", "overhead", percent),
    figure("peak_ram_bytes", "RAM peak", bytes),
    figure("runtime_seconds", "time", seconds),
    figure("recomputations", "recomputed", count),
    figure("page_ins", "paged in", count),
    figure("gap", "gap, of the overhead", (x) => percent(x, 2)),
    words("verdict", "verdict", (row) => [row.verdict, row.reason, row.note].filter(Boolean).join(": ")),
  ];
}

const isThere = (value) => value !== null && value !== undefined && value !== "";

/** Rows without a figure come last, whichever way it is sorted. */
function compared(column, down) {
  return (a, b) => {
    const [x, y] = [column.of(a), column.of(b)];
    if (!isThere(x) || !isThere(y)) return Number(isThere(y)) - Number(isThere(x));
    const order = column.isText ? String(x).localeCompare(String(y)) : x - y;
    return down ? -order : order;
  };
}

function csvLink(study) {
  const link = element("a", { download: study.csv_name, href: "#" }, "CSV");
  link.addEventListener("click", () => {
    // Made once: a browser holds what an address is of for as long as the page is open.
    if (!link.href.startsWith("blob:"))
      link.href = URL.createObjectURL(new Blob([study.csv], { type: "text/csv" }));
  });
  return link;
}

/** Fills `box`. `choose(row number)`: a plan is asked for. */
export function makeTable(box, study, choose) {
  const columns = columnsOf(study);
  const asked = { text: "", column: null, down: false };
  const told = element("span", { className: "soft", role: "status" });
  const table = element("table", { className: "results" });
  const cell = (column, row) => {
    const value = column.of(row);
    return element(
      "td",
      { className: column.isText ? `words of-${column.name}` : "" },
      isThere(value) ? column.format(value) : "-",
    );
  };
  const line = (row) => {
    const button = element("button", { type: "button" }, "Plan");
    const name = columns.find((column) => column.name === "method").of(row);
    button.setAttribute("aria-label", `Show the plan: ${name}, ${bytes(row.ram_budget_bytes ?? 0)}`);
    button.addEventListener("click", () => choose(row.number));
    const made = element(
      "tr",
      {},
      element("td", { className: "words" }, row.hasPlan ? button : ""),
      ...columns.map((column) => cell(column, row)),
    );
    made.dataset.row = row.number;
    return made;
  };
  const head = (column) => {
    const button = element("button", { type: "button" }, column.text);
    const isSorted = asked.column === column;
    const th = element("th", { scope: "col", className: column.isText ? "words" : "" }, button);
    if (isSorted) th.setAttribute("aria-sort", asked.down ? "descending" : "ascending");
    if (isSorted) button.append(asked.down ? " ▾" : " ▴");
    button.addEventListener("click", () => {
      Object.assign(asked, { down: isSorted && !asked.down, column });
      show();
      table.querySelectorAll("th button")[columns.indexOf(column)].focus();
    });
    return th;
  };
  const show = () => {
    const wanted = asked.text.toLowerCase().split(/\s+/).filter(Boolean);
    const textOf = (row) =>
      columns
        .map((column) => (isThere(column.of(row)) ? column.format(column.of(row)) : ""))
        .join(" ")
        .toLowerCase();
    const found = study.rows.filter((row) => wanted.every((word) => textOf(row).includes(word)));
    if (asked.column) found.sort(compared(asked.column, asked.down));
    const shown = found.slice(0, MOST);
    table.replaceChildren(
      element("thead", {}, element("tr", {}, element("td", {}), ...columns.map(head))),
      element("tbody", {}, ...shown.map(line)),
    );
    mark();
    told.textContent =
      counted(found.length, "point") +
      (found.length > MOST ? `, the first ${count(MOST)} shown: search for the others` : "");
  };
  const mark = () => {
    for (const row of table.tBodies[0].rows)
      row.classList.toggle("chosen", Number(row.dataset.row) === box.chosen);
  };
  const search = element("input", { type: "search", placeholder: "network, method, verdict …" });
  search.addEventListener("input", () => {
    asked.text = search.value;
    show();
  });
  box.replaceChildren(
    element("h2", {}, "All points"),
    element("div", { className: "asked" }, element("label", {}, "Search ", search), csvLink(study), told),
    element("div", { className: "scroll", tabIndex: 0 }, table),
  );
  show();
  return {
    choose(number) {
      box.chosen = number;
      mark();
    },
  };
}
