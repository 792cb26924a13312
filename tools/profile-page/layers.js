// Which layer of the model a place in the code belongs to: names of a checkpoint
// are paths, and a layer is what one number in them counts.

const nameless = "without a name";

// {layer, part}: "encoder_l1" and "self_Wq", "encoder.layers.0" and
// "self_attn.q_proj". Fused layers have several names; the first says where.
function splitName(names) {
  if (!names) return {layer: nameless, part: ""};
  const all = names.split("+");
  const first = all[0].replace(/^(?:model|led)\./, "").replace(/\.weight$/, "");
  const more = all.length > 1 ? ` +${all.length - 1}` : "";
  const numbered = first.match(/^(.*?[._]l?\d+)[._](.+)$/);
  if (numbered) return {layer: numbered[1], part: numbered[2] + more};
  // A number at the end counts ops of a kind, and has no parts.
  const path = /[._]\d+$/.test(first) ? [first] : first.split(".");
  return path.length > 2
    ? {layer: path.slice(0, -1).join("."), part: path[path.length - 1] + more}
    : {layer: first, part: ""};
}

const typeOf = new Map(data.kernels.map(kernel => [kernel.name, kernel.type]));

for (const each of data.functions) {
  for (const place of each.places) Object.assign(place, splitName(place.layer), {names: place.layer});
  each.between = each.seconds - sumOf(each.places, place => place.seconds);
}

// What several places did together.
function addUp(places) {
  const sum = {calls: 0, seconds: 0, flops: 0, bytes: 0};
  for (const place of places)
    for (const key of Object.keys(sum)) sum[key] += place[key];
  return sum;
}

// The layers of a function, in the order of its code.
function layersOf(each) {
  const layers = new Map();
  for (const place of each.places) {
    if (!layers.has(place.layer)) layers.set(place.layer, []);
    layers.get(place.layer).push(place);
  }
  return [...layers].map(([name, places]) => ({name, places, ...addUp(places)}));
}

// "linear" of "linear_256x1536", "candidate_logits" of "candidate_logits_256":
// what has one colour. Those that take the most time have the first colours, and
// all others the last.
const mostColours = 7;
const familyOf = name => name.match(/^[a-z]+(?:_[a-z]+)*/i)?.[0] ?? name;
const families = (() => {
  const times = new Map();
  for (const kernel of data.kernels) {
    const family = familyOf(kernel.name);
    times.set(family, (times.get(family) || 0) + kernel.seconds);
  }
  return [...times].sort((a, b) => b[1] - a[1]).map(([family]) => family);
})();

function colourOf(kernel) {
  return `var(--hue${Math.min(families.indexOf(familyOf(kernel)), mostColours) + 1})`;
}
