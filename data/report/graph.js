// The training step as a picture: ops in layers, coloured by what becomes of their results. Parts of one op are one node.

import { count } from "./amounts.js";
import { COLOUR, inkOn, shortened, swatch } from "./axes.js";
import { isHome } from "./model.js";

const SIZE = { width: 132, height: 24 };
const READABLE = 0.8; // the scale from which names are
const KINDS = [
  ["kept", "resident"],
  ["paged", "out"],
  ["recomputed", "again"],
  ["paged and recomputed", "home"],
];

/** The op that a part is of: "layer1.conv[0:32]" -> "layer1.conv". */
const whole = (name) => name.replace(/\[[^\]]*\](\+\[[^\]]*\])*/g, "");

/** { nodes: [{ id, name, ops, values, kind }], edges: [[from, to]] } of a model. */
function networkOf(model) {
  const paged = new Set(model.moves.filter((move) => move.kind === "o").map((move) => move.value));
  const again = new Set(model.runs.filter((run) => run.again).map((run) => run.op));
  const nodes = [];
  const byName = new Map();
  const nodeOfOp = model.ops.map(([name, , pass], op) => {
    const key = whole(name);
    if (!byName.has(key)) {
      byName.set(key, nodes.length);
      nodes.push({ id: nodes.length, name: key, ops: [], values: [], forward: pass === "forward", ...SIZE });
    }
    const node = nodes[byName.get(key)];
    node.ops.push(op);
    node.values.push(...model.ops[op][3].filter((value) => value !== null));
    return node.id;
  });
  const maker = new Map();
  model.ops.forEach(([, , , writes], op) => writes.forEach((value) => maker.set(value, nodeOfOp[op])));
  const edges = new Map();
  model.ops.forEach(([, , , , reads], op) => {
    for (const value of reads) {
      const from = maker.get(value);
      const to = nodeOfOp[op];
      if (from !== undefined && from < to && !isHome(model, value)) edges.set(`${from} ${to}`, [from, to]);
    }
  });
  for (const node of nodes) {
    const isPaged = node.values.some((value) => paged.has(value));
    const isAgain = node.ops.some((op) => again.has(op));
    node.kind = (isPaged ? 1 : 0) + (isAgain ? 2 : 0);
  }
  return { nodes, edges: [...edges.values()] };
}

/** A picture in `box`. `select(value)`: a node was clicked. `layoutWorker()`: a Worker of layout_worker.js. It says by dataset.ready
    when it is drawn first. */
export function makeGraph(box, model, select, layoutWorker) {
  const network = networkOf(model);
  const canvas = document.createElement("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  const figures = KINDS.map(
    ([name], kind) => `${count(network.nodes.filter((node) => node.kind === kind).length)} ${name}`,
  );
  canvas.setAttribute("aria-label", `Network of ${count(network.nodes.length)} ops: ${figures.join(", ")}`);
  const legend = document.createElement("p");
  legend.className = "soft legend";
  for (const [i, [name, colour]] of KINDS.entries())
    legend.append(swatch(colour), `${name} (${figures[i].split(" ")[0]})  `);
  const waiting = document.createElement("p");
  waiting.textContent = "placing the ops …";
  box.replaceChildren(legend, waiting);
  const graph = { box, canvas, model, network, scale: 1, x: 0, y: 0, selected: null, frame: 0 };
  const worker = layoutWorker();
  const nowhere = () =>
    (waiting.textContent = "The ops could not be placed: the library dagre is not there.");
  worker.onmessage = ({ data }) => {
    if (!data) return nowhere();
    Object.assign(graph, data);
    waiting.replaceWith(canvas);
    fit(graph);
    box.dataset.ready = "yes";
  };
  worker.onerror = nowhere;
  worker.postMessage(network);
  listen(graph, select);
  graph.dispose = () => {
    worker.terminate();
    observer.disconnect();
  };
  graph.choose = (value) => {
    graph.selected = network.nodes.findIndex((node) => node.values.includes(value));
    redraw(graph);
  };
  graph.redraw = () => redraw(graph);
  graph.print = (width) => print(graph, width);
  const observer = new ResizeObserver(() => requestAnimationFrame(() => followSize(graph)));
  observer.observe(box);
  return graph;
}

const HEIGHT = { least: 160, most: 520 };

/** The width of it, from the top; deep networks go on below, and flat ones leave no paper empty. */
function fit(graph) {
  const { canvas } = graph;
  const { clientWidth } = canvas;
  let [left, right] = [Infinity, -Infinity];
  const reach = (x) => ([left, right] = [Math.min(left, x), Math.max(right, x)]);
  for (const [x] of graph.places) for (const side of [-0.5, 0.5]) reach(x + side * SIZE.width);
  for (const points of graph.lines) for (const [x] of points) reach(x);
  const width = Math.max(1, right - left);
  // On a phone what can be read, from the left on; the rest comes by dragging, or by two fingers.
  graph.scale = Math.min(1, Math.max(clientWidth < 480 ? READABLE : 0.1, clientWidth / (width + 20)));
  graph.x = Math.max(5, (clientWidth - graph.scale * width) / 2) - graph.scale * left;
  graph.y = 10;
  graph.fitted = clientWidth;
  const bottom = graph.places.reduce((most, [, y]) => Math.max(most, y), 0) + SIZE.height / 2;
  canvas.style.height = `${Math.min(HEIGHT.most, Math.max(HEIGHT.least, graph.scale * bottom + 22))}px`;
  redraw(graph);
}

/** Another width: all of it again, unless somebody has moved it. */
function followSize(graph) {
  const { canvas, places, fitted } = graph;
  if (!places) return;
  if (fitted && canvas.clientWidth !== fitted) fit(graph);
  else redraw(graph);
}

/** All of it, in so many pixels; without a width, as it was before. */
function print(graph, width) {
  const { canvas } = graph;
  if (!graph.places) return;
  canvas.style.width = width ? `${width}px` : "";
  if (width) {
    const { scale, x, y, fitted } = graph;
    graph.before = { scale, x, y, fitted, height: canvas.style.height };
    fit(graph);
  } else if (graph.before) {
    const { height, ...view } = graph.before;
    Object.assign(graph, view);
    canvas.style.height = height;
  }
  draw(graph); // at once: a frame would come after the print
}

function redraw(graph) {
  cancelAnimationFrame(graph.frame);
  graph.frame = requestAnimationFrame(() => draw(graph));
}

function draw(graph) {
  const { canvas, network, places, lines, scale } = graph;
  if (!places) return;
  const ratio = devicePixelRatio;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio))
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = COLOUR.paper;
  pen.fillRect(0, 0, width, height);
  pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * graph.x, ratio * graph.y);
  const [left, top] = [-graph.x / scale - SIZE.width, -graph.y / scale - 200];
  const [right, bottom] = [left + width / scale + 2 * SIZE.width, top + height / scale + 400];
  // What the backward pass reads of the forward pass is drawn below what a pass hands on within itself.
  for (const across of [true, false]) {
    pen.strokeStyle = across ? COLOUR.line : COLOUR.axis;
    pen.lineWidth = 0.9 / Math.max(scale, 0.3);
    pen.beginPath();
    lines.forEach((points, edge) => {
      if (graph.across[edge] !== across) return;
      const [from, to] = [points[0][1], points.at(-1)[1]];
      if (Math.max(from, to) < top || Math.min(from, to) > bottom) return;
      points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    });
    pen.stroke();
  }
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  for (const node of network.nodes) {
    const [x, y] = places[node.id];
    if (x < left || x > right || y < top || y > bottom) continue;
    pen.fillStyle = COLOUR[KINDS[node.kind][1]];
    pen.fillRect(x - SIZE.width / 2, y - SIZE.height / 2, SIZE.width, SIZE.height);
    if (graph.selected === node.id) {
      pen.strokeStyle = COLOUR.ink;
      pen.lineWidth = 3;
      pen.strokeRect(x - SIZE.width / 2, y - SIZE.height / 2, SIZE.width, SIZE.height);
    }
    if (scale < 0.4) continue; // too small to read
    pen.fillStyle = inkOn(KINDS[node.kind][1]);
    const parts = node.ops.length > 1 ? ` ×${node.ops.length}` : "";
    pen.fillText(shortened(node.name, 21 - parts.length) + parts, x - SIZE.width / 2 + 5, y, SIZE.width - 10);
  }
}

/** One of two fingers has moved: what is between them stays between them. */
function pinch(graph, fingers, event, zoom) {
  const between = () => {
    const [[x0, y0], [x1, y1]] = fingers.values();
    return { apart: Math.max(1, Math.hypot(x1 - x0, y1 - y0)), x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
  };
  const before = between();
  fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
  const now = between();
  Object.assign(graph, { x: graph.x + now.x - before.x, y: graph.y + now.y - before.y });
  zoom(now.apart / before.apart, now.x, now.y);
}

function listen(graph, select) {
  const { canvas } = graph;
  const zoom = (by, x, y) => {
    const scale = Math.min(3, Math.max(0.02, graph.scale * by));
    graph.x = x - ((x - graph.x) * scale) / graph.scale;
    graph.y = y - ((y - graph.y) * scale) / graph.scale;
    graph.scale = scale;
    graph.fitted = 0;
    redraw(graph);
  };
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
    },
    { passive: false },
  );
  let from = null; // where one finger, or the mouse, has taken hold of it
  const fingers = new Map(); // those that are down: [x, y] in the canvas
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    from = fingers.size > 1 ? null : { x: event.clientX - graph.x, y: event.clientY - graph.y, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (fingers.size === 2 && fingers.has(event.pointerId)) return pinch(graph, fingers, event, zoom);
    if (!from) return;
    const [x, y] = [event.clientX - from.x, event.clientY - from.y];
    from.moved ||= Math.hypot(x - graph.x, y - graph.y) > 4;
    if (from.moved) Object.assign(graph, { x, y, fitted: 0 });
    redraw(graph);
  });
  const lift = (event) => {
    fingers.delete(event.pointerId);
    from = null;
  };
  canvas.addEventListener("pointerup", (event) => {
    if (from && !from.moved) {
      const value = valueAt(graph, event.offsetX, event.offsetY);
      if (value !== undefined) select(value);
    }
    lift(event);
  });
  canvas.addEventListener("pointercancel", lift); // a finger that scrolls the page
  // Two fingers are for the network: the page neither scrolls nor zooms by them.
  for (const type of ["touchstart", "touchmove"])
    canvas.addEventListener(type, (event) => event.touches.length > 1 && event.preventDefault(), {
      passive: false,
    });
  const moves = { ArrowUp: [0, 60], ArrowDown: [0, -60], ArrowLeft: [60, 0], ArrowRight: [-60, 0] };
  canvas.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (move) Object.assign(graph, { x: graph.x + move[0], y: graph.y + move[1], fitted: 0 });
    if (event.key === "+" || event.key === "-")
      zoom(event.key === "+" ? 1.25 : 0.8, canvas.clientWidth / 2, canvas.clientHeight / 2);
    if (!move && !["+", "-"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    redraw(graph);
  });
}

function valueAt(graph, x, y) {
  const [at, below] = [(x - graph.x) / graph.scale, (y - graph.y) / graph.scale];
  const node = graph.network.nodes.find(({ id }) => {
    const [cx, cy] = graph.places[id];
    return Math.abs(at - cx) <= SIZE.width / 2 && Math.abs(below - cy) <= SIZE.height / 2;
  });
  return node?.values[0];
}
