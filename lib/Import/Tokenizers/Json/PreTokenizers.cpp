//===- PreTokenizers.cpp - Pre-tokenizers of tokenizer.json ---------------===//
//
// Nearly all of them cut at the matches of some pattern.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Characters/CharacterMap.h"
#include "lib/Import/Tokenizers/Json/Pattern.h"
#include "lib/Import/Tokenizers/Json/Readers.h"
#include "lib/Import/Tokenizers/Patterns/PatternTable.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

namespace heddle {

static constexpr uint32_t kBoth = StageList::kBothSides;

bool isOneCharacter(StringRef text) {
  return !text.empty() && getNumBytesForUTF8(UTF8(text.front())) == text.size();
}

static void addSplit(uint32_t behavior, bool inverts, StringRef pattern,
                     StageList &stages) {
  stages.addHeader(format::kSplitMatches, kBoth,
                   format::SplitHeader{behavior, inverts}, pattern);
}

/// The field "behavior".
static Expected<uint32_t> readBehavior(Component &component,
                                       StringRef byDefault) {
  static constexpr std::pair<StringLiteral, uint32_t> names[] = {
      {"Isolated", format::kIsolates},
      {"Removed", format::kRemoves},
      {"MergedWithPrevious", format::kMergesBefore},
      {"MergedWithNext", format::kMergesBehind},
      {"Contiguous", format::kJoinsMatches}};
  std::string name = component.text("behavior", byDefault);
  for (const auto &[known, behavior] : names)
    if (name == known)
      return behavior;
  return component.refuse("behavior", "Isolated, Removed, MergedWithPrevious, "
                                      "MergedWithNext, Contiguous");
}

static Error addPatternSplit(Component component, StageList &stages) {
  Expected<uint32_t> behavior = readBehavior(component, "");
  if (!behavior)
    return behavior.takeError();
  Expected<std::string> pattern = readPattern(component);
  if (!pattern)
    return pattern.takeError();
  bool inverts = component.boolean("invert");
  if (Error error = component.finish())
    return error;
  addSplit(*behavior, inverts, *pattern, stages);
  return Error::success();
}

/// Its flag for offsets does nothing here: the post-processor's counts.
static Error addByteLevel(Component component, bool leavesBytes,
                          StageList &stages) {
  bool addsSpace = component.boolean("add_prefix_space", true),
       usesPattern = component.boolean("use_regex", true);
  component.boolean("trim_offsets", true);
  if (Error error = component.finish())
    return error;
  if (addsSpace)
    stages.add(format::kAddSpace, kBoth);
  if (usesPattern)
    addSplit(format::kIsolates, /*inverts=*/false, buildGpt2Pattern(), stages);
  if (!leavesBytes)
    addByteNames(stages);
  return Error::success();
}

static Error addPunctuation(Component component, StageList &stages) {
  Expected<uint32_t> behavior = readBehavior(component, "Isolated");
  if (!behavior)
    return behavior.takeError();
  if (Error error = component.finish())
    return error;
  addSplit(*behavior, /*inverts=*/false,
           buildSetTable(punctuation(), /*repeats=*/false), stages);
  return Error::success();
}

static Error addDigits(Component component, StageList &stages) {
  bool isEach = component.boolean("individual_digits");
  if (Error error = component.finish())
    return error;
  addSplit(isEach ? format::kIsolates : format::kJoinsMatches,
           /*inverts=*/false, buildSetTable(digits(), /*repeats=*/false),
           stages);
  return Error::success();
}

static Error addDelimiter(Component component, StageList &stages) {
  std::string delimiter = component.text("delimiter");
  Expected<std::string> pattern = buildTextTable(delimiter);
  if (!isOneCharacter(delimiter) || !pattern) {
    consumeError(pattern.takeError());
    return component.refuse("delimiter", "a character");
  }
  if (Error error = component.finish())
    return error;
  addSplit(format::kRemoves, /*inverts=*/false, *pattern, stages);
  return Error::success();
}

static Error addMetaspace(Component component, StageList &stages) {
  std::string mark = component.text("replacement");
  // Older files say by a flag whether each part gets a mark.
  bool always = component.boolean("add_prefix_space", true),
       splits = component.boolean("split", true);
  std::string scheme = component.text("prepend_scheme", StringRef("always"));
  component.any("str_rep");
  static constexpr StringLiteral names[] = {"always", "first", "never"};
  const StringLiteral *name = llvm::find(names, scheme);
  if (name == std::end(names))
    return component.refuse("prepend_scheme", "always, first, never");
  Expected<std::string> pattern = buildTextTable(mark);
  if (!always && scheme != "never") {
    consumeError(pattern.takeError());
    return component.refuse("add_prefix_space",
                            "true, or a 'prepend_scheme' of never");
  }
  if (!isOneCharacter(mark) || !pattern) {
    consumeError(pattern.takeError());
    return component.refuse("replacement", "a character");
  }
  if (Error error = component.finish())
    return error;
  stages.addHeader(
      format::kMarkSpaces, kBoth,
      format::MarkHeader{uint32_t(name - names), uint32_t(mark.size())}, mark);
  if (splits)
    addSplit(format::kMergesBehind, /*inverts=*/false, *pattern, stages);
  return Error::success();
}

/// Parts of so many characters.
static Error addFixedLength(Component component, StageList &stages) {
  int64_t length = component.number("length", 5);
  if (length < 1 || length > 1000)
    return component.refuse("length", "1 to 1000");
  if (Error error = component.finish())
    return error;
  Expected<std::string> pattern =
      buildPatternTable("(?m:.){1," + std::to_string(length) + "}");
  if (!pattern)
    return pattern.takeError();
  addSplit(format::kIsolates, /*inverts=*/false, *pattern, stages);
  return Error::success();
}

/// A run of a script, with what belongs to none behind it; what belongs to none
/// in front of all is dropped.
static void addScripts(StageList &stages) {
  std::vector<CodePointSet> all = scripts();
  CodePointSet known;
  for (const CodePointSet &script : all)
    known = known.unite(script);
  addSplit(format::kRemoves, /*inverts=*/true,
           buildRunTable(all, known.complement()), stages);
}

Error addPreTokenizer(Component component, bool leavesBytes,
                      StageList &stages) {
  StringRef type = component.type();
  if (type == "Sequence") {
    size_t left = component.count("pretokenizers");
    if (Error error = component.forEach("pretokenizers", [&](Component part) {
          return addPreTokenizer(part, --left == 0 && leavesBytes, stages);
        }))
      return error;
    return component.finish();
  }
  auto removed = [&](const CodePointSet &set) {
    addSplit(format::kRemoves, /*inverts=*/false,
             buildSetTable(set, /*repeats=*/true), stages);
  };
  if (type == "BertPreTokenizer") {
    removed(bertSpaces());
    addSplit(format::kIsolates, /*inverts=*/false,
             buildSetTable(bertPunctuation(), /*repeats=*/false), stages);
    return component.finish();
  }
  if (type == "WhitespaceSplit") {
    removed(bertSpaces());
    return component.finish();
  }
  if (type == "Whitespace") {
    CodePointSet words = rustWordCharacters();
    CodePointSet others = words.unite(bertSpaces()).complement();
    addSplit(format::kRemoves, /*inverts=*/true,
             buildSetTable({words, others}, /*repeats=*/true), stages);
    return component.finish();
  }
  if (type == "Split")
    return addPatternSplit(component, stages);
  if (type == "ByteLevel")
    return addByteLevel(component, leavesBytes, stages);
  if (type == "Punctuation")
    return addPunctuation(component, stages);
  if (type == "Digits")
    return addDigits(component, stages);
  if (type == "CharDelimiterSplit")
    return addDelimiter(component, stages);
  if (type == "Metaspace")
    return addMetaspace(component, stages);
  if (type == "FixedLength")
    return addFixedLength(component, stages);
  if (type == "UnicodeScripts") {
    addScripts(stages);
    return component.finish();
  }
  return component.refuseType(
      "BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, FixedLength, "
      "Metaspace, Punctuation, Sequence, Split, UnicodeScripts, Whitespace, "
      "WhitespaceSplit");
}

} // namespace heddle
