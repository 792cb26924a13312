//===- Decoders.cpp - Decoders of tokenizer.json --------------------------===//
//
// A decoder, or each part of a sequence, is a step that makes texts of texts.
// Two kinds have a stage of their own if they stand alone: bytes, and words.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Json/Pattern.h"
#include "lib/Import/Tokenizers/Json/Readers.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

using namespace llvm;

namespace heddle {

namespace {
/// Steps in the making.
class JoinSteps {
public:
  Error add(Component component);
  /// White space at the ends of the whole text.
  void addStripping() {
    push(format::kFuseAll);
    push(format::kStripEach);
  }
  void addTo(StageList &stages) const;

private:
  void push(uint32_t kind, StringRef first = "", StringRef second = "",
            int64_t atStart = 0, int64_t atEnd = 0);
  Error addReplace(Component component);
  Error addStrip(Component component);
  Error addMetaspace(Component component);
  Error addCtc(Component component);
  Error addSuffix(Component component);

  std::vector<format::JoinStep> steps;
  std::string texts;
};
} // namespace

/// wordpiece::cleanup of the library: spaces in front of English punctuation.
static constexpr std::pair<StringLiteral, StringLiteral> kCleaningRules[] = {
    {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
    {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
    {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};

void JoinSteps::push(uint32_t kind, StringRef first, StringRef second,
                     int64_t atStart, int64_t atEnd) {
  steps.push_back({kind, uint32_t(atStart), uint32_t(atEnd),
                   uint32_t(first.size()), uint32_t(second.size())});
  for (StringRef text : {first, second})
    texts += text.str() + std::string(-text.size() % 4, '\0');
}

void JoinSteps::addTo(StageList &stages) const {
  std::string table;
  appendValues(table, ArrayRef(steps));
  stages.addHeader(format::kJoinSteps, format::kUsedToJoin,
                   format::StepsHeader{uint32_t(steps.size()), 0},
                   table + texts);
}

Error JoinSteps::addReplace(Component component) {
  const json::Value *value = component.any("pattern");
  const json::Object *pattern = value ? value->getAsObject() : nullptr;
  std::optional<StringRef> text =
      pattern ? pattern->getString("String") : std::nullopt;
  std::string content = component.text("content");
  Expected<std::string> table = readPattern(component);
  if (!table)
    return table.takeError();
  if (Error error = component.finish())
    return error;
  if (text)
    push(format::kReplaceText, *text, content);
  else
    push(format::kReplacePattern, *table, content);
  return Error::success();
}

Error JoinSteps::addStrip(Component component) {
  std::string content = component.text("content");
  int64_t start = component.number("start"), stop = component.number("stop");
  if (!isOneCharacter(content))
    return component.refuse("content", "a character");
  if (start < 0 || stop < 0 || start > 1 << 20 || stop > 1 << 20)
    return component.refuse("numbers of characters");
  if (Error error = component.finish())
    return error;
  push(format::kStripEnds, content, "", start, stop);
  return Error::success();
}

Error JoinSteps::addMetaspace(Component component) {
  std::string mark = component.text("replacement");
  bool always = component.boolean("add_prefix_space", true);
  std::string scheme = component.text("prepend_scheme", StringRef("always"));
  component.any("split");
  component.any("str_rep");
  if (!always && scheme != "never")
    return component.refuse("add_prefix_space",
                            "true, or a 'prepend_scheme' of never");
  if (!isOneCharacter(mark))
    return component.refuse("replacement", "a character");
  if (Error error = component.finish())
    return error;
  push(format::kUnmarkSpaces, mark, scheme == "never" ? " " : "");
  return Error::success();
}

/// Of equal tokens beside each other one is left, then the padding goes.
Error JoinSteps::addCtc(Component component) {
  std::string pad = component.text("pad_token"),
              delimiter = component.text("word_delimiter_token");
  bool cleansUp = component.boolean("cleanup");
  for (auto [field, text] :
       {std::pair("pad_token", &pad), {"word_delimiter_token", &delimiter}})
    if (text->empty())
      return component.refuse(field, "a text");
  if (Error error = component.finish())
    return error;
  push(format::kDropRepeats);
  push(format::kReplaceText, pad);
  if (cleansUp) {
    for (auto [from, to] : kCleaningRules)
      push(format::kReplaceText, from, to);
    push(format::kReplaceText, delimiter, " ");
  }
  push(format::kDropEmpty);
  return Error::success();
}

Error JoinSteps::addSuffix(Component component) {
  std::string suffix = component.text("suffix");
  if (suffix.empty())
    return component.refuse("suffix", "a text");
  if (Error error = component.finish())
    return error;
  push(format::kUnmarkEnds, suffix);
  return Error::success();
}

Error JoinSteps::add(Component component) {
  StringRef type = component.type();
  if (type == "Sequence") {
    if (Error error = component.forEach(
            "decoders", [&](Component part) { return add(part); }))
      return error;
    return component.finish();
  }
  if (type == "Replace")
    return addReplace(component);
  if (type == "Strip")
    return addStrip(component);
  if (type == "Metaspace")
    return addMetaspace(component);
  if (type == "BPEDecoder")
    return addSuffix(component);
  if (type == "CTC")
    return addCtc(component);
  if (type == "ByteFallback" || type == "Fuse") {
    push(type == "Fuse" ? format::kFuseAll : format::kSpellBytes);
    return component.finish();
  }
  // The texts of pieces are bytes already, which other steps would not see.
  if (type == "ByteLevel" && steps.empty()) {
    push(format::kFuseAll);
    push(format::kRepairEach);
    return Error::success();
  }
  return component.refuseType("BPEDecoder, ByteFallback, CTC, Fuse, Metaspace, "
                              "Replace, Sequence, Strip; ByteLevel in front of "
                              "all; WordPiece alone");
}

static void addWords(bool cleansUp, StringRef mark, StageList &stages) {
  stages.addHeader(format::kJoinWords, format::kUsedToJoin,
                   format::WordJoinHeader{cleansUp, uint32_t(mark.size())},
                   mark);
}

Error addDecoder(Component component, bool stripsText, StageList &stages) {
  StringRef type = component.type();
  if (type == "ByteLevel" && !stripsText) {
    stages.add(format::kJoinBytes, format::kUsedToJoin);
    return Error::success();
  }
  if (type == "WordPiece" && !stripsText) {
    std::string mark = component.text("prefix");
    bool cleansUp = component.boolean("cleanup");
    if (Error error = component.finish())
      return error;
    addWords(cleansUp, mark, stages);
    return Error::success();
  }
  JoinSteps steps;
  if (Error error = steps.add(component))
    return error;
  if (stripsText)
    steps.addStripping();
  steps.addTo(stages);
  return Error::success();
}

void addPlainDecoder(StageList &stages) {
  addWords(/*cleansUp=*/false, "", stages);
}

} // namespace heddle
