// The search box: layers, passes, kernels, remarks, and lines of the function
// that is on the screen.

const searchBox = document.getElementById("search");
const foundList = document.getElementById("found");

function layerNames() {
  return [...new Set(data.names.flat())];
}

function passNamed(name) {
  return Math.max(0, data.passes.findIndex(each => shortName(each.name) === name));
}

async function linesFound(needle) {
  const state = readState();
  if (state.pass === undefined) return [];
  const functions = functionsOf(Math.min(Number(state.pass), data.passes.length - 1));
  const chosen = chooseFunction(functions, state);
  const text = await textOf(chosen.after);
  const found = [];
  for (let line = 0; line < text.lines.length && found.length < 8; ++line)
    if (text.lines[line].toLowerCase().includes(needle))
      found.push({kind: "line " + (line + 1), text: text.lines[line].trim().slice(0, 120),
                  href: link({pass: state.pass, fn: chosen.symbol, line})});
  return found;
}

async function find(words) {
  const needle = words.trim().toLowerCase();
  if (!needle) return [];
  const has = text => text.toLowerCase().includes(needle);
  // What is called so, before what is called longer.
  const sorted = names => names.filter(has).sort((a, b) =>
    (b.toLowerCase() === needle) - (a.toLowerCase() === needle));
  const last = data.passes.length - 1;
  const results = [
    ...sorted(layerNames()).slice(0, 8).map(op => ({kind: "layer", text: op, href: link({op})})),
    ...data.passes.map((pass, index) => ({kind: "pass", text: shortName(pass.name),
      index, href: link({pass: index})})).filter(each => has(each.text)).slice(0, 6),
    ...data.symbols.filter(symbol => symbol && has(symbol)).slice(0, 6).map(fn => {
      let pass = last;
      while (pass > 0 && !data.passes[pass].texts.has(fn)) --pass;
      return {kind: "function", text: fn, href: link({pass, fn})};
    }),
    ...data.remarks.filter(each => has(each.sentence)).slice(0, 4).map(each => ({
      kind: "remark", text: each.sentence,
      href: link({pass: passNamed(each.pass), fn: each.function, op: each.names[0]})})),
  ];
  return [...results, ...await linesFound(needle)].slice(0, 24);
}

function closeSearch() {
  foundList.hidden = true;
  searchBox.setAttribute("aria-expanded", "false");
  searchBox.removeAttribute("aria-activedescendant");
}

function choose(step) {
  const items = [...foundList.children];
  if (!items.length) return;
  const at = items.findIndex(item => item.getAttribute("aria-selected") === "true");
  const next = (at + step + items.length) % items.length;
  items.forEach((item, index) =>
    item.setAttribute("aria-selected", String(index === next)));
  items[next].scrollIntoView({block: "nearest"});
  searchBox.setAttribute("aria-activedescendant", items[next].id);
}

async function search() {
  const words = searchBox.value;
  const results = await find(words);
  if (words !== searchBox.value) return;
  if (!words.trim()) { closeSearch(); return; }
  foundList.replaceChildren(...(results.length
    ? results.map((result, index) => make("li", {role: "option", id: "found-" + index,
        "aria-selected": String(index === 0)},
        make("a", {href: result.href, tabindex: "-1", onclick: closeSearch},
             make("span", {class: "kind"}, result.kind),
             make("span", {}, result.text))))
    : [make("li", {class: "nothing"}, "Nothing has this in its name.")]));
  foundList.hidden = false;
  searchBox.setAttribute("aria-expanded", "true");
}

searchBox.addEventListener("input", search);
searchBox.addEventListener("focus", search);
searchBox.addEventListener("keydown", event => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    choose(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter") {
    const chosen = foundList.querySelector('[aria-selected="true"] a');
    if (chosen) { location.hash = chosen.getAttribute("href"); closeSearch(); searchBox.blur(); }
  } else if (event.key === "Escape") {
    closeSearch();
    searchBox.blur();
  }
});
document.addEventListener("click", event => {
  if (!event.target.closest(".search")) closeSearch();
});
