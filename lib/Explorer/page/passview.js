// One pass: which functions it changed, and what a function was before and is
// behind it, with the pass's remarks where they belong.

const contextLines = 4;
const passView = {unfolded: new Set()};

function shortName(name) {
  return name.replace(/^transformer-/, "");
}

// Splits a sentence into lines of about `width` characters.
function wrapWords(sentence, width) {
  const lines = [""];
  for (const word of sentence.split(" ")) {
    const last = lines[lines.length - 1];
    if (last && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] += (last ? " " : "") + word;
  }
  return lines;
}

// The remarks of a pass about a function, by the line that they are about.
function remarksByLine(pass, symbol, text) {
  const byLine = new Map();
  for (const remark of data.remarks) {
    if (remark.pass !== shortName(pass.name) || remark.function !== symbol)
      continue;
    let best = -1;
    for (const [line, list] of text.names) {
      if (!data.names[list].some(name => remark.names.includes(name)))
        continue;
      if (best < 0 || /transformer\.weight/.test(text.lines[best]))
        best = line;
      if (!/transformer\.weight/.test(text.lines[line]))
        break;
    }
    best = Math.max(best, 0);
    byLine.set(best, [...(byLine.get(best) || []), remark]);
  }
  return byLine;
}

// Rows to show: pairs of lines, folds {from, to} of equal ones, and notes.
function layOut(before, after, remarks, key, keep) {
  const rows = diffLines(before.alike, after.alike);
  const shown = new Uint8Array(rows.length);
  const show = at => shown.fill(1, Math.max(0, at - contextLines),
                                at + contextLines + 1);
  rows.forEach((row, at) => {
    if (!row.same || remarks.has(row.b) || keep(row)) show(at);
  });
  const isSame = rows.every(row => row.same);
  const result = [];
  for (let at = 0; at < rows.length;) {
    let end = at;
    while (end < rows.length && !shown[end]) ++end;
    const id = key + ":" + at;
    if (end - at > 2 && !isSame && !passView.unfolded.has(id)) {
      result.push({fold: end - at, id});
      at = end;
      continue;
    }
    end = Math.max(end, at + 1);
    for (; at < end; ++at) {
      result.push(rows[at]);
      for (const remark of remarks.get(rows[at].b) || [])
        wrapWords(remark.sentence, 96).forEach((words, index) =>
          result.push({note: words, first: index === 0, fused: remark.fused}));
    }
  }
  return {rows: result, isSame};
}

function widestLine(text) {
  return text.lines.reduce((most, line) => Math.max(most, line.length), 0);
}

function makeFold(row, render) {
  const open = () => { passView.unfolded.add(row.id); render(); };
  return make("div", {class: "row fold", role: "button", tabindex: "0", onclick: open,
                      onkeydown: event => { if (event.key === "Enter") open(); }},
              make("span", {}, `${row.fold.toLocaleString("en")} equal lines`));
}

function makeNote(row) {
  return make("div", {class: "row note" + (row.fused ? "" : " declined")},
              make("span", {class: "sign"}, row.first ? (row.fused ? "+" : "\u2212") : ""),
              make("span", {}, row.note));
}

function drawDiff(before, after, layout, mode, isAssembly, op, render) {
  const side = (text, key, mark) => i => {
    const row = layout.rows[i];
    if (row.fold) return makeFold(row, render);
    if (row.note)
      return key === "b" ? makeNote(row) : make("div", {class: "row blank"});
    return makeLine(text, row[key], row.same ? "" : mark, isAssembly, op);
  };
  const count = layout.rows.length;
  if (mode !== "split")
    return [makeList(count, side(after, "b", ""), widestLine(after), "Code")];
  const left = makeList(count, side(before, "a", "removed"),
                        widestLine(before), "Before");
  const right = makeList(count, side(after, "b", "added"), widestLine(after),
                         "After");
  joinLists(left, right);
  return [left, right];
}

// One column: what was removed stands above what was added.
function unify(rows) {
  const result = [];
  let added = [];
  const flush = () => { result.push(...added); added = []; };
  for (const row of rows) {
    if (row.fold || row.note || row.same) {
      flush();
      result.push(row);
      continue;
    }
    if (row.a >= 0) result.push({...row, side: "a"});
    if (row.b >= 0) added.push({...row, side: "b"});
  }
  flush();
  return result;
}

function drawUnified(before, after, layout, isAssembly, op, render) {
  const rows = unify(layout.rows);
  const draw = i => {
    const row = rows[i];
    if (row.fold) return makeFold(row, render);
    if (row.note) return makeNote(row);
    return row.side === "a" ? makeLine(before, row.a, "removed", isAssembly, op)
      : makeLine(after, row.b, row.same ? "" : "added", isAssembly, op);
  };
  const list = makeList(rows.length, draw,
                        Math.max(widestLine(before), widestLine(after)), "Code");
  list.rowOf = test => rows.findIndex(test);
  return list;
}

function makeFunctionLinks(functions, index, chosen, op) {
  const groups = {changed: [], new: [], gone: [], same: []};
  for (const each of functions) groups[each.change].push(each);
  const marks = {changed: "\u2206", new: "+", gone: "\u2212", same: ""};
  const makeOne = each => make("a", {
    class: "function " + each.change, href: link({pass: index, fn: each.symbol, op}),
    "aria-current": each === chosen ? "true" : null,
  }, make("span", {class: "sign"}, marks[each.change]),
     each.symbol || "declarations");
  const isHelper = each => /\.(work|arena)$/.test(each.symbol);
  const moved = [...groups.changed, ...groups.new, ...groups.gone];
  const fold = (words, some) => some.length
    ? make("details", {open: some.includes(chosen)},
           make("summary", {}, `${some.length} ${words}`), some.map(makeOne))
    : make("span", {class: "none"});
  const plain = each => !isHelper(each);
  const isFolded = moved.length && groups.same.length > 3;
  return make("div", {class: "functions"},
    moved.filter(plain).map(makeOne),
    isFolded ? make("span", {class: "none"}) : groups.same.filter(plain).map(makeOne),
    isFolded ? fold("others, as before", groups.same.filter(plain))
             : make("span", {class: "none"}),
    fold("that count work or memory",
         [...moved, ...groups.same].filter(isHelper)));
}

function chooseFunction(functions, state) {
  const wanted = state.fn === undefined ? null : state.fn;
  const named = functions.find(each => each.symbol === wanted) ||
    (wanted && functions.find(each =>
      each.symbol.replace(/^heddle\./, "") === wanted.replace(/^heddle\./, "")));
  return named || functions.find(each => each.symbol && each.change !== "same") ||
    functions.find(each => each.symbol) || functions[0];
}

async function showPass(state, main, isCurrent) {
  const index = Math.min(Math.max(Number(state.pass) || 0, 0), data.passes.length - 1);
  const pass = data.passes[index];
  const functions = functionsOf(index);
  const chosen = chooseFunction(functions, state);
  const [before, after] = await Promise.all(
    [textOf(chosen.before), textOf(chosen.after)]);
  if (!isCurrent()) return;
  const isAssembly = pass.name === "assembly";
  const remarks = remarksByLine(pass, chosen.symbol, after);
  const all = data.remarks.filter(each => each.pass === shortName(pass.name));
  // Nothing of assembly is as it was before.
  const isAlone = isAssembly || chosen.change === "same" || chosen.before === undefined;
  const narrow = innerWidth < 1200;
  const mode = isAlone ? "after" : settings.mode || (narrow ? "unified" : "split");
  const opLines = row => state.op && row.b >= 0 &&
    namesOf(after, row.b).includes(state.op);

  const code = make("div", {class: "code " + mode});
  const draw = () => {
    const layout = isAlone
      ? layOut(after, after, remarks, "", () => false)
      : layOut(before, after, remarks, index + chosen.symbol, opLines);
    const lists = mode === "unified"
      ? [drawUnified(before, after, layout, isAssembly, state.op, draw)]
      : drawDiff(before, after, layout, mode, isAssembly, state.op, draw);
    const position = code.firstChild ? code.firstChild.scrollTop : -1;
    code.replaceChildren(...lists);
    const target = state.line !== undefined
      ? row => row.b === Number(state.line)
      : row => (row.b !== undefined && opLines(row)) ||
               (!state.op && !isAlone && (row.note || row.same === false));
    const at = lists[0].rowOf ? lists[0].rowOf(target)
                              : layout.rows.findIndex(target);
    lists.forEach(list => {
      if (position >= 0) { list.scrollTop = position; list.refresh(); }
      else if (at > 0) list.goTo(at);
      else list.refresh();
    });
  };

  const counts = ["changed", "new", "gone"].map(change =>
    [functions.filter(each => each.change === change).length, change])
    .filter(([count]) => count).map(([count, change]) => `${count} ${change}`);
  const button = (name, label) => make("button", {
    type: "button", "aria-pressed": String(mode === name),
    onclick: () => { settings.mode = name; render(); }}, label);
  main.replaceChildren(
    make("div", {class: "title"},
      make("div", {},
        make("p", {class: "step"}, `${index} of ${data.passes.length - 1}`,
             counts.length ? " \u00b7 functions: " + counts.join(", ")
               : index && !isAssembly ? " \u00b7 nothing changed" : ""),
        make("h2", {}, shortName(pass.name)),
        make("p", {class: "summary"}, pass.summary + ".")),
      isAlone ? make("span") : make("div", {class: "modes", role: "group",
        "aria-label": "How to compare"},
        button("split", "Side by side"), button("unified", "In one column"))),
    all.length ? make("p", {class: "remarks"},
      `${all.filter(each => each.fused).length} fused, ` +
      `${all.filter(each => !each.fused).length} declined; remarks stand beside the code.`)
      : make("span", {class: "none"}),
    makeFunctionLinks(functions, index, chosen, state.op), code);
  draw();
}
