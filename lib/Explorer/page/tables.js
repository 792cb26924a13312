// What layers have and do, and what masks look like.

function makeLayerRows(symbol, rows, at) {
  const flops = row => row.flops[at], bytes = row => row.bytes[at];
  const mostFlops = Math.max(1, ...rows.map(row => flops(row) || 0));
  const mostBytes = Math.max(1, ...rows.map(row => bytes(row) || 0));
  const all = sumOf(rows, flops), moved = sumOf(rows, bytes);
  return [
    make("tr", {class: "group"}, make("th", {colspan: "3", scope: "rowgroup"},
      "@" + symbol),
      make("td", {class: "figure"}, formatCount(sumOf(rows, row => row.parameters))),
      make("td", {class: "figure"}, formatBytes(sumOf(rows, row => row.weightBytes))),
      make("td", {}), make("td", {class: "figure"}, formatCount(all)),
      make("td", {class: "figure"}, formatBytes(moved)),
      make("td", {class: "figure"}, moved ? (all / moved).toFixed(1) : "")),
    ...rows.map(row => make("tr", {},
      make("td", {class: "names"}, row.names.length
        ? make("a", {href: link({op: row.names[0], fn: row.function}),
                     title: row.names.join(", ")},
               row.names[0] + (row.names.length > 1 ? ` +${row.names.length - 1}` : ""))
        : make("span", {class: "quiet"}, "without a name")),
      make("td", {}, row.kind), make("td", {class: "shape"}, row.shape.replaceAll(" x ", " \u00d7 ")),
      make("td", {class: "figure"}, row.parameters ? formatCount(row.parameters) : ""),
      make("td", {class: "figure"}, row.weightBytes ? formatBytes(row.weightBytes) : ""),
      make("td", {class: "type"}, row.weightType),
      makeBar((flops(row) || 0) / mostFlops, flops(row) === 0 ? "" : formatCount(flops(row))),
      makeBar((bytes(row) || 0) / mostBytes, formatBytes(bytes(row))),
      make("td", {class: "figure"}, flops(row) && bytes(row)
        ? (flops(row) / bytes(row)).toFixed(1) : ""))),
  ];
}

function showLayers(state, main) {
  const at = Math.max(0, data.lengths.indexOf(Number(state.length || 64)));
  const groups = new Map();
  for (const row of data.layers)
    groups.set(row.function, [...(groups.get(row.function) || []), row]);
  const head = ["Layer", "Op", "Result", "Parameters", "Weights", "Type", "FLOPs",
                "Bytes", "FLOPs a byte"];
  main.replaceChildren(
    make("div", {class: "title"},
      make("div", {}, make("h2", {}, "Layers"),
        make("p", {class: "summary"}, "One sentence of ",
          `${data.lengths[at]} tokens and a target as long; a step at its last ` +
          "position. FLOPs are multiplications and additions, bytes those to " +
          "read and to write, each once.")),
      make("div", {class: "modes", role: "group", "aria-label": "Tokens"},
        data.lengths.map((length, index) => make("button", {type: "button",
          "aria-pressed": String(index === at),
          onclick: () => { location.hash = link({view: "layers", length}); }},
          String(length))))),
    make("div", {class: "table", tabindex: "0"}, make("table", {},
      make("thead", {}, make("tr", {}, head.map((text, index) =>
        make("th", {scope: "col", class: index >= 3 && index !== 5 ? "figure" : null}, text)))),
      [...groups].map(([symbol, rows]) =>
        make("tbody", {}, makeLayerRows(symbol, rows, at))))));
}

function showMasks(state, main) {
  main.replaceChildren(
    make("div", {class: "title"}, make("div", {}, make("h2", {}, "Masks"),
      make("p", {class: "summary"}, "Which keys each query attends to, in a " +
        "sentence of 64 tokens, and what kernels visit of it."))),
    data.masks.length ? make("div", {class: "masks"}, data.masks.map(mask =>
      make("figure", {},
        mask.svg ? make("img", {alt: mask.mask, loading: "lazy",
          src: "data:image/svg+xml," + encodeURIComponent(mask.svg)})
          : make("p", {class: "wait"}, mask.failure),
        make("figcaption", {}, mask.names.length
          ? mask.names.filter((name, i, all) => all.indexOf(name) === i).map(name =>
              make("a", {href: link({op: name})}, name))
          : mask.owners.map(owner => make("span", {}, owner))))))
      : make("p", {class: "wait"}, "No attention of this model has a mask."));
}
