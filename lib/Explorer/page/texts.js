// The texts of functions: inflated when they are looked at, and their values
// numbered again.

// A function behind a pass: its symbol's name and the number of its text.
for (const pass of data.passes) {
  pass.texts = new Map();
  for (let i = 0; i < pass.functions.length; i += 2)
    pass.texts.set(data.symbols[pass.functions[i]], pass.functions[i + 1]);
}

async function inflate(base64) {
  const bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

// A number is the distance from the one before, of values of one name.
function numberAgain(text) {
  const last = new Map();
  return text.replace(/%([\w$.-]*)~(-?\d+)/g, (all, name, distance) => {
    const number = (last.get(name) || 0) + Number(distance);
    last.set(name, number);
    return "%" + name + number;
  });
}

// {lines, alike, names}: lines as they read, lines without the numbers of
// values, and the number of the names that a line has, by line.
async function readText(number) {
  const whole = await inflate(data.texts[number]);
  const end = whole.indexOf("\n");
  const isShort = whole[0] === "~";
  const header = whole.slice(isShort ? 1 : 0, end);
  const body = whole.slice(end + 1).replace(/\n$/, "");
  const names = new Map();
  let line = 0;
  for (const part of header.split(" ").filter(Boolean)) {
    const [distance, list] = part.split(":").map(Number);
    line += distance;
    names.set(line, list);
  }
  return {
    lines: (isShort ? numberAgain(body) : body).split("\n"),
    alike: body.replace(isShort ? /~-?\d+/g : /%\d+/g, "%").split("\n"),
    names,
  };
}

const readTexts = new Map();
const nothing = {lines: [], alike: [], names: new Map()};

// Of undefined, which no function is, nothing.
function textOf(number) {
  if (number === undefined)
    return Promise.resolve(nothing);
  if (!readTexts.has(number)) {
    if (readTexts.size > 400)
      readTexts.delete(readTexts.keys().next().value);
    readTexts.set(number, readText(number));
  }
  return readTexts.get(number);
}

// The symbol that a function has in another pass: entry points get a prefix,
// and what is derived from a function has a suffix; null where it has none.
function symbolIn(pass, symbol) {
  const plain = symbol.replace(/^heddle\./, "");
  for (const name of [symbol, plain, "heddle." + plain])
    if (pass.texts.has(name))
      return name;
  return null;
}

// As above, or the function that it is derived from.
function sourceIn(pass, symbol) {
  for (let name = symbol.replace(/^heddle\./, ""); name;
       name = name.slice(0, Math.max(0, name.lastIndexOf(".")))) {
    const found = symbolIn(pass, name);
    if (found)
      return found;
  }
  return null;
}

// How the functions of a pass came to be: [{symbol, before, after, change}],
// where change is "same", "changed", "new" or "gone".
function functionsOf(index) {
  const pass = data.passes[index];
  // The first pass has nothing to compare with, and assembly no lines in common.
  const earlier = pass.name === "assembly" ? undefined : data.passes[index - 1];
  const functions = [];
  const seen = new Set();
  for (const [symbol, after] of pass.texts) {
    const source = earlier ? symbolIn(earlier, symbol) : null;
    const before = source === null ? undefined : earlier.texts.get(source);
    if (source !== null)
      seen.add(source);
    functions.push({symbol, before, after, change:
      !earlier || before === after ? "same" :
      before === undefined ? "new" : "changed"});
  }
  for (const [symbol, before] of earlier ? earlier.texts : [])
    if (!seen.has(symbol))
      functions.push({symbol, before, after: undefined, change: "gone"});
  return functions;
}
