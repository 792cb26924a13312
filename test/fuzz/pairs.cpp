//===- pairs.cpp - Tables of byte pairs, patterns and added tokens --------===//
//
// An input is one of the three; its last bytes, behind the last zero, are a
// text that it cuts.
//
//===----------------------------------------------------------------------===//

#include "AlignedCopy.h"
#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/TextPattern.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/tokenizer/Utf8.h"

#include <numeric>

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::AlignedCopy copy(data, size);
  std::string_view text = copy.view().substr(copy.view().rfind('\0') + 1);
  std::string whole = repairUtf8(text);
  if (auto pattern = TextPattern::parse(copy.view()); pattern.ok())
    for (size_t at = 0; at < whole.size();)
      at = pattern->find(whole, at).end;
  if (auto added = AddedTokens::parse(copy.view()); added.ok()) {
    (void)added->cut(whole, /*isNormalized=*/false);
    (void)added->cut(whole, /*isNormalized=*/true);
    (void)added->cutSlowly(whole);
  }
  Manifest manifest;
  manifest.sourceVocabulary = manifest.targetVocabulary = 1000;
  manifest.tokenizer.kind = TokenizerDescription::Kind::ByteLevel;
  auto tokenizer = makeByteLevelTokenizer({copy.view(), "", ""}, manifest);
  if (!tokenizer.ok())
    return 0;
  (void)(*tokenizer)->encode(text).ok();
  std::vector<int32_t> ids(1000);
  std::iota(ids.begin(), ids.end(), 0);
  (void)(*tokenizer)->decode(ids);
  return 0;
}
