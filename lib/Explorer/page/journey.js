// A layer on its way: its lines behind each pass that changed them, then the
// kernel that computes it, down to the assembly of its innermost loop.

const products =
  /\bfma\b|fmadd|fmuladd|dpbusd|dpwssd|dpbf16|pmaddubs|\btdp|tile_mul|online\.(weights|update)|linear\.(tile|sums)/;
const mostLines = 14;

// Functions of people that have the layer: ["encode", ...].
async function functionsWith(op) {
  const found = [];
  const passes = data.passes.filter(pass => pass.name !== "assembly");
  for (const pass of [passes[0], passes.find(each => /place-weights/.test(each.name))]) {
    for (const [symbol, number] of pass ? pass.texts : [])
      if (symbol && !found.includes(symbol)) {
        const text = await textOf(number);
        if ([...text.names.values()].some(list => data.names[list].includes(op)))
          found.push(symbol);
      }
  }
  return found;
}

// Lines of the layer, those that compute before those that hold memory.
function linesOfLayer(text, op) {
  const lines = [];
  for (const [line, list] of text.names)
    if (data.names[list].includes(op))
      lines.push(line);
  const computes = line => /\bcall\w* |transformer\.(?!weight|rows|mask)|func\.call|llvm\.call|callq/
    .test(text.lines[line]);
  const main = lines.filter(computes);
  return main.length ? main : lines;
}

// The loop that is densest in products, or in vectors where no loop has one.
function hottest(blocks, lines) {
  const score = ([begin, end, inner]) => {
    let sum = 0, vectors = 0;
    for (let line = begin; line < end; ++line) {
      if (inner.some(([from, to]) => line >= from && line < to)) continue;
      sum += products.test(lines[line]);
      vectors += /vector<|[xyz]mm\d/.test(lines[line]);
    }
    return 1000 * sum * sum / (end - begin) + vectors / (end - begin);
  };
  let best = null, most = 0;
  for (const block of blocks) {
    const points = score(block);
    if (points > most) [best, most] = [block, points];
  }
  return best;
}

function loopsOfIr(lines) {
  const blocks = [];
  const open = [];
  lines.forEach((line, at) => {
    const indent = line.search(/\S/);
    if (/\bscf\.(for|while|forall|parallel)\b/.test(line) && /\{$/.test(line.trim()))
      open.push({begin: at, indent, inner: []});
    const last = open[open.length - 1];
    if (last && at > last.begin && indent === last.indent && /^\s*\}(?! do)/.test(line)) {
      open.pop();
      blocks.push([last.begin, at + 1, last.inner]);
      if (open.length) open[open.length - 1].inner.push([last.begin, at + 1]);
    }
  });
  // Of LLVM's dialect a loop is a block that goes back to itself.
  let begin = -1, label = "";
  lines.forEach((line, at) => {
    const block = /^\s*(\^bb\d+)/.exec(line);
    if (block) [begin, label] = [at, block[1]];
    if (begin >= 0 && /llvm\.(cond_)?br/.test(line)) {
      blocks.push([begin, at + 1, []]);
      begin = -1;
    }
  });
  return blocks;
}

function loopsOfAssembly(lines) {
  const labels = new Map();
  const blocks = [];
  lines.forEach((line, at) => {
    const label = /^(\.L\w+):/.exec(line);
    if (label) labels.set(label[1], at);
    const jump = /^\s+j\w+\s+(\.L\w+)/.exec(line);
    if (jump && labels.has(jump[1]))
      blocks.push([labels.get(jump[1]), at + 1, []]);
  });
  for (const block of blocks)
    block[2] = blocks.filter(other => other !== block &&
      other[0] >= block[0] && other[1] <= block[1] &&
      other[1] - other[0] < block[1] - block[0]).map(([from, to]) => [from, to]);
  return blocks;
}

// What computes a layer behind a pass: its kernel and the tasks of that.
function kernelsOf(pass, lines) {
  const found = [];
  const add = symbol => {
    if (pass.texts.has(symbol) && !found.includes(symbol) &&
        !/\.(work|arena)$/.test(symbol))
      found.push(symbol);
  };
  for (const line of lines)
    for (const match of line.matchAll(/@"?([\w$.+-]+)|callq?\s+([\w$.]+)/g))
      add(match[1] || match[2]);
  const kernels = found.filter(symbol => /^[a-z]/.test(symbol) && !/^heddle\./.test(symbol));
  for (const kernel of [...kernels])
    for (const symbol of pass.texts.keys())
      if (symbol.startsWith(kernel + ".") && !/\.(work|arena)$/.test(symbol))
        kernels.push(symbol);
  return kernels;
}

// The part of a kernel that is worth a look: {symbol, begin, end}.
async function heartOf(pass, kernels) {
  let best = null;
  for (const symbol of kernels) {
    const text = await textOf(pass.texts.get(symbol));
    const isAssembly = pass.name === "assembly";
    const loops = isAssembly ? loopsOfAssembly(text.lines) : loopsOfIr(text.lines);
    const block = hottest(loops, text.lines);
    // What is no loop is a function of one op, in its braces.
    const body = block || [Math.min(1, text.lines.length - 1),
                           Math.max(1, text.lines.length - 1), []];
    const count = text.lines.slice(body[0], body[1])
      .filter(line => products.test(line)).length;
    const points = (block ? 1 : 0) + count * 2;
    if (!best || points > best.points)
      best = {points, symbol, text, begin: body[0], end: body[1], isLoop: Boolean(block)};
  }
  return best;
}

// Where a loop begins, and what stands around its first product.
function linesOfHeart(heart) {
  const all = Array.from({length: heart.end - heart.begin}, (_, i) => heart.begin + i);
  const first = all.findIndex(line => products.test(heart.text.lines[line]));
  return all.length > mostLines && first > mostLines - 4
    ? [all[0], ...all.slice(first - 3)] : all;
}

// At most `mostLines` of `lines`, which are some of `count`.
function makeSnippet(text, lines, isAssembly, count = lines.length) {
  const rows = [];
  const shown = lines.slice(0, mostLines);
  shown.forEach((line, index) => {
    if (index && line > lines[index - 1] + 1)
      rows.push(make("div", {class: "row skip"}));
    rows.push(makeLine(text, line, "", isAssembly, null));
  });
  if (count > shown.length)
    rows.push(make("div", {class: "row more"},
      `${(count - shown.length).toLocaleString("en")} more lines`));
  return make("div", {class: "snippet", tabindex: "0"}, rows);
}

function makeCard(index, what, snippet, address) {
  return make("li", {class: "card"},
    make("div", {class: "when"}, make("span", {class: "step"}, String(index)),
         make("a", {href: address}, shortName(data.passes[index].name)),
         make("span", {class: "what"}, what)), snippet);
}

// Cards of a layer in `symbol`, the first pass first.
async function cardsOf(op, symbol) {
  const cards = [];
  let lastHost = null, lastKernel = null;
  for (const [index, pass] of data.passes.entries()) {
    const host = sourceIn(pass, symbol);
    if (host === null) continue;
    const text = await textOf(pass.texts.get(host));
    const lines = linesOfLayer(text, op);
    if (!lines.length) continue;
    const alike = lines.map(line => text.alike[line]).join("\n");
    const kernels = kernelsOf(pass, lines.map(line => text.lines[line]));
    const isAssembly = pass.name === "assembly";
    const isShown = kernels.length ? lastKernel === null || isAssembly : alike !== lastHost;
    if (isShown && alike !== lastHost)
      cards.push(makeCard(index, `in @${host}`,
        makeSnippet(text, lines, isAssembly),
        link({pass: index, fn: host, op})));
    lastHost = alike;
    if (!kernels.length) continue;
    const heart = await heartOf(pass, kernels);
    const looks = heart.text.alike.slice(heart.begin, heart.end).join("\n");
    if (looks === lastKernel) continue;
    lastKernel = looks;
    const range = linesOfHeart(heart);
    cards.push(makeCard(index,
      (heart.isLoop ? "the innermost loop of @" : "@") + heart.symbol,
      makeSnippet(heart.text, range, isAssembly, heart.end - heart.begin),
      link({pass: index, fn: heart.symbol, op, line: heart.begin})));
  }
  return cards;
}

function makeFacts(op) {
  const rows = data.layers.filter(row => row.names.includes(op));
  const seen = new Set();
  return rows.filter(row => {
    const key = [row.kind, row.shape, row.parameters].join();
    return !seen.has(key) && seen.add(key);
  }).slice(0, 4).map(row => make("li", {},
    make("b", {}, row.kind), ` to ${row.shape || "no buffer"}`,
    row.parameters ? `, ${formatCount(row.parameters)} parameter${
      row.parameters === 1 ? "" : "s"} (${
      formatBytes(row.weightBytes)}, ${row.weightType})` : "",
    row.flops[1] ? `, ${formatCount(row.flops[1])} FLOPs over ${
      data.lengths[1]} tokens` : "", ` in @${row.function}`,
    row.names.length > 1 ? `, one with ${row.names.filter(name => name !== op)
      .slice(0, 6).join(", ")}` : ""));
}

async function showLayer(state, main, isCurrent) {
  const op = state.op;
  const functions = await functionsWith(op);
  const symbol = functions.includes(state.fn) ? state.fn : functions[0];
  if (!isCurrent()) return;
  const remarks = data.remarks.filter(each => each.names.includes(op));
  const masks = data.masks.filter(mask => mask.names.includes(op));
  const said = new Map();
  for (const each of remarks) said.set(each.sentence, each);
  const cards = make("ol", {class: "cards"},
                     make("li", {class: "wait"}, "Following it ..."));
  main.replaceChildren(
    make("div", {class: "title"}, make("div", {},
      make("p", {class: "step"}, "A layer on its way"), make("h2", {class: "name"}, op))),
    make("ul", {class: "facts"}, makeFacts(op)),
    said.size ? make("ul", {class: "said"}, [...said.values()].map(each =>
      make("li", {class: each.fused ? "" : "declined"},
        make("a", {href: link({pass: passNamed(each.pass), fn: each.function, op})},
             each.pass), " ", each.sentence))) : make("span", {class: "none"}),
    masks.length ? make("p", {class: "mask-link"}, make("a", {href: "#masks"},
      `Its mask: ${masks[0].mask || masks[0].failure}`)) : make("span", {class: "none"}),
    functions.length > 1 ? make("div", {class: "functions"}, functions.map(each =>
      make("a", {class: "function", href: link({op, fn: each}),
                 "aria-current": each === symbol ? "true" : null}, each)))
      : make("span", {class: "none"}), cards);
  if (!functions.length) {
    cards.replaceChildren(make("li", {class: "wait"},
      `No function has a layer named ${op}.`));
    return;
  }
  const made = await cardsOf(op, symbol);
  if (!isCurrent()) return;
  cards.replaceChildren(...made);
  document.documentElement.dataset.followed = op;
}
