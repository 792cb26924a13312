//===- PatternProgram.cpp - A pattern as an automaton with choices --------===//
//
// Instructions are made from the end of the pattern to its start, so that each
// knows the one behind it (Thompson, "Regular expression search algorithm",
// CACM 11 (1968)).
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Patterns/PatternProgram.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace heddle;

using Kind = PatternInstruction::Kind;

static constexpr size_t kMostInstructions = 10000;

namespace {
class ProgramBuilder {
public:
  explicit ProgramBuilder(StringRef pattern) : pattern(pattern) {}

  Expected<PatternProgram> build(const PatternNode &node);

private:
  unsigned add(PatternInstruction instruction);
  unsigned setOf(const CodePointSet &set);
  /// The start of the node's instructions, of which the last go on at `next`.
  unsigned append(const PatternNode &node, unsigned next);
  unsigned appendRepeat(const PatternNode &node, unsigned next);
  unsigned addSplit(unsigned preferred, unsigned other, bool isLazy);
  void refuse(size_t place, StringRef what);

  StringRef pattern;
  PatternProgram program;
  std::string failure;
  size_t failedAt = 0;
};
} // namespace

void ProgramBuilder::refuse(size_t place, StringRef what) {
  if (!failure.empty())
    return;
  failure = what.str();
  failedAt = place;
}

unsigned ProgramBuilder::add(PatternInstruction instruction) {
  if (program.instructions.size() >= kMostInstructions) {
    refuse(0, "more repetitions than an automaton has room for, the first");
    return 0;
  }
  program.instructions.push_back(instruction);
  return program.instructions.size() - 1;
}

unsigned ProgramBuilder::setOf(const CodePointSet &set) {
  auto found = llvm::find(program.sets, set);
  if (found == program.sets.end())
    found = program.sets.insert(found, set);
  return found - program.sets.begin();
}

unsigned ProgramBuilder::addSplit(unsigned preferred, unsigned other,
                                  bool isLazy) {
  if (isLazy)
    std::swap(preferred, other);
  return add({Kind::Split, 0, false, preferred, other});
}

/// Whether it matches the empty text, whatever is ahead.
static bool mayBeEmpty(const PatternNode &node) {
  switch (node.kind) {
  case PatternNode::Kind::Character:
    return false;
  case PatternNode::Kind::Sequence:
    return all_of(node.parts, mayBeEmpty);
  case PatternNode::Kind::Choice:
    return any_of(node.parts, mayBeEmpty);
  case PatternNode::Kind::Repeat:
    return node.least == 0 || mayBeEmpty(node.parts[0]);
  default:
    return true;
  }
}

unsigned ProgramBuilder::appendRepeat(const PatternNode &node, unsigned next) {
  const PatternNode &part = node.parts[0];
  bool isLazy = node.mode == PatternNode::Mode::Lazy;
  // A possessive quantifier of a class may end only where no character of the
  // class is left.
  unsigned leave = next;
  if (node.mode == PatternNode::Mode::Possessive)
    leave = add({Kind::Ahead, setOf(part.set.complement()), true, next});
  unsigned entry = next;
  if (node.most == PatternNode::kEndless) {
    if (mayBeEmpty(part))
      refuse(node.place, "an endless repetition of what may be empty");
    entry = add({Kind::Split});
    unsigned body = append(part, entry);
    program.instructions[entry].next = isLazy ? leave : body;
    program.instructions[entry].other = isLazy ? body : leave;
  } else {
    for (unsigned i = node.least; i < node.most && failure.empty(); ++i)
      entry = addSplit(append(part, entry), leave, isLazy);
  }
  for (unsigned i = 0; i < node.least && failure.empty(); ++i)
    entry = append(part, entry);
  return entry;
}

unsigned ProgramBuilder::append(const PatternNode &node, unsigned next) {
  switch (node.kind) {
  case PatternNode::Kind::Character:
    return add({Kind::Character, setOf(node.set), false, next});
  case PatternNode::Kind::Ahead:
    return add({Kind::Ahead, setOf(node.set), node.atEdge, next});
  case PatternNode::Kind::Behind:
    return add({Kind::Behind, setOf(node.set), node.atEdge, next});
  case PatternNode::Kind::Repeat:
    return appendRepeat(node, next);
  case PatternNode::Kind::Sequence:
    for (const PatternNode &part : reverse(node.parts))
      next = append(part, next);
    return next;
  case PatternNode::Kind::Choice: {
    unsigned entry = append(node.parts.back(), next);
    for (const PatternNode &part : reverse(ArrayRef(node.parts).drop_back()))
      entry = addSplit(append(part, next), entry, /*isLazy=*/false);
    return entry;
  }
  }
  llvm_unreachable("all kinds are handled");
}

Expected<PatternProgram> ProgramBuilder::build(const PatternNode &node) {
  unsigned match = add({Kind::Match});
  program.start = append(node, match);
  if (!failure.empty())
    return refusePattern(pattern, failedAt, failure);
  return std::move(program);
}

Expected<PatternProgram> heddle::buildPatternProgram(const PatternNode &node,
                                                     StringRef pattern) {
  return ProgramBuilder(pattern).build(node);
}
