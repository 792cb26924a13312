//===- pairs.cpp - Tables of byte pairs in an artifact --------------------===//

#include "AlignedCopy.h"
#include "runtime/Tokenizer.h"

#include <numeric>

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::AlignedCopy copy(data, size);
  Manifest manifest;
  manifest.sourceVocabulary = manifest.targetVocabulary = 1000;
  manifest.tokenizer.kind = TokenizerDescription::Kind::ByteLevel;
  auto tokenizer = makeByteLevelTokenizer(copy.view(), manifest);
  if (!tokenizer.ok())
    return 0;
  std::string_view text = copy.view().substr(copy.view().rfind('\0') + 1);
  (void)(*tokenizer)->encode(text).ok();
  std::vector<int32_t> ids(1000);
  std::iota(ids.begin(), ids.end(), 0);
  (void)(*tokenizer)->decode(ids);
  return 0;
}
