//===- DoubleArrayBuilder.cpp - Writes tries ------------------------------===//
//
// Nodes are placed one after the other, all children of one at a time: at the
// first base, among the free units of the last blocks, where every child finds
// its unit free; else in a new block of 256 units. Two nodes never share a
// base, since a unit knows its byte but not its parent. Units that stay free
// are marked as values, which no byte equals.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/DoubleArrayBuilder.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <deque>

using namespace llvm;

namespace heddle {

namespace {

constexpr uint32_t kIsValue = 1u << 31, kIsScaled = 1u << 9, kEndsKey = 1u << 8;
constexpr uint32_t kBlock = 256;
/// How many blocks are searched for free units.
constexpr uint32_t kOpenBlocks = 16;

class DoubleArrayBuilder {
public:
  using Keys = std::vector<std::pair<StringRef, uint32_t>>;

  explicit DoubleArrayBuilder(const Keys &keys) : keys(keys) {
    addBlock();
    take(0, 0);
    bases[0] = true; // The root is no child.
  }

  std::vector<uint32_t> build();

private:
  /// The keys from `begin` to `end` share their first `depth` bytes, which lead
  /// to `node`.
  struct Range {
    size_t begin, end;
    uint32_t depth, node;
  };
  /// The keys of a range that go on with one byte; zero for the end.
  struct Child {
    size_t begin, end;
    unsigned char byte;
  };

  void addBlock();
  void take(uint32_t place, uint32_t unit);
  uint32_t findBase(uint32_t node, ArrayRef<Child> children);

  const Keys &keys;
  std::vector<uint32_t> units;
  /// By unit: whether it is taken, and whether it is the base of a node.
  std::vector<bool> taken, bases;
  /// The free units of the open blocks, a ring in the order of their places.
  std::vector<uint32_t> nextFree, previousFree;
  uint32_t firstFree = 0;
  bool hasFree = false;
};

} // namespace

void DoubleArrayBuilder::addBlock() {
  uint32_t begin = uint32_t(units.size()), end = begin + kBlock;
  if (begin >= kOpenBlocks * kBlock)
    for (uint32_t old = begin - kOpenBlocks * kBlock, last = old + kBlock;
         old < last; ++old)
      if (!taken[old])
        take(old, kIsValue);
  units.resize(end, kIsValue);
  taken.resize(end);
  bases.resize(end);
  nextFree.resize(end);
  previousFree.resize(end);
  for (uint32_t place = begin; place < end; ++place) {
    nextFree[place] = place + 1;
    previousFree[place] = place - 1;
  }
  if (!hasFree)
    firstFree = begin;
  uint32_t last = hasFree ? previousFree[firstFree] : end - 1;
  nextFree[last] = begin;
  previousFree[begin] = last;
  nextFree[end - 1] = firstFree;
  previousFree[firstFree] = end - 1;
  hasFree = true;
}

void DoubleArrayBuilder::take(uint32_t place, uint32_t unit) {
  uint32_t next = nextFree[place], previous = previousFree[place];
  nextFree[previous] = next;
  previousFree[next] = previous;
  hasFree = next != place;
  if (firstFree == place)
    firstFree = next;
  taken[place] = true;
  units[place] = unit;
}

uint32_t DoubleArrayBuilder::findBase(uint32_t node, ArrayRef<Child> children) {
  auto fits = [&](uint32_t base) {
    uint32_t offset = node ^ base;
    bool isWritable = offset < 1u << 21 || (offset & 0xff) == 0;
    return isWritable && !bases[base] &&
           llvm::none_of(children, [&](const Child &child) {
             return taken[base ^ child.byte];
           });
  };
  if (hasFree) {
    uint32_t place = firstFree;
    do {
      if (uint32_t base = place ^ children.front().byte; fits(base))
        return base;
      place = nextFree[place];
    } while (place != firstFree);
  }
  uint32_t base = uint32_t(units.size()) | (node & 0xff);
  addBlock();
  return base;
}

std::vector<uint32_t> DoubleArrayBuilder::build() {
  std::vector<Range> open = {{0, keys.size(), 0, 0}};
  SmallVector<Child> children;
  while (!open.empty()) {
    Range range = open.back();
    open.pop_back();
    children.clear();
    for (size_t key = range.begin; key < range.end; ++key) {
      StringRef text = keys[key].first;
      unsigned char byte =
          text.size() == range.depth ? 0 : (unsigned char)text[range.depth];
      if (children.empty() || children.back().byte != byte)
        children.push_back({key, key, byte});
      children.back().end = key + 1;
    }
    uint32_t base = findBase(range.node, children);
    uint32_t offset = range.node ^ base;
    bases[base] = true;
    units[range.node] |=
        offset < 1u << 21 ? offset << 10 : offset << 2 | kIsScaled;
    if (children.front().byte == 0)
      units[range.node] |= kEndsKey;
    for (const Child &child : children) {
      uint32_t place = base ^ child.byte;
      take(place,
           child.byte ? child.byte : keys[child.begin].second | kIsValue);
      if (child.byte)
        open.push_back({child.begin, child.end, range.depth + 1, place});
    }
  }
  return std::move(units);
}

std::vector<uint32_t>
buildDoubleArray(std::vector<std::pair<StringRef, uint32_t>> keys) {
  if (keys.empty())
    return {};
  llvm::sort(keys);
  return DoubleArrayBuilder(keys).build();
}

std::vector<uint32_t>
buildPieceArray(std::vector<std::pair<StringRef, uint32_t>> pieces) {
  std::deque<std::string> spelled;
  llvm::erase_if(pieces, [](const auto &piece) { return piece.first.empty(); });
  for (auto &[text, id] : pieces) {
    if (!text.contains('\0'))
      continue;
    std::string &key = spelled.emplace_back();
    for (char byte : text)
      key += byte ? std::string(1, byte) : format::kZeroKey;
    text = key;
  }
  return buildDoubleArray(std::move(pieces));
}

} // namespace heddle
