// Puts the page together; hints of whatever the pointer or the focus is on.

const tip = document.getElementById("tip");

// Beside `element`, and below `anchor`, which it must not hide.
function showTip(element, anchor, lines) {
  tip.replaceChildren(...lines.filter(Boolean).map((line, index) =>
    make(index === 0 ? "b" : "span", {}, line)));
  tip.hidden = false;
  const box = element.getBoundingClientRect();
  const left = Math.max(8, Math.min(box.left, innerWidth - tip.offsetWidth - 8));
  const {top, bottom} = anchor.getBoundingClientRect();
  tip.style.left = left + "px";
  tip.style.top = (bottom + 8 + tip.offsetHeight < innerHeight ? bottom + 8
    : Math.max(8, top - tip.offsetHeight - 8)) + "px";
}

// Lines, or a function that makes them.
function addTip(element, lines, anchor = element) {
  const show = () => showTip(element, anchor, typeof lines === "function" ? lines() : lines);
  const hide = () => { tip.hidden = true; };
  element.addEventListener("pointerenter", show);
  element.addEventListener("pointerleave", hide);
  element.addEventListener("focus", show);
  element.addEventListener("blur", hide);
}

document.addEventListener("keydown", event => {
  if (event.key === "Escape") tip.hidden = true;
});

document.title = `${data.model} \u2013 Heddle profile`;
document.getElementById("model").textContent = data.model;
document.getElementById("isa").textContent = data.isa;
document.getElementById("setting").textContent =
  `${countOf(data.workers, "worker")}, ${countOf(data.threads, "thread")}`;
const main = document.getElementById("main");
main.replaceChildren(makeTime(), makeFlame(), makeRoofline(), makeLayers(), makeKernels(),
  make("p", {class: "aside"}, `heddle ${data.heddle}. The data of this page is what ` +
    "--profile=FILE writes as JSON."));
// A step, where there is one: it is called most often.
const [first] = data.functions.filter(each => each.median).sort((a, b) => b.calls - a.calls);
if (first) showFlame(first.name);
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
document.documentElement.dataset.opened = performance.now().toFixed(0);
