//===- DecodingMemory.cpp - What decode steps keep, for people ------------===//
//
// The shapes of a step's arguments say it: slots with a bound are a ring, slots
// without one a cache of all positions, and a state that has none is constant.
// What is alike is counted together, keys and values each.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/DecodingMemory.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

using namespace heddle;

/// If neither the caller nor the model bounds what is generated.
static constexpr int64_t kPositions = 1000;

std::string heddle::readableSize(uint64_t bytes) {
  if (bytes < 10000)
    return std::to_string(bytes) + " B";
  const char *units[] = {"kB", "MB", "GB", "TB"};
  double value = double(bytes) / 1000;
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit)
    value /= 1000;
  char text[32];
  snprintf(text, sizeof(text), "%.1f %s", value, units[unit]);
  return text;
}

namespace {
/// What an argument keeps of a sentence, in the order of the text.
struct Kind {
  enum Reach {
    Ring,
    Cache,
    Constant,
    OfSource,
    OfCandidates,
    OfSentence
  } reach;
  /// Of a ring.
  int64_t pinned = 0, slots = 0;

  bool operator<(const Kind &other) const {
    return std::tie(reach, pinned, slots) <
           std::tie(other.reach, other.pinned, other.slots);
  }
};

struct Kept {
  size_t count = 0;
  /// At one position, source token and candidate, and at all positions.
  uint64_t bytesOfOne = 0, bytes = 0;
};
} // namespace

static const Extent *findExtent(const Argument &argument, Dim dim) {
  for (const Extent &extent : argument.shape)
    if (extent.dim == dim)
      return &extent;
  return nullptr;
}

static Kind kindOf(const Argument &argument) {
  if (argument.kind == ArgumentKind::Prepared)
    return {findExtent(argument, Dim::Source)      ? Kind::OfSource
            : findExtent(argument, Dim::Shortlist) ? Kind::OfCandidates
                                                   : Kind::OfSentence};
  const Extent *slots = findExtent(argument, Dim::Capacity);
  if (!slots)
    return {Kind::Constant};
  if (slots->size == Extent::kUnbounded)
    return {Kind::Cache};
  return {Kind::Ring, argument.pinned, slots->size - argument.pinned};
}

static std::string nameOf(const Kind &kind, bool isOne) {
  const char *plural = isOne ? "" : "s";
  auto named = [&](const char *noun, const std::string &rest) {
    return std::string(noun) + plural + " " + rest;
  };
  switch (kind.reach) {
  case Kind::Ring: {
    std::string pinned =
        kind.pinned == 0 ? ""
        : kind.pinned == 1
            ? "the first and "
            : "the first " + std::to_string(kind.pinned) + " and ";
    std::string last = kind.slots == 1
                           ? "position"
                           : std::to_string(kind.slots) + " positions";
    return named("ring", "of " + pinned + "the last " + last);
  }
  case Kind::Cache:
    return named("cache", "of all positions");
  case Kind::Constant:
    return named("state", "of constant size");
  case Kind::OfSource:
    return named("table", "of the source's positions");
  case Kind::OfCandidates:
    return named("table", "of candidates");
  case Kind::OfSentence:
    return named("table", "of the sentence");
  }
  __builtin_unreachable();
}

/// What stands before the bytes of all positions.
static std::string describeBytes(const Kind &kind, const Kept &kept) {
  std::string one = readableSize(kept.bytesOfOne);
  std::string all = readableSize(kept.bytes);
  switch (kind.reach) {
  case Kind::Ring:
  case Kind::Constant:
  case Kind::OfSentence:
    return all;
  case Kind::Cache:
    return all + ", " + one + " a position";
  case Kind::OfSource:
    return one + " a position of the source";
  case Kind::OfCandidates:
    return one + " a candidate";
  }
  __builtin_unreachable();
}

static std::string describeEntry(const Entry &entry, int64_t positions) {
  DimValues one, all;
  all[Dim::Capacity] = positions;
  std::map<Kind, Kept> kinds;
  for (const Argument &argument : entry.arguments) {
    if (argument.kind != ArgumentKind::State &&
        argument.kind != ArgumentKind::Prepared)
      continue;
    Kept &kept = kinds[kindOf(argument)];
    ++kept.count;
    // Sizes that no memory holds are as good as none.
    kept.bytesOfOne += argument.byteSize(one).value_or(0);
    kept.bytes += argument.byteSize(all).value_or(0);
  }
  std::string text;
  for (const auto &[kind, kept] : kinds) {
    std::string label =
        std::to_string(kept.count) + " " + nameOf(kind, kept.count == 1);
    label.resize(std::max<size_t>(label.size(), 48), ' ');
    text += "  " + label + " " + describeBytes(kind, kept) + "\n";
  }
  return text.empty() ? "  nothing\n" : text;
}

std::string heddle::describeDecodingMemory(const Manifest &manifest,
                                           std::optional<int64_t> positions) {
  const Generation &generation = manifest.generation;
  for (std::optional<int64_t> most :
       {generation.maxLength, generation.maxTarget})
    if (!positions)
      positions = most;
  int64_t count = positions.value_or(kPositions);
  // Steps that keep the same stand together, where the first of them does.
  std::vector<std::pair<std::string, std::string>> entries;
  for (const Entry &entry : manifest.entries) {
    if (std::none_of(entry.dims.begin(), entry.dims.end(),
                     [](const Extent &dim) { return dim.dim == Dim::Rows; }))
      continue;
    std::string kept = describeEntry(entry, count);
    auto same =
        std::find_if(entries.begin(), entries.end(),
                     [&](const auto &each) { return each.first == kept; });
    if (same == entries.end())
      entries.emplace_back(kept, entry.name);
    else
      same->second += ", " + entry.name;
  }
  std::string text;
  for (const auto &[kept, names] : entries)
    text += "memory of a sentence at " + std::to_string(count) +
            " positions, in " + names + "\n" + kept;
  return text;
}
