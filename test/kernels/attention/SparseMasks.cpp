//===- SparseMasks.cpp - Masks of the literature and what they are --------===//
//
// Windows, global tokens, blocks, segments, drawn and listed keys, and any
// predicate, alone and joined, beside their definitions in Masks.td.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/attention/SparseMasks.h"
#include "test/kernels/attention/DrawnBlocks.h"

#include <algorithm>

using namespace heddle::test;

static bool has(const std::vector<int64_t> &numbers, int64_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

Tables::Tables(int64_t batch, int64_t positions) {
  for (int64_t b = 0; b < batch; ++b) {
    // The first sentence is full, the last one short.
    int64_t length =
        batch == 1 ? positions
                   : std::max<int64_t>(1, positions * (batch - b) / batch);
    lengths.push_back(length);
    // A filler, the first position and a late one.
    for (int64_t token : {int64_t(-1), int64_t(0), 2 + length * 2 / 3})
      tokens.push_back(token);
    // Segments of 1, 2, 3, ... positions; behind the end anything.
    int64_t id = 0, left = 1;
    for (int64_t j = 0; j < positions; ++j, --left) {
      if (left == 0)
        left = 2 + ++id;
      ids.push_back(j < length ? 3 * id : 0);
    }
  }
  // Row r lists r mod 11 numbers, 0 none.
  offsets = {0};
  for (int64_t row = 0; row < kRowsOfLists; ++row)
    offsets.push_back(offsets.back() + row % 11);
  listed.resize(kListed);
  for (int64_t row = 0; row < kRowsOfLists; ++row)
    for (int64_t at = offsets[row]; at < offsets[row + 1]; ++at)
      listed[at] = row % 3 + (at - offsets[row]) * (1 + row % 5);
  for (int64_t at = 0; at < kTableRows * kTableColumns; ++at)
    table.push_back(at % 7 == 0 || at % 11 == 3 ? 5 : 0);
}

void Tables::damageLists() {
  for (int64_t at = 0; at < kListed; ++at)
    listed[at] = at - 3;
  const int32_t some[] = {0, INT32_MAX, 4, -7, 30, 201, INT32_MIN, 200};
  for (int64_t row = 0; row <= kRowsOfLists; ++row)
    offsets[row] = some[row % 8];
}

bool Tables::lists(int64_t row, int64_t number) const {
  if (row >= kRowsOfLists)
    return false;
  int64_t begin = std::clamp<int64_t>(offsets[row], 0, kListed);
  int64_t end = std::clamp<int64_t>(offsets[row + 1], begin, kListed);
  return std::find(listed.begin() + begin, listed.begin() + end, number) !=
         listed.begin() + end;
}

bool Tables::hasToken(int64_t b, int64_t position) const {
  auto begin = tokens.begin() + b * kTokens;
  return std::find(begin, begin + kTokens, position) != begin + kTokens;
}

static bool inWindow(const Point &p, int64_t left, int64_t right) {
  return p.i - p.j <= left && p.j - p.i <= right;
}

static const std::string kPad = "%pad = transformer.mask.padding %lengths : "
                                "tensor<?xi32>\n";

bool SparseMask::isPadded() const {
  return text.find(kPad) != std::string::npos;
}

std::vector<SparseMask> heddle::test::sparseMasks() {
  return {
      {"prefix",
       "%c = transformer.mask.causal\n"
       "%p = transformer.mask.prefix [length = 11]\n"
       "%mask = transformer.mask.or %c, %p",
       [](const Tables &, const Point &p) { return p.j <= p.i || p.j < 11; }},
      {"longformer",
       kPad + "%w = transformer.mask.window [left = 6, right = 9]\n"
              "%g = transformer.mask.global [count = 2]\n"
              "%m = transformer.mask.or %w, %g\n"
              "%mask = transformer.mask.and %m, %pad",
       [](const Tables &, const Point &p) {
         return p.j < p.length && (inWindow(p, 6, 9) || p.i < 2 || p.j < 2);
       }},
      {"tokens",
       kPad + "%w = transformer.mask.window [left = 6, right = 9]\n"
              "%g = transformer.mask.global of %tokens : tensor<?x3xi32>\n"
              "%m = transformer.mask.or %w, %g\n"
              "%mask = transformer.mask.and %m, %pad",
       [](const Tables &t, const Point &p) {
         return p.j < p.length && (inWindow(p, 6, 9) || t.hasToken(p.b, p.i) ||
                                   t.hasToken(p.b, p.j));
       }},
      {"segments",
       kPad + "%s = transformer.mask.segments %ids : tensor<?x?xi32>\n"
              "%mask = transformer.mask.and %s, %pad",
       [](const Tables &t, const Point &p) {
         const int32_t *ids = &t.ids[p.b * p.positions];
         return p.j < p.length && ids[p.i] == ids[p.j];
       }},
      {"bigbird",
       kPad + "%w = transformer.mask.window [left = 8, right = 8]\n"
              "%g = transformer.mask.global [count = 3]\n"
              "%r = transformer.mask.random_blocks [block = 16, count = 3, "
              "seed = 7] of %lengths : tensor<?xi32>\n"
              "%o = transformer.mask.or %w, %g\n"
              "%m = transformer.mask.or %o, %r\n"
              "%mask = transformer.mask.and %m, %pad",
       [](const Tables &, const Point &p) {
         auto blocks = drawnBlocks(7, p.h, p.i / 16, (p.length + 15) / 16, 3);
         return p.j < p.length && (inWindow(p, 8, 8) || p.i < 3 || p.j < 3 ||
                                   has(blocks, p.j / 16));
       }},
      {"random_past",
       "%r = transformer.mask.random_blocks [block = 8, count = 20, seed = 1]\n"
       "%w = transformer.mask.window [left = 2, right = 0]\n"
       "%mask = transformer.mask.or %r, %w",
       [](const Tables &, const Point &p) {
         return has(drawnBlocks(1, p.h, p.i / 8, p.i / 8, 20), p.j / 8) ||
                inWindow(p, 2, 0);
       }},
      {"random_tokens",
       "%mask = transformer.mask.random_tokens [count = 5, seed = 3] of "
       "%lengths : tensor<?xi32>",
       [](const Tables &, const Point &p) {
         return has(drawnBlocks(3, p.h, p.i, p.length, 5), p.j);
       }},
      {"random_tokens_of_many",
       "%w = transformer.mask.window [left = 3, right = 1]\n"
       "%r = transformer.mask.random_tokens [count = 300, seed = 4294967295]\n"
       "%o = transformer.mask.or %w, %r\n"
       "%c = transformer.mask.causal\n"
       "%mask = transformer.mask.and %o, %c",
       [](const Tables &, const Point &p) {
         return p.j <= p.i && (inWindow(p, 3, 1) ||
                               has(drawnBlocks(-1, p.h, p.i, p.i, 300), p.j));
       }},
      {"blocks",
       kPad + "%m = transformer.mask.blocks %offsets, %listed [block = 4] : "
              "tensor<41xi32>, tensor<200xi32>\n"
              "%w = transformer.mask.window [left = 1, right = 1]\n"
              "%o = transformer.mask.or %w, %m\n"
              "%mask = transformer.mask.and %o, %pad",
       [](const Tables &t, const Point &p) {
         return p.j < p.length &&
                (t.lists(p.i / 4, p.j / 4) || inWindow(p, 1, 1));
       }},
      {"pairs",
       "%mask = transformer.mask.pairs %offsets, %listed : tensor<41xi32>, "
       "tensor<200xi32>",
       [](const Tables &t, const Point &p) { return t.lists(p.i, p.j); }},
      {"pairs_and_tokens",
       kPad + "%m = transformer.mask.pairs %offsets, %listed : tensor<41xi32>, "
              "tensor<200xi32>\n"
              "%r = transformer.mask.random_tokens [count = 4, seed = 0] of "
              "%lengths : tensor<?xi32>\n"
              "%w = transformer.mask.window [left = 2, right = 2]\n"
              "%o = transformer.mask.or %m, %r\n"
              "%u = transformer.mask.or %o, %w\n"
              "%mask = transformer.mask.and %u, %pad",
       [](const Tables &t, const Point &p) {
         return p.j < p.length &&
                (t.lists(p.i, p.j) || inWindow(p, 2, 2) ||
                 has(drawnBlocks(0, p.h, p.i, p.length, 4), p.j));
       }},
      {"no_pairs",
       kPad + "%m = transformer.mask.pairs %offsets, %listed : tensor<41xi32>, "
              "tensor<200xi32>\n"
              "%n = transformer.mask.not %m\n"
              "%mask = transformer.mask.and %n, %pad",
       [](const Tables &t, const Point &p) {
         return p.j < p.length && !t.lists(p.i, p.j);
       }},
      {"where",
       "%one = arith.constant 1 : i32\n"
       "%three = arith.constant 3 : i32\n"
       "%mask = transformer.mask.where within [left = 40, right = 3] {\n"
       "^bb0(%b: i32, %h: i32, %i: i32, %j: i32):\n"
       "  %s = arith.addi %i, %j : i32\n"
       "  %t = arith.addi %s, %h : i32\n"
       "  %r = arith.remui %t, %three : i32\n"
       "  %is = arith.cmpi ne, %r, %one : i32\n"
       "  transformer.yield %is : i1\n"
       "}",
       [](const Tables &, const Point &p) {
         return inWindow(p, 40, 3) && (p.i + p.j + p.h) % 3 != 1;
       }},
      {"per_head",
       "%mask = transformer.mask.window [left = [3, 7, 3, 9], right = [0, 2, "
       "0, 1], dilation = [1, 2, 1, 5]]",
       [](const Tables &, const Point &p) {
         int64_t left[] = {3, 7, 3, 9}, right[] = {0, 2, 0, 1};
         int64_t dilation[] = {1, 2, 1, 5}, d = dilation[p.h];
         return (p.i - p.j) % d == 0 &&
                inWindow(p, left[p.h] * d, right[p.h] * d);
       }},
      {"dilated",
       kPad + "%w = transformer.mask.window [left = 20, right = 20, dilation = "
              "4]\n"
              "%mask = transformer.mask.and %w, %pad",
       [](const Tables &, const Point &p) {
         return p.j < p.length && (p.i - p.j) % 4 == 0 && inWindow(p, 80, 80);
       }},
      {"table", "%mask = transformer.mask.dense %table : tensor<50x60xi32>",
       [](const Tables &t, const Point &p) {
         return p.i < kTableRows && p.j < kTableColumns &&
                t.table[p.i * kTableColumns + p.j] != 0;
       }},
      {"not_bigbird",
       kPad + "%w = transformer.mask.window [left = 8, right = 8]\n"
              "%r = transformer.mask.random_blocks [block = 5, count = 4, "
              "seed = 2] of %lengths : tensor<?xi32>\n"
              "%o = transformer.mask.or %w, %r\n"
              "%n = transformer.mask.not %o\n"
              "%mask = transformer.mask.and %n, %pad",
       [](const Tables &, const Point &p) {
         auto blocks = drawnBlocks(2, p.h, p.i / 5, (p.length + 4) / 5, 4);
         return p.j < p.length && !inWindow(p, 8, 8) && !has(blocks, p.j / 5);
       }},
  };
}
