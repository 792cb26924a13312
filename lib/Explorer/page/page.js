// What is shown follows from the address alone: #pass=3&fn=encode&op=NAME,
// #op=NAME, #layers, #masks.

const settings = {mode: ""};
const main = document.getElementById("main");

function link(state) {
  if (state.view) {
    const {view, ...rest} = state;
    const parts = Object.entries(rest).map(([key, value]) => `${key}=${value}`);
    return "#" + [view, ...parts].join("&");
  }
  const parts = [];
  for (const key of ["pass", "fn", "op", "line"])
    if (state[key] !== undefined && state[key] !== null)
      parts.push(key + "=" + encodeURIComponent(state[key]));
  return "#" + parts.join("&");
}

function readState() {
  const state = {};
  for (const part of location.hash.slice(1).split("&").filter(Boolean)) {
    const at = part.indexOf("=");
    if (at < 0) { state.view = part; continue; }
    try {
      state[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
    } catch { /* An address that was cut: what is left of it will do. */ }
  }
  if (!["layers", "masks"].includes(state.view)) delete state.view;
  if (!state.view && state.pass === undefined && state.op === undefined) state.pass = "0";
  return state;
}

function stageOf(name) {
  if (name === "imported" || /restrict|expand-regions/.test(name)) return "Model";
  if (/precision|split-linear|fold-|fuse-/.test(name)) return "Fusion";
  if (/split-phases/.test(name)) return "Phases";
  if (/buffer|destination|chunk|plan-memory|weights/.test(name)) return "Memory";
  if (/outline|count-work|one-dnn|tile-/.test(name)) return "Kernels";
  if (/emit|loops|host|profile|parallel|emulate/.test(name)) return "Code";
  if (/llvm|assembly/.test(name)) return "Machine";
  return null;
}

function fillPasses() {
  let stage = "";
  const items = [];
  data.passes.forEach((pass, index) => {
    const own = stageOf(pass.name);
    // Fusions of steps belong to the phases.
    if (own && own !== stage && !(stage === "Phases" && own === "Fusion")) {
      stage = own;
      items.push(make("li", {class: "stage", role: "presentation"}, stage));
    }
    const changed = index === 0 || pass.name === "assembly" ||
      functionsOf(index).some(each => each.change !== "same");
    items.push(make("li", {class: changed ? null : "idle"},
      make("a", {href: link({pass: index}), "data-pass": index, title: pass.summary},
        make("span", {class: "index"}, String(index)), shortName(pass.name))));
  });
  document.getElementById("passes").replaceChildren(...items);
}

function markPlace(state) {
  for (const each of document.querySelectorAll("#passes a")) {
    const isHere = !state.view && state.pass === each.dataset.pass;
    if (isHere) {
      each.setAttribute("aria-current", "page");
      each.scrollIntoView({block: "nearest"});
    } else {
      each.removeAttribute("aria-current");
    }
  }
  const view = state.view || (state.pass === undefined ? "" : "pass");
  for (const each of document.querySelectorAll(".views a"))
    if (each.dataset.view === view) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
}

let turn = 0;

async function render() {
  const state = readState();
  const mine = ++turn;
  const isCurrent = () => mine === turn;
  markPlace(state);
  delete document.documentElement.dataset.shown;
  if (state.view === "layers") showLayers(state, main);
  else if (state.view === "masks") showMasks(state, main);
  else if (state.pass !== undefined) await showPass(state, main, isCurrent);
  else await showLayer(state, main, isCurrent);
  if (isCurrent()) document.documentElement.dataset.shown = location.hash || "#";
}

function movePass(step) {
  const state = readState();
  const at = Number(state.pass || 0) + step;
  if (at >= 0 && at < data.passes.length)
    location.hash = link({pass: at, op: state.op, fn: state.fn});
}

// A symbol in the code leads to its function, where the pass has it.
main.addEventListener("click", event => {
  const symbol = event.target.closest("[data-symbol]");
  const state = readState();
  if (!symbol || state.pass === undefined) return;
  if (data.passes[state.pass].texts.has(symbol.dataset.symbol))
    location.hash = link({pass: state.pass, fn: symbol.dataset.symbol});
});

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey ||
      event.target.matches("input, select, textarea"))
    return;
  if (event.key === "/") { event.preventDefault(); searchBox.focus(); searchBox.select(); }
  else if (event.key === "j") movePass(1);
  else if (event.key === "k") movePass(-1);
});

document.title = `${data.model} \u2013 Heddle explorer`;
document.getElementById("model").textContent = data.model;
document.getElementById("level").textContent = data.level;
fillPasses();
addEventListener("hashchange", render);
render().then(() => {
  document.documentElement.dataset.opened = performance.now().toFixed(0);
});
