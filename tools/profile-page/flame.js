// When one call of a function called which kernel: the call of median time. A
// click into a layer shows it alone; arrows go from block to block.

const flame = {name: "", from: 0, to: 1, blocks: []};

// Three levels of blocks: the function, its layers, its kernels.
function blocksOf(each) {
  const {median} = each;
  const layers = [], kernels = [];
  for (const call of median.kernels) {
    const place = each.places[call.place];
    const block = {level: 2, start: call.start, end: call.start + call.seconds,
      text: place.part || place.kernel, colour: colourOf(place.kernel), place, call};
    const last = layers[layers.length - 1];
    if (last && last.text === place.layer) {
      last.end = block.end;
      last.calls.push(call);
    } else {
      layers.push({level: 1, start: block.start, end: block.end, text: place.layer, calls: [call]});
    }
    kernels.push(block);
  }
  return [{level: 0, start: 0, end: median.seconds, text: each.name, calls: median.kernels},
          ...layers, ...kernels];
}

function tipOf(block, each) {
  const span = `${formatTime(block.end - block.start)}, ` +
    `${formatShare((block.end - block.start) / each.median.seconds)} of the call, ` +
    `from ${formatTime(block.start)}`;
  if (block.level < 2)
    return [block.text, span, `${countOf(block.calls.length, "call")} of kernels, ` +
      `${formatTime(sumOf(block.calls, call => call.seconds))} in them`];
  const {place, call} = block;
  const dims = Object.entries(each.median.dims).map(([name, size]) => `${name} ${size}`);
  return [place.kernel, ...(place.names || nameless).split("+"), span,
          ...describeWork(call, typeOf.get(place.kernel)), dims.join(", ")];
}

// A round number of seconds that gives about eight ticks.
function tickOf(width) {
  const power = 10 ** Math.floor(Math.log10(width / 8));
  return power * [1, 2, 5, 10].find(step => width / (power * step) <= 8);
}

function placeBlocks() {
  const width = flame.to - flame.from;
  for (const {block, element} of flame.blocks) {
    const start = Math.max(block.start, flame.from), end = Math.min(block.end, flame.to);
    element.hidden = end <= start;
    element.style.left = 100 * (start - flame.from) / width + "%";
    element.style.width = `max(1px, ${100 * (end - start) / width}% - 1px)`;
  }
  const tick = tickOf(width), ticks = [];
  for (let at = Math.ceil(flame.from / tick) * tick; at < flame.to; at += tick) {
    const mark = make("span", {class: "tick"}, at < tick / 2 ? "0" : formatTime(at));
    mark.style.left = 100 * (at - flame.from) / width + "%";
    ticks.push(mark);
  }
  document.getElementById("flame-ticks").replaceChildren(...ticks);
  document.getElementById("flame-whole").hidden = flame.from === 0 && flame.to === flame.whole;
}

function zoomTo(from, to) {
  Object.assign(flame, {from, to});
  placeBlocks();
}

function focusBlock(at) {
  const target = flame.blocks[at];
  if (!target) return;
  for (const {element} of flame.blocks) element.tabIndex = -1;
  target.element.tabIndex = 0;
  target.element.focus();
}

function moveFocus(key, at) {
  const {block} = flame.blocks[at];
  const isShown = each => !each.element.hidden;
  const sameLevel = each => each.block.level === block.level && isShown(each);
  if (key === "ArrowRight") focusBlock(flame.blocks.findIndex((each, i) => i > at && sameLevel(each)));
  else if (key === "ArrowLeft") focusBlock(flame.blocks.findLastIndex((each, i) => i < at && sameLevel(each)));
  else if (key === "ArrowDown")
    focusBlock(flame.blocks.findIndex(each => each.block.level === block.level + 1 && isShown(each) &&
      each.block.end > block.start));
  else if (key === "ArrowUp")
    focusBlock(flame.blocks.findLastIndex(each => each.block.level === block.level - 1 && isShown(each) &&
      each.block.start <= block.start));
}

function makeBlock(block, index, each) {
  const element = make("button", {type: "button", class: `block level${block.level}`,
    tabindex: index === 0 ? "0" : "-1",
    onclick: () => block.level < 2 && zoomTo(block.start, block.end),
    onkeydown: event => {
      if (event.key === "Escape") zoomTo(0, flame.whole);
      else if (event.key.startsWith("Arrow")) { event.preventDefault(); moveFocus(event.key, index); }
    }}, block.text);
  if (block.colour) element.style.setProperty("--hue", block.colour);
  addTip(element, () => tipOf(block, each), document.getElementById("flame-ticks"));
  return {block, element};
}

function showFlame(name) {
  const each = data.functions.find(one => one.name === name && one.median);
  if (!each) return;
  flame.name = name;
  flame.whole = each.median.seconds;
  flame.blocks = blocksOf(each).map((block, index) => makeBlock(block, index, each));
  for (const button of document.querySelectorAll("#flame .modes button"))
    button.setAttribute("aria-pressed", String(button.textContent === name));
  const levels = [0, 1, 2].map(level => make("div", {class: "level"},
    flame.blocks.filter(({block}) => block.level === level).map(({element}) => element)));
  document.getElementById("flame-levels").replaceChildren(...levels);
  const {dims, kernels_left_out: left} = each.median;
  document.getElementById("flame-about").textContent =
    `${formatTime(flame.whole)}, the median of ${countOf(each.calls, "call")}` +
    ` \u2013 ${Object.entries(dims).map(([dim, size]) => `${dim} ${size}`).join(", ")}` +
    (left ? `. ${left} more calls of kernels were not recorded.` : "");
  document.documentElement.dataset.flame = name;
  zoomTo(0, flame.whole);
}

function makeFlame() {
  const functions = data.functions.filter(each => each.median);
  const legend = families.slice(0, mostColours).map((family, index) => {
    const mark = make("span", {class: "swatch"});
    mark.style.background = `var(--hue${index + 1})`;
    return make("li", {}, mark, family);
  });
  const section = makeSection("flame", "One call", "What ran when: the function, its layers, " +
    "their kernels. A click into a layer shows it alone, Escape all again.",
    make("p", {class: "aside", id: "flame-about"}),
    make("div", {class: "chart"},
      make("div", {id: "flame-levels", role: "group", "aria-label": "Flame chart"}),
      make("div", {id: "flame-ticks", "aria-hidden": "true"})),
    make("ul", {class: "legend"}, legend,
      make("li", {class: "end"}, make("button", {id: "flame-whole", type: "button", hidden: true,
        onclick: () => zoomTo(0, flame.whole)}, "Show all"))));
  section.querySelector(".title").append(make("div", {class: "modes", role: "group",
    "aria-label": "Function"}, functions.map(each => make("button", {type: "button",
      "aria-pressed": "false", onclick: () => showFlame(each.name)}, each.name))));
  return section;
}
