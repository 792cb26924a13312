// Kernels under the roof of this machine: how many operations they do with a
// byte, and how fast. Both scales are logarithmic.

const svgSpace = "http://www.w3.org/2000/svg";

function draw(tag, attributes, ...children) {
  const element = document.createElementNS(svgSpace, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const plot = {width: 1180, height: 430, left: 64, right: 130, top: 18, bottom: 44};

// Whole powers of ten around values.
function powersAround(values) {
  return [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
}

function makeScales(kernels, roofs) {
  const memory = peaks.bytes_per_second / 1e9;
  const ridge = Math.max(...roofs.map(roof => roof.peak)) / memory;
  const [x0, x1] = powersAround([...kernels.map(kernel => kernel.x), ridge, ridge / 10]);
  const [y0, y1] = powersAround([...kernels.map(kernel => kernel.y), ...roofs.map(roof => roof.peak)]);
  const {width, height, left, right, top, bottom} = plot;
  return {memory, x0, x1, y0, y1,
    x: value => left + (Math.log10(value) - x0) / (x1 - x0) * (width - left - right),
    y: value => height - bottom - (Math.log10(value) - y0) / (y1 - y0) * (height - top - bottom)};
}

function drawAxes(scales) {
  const {width, height, left, right, top, bottom} = plot;
  const parts = [];
  const name = power => Math.abs(power) < 4 ? String(10 ** power) : `1e${power}`;
  for (let power = scales.x0; power <= scales.x1; ++power) {
    const x = scales.x(10 ** power);
    parts.push(draw("line", {class: "grid", x1: x, x2: x, y1: top, y2: height - bottom}),
      draw("text", {class: "tick", x, y: height - bottom + 17, "text-anchor": "middle"}, name(power)));
  }
  for (let power = scales.y0; power <= scales.y1; ++power) {
    const y = scales.y(10 ** power);
    parts.push(draw("line", {class: "grid", x1: left, x2: width - right, y1: y, y2: y}),
      draw("text", {class: "tick", x: left - 9, y: y + 4, "text-anchor": "end"}, name(power)));
  }
  parts.push(draw("text", {class: "axis", x: (left + width - right) / 2, y: height - 6,
    "text-anchor": "middle"}, "FLOPs a byte"),
  draw("text", {class: "axis", x: 15, y: (top + height - bottom) / 2, "text-anchor": "middle",
    transform: `rotate(-90 15 ${(top + height - bottom) / 2})`}, "GFLOP/s, GOP/s in i8"));
  return parts;
}

const meet = ([a0, b0, a1, b1], [c0, d0, c1, d1]) =>
  c0 <= a1 && a0 <= c1 && d0 <= b1 && b0 <= d1;
const boxOf = ({x, y, r}) => [x - r, y - r, x + r, y + r];

// Places all along the slope, from its lower end.
function pointsOfSlope(scales, roofs) {
  const from = Math.max(10 ** scales.x0, 10 ** scales.y0 / scales.memory);
  const highest = Math.max(...roofs.map(roof => roof.peak));
  const end = Math.min(10 ** scales.x1, highest / scales.memory);
  return Array.from({length: 101}, (_, index) => {
    const x = from * (end / from) ** (index / 100);
    return [scales.x(x), scales.y(x * scales.memory)];
  });
}

// The slope, with its name where no dot is, and the flat roofs. `taken` gets
// the boxes that they cover.
function drawRoofs(scales, roofs, dots, taken) {
  const right = 10 ** scales.x1;
  const points = pointsOfSlope(scales, roofs);
  const [x1, y1] = points[0], [x2, y2] = points[100];
  const slope = Math.atan2(y2 - y1, x2 - x1);
  const boxesAt = ([x, y]) => [-60, -40, -20, 0, 20, 40, 60].map(along =>
    boxOf({x: x + along * Math.cos(slope) + 9 * Math.sin(slope),
           y: y + along * Math.sin(slope) - 9 * Math.cos(slope), r: 9}));
  const free = [60, 70, 50, 40, 80, 30, 20].find(index => boxesAt(points[index]).every(box =>
    dots.every(dot => !meet(box, boxOf(dot))))) ?? 60;
  const at = points[free];
  taken.push(...boxesAt(at), ...points.map(([x, y]) => [x, y, x, y]),
    ...roofs.map(({peak}) => [scales.x(peak / scales.memory), scales.y(peak), plot.width, scales.y(peak)]));
  const parts = [draw("line", {class: "roof", x1, y1, x2, y2}),
    draw("text", {class: "roof-name", x: at[0], y: at[1] - 7, "text-anchor": "middle",
      transform: `rotate(${slope * 180 / Math.PI} ${at[0]} ${at[1]})`},
      `memory, ${formatRate(scales.memory)} GB/s`)];
  for (const roof of roofs) {
    const start = Math.min(roof.peak / scales.memory, right);
    parts.push(draw("line", {class: "roof", x1: scales.x(start), x2: scales.x(right),
      y1: scales.y(roof.peak), y2: scales.y(roof.peak)}),
    draw("text", {class: "roof-name", x: scales.x(right) + 8, y: scales.y(roof.peak) + 4},
      `${roof.type}, ${formatRate(roof.peak)} ${unitOf(roof.type)}`));
  }
  return parts;
}

// Names beside the largest dots, where nothing else stands.
function drawNames(dots, taken) {
  return dots.slice(0, 14).flatMap(({kernel, x, y, r}) => {
    const length = kernel.name.length * 6.4;
    for (const [left, top] of [[x + r + 5, y - 7], [x - r - 5 - length, y - 7],
                               [x - length / 2, y - r - 18], [x - length / 2, y + r + 4]]) {
      const box = [left, top, left + length, top + 14];
      if (left < plot.left || left + length > plot.width - plot.right ||
          taken.some(other => meet(box, other)))
        continue;
      taken.push(box);
      return [draw("text", {class: "dot-name", x: left, y: top + 11}, kernel.name)];
    }
    return [];
  });
}

function makeRoofline() {
  const kernels = data.kernels.filter(kernel => kernel.flops && kernel.bytes && kernel.seconds)
    .map(kernel => ({...kernel, x: kernel.flops / kernel.bytes, y: kernel.flops / kernel.seconds / 1e9}));
  const about = "A dot is a kernel, as large as its time. The roof is what was measured on " +
    `this machine with ${countOf(data.threads, "thread")}` +
    (data.workers > 1 ? `, a worker's share of ${data.workers}: one that runs while another ` +
      "waits has more" : "") + ". Bytes are counted as if each came from memory once: a dot above the slope reads " +
    "from caches, which are faster.";
  if (!kernels.length)
    return makeSection("roofline", "Roofline", about,
      make("p", {class: "wait"}, "No kernel counts its operations."));
  const types = ["f32", "bf16", "i8"].filter(type =>
    type === "f32" || kernels.some(kernel => kernel.type === type));
  const roofs = types.map(type => ({type, peak: peakOf(type) / 1e9}));
  const scales = makeScales(kernels, roofs);
  const most = Math.max(...kernels.map(kernel => kernel.seconds));
  const dots = kernels.map(kernel => ({kernel, x: scales.x(kernel.x), y: scales.y(kernel.y),
    r: Math.max(3.5, 22 * Math.sqrt(kernel.seconds / most))}));
  const circles = dots.map(({kernel, x, y, r}) => {
    const circle = draw("circle", {class: "dot", cx: x, cy: y, r, tabindex: 0, role: "img",
      "aria-label": kernel.name});
    circle.style.fill = circle.style.stroke = colourOf(kernel.name);
    addTip(circle, [kernel.name, `${formatTime(kernel.seconds)}, ` +
      `${formatShare(kernel.seconds / data.entries.seconds)} of all, ` +
      countOf(kernel.calls, "call"), ...describeWork(kernel, kernel.type),
      `${kernel.x.toPrecision(3)} FLOPs a byte, ${kernel.type}`]);
    return circle;
  });
  const taken = dots.map(boxOf);
  const lines = drawRoofs(scales, roofs, dots, taken);
  const without = data.kernels.length - kernels.length;
  return makeSection("roofline", "Roofline", about,
    make("div", {class: "plot"}, draw("svg", {viewBox: `0 0 ${plot.width} ${plot.height}`,
      role: "group", "aria-label": "Roofline"}, ...drawAxes(scales), ...lines,
      ...circles, ...drawNames(dots, taken))),
    without ? make("p", {class: "aside"}, `${countOf(without, "kernel")} ` +
      "without products, such as norms: in the table below alone.") : "");
}
