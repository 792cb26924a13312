//===- shortlist.cpp - Shortlists, Marian's and those of an artifact ------===//

#include "lib/Import/Marian/Shortlist.h"
#include "AlignedCopy.h"
#include "runtime/search/Shortlist.h"

using namespace heddle;

static constexpr int32_t kVocabulary = 16;

static void use(std::string_view section) {
  Manifest manifest;
  manifest.sourceVocabulary = manifest.targetVocabulary = kVocabulary;
  auto shortlist = Shortlist::parse(section, manifest);
  if (!shortlist.ok())
    return;
  for (int32_t id = -1; id <= kVocabulary; ++id)
    for (int32_t target : shortlist->candidates({id, 0}))
      if (target < 0 || target >= kVocabulary)
        abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::AlignedCopy copy(data, size);
  use(copy.view());
  auto converted =
      convertShortlist(copy.view(), "input", kVocabulary, kVocabulary);
  if (converted)
    use(*converted);
  else
    llvm::consumeError(converted.takeError());
  return 0;
}
