// Places the ops of a training step, away from the page's own thread: the forward pass in layers from top to bottom, beside it the
// backward pass and the updates from bottom to top, so that what belongs together is side by side.

try {
  if (!self.dagre) importScripts("../dagre.min.js"); // a page that stands alone has it before this
} catch {
  // the page says so
}

const BETWEEN = 160; // the two halves

/** { places by id, lines by edge, width, height } of some nodes and the edges among them. */
function layered(nodes, edges, direction) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({
    rankdir: direction,
    nodesep: 14,
    ranksep: 24,
    ranker: nodes.length > 400 ? "longest-path" : "network-simplex",
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height });
  for (const [from, to] of edges) graph.setEdge(from, to);
  dagre.layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width: Math.max(0, width),
    height: Math.max(0, height),
    placeOf: ({ id }) => graph.node(id),
    lineOf: ([from, to]) => graph.edge(from, to).points,
  };
}

/** { places by id, lines and whether they lead from one half to the other by edge }. */
function placed({ nodes, edges }) {
  const isForward = nodes.map((node) => node.forward);
  const within = (forward) =>
    edges.filter(([from, to]) => isForward[from] === forward && isForward[to] === forward);
  const halves = [
    layered(
      nodes.filter((node) => node.forward),
      within(true),
      "TB",
    ),
    layered(
      nodes.filter((node) => !node.forward),
      within(false),
      "BT",
    ),
  ];
  const height = Math.max(...halves.map((half) => half.height));
  const move = (half, { x, y }) => [
    x + (half ? halves[0].width + BETWEEN : 0),
    halves[half].height > 0 ? (y * height) / halves[half].height : y,
  ];
  const halfOf = (node) => (node.forward ? 0 : 1);
  const places = nodes.map((node) => move(halfOf(node), halves[halfOf(node)].placeOf(node)));
  const lines = edges.map((edge) => {
    const [from, to] = edge.map((id) => halfOf(nodes[id]));
    if (from === to) return halves[from].lineOf(edge).map((point) => move(from, point));
    const [a, b] = edge.map((id) => places[id]);
    const [right, left] = [nodes[edge[0]].width / 2, nodes[edge[1]].width / 2];
    return [
      [a[0] + right, a[1]],
      [b[0] - left, b[1]],
    ];
  });
  const across = edges.map(([from, to]) => isForward[from] !== isForward[to]);
  return { places, lines, across };
}

/** Nothing where there is no library to place them with. */
self.onmessage = ({ data }) => self.postMessage(self.dagre ? placed(data) : null);
