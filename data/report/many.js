// Thousands of rectangles as one shape: what takes time in a chart is things, not the area that they fill. A rectangle is
// { x0, x1, y0, y1 } in the units of the axes; which one is pointed at is looked up when somebody points.

let pointed = null; // { rect, of: the rectangles that it is among }

/** The rectangle under the mouse, of the shape that was asked last; null: none. */
export const rectPointedAt = () => pointed;

/** A series that is computed anew for each frame: `render({ map, frame })` gives the element of ECharts that is drawn. */
export function drawn(id, name, colour, z, render) {
  return {
    type: "custom",
    clip: true,
    silent: true,
    id,
    name,
    color: colour,
    itemStyle: { color: colour },
    z,
    data: [[0, 0]],
    encode: { x: -1, y: -1 },
    tooltip: { show: false },
    renderItem: (params, api) => render({ map: mapping(api), frame: params.coordSys }),
  };
}

/** One shape of rectangles in pixels. */
export function inOnePath(rects, frame, style) {
  shapeClass();
  const map = { sx: 1, ox: 0, sy: 1, oy: 0 };
  return { type: "poetRects", silent: true, shape: { rects, map, least: 0, frame, gap: 0 }, style };
}

/** From axes to pixels: [scale, offset] of x and y. */
function mapping(api) {
  const [ox, oy] = api.coord([0, 0]);
  const [x1] = api.coord([1, 0]);
  const [, y1] = api.coord([0, 1]);
  return { sx: x1 - ox, ox, sy: y1 - oy, oy };
}

/** A rectangle in pixels, at least so many wide and high, within the frame; null: outside of it. */
function inPixels({ x0, x1, y0, y1 }, { map, least, frame }) {
  let left = map.sx * x0 + map.ox;
  let right = Math.max(left + least, map.sx * x1 + map.ox);
  const [a, b] = [map.sy * y0 + map.oy, map.sy * y1 + map.oy];
  let top = Math.min(a, b);
  let bottom = Math.max(a, b);
  if (bottom - top < least) {
    top = (top + bottom - least) / 2;
    bottom = top + least;
  }
  left = Math.max(left, frame.x);
  right = Math.min(right, frame.x + frame.width);
  top = Math.max(top, frame.y);
  bottom = Math.min(bottom, frame.y + frame.height);
  return right > left && bottom > top ? [left, top, right - left, bottom - top] : null;
}

/** Adds the rectangles to a canvas's path. */
function trace(context, shape) {
  const { rects, gap, part } = shape;
  let before = [NaN, NaN, NaN];
  for (const rect of rects) {
    const place = inPixels(rect, shape);
    if (!place) continue;
    let [x, y, width, height] = place;
    // One that would cover the same pixels again changes nothing.
    if (width <= 1.5 && y === before[1] && x - before[0] < 0.5 && height === before[2]) continue;
    before = [x, y, height];
    if (gap && width > 4 && height > 4) [width, height] = [width - gap, height - gap];
    if (part && width < 4 * part) continue; // edges alone would be seen
    if (part) width = part;
    context.rect(x, y, width, height);
  }
}

// So many are drawn once into pictures side by side, which then move with the axis: as long as nobody zooms, a frame costs the same
// however many there are.
const PICTURED = 300;
const WIDE = 512; // pixels
const EDGE = 8; // what is drawn beyond, so that nothing shows where two meet
const FAR = 6; // pictures that are kept on either side

const pictures = new WeakMap(); // of each list of rectangles: { key, byNumber }

/** The picture of the rectangles from pixel number * WIDE on, where x is 0 at pixel 0. */
function pictureOf(shape, colour, number) {
  const { frame, map } = shape;
  const ratio = devicePixelRatio;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: WIDE * ratio, height: Math.ceil(frame.height * ratio) });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, -number * WIDE * ratio, -frame.y * ratio);
  context.beginPath();
  trace(context, {
    ...shape,
    map: { ...map, ox: 0 },
    frame: { ...frame, x: number * WIDE - EDGE, width: WIDE + 2 * EDGE },
  });
  context.fillStyle = colour;
  context.fill();
  return canvas;
}

/** The rectangles as images of ECharts. */
function inPictures(shape, colour) {
  const { rects, frame, map, least, gap, part } = shape;
  const rows = [map.sy, map.oy].map((number) => number.toPrecision(9));
  const key = [...rows, frame.y, frame.height, least, gap, part, colour, devicePixelRatio].join();
  let known = pictures.get(rects);
  // While somebody pans ECharts rounds what is shown, and with it the scale, by less than can be seen.
  if (known?.key !== key || Math.abs(map.sx / known.sx - 1) > 0.002)
    pictures.set(rects, (known = { key, sx: map.sx, byNumber: new Map() }));
  const width = (WIDE * map.sx) / known.sx;
  const first = Math.floor((frame.x - map.ox) / width);
  const last = Math.floor((frame.x + frame.width - map.ox) / width);
  for (const number of known.byNumber.keys())
    if (number < first - FAR || number > last + FAR) known.byNumber.delete(number);
  const own = { ...shape, map: { ...map, sx: known.sx } };
  const images = [];
  for (let number = first; number <= last; ++number) {
    if (!known.byNumber.has(number)) known.byNumber.set(number, pictureOf(own, colour, number));
    const image = known.byNumber.get(number);
    const x = Math.round((number * width + map.ox) * devicePixelRatio) / devicePixelRatio;
    const style = { image, x, y: frame.y, width, height: image.height / devicePixelRatio };
    images.push({ type: "image", silent: true, style });
  }
  return images;
}

/** Once for all charts: ECharts is not there yet when modules are read. */
function shapeClass() {
  const known = echarts.graphic.getShapeClass("poetRects");
  if (known) return known;
  const Rects = echarts.graphic.extendShape({
    type: "poetRects",
    shape: { rects: [], map: null, least: 1, frame: null, gap: 0, part: null },
    buildPath: trace,
  });
  Rects.prototype.contain = function contain(x, y) {
    const { rects } = this.shape;
    const [left, top] = this.transformCoordToLocal(x, y);
    for (let i = rects.length - 1; i >= 0; --i) {
      const place = inPixels(rects[i], this.shape);
      if (
        !place ||
        left < place[0] ||
        top < place[1] ||
        left > place[0] + place[2] ||
        top > place[1] + place[3]
      )
        continue;
      pointed = { rect: rects[i], of: rects };
      return true;
    }
    return false;
  };
  echarts.graphic.registerShape("poetRects", Rects);
  return Rects;
}

/** A series of rectangles in one colour. `tip(rect)`: its tooltip; without, they are not to be pointed at but can be clicked.
    `least`: pixels of the narrowest; `gap`: between large ones; `seam`: [those with a dark edge on the left, its colour]. */
export function rectangles(name, colour, rects, { least = 1, gap = 0, seam = null, tip = null, z } = {}) {
  shapeClass();
  const formatter = () => (pointed?.of === rects ? tip(pointed.rect) : "");
  const renderItem = (params, api) => {
    const shape = { rects, map: mapping(api), least, frame: params.coordSys, gap };
    const edges = seam?.[0].length && { ...shape, rects: seam[0], part: 3 };
    if (rects.length >= PICTURED)
      return {
        type: "group",
        children: [
          ...inPictures(shape, colour),
          ...(edges ? inPictures(edges, seam[1]) : []),
          { type: "poetRects", shape, invisible: true }, // to be pointed at
        ],
      };
    const all = { type: "poetRects", shape, style: { fill: colour } };
    if (!edges) return all;
    return {
      type: "group",
      children: [all, { type: "poetRects", silent: true, shape: edges, style: { fill: seam[1] } }],
    };
  };
  // For tests, which point at every one.
  renderItem.rects = rects;
  renderItem.point = (rect) => (pointed = { rect, of: rects });
  return {
    type: "custom",
    clip: true,
    name,
    id: name,
    color: colour,
    itemStyle: { color: colour },
    ...(z === undefined ? {} : { z }),
    // One item that is always there, whatever part of the axis is shown.
    data: rects.length ? [[0, 0]] : [],
    encode: { x: -1, y: -1 },
    tooltip: tip ? { formatter } : { show: false },
    renderItem,
  };
}
