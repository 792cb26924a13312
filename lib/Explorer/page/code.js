// Code on the screen: lines in colour, and a list of rows of which only those
// are there that one sees.

function escapeText(text) {
  return text.replace(/[&<>"']/g, c => "&#" + c.charCodeAt(0) + ";");
}

const irTokens = new RegExp([
  /(?<string>"(?:[^"\\]|\\.)*")/, /(?<comment>\/\/.*$)/,
  /(?<symbol>@(?:"(?:[^"\\]|\\.)*"|[\w$.-]+))/, /(?<value>%[\w$.#-]+)/,
  /(?<block>\^[\w]+)/,
  /(?<op>(?<![\w.])[a-z_]\w*(?:\.[a-z_0-9]+)+(?![\w.]*["<]))/,
  /(?<type>!?\b(?:tensor|memref|vector|llvm\.(?:ptr|struct|array))\b(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>)?|\b(?:index|[if]\d+|bf16)\b)/,
  /(?<keyword>\b(?:func|call|return|module|mask|into|of|at|to|step|rows|columns|split|residual|norm|activation|iter_args|attributes|private)\b)/,
  /(?<number>(?<![\w.])-?\d[\d.]*(?:e[+-]?\d+)?)/,
].map(each => each.source).join("|"), "g");

const assemblyTokens = new RegExp([
  /(?<comment>#.*$)/, /(?<block>^[\w.$]+:|\.L\w+)/, /(?<value>%[a-z]+\d*)/,
  /(?<op>^\s+[a-z]\w*)/, /(?<number>\$?-?\b(?:0x[\da-f]+|\d+)\b)/,
  /(?<symbol>(?<=call[q]?\s+)[\w.$]+)/,
].map(each => each.source).join("|"), "gm");

// A line as HTML. What has the name `op` in `line`'s list can be followed.
function colour(line, isAssembly) {
  const tokens = isAssembly ? assemblyTokens : irTokens;
  let html = "", at = 0;
  for (const match of line.slice(0, 4000).matchAll(tokens)) {
    const [kind] = Object.entries(match.groups).find(([, text]) => text !== undefined);
    html += escapeText(line.slice(at, match.index));
    html += kind === "symbol"
      ? `<a class="symbol" data-symbol="${escapeText(match[0].replace(/^@"?|"$/g, ""))}">${escapeText(match[0])}</a>`
      : `<span class="${kind}">${escapeText(match[0])}</span>`;
    at = match.index + match[0].length;
  }
  return html + escapeText(line.slice(at, 4000)) + (line.length > 4000 ? " ..." : "");
}

const rowHeight = 20;

// A scrollable list of `count` rows; `draw(i)` makes the row's element. Wide
// enough for `widest` characters. `fit` is called where the size may have
// changed.
function makeList(count, draw, widest, label) {
  const inner = make("div", {class: "rows"});
  inner.style.height = count * rowHeight + "px";
  inner.style.minWidth = `calc(${Math.min(widest, 4000)}ch + 7rem)`;
  const list = make("div", {class: "list", tabindex: "0", role: "region",
                            "aria-label": label}, inner);
  let first = -1, last = -1;
  const refresh = force => {
    const top = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 12);
    const bottom = Math.min(count, top + 24 +
                            Math.ceil((list.clientHeight || 900) / rowHeight));
    if (!force && top === first && bottom === last)
      return;
    [first, last] = [top, bottom];
    const rows = [];
    for (let i = top; i < bottom; ++i) {
      const row = draw(i);
      row.style.top = i * rowHeight + "px";
      rows.push(row);
    }
    inner.replaceChildren(...rows);
  };
  list.addEventListener("scroll", () => refresh(false), {passive: true});
  new ResizeObserver(() => refresh(true)).observe(list);
  list.refresh = () => refresh(true);
  list.goTo = i => {
    list.scrollTop = Math.max(0, (i - 6) * rowHeight);
    refresh(true);
  };
  return list;
}

// Two lists that scroll as one.
function joinLists(left, right) {
  let leader = null;
  for (const [from, to] of [[left, right], [right, left]]) {
    from.addEventListener("scroll", () => {
      if (leader === to) { leader = null; return; }
      if (to.scrollTop === from.scrollTop && to.scrollLeft === from.scrollLeft)
        return;
      leader = from;
      to.scrollTop = from.scrollTop;
      to.scrollLeft = from.scrollLeft;
    }, {passive: true});
  }
}

// The names of a line: ["encoder_l1_self_Wq", ...].
function namesOf(text, line) {
  const list = text.names.get(line);
  return list === undefined ? [] : data.names[list];
}

// A line of code in a row; lines that a layer has can be clicked.
function makeLine(text, line, mark, isAssembly, op) {
  if (line < 0)
    return make("div", {class: "row blank"});
  const names = namesOf(text, line);
  const row = make("div", {class: "row " + mark +
                           (op && names.includes(op) ? " chosen" : "")},
    make("span", {class: "at"}, String(line + 1)),
    names.length
      ? make("a", {class: "thread", href: link({op: names[0]}),
                   title: "Follow " + names.join(", "), tabindex: "-1"}, "\u2022")
      : make("span", {class: "thread"}),
    make("code", {html: colour(text.lines[line], isAssembly)}));
  return row;
}
