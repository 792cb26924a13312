// How long what took: a bar of all functions, and tables of layers and kernels.

function formatTime(seconds) {
  for (const [size, unit] of [[1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"]])
    if (seconds >= size) return (seconds / size).toPrecision(3) + " " + unit;
  return (seconds * 1e9).toFixed(0) + " ns";
}

const countOf = (number, name) =>
  `${number.toLocaleString("en")} ${name}${number === 1 ? "" : "s"}`;
const formatShare = share => (100 * share).toFixed(share < 0.0995 ? 1 : 0) + " %";

const peaks = data.peak_each_worker;
const peakOf = type => peaks[{i8: "int8_ops_per_second", bf16: "bf16_flops_per_second"}[type]
  || "flops_per_second"];
const unitOf = type => type === "i8" ? "GOP/s" : "GFLOP/s";
const formatRate = value => value >= 100 ? value.toFixed(0) : value.toPrecision(3);

// What part of memory's peak bytes are: more than all of it comes from caches.
const partOfMemory = (work, whole = "") =>
  work.bytes / work.seconds > peaks.bytes_per_second ? whole ? "from caches" : "cache"
    : formatShare(work.bytes / work.seconds / peaks.bytes_per_second) + whole;

// What a line of a hint says of calls.
function describeWork(work, type) {
  const lines = [];
  if (work.flops)
    lines.push(`${formatCount(work.flops)} FLOPs, ` +
      `${formatRate(work.flops / work.seconds / 1e9)} ${unitOf(type)}, ` +
      `${formatShare(work.flops / work.seconds / peakOf(type))} of the peak`);
  if (work.bytes)
    lines.push(`${formatBytes(work.bytes)}, ` +
      `${formatRate(work.bytes / work.seconds / 1e9)} GB/s, ` +
      partOfMemory(work, " of memory's"));
  return lines;
}

function rateCells(work, type) {
  const cell = (amount, share) => make("td", {class: "figure"},
    amount && work.seconds ? formatRate(amount / work.seconds / 1e9) : "",
    make("span", {class: "share"}, amount && work.seconds ? share() : ""));
  return [cell(work.flops,
            () => type ? formatShare(work.flops / work.seconds / peakOf(type)) : ""),
          cell(work.bytes, () => partOfMemory(work)),
          make("td", {class: "figure"},
            work.flops && work.bytes ? (work.flops / work.bytes).toFixed(1) : "")];
}

function timeCells(work, most) {
  return [make("td", {class: "figure"}, work.calls ? work.calls.toLocaleString("en") : ""),
          makeBar(work.seconds / most, formatTime(work.seconds)),
          make("td", {class: "figure"}, formatShare(work.seconds / data.entries.seconds))];
}

function makeHead(names) {
  return make("thead", {}, make("tr", {}, names.map(name => make("th", {scope: "col",
    class: /Layer|Kernel|Type/.test(name) ? null : "figure"}, name))));
}

function makeSection(id, title, summary, ...rest) {
  return make("section", {id, "aria-labelledby": id + "-title"},
    make("div", {class: "title"}, make("div", {}, make("h2", {id: id + "-title"}, title),
      make("p", {class: "summary"}, summary))), ...rest);
}

// One row a layer; its button shows the places below it.
function makeLayerRows(each, layer, most) {
  const type = layer.places.length === 1 ? typeOf.get(layer.places[0].kernel) : "";
  const below = layer.places.map(place => make("tr", {class: "place", hidden: true},
    make("td", {class: "names", title: place.names}, place.part || place.kernel),
    make("td", {class: "type"}, place.kernel), ...timeCells(place, most),
    ...rateCells(place, typeOf.get(place.kernel))));
  const button = make("button", {class: "fold", type: "button", "aria-expanded": "false",
    onclick: () => {
      const isOpen = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!isOpen));
      for (const row of below) row.hidden = isOpen;
    }}, layer.name);
  return [make("tr", {}, make("td", {class: "names"}, button),
    make("td", {class: "type"}, layer.places.length === 1 ? layer.places[0].kernel
      : `${layer.places.length} places`),
    ...timeCells(layer, most), ...rateCells(layer, type)), ...below];
}

function makeLayers() {
  const functions = [...data.functions].sort((a, b) => b.seconds - a.seconds);
  const most = Math.max(1e-9, ...functions.flatMap(each =>
    layersOf(each).map(layer => layer.seconds)));
  const body = each => make("tbody", {}, make("tr", {class: "group"},
      make("th", {scope: "rowgroup", colspan: "2"}, each.name),
      ...timeCells(each, Infinity), make("td", {}), make("td", {}), make("td", {})),
    layersOf(each).flatMap(layer => makeLayerRows(each, layer, most)),
    make("tr", {}, make("td", {class: "names quiet", colspan: "2"}, "between kernels"),
      ...timeCells({seconds: each.between}, most), make("td", {}), make("td", {}),
      make("td", {})));
  return makeSection("layers", "Time by layer",
    "Each function's layers, in the order of its code; a layer opens to the " +
    "places that call kernels for it.",
    make("div", {class: "table"}, make("table", {},
      makeHead(["Layer", "Kernel", "Calls", "Time", "Of all", "GFLOP/s", "GB/s",
                "FLOPs a byte"]), functions.map(body))));
}

function makeKernels() {
  const most = Math.max(1e-9, ...data.kernels.map(kernel => kernel.seconds));
  const rest = data.entries.seconds - sumOf(data.kernels, kernel => kernel.seconds);
  const swatch = kernel => {
    const mark = make("span", {class: "swatch"});
    mark.style.background = colourOf(kernel.name);
    return mark;
  };
  return makeSection("kernels", "Time by kernel",
    "The most expensive first; beside rates, how much of this machine's peak they are, " +
    "or that bytes come from caches.",
    make("div", {class: "table"}, make("table", {},
      makeHead(["Kernel", "Type", "Calls", "Time", "Of all", "GFLOP/s", "GB/s",
                "FLOPs a byte"]),
      make("tbody", {}, data.kernels.map(kernel => make("tr", {},
        make("td", {class: "names"}, swatch(kernel), kernel.name),
        make("td", {class: "type"}, kernel.type), ...timeCells(kernel, most),
        ...rateCells(kernel, kernel.type))),
      make("tr", {}, make("td", {class: "names quiet", colspan: "2"}, "between kernels"),
        ...timeCells({seconds: rest}, most), make("td", {}), make("td", {}),
        make("td", {}))))));
}

// All functions side by side, as wide as they took.
function makeTime() {
  const functions = [...data.functions].sort((a, b) => b.seconds - a.seconds);
  const inKernels = sumOf(data.kernels, kernel => kernel.seconds);
  const bar = make("div", {class: "parts"}, functions.map(each => {
    const share = each.seconds / data.entries.seconds;
    const part = make("a", {href: "#flame", class: "part", onclick: () => showFlame(each.name)},
      make("b", {}, each.name), make("span", {}, formatShare(share)));
    part.style.flexGrow = share;
    addTip(part, [each.name, `${formatTime(each.seconds)}, ${formatShare(share)} of all`,
      `${countOf(each.calls, "call")}, ${formatTime(each.seconds / each.calls)} each`]);
    return part;
  }));
  if (!data.entries.calls)
    return makeSection("time", "Where the time went", "Nothing ran: there was no line.", bar);
  return makeSection("time", "Where the time went",
    `${formatTime(data.entries.seconds)} in ${countOf(data.entries.calls, "call")} ` +
    `of ${countOf(functions.length, "function")}, ${formatShare(inKernels / data.entries.seconds)} of it ` +
    "in kernels" + (data.workers > 1 ? "; times are sums over workers." : "."), bar);
}
