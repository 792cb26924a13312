//===- PatternTable.cpp - A pattern as a table of states ------------------===//
//
// A state is the list of ways that a backtracking matcher would still try, in
// its order (the ordered subset construction of RE2, https://swtch.com/~rsc/
// regexp/regexp3.html). Ways behind a match are dropped: the last match that a
// run of states sees is that of the matcher, whether it is the longest or not.
//
// Looks ahead are answered with the next character: a state does not follow its
// ways to where they take one before that character is known, and a transition
// says whether there was a match in front of it. Looks behind are answers that
// a state remembers of the character before.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Patterns/PatternTable.h"
#include "lib/Import/Tokenizers/Patterns/PatternProgram.h"
#include "lib/Support/Error.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <map>

using namespace llvm;
using namespace heddle;

using Kind = PatternInstruction::Kind;

static constexpr size_t kMostStates = 20000, kMostClasses = 255;
/// Instructions that are followed to find all states: some tenths of a second.
static constexpr size_t kMostWork = 20000000;

namespace {
/// Characters that no set of a program tells apart.
class CharacterClasses {
public:
  explicit CharacterClasses(const std::vector<CodePointSet> &sets);

  size_t count() const { return members.size(); }
  bool contains(unsigned set, size_t kind) const { return members[kind][set]; }
  /// The class of each block's characters: a list of blocks that differ, and
  /// which of them each is.
  void writeBlocks(std::vector<uint16_t> &numbers,
                   std::vector<uint8_t> &blocks) const;

private:
  /// Where a class begins, in order.
  std::vector<std::pair<char32_t, uint8_t>> changes;
  /// By class: which sets have its characters.
  std::vector<std::vector<bool>> members;
};

class TableBuilder {
public:
  TableBuilder(const PatternProgram &program, StringRef pattern)
      : program(program), pattern(pattern), classes(program.sets),
        known(program.instructions.size()), taken(program.instructions.size()) {
    for (const PatternInstruction &each : program.instructions)
      if (each.kind == Kind::Behind)
        behinds.push_back(&each);
  }

  Expected<std::string> build();

private:
  struct State {
    std::vector<unsigned> ways;
    /// The answer of each of `behinds`.
    std::vector<bool> behind;
    bool operator<(const State &other) const {
      return std::tie(ways, behind) < std::tie(other.ways, other.behind);
    }
  };
  struct Step {
    State next;
    bool matches = false;
  };

  /// What a class is to looks, the end of the text among them.
  bool isSeen(const PatternInstruction &look, size_t kind) const {
    return kind == classes.count() ? look.atEdge
                                   : classes.contains(look.set, kind);
  }
  std::vector<bool> answersBehind(size_t kind) const;
  Step step(const State &state, size_t kind);
  uint16_t numberOf(State state);
  std::string write() const;

  const PatternProgram &program;
  StringRef pattern;
  CharacterClasses classes;
  std::vector<const PatternInstruction *> behinds;
  std::map<State, uint16_t> numbers;
  std::vector<const State *> states;
  std::vector<uint16_t> starts, transitions;
  /// By instruction: the last step that has come to it, and that takes a
  /// character to it.
  std::vector<size_t> known, taken;
  size_t stepCount = 0, work = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

CharacterClasses::CharacterClasses(const std::vector<CodePointSet> &sets) {
  // Where some set begins or ends.
  std::vector<std::pair<char32_t, unsigned>> edges;
  for (auto [number, set] : enumerate(sets))
    for (const CodePointSet::Range &range : set.sorted()) {
      edges.push_back({range.first, number});
      edges.push_back({range.second + 1, number});
    }
  llvm::sort(edges);
  std::map<std::vector<bool>, uint8_t> known;
  std::vector<bool> now(sets.size());
  auto begin = [&](char32_t point) {
    auto [found, isNew] = known.insert({now, uint8_t(known.size())});
    if (isNew)
      members.push_back(now);
    changes.push_back({point, found->second});
  };
  size_t at = 0;
  if (edges.empty() || edges[0].first > 0)
    begin(0);
  while (at < edges.size()) {
    char32_t point = edges[at].first;
    for (; at < edges.size() && edges[at].first == point; ++at)
      now[edges[at].second].flip();
    if (point <= CodePointSet::kLast)
      begin(point);
  }
}

void CharacterClasses::writeBlocks(std::vector<uint16_t> &numbers,
                                   std::vector<uint8_t> &blocks) const {
  std::map<std::array<uint8_t, format::kPatternBlock>, uint16_t> known;
  auto change = changes.begin();
  for (char32_t first = 0; first <= CodePointSet::kLast;
       first += format::kPatternBlock) {
    std::array<uint8_t, format::kPatternBlock> block;
    for (size_t i = 0; i < block.size(); ++i) {
      while (std::next(change) != changes.end() &&
             std::next(change)->first <= first + i)
        ++change;
      block[i] = change->second;
    }
    auto [found, isNew] = known.insert({block, uint16_t(known.size())});
    if (isNew)
      blocks.insert(blocks.end(), block.begin(), block.end());
    numbers.push_back(found->second);
  }
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

std::vector<bool> TableBuilder::answersBehind(size_t kind) const {
  std::vector<bool> answers;
  for (const PatternInstruction *look : behinds)
    answers.push_back(isSeen(*look, kind));
  return answers;
}

TableBuilder::Step TableBuilder::step(const State &state, size_t kind) {
  Step result;
  ++stepCount;
  bool isEnd = kind == classes.count();
  SmallVector<unsigned> open(state.ways.rbegin(), state.ways.rend());
  while (!open.empty()) {
    unsigned at = open.pop_back_val();
    ++work;
    if (known[at] == stepCount)
      continue;
    known[at] = stepCount;
    const PatternInstruction &each = program.instructions[at];
    switch (each.kind) {
    case Kind::Character:
      if (!isEnd && classes.contains(each.set, kind) &&
          taken[each.next] != stepCount) {
        taken[each.next] = stepCount;
        result.next.ways.push_back(each.next);
      }
      break;
    case Kind::Split:
      open.append({each.other, each.next});
      break;
    case Kind::Ahead:
      if (isSeen(each, kind))
        open.push_back(each.next);
      break;
    case Kind::Behind:
      if (state.behind[llvm::find(behinds, &each) - behinds.begin()])
        open.push_back(each.next);
      break;
    case Kind::Match:
      result.matches = true;
      open.clear();
      break;
    }
  }
  if (!result.next.ways.empty())
    result.next.behind = answersBehind(kind);
  return result;
}

uint16_t TableBuilder::numberOf(State state) {
  auto [found, isNew] = numbers.insert({std::move(state), uint16_t(0)});
  if (isNew) {
    found->second = states.size();
    states.push_back(&found->first);
  }
  return found->second;
}

Expected<std::string> TableBuilder::build() {
  if (classes.count() > kMostClasses)
    return refusePattern(pattern, 0, "more than 255 classes of characters");
  // State 0 has no way left.
  numberOf({{}, {}});
  for (size_t before = 0; before <= classes.count(); ++before)
    starts.push_back(numberOf({{program.start}, answersBehind(before)}));
  size_t startCount = states.size();
  for (size_t at = 0; at < states.size(); ++at) {
    if (states.size() > kMostStates || work > kMostWork)
      return refusePattern(pattern, 0, "more than 20,000 states");
    for (size_t kind = 0; kind <= classes.count(); ++kind) {
      Step result = step(*states[at], kind);
      if (result.matches && at < startCount)
        return refusePattern(pattern, 0, "the empty text among its matches");
      transitions.push_back(numberOf(std::move(result.next)) << 1 |
                            uint16_t(result.matches));
    }
  }
  return write();
}

std::string TableBuilder::write() const {
  std::vector<uint16_t> numbers;
  std::vector<uint8_t> blocks;
  classes.writeBlocks(numbers, blocks);
  format::PatternHeader header = {};
  header.stateCount = states.size();
  header.classCount = classes.count();
  header.blockCount = blocks.size() / format::kPatternBlock;
  std::string table(reinterpret_cast<const char *>(&header), sizeof header);
  auto append = [&](const auto &values) {
    table.append(reinterpret_cast<const char *>(values.data()),
                 values.size() * sizeof values[0]);
  };
  append(starts);
  append(transitions);
  append(numbers);
  append(blocks);
  return table;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

static Expected<std::string> buildTable(const PatternNode &node,
                                        StringRef pattern) {
  Expected<PatternProgram> program = buildPatternProgram(node, pattern);
  if (!program)
    return program.takeError();
  return TableBuilder(*program, pattern).build();
}

Expected<std::string> heddle::buildPatternTable(StringRef pattern) {
  Expected<PatternNode> node = parsePattern(pattern);
  if (!node)
    return node.takeError();
  return buildTable(*node, pattern);
}

Expected<std::string> heddle::buildTextTable(StringRef text) {
  return buildTable(patternOfText(text), text);
}

static PatternNode matchOne(const CodePointSet &set) {
  PatternNode one;
  one.kind = PatternNode::Kind::Character;
  one.set = set;
  return one;
}

static PatternNode repeat(PatternNode one, unsigned least) {
  PatternNode run;
  run.kind = PatternNode::Kind::Repeat;
  run.parts = {std::move(one)};
  run.least = least;
  run.most = PatternNode::kEndless;
  return run;
}

std::string heddle::buildSetTable(ArrayRef<CodePointSet> sets, bool repeats) {
  PatternNode choice;
  choice.kind = PatternNode::Kind::Choice;
  for (const CodePointSet &set : sets)
    choice.parts.push_back(repeats ? repeat(matchOne(set), 1) : matchOne(set));
  return cantFail(buildTable(choice, ""));
}

std::string heddle::buildRunTable(ArrayRef<CodePointSet> sets,
                                  const CodePointSet &others) {
  PatternNode choice;
  choice.kind = PatternNode::Kind::Choice;
  for (const CodePointSet &set : sets) {
    PatternNode run;
    run.parts = {matchOne(set), repeat(matchOne(set.unite(others)), 0)};
    choice.parts.push_back(std::move(run));
  }
  return cantFail(buildTable(choice, ""));
}
