//===- Normalizers.cpp - Normalizers of tokenizer.json --------------------===//
//
// What looks at each character by itself is a map; neighbours in a sequence are
// not yet one map.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Characters/CharacterMap.h"
#include "lib/Import/Tokenizers/Json/Pattern.h"
#include "lib/Import/Tokenizers/Json/Readers.h"
#include "lib/Import/Tokenizers/PairTables.h"
#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "llvm/Support/Base64.h"

using namespace llvm;

namespace heddle {

static constexpr uint32_t kBoth = StageList::kBothSides;

static void addMap(const CharacterMap &map, StageList &stages) {
  if (!map.isEmpty())
    stages.add(format::kReplaceCharacters, kBoth, map.build());
}

static void addMarks(bool composes, StageList &stages) {
  stages.add(format::kOrderMarks, kBoth, buildMarks(composes));
}

/// BertNormalizer, in its order.
static Error addBert(Component component, StageList &stages) {
  bool cleans = component.boolean("clean_text"),
       spacesChinese = component.boolean("handle_chinese_chars"),
       lowers = component.boolean("lowercase"),
       strips = component.boolean("strip_accents", lowers);
  if (Error error = component.finish())
    return error;
  CharacterMap first, last;
  if (cleans)
    first = bertClean();
  if (spacesChinese)
    first = first.then(bertChinese());
  if (strips)
    first = first.then(decomposition(/*isForCompatibility=*/false));
  addMap(first, stages);
  if (strips) {
    addMarks(/*composes=*/false, stages);
    last = bertStripMarks();
  }
  addMap(lowers ? last.then(lowercase()) : last, stages);
  return Error::success();
}

/// NFC, NFD, NFKC or NFKD.
static Error addNormalForm(Component component, StageList &stages) {
  StringRef form = component.type();
  if (Error error = component.finish())
    return error;
  addMap(decomposition(/*isForCompatibility=*/form.contains('K')), stages);
  addMarks(/*composes=*/form.ends_with("C"), stages);
  return Error::success();
}

static Error addStrip(Component component, StageList &stages) {
  bool left = component.boolean("strip_left"),
       right = component.boolean("strip_right");
  if (Error error = component.finish())
    return error;
  stages.addHeader(format::kStripSpaces, kBoth,
                   format::EndsHeader{(left ? format::kStripsLeft : 0) |
                                          (right ? format::kStripsRight : 0),
                                      0});
  return Error::success();
}

static Error addReplace(Component component, StageList &stages) {
  std::string content = component.text("content");
  Expected<std::string> pattern = readPattern(component);
  if (!pattern)
    return pattern.takeError();
  if (Error error = component.finish())
    return error;
  stages.addHeader(format::kReplaceMatches, kBoth,
                   format::ReplaceHeader{uint32_t(content.size()), 0},
                   *pattern + content);
  return Error::success();
}

static Error addPrepend(Component component, StageList &stages) {
  std::string text = component.text("prepend");
  if (Error error = component.finish())
    return error;
  stages.add(format::kPrependText, kBoth, text);
  return Error::success();
}

/// The rules of a SentencePiece model.
static Error addPrecompiled(Component component, StageList &stages) {
  std::string text = component.text("precompiled_charsmap", "");
  if (Error error = component.finish())
    return error;
  std::vector<char> bytes;
  SentencePieceNormalizer rules;
  Error damage = decodeBase64(text, bytes);
  if (damage || !splitRules({bytes.data(), bytes.size()}, rules)) {
    consumeError(std::move(damage));
    return component.refuse("precompiled_charsmap", "a table of rules");
  }
  if (!rules.rules.empty())
    stages.add(format::kReplaceClusters, kBoth, buildRules(rules));
  return Error::success();
}

/// A component without fields that matter.
static Error addPlainMap(Component component, CharacterMap (*make)(),
                         StageList &stages) {
  if (Error error = component.finish())
    return error;
  addMap(make(), stages);
  return Error::success();
}

void addByteNames(StageList &stages) {
  std::string characters;
  appendValues(characters, ArrayRef(format::byteCharacters()));
  stages.add(format::kNameBytes, kBoth, characters);
}

Error addNormalizer(Component component, StageList &stages) {
  StringRef type = component.type();
  if (type == "Sequence") {
    if (Error error = component.forEach("normalizers", [&](Component part) {
          return addNormalizer(part, stages);
        }))
      return error;
    return component.finish();
  }
  if (type == "BertNormalizer")
    return addBert(component, stages);
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD")
    return addNormalForm(component, stages);
  if (type == "Lowercase")
    return addPlainMap(component, lowercase, stages);
  if (type == "StripAccents")
    return addPlainMap(component, stripAccents, stages);
  if (type == "Nmt")
    return addPlainMap(component, nmt, stages);
  if (type == "ByteLevel") {
    addByteNames(stages);
    return component.finish();
  }
  if (type == "Strip")
    return addStrip(component, stages);
  if (type == "Replace")
    return addReplace(component, stages);
  if (type == "Prepend")
    return addPrepend(component, stages);
  if (type == "Precompiled")
    return addPrecompiled(component, stages);
  return component.refuseType(
      "BertNormalizer, ByteLevel, Lowercase, NFC, NFD, "
      "NFKC, NFKD, Nmt, Precompiled, "
      "Prepend, Replace, Sequence, Strip, StripAccents");
}

} // namespace heddle
