// What changed between two texts. Lines that both have once are fixed points,
// in the longest order that both agree on; between them it goes on the same
// way, and where there are none, by the longest common subsequence.

// The longest increasing run of second elements, of pairs sorted by first.
function longestIncreasing(pairs) {
  const ends = [];
  const before = new Array(pairs.length);
  pairs.forEach(([, at], index) => {
    let low = 0, high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]][1] < at) low = middle + 1; else high = middle;
    }
    before[index] = low ? ends[low - 1] : -1;
    ends[low] = index;
  });
  const result = [];
  for (let at = ends.length ? ends[ends.length - 1] : -1; at >= 0;
       at = before[at])
    result.push(pairs[at]);
  return result.reverse();
}

function uniquePairs(a, b, a0, a1, b0, b1) {
  const counts = new Map();
  const note = (line, side, at) => {
    const entry = counts.get(line) || {inA: 0, inB: 0, a: 0, b: 0};
    entry[side === "a" ? "inA" : "inB"]++;
    entry[side] = at;
    counts.set(line, entry);
  };
  for (let i = a0; i < a1; ++i) note(a[i], "a", i);
  for (let j = b0; j < b1; ++j) note(b[j], "b", j);
  const pairs = [];
  for (const {inA, inB, a, b} of counts.values())
    if (inA === 1 && inB === 1)
      pairs.push([a, b]);
  return pairs.sort((x, y) => x[0] - y[0]);
}

// Above this many cells a table takes longer than anybody wants to wait.
const mostCells = 400000;

function commonPairs(a, b, a0, a1, b0, b1) {
  const rows = a1 - a0, columns = b1 - b0;
  if (rows * columns > mostCells)
    return [];
  const table = new Uint16Array((rows + 1) * (columns + 1));
  const at = (i, j) => i * (columns + 1) + j;
  for (let i = rows - 1; i >= 0; --i)
    for (let j = columns - 1; j >= 0; --j)
      table[at(i, j)] = a[a0 + i] === b[b0 + j] ? table[at(i + 1, j + 1)] + 1 :
        Math.max(table[at(i + 1, j)], table[at(i, j + 1)]);
  const pairs = [];
  for (let i = 0, j = 0; i < rows && j < columns;) {
    if (a[a0 + i] === b[b0 + j]) pairs.push([a0 + i++, b0 + j++]);
    else if (table[at(i + 1, j)] >= table[at(i, j + 1)]) ++i;
    else ++j;
  }
  return pairs;
}

// Pairs of equal lines, in order, of [a0, a1) and [b0, b1).
function matchLines(a, b, a0, a1, b0, b1, pairs) {
  while (a0 < a1 && b0 < b1 && a[a0] === b[b0])
    pairs.push([a0++, b0++]);
  const tail = [];
  while (a0 < a1 && b0 < b1 && a[a1 - 1] === b[b1 - 1])
    tail.push([--a1, --b1]);
  if (a0 < a1 && b0 < b1) {
    const fixed = longestIncreasing(uniquePairs(a, b, a0, a1, b0, b1));
    if (fixed.length) {
      for (const [i, j] of fixed) {
        matchLines(a, b, a0, i, b0, j, pairs);
        pairs.push([i, j]);
        a0 = i + 1;
        b0 = j + 1;
      }
      matchLines(a, b, a0, a1, b0, b1, pairs);
    } else {
      pairs.push(...commonPairs(a, b, a0, a1, b0, b1));
    }
  }
  for (let i = tail.length - 1; i >= 0; --i)
    pairs.push(tail[i]);
}

// [{a, b, same}]: lines of both sides beside each other, -1 where a side has
// none; what was replaced stands beside what replaces it.
function diffLines(a, b) {
  const pairs = [];
  matchLines(a, b, 0, a.length, 0, b.length, pairs);
  pairs.push([a.length, b.length]);
  const rows = [];
  let i = 0, j = 0;
  for (const [nextA, nextB] of pairs) {
    while (i < nextA || j < nextB)
      rows.push({a: i < nextA ? i++ : -1, b: j < nextB ? j++ : -1,
                 same: false});
    if (nextA < a.length && nextB < b.length)
      rows.push({a: i++, b: j++, same: true});
  }
  return rows;
}
