//===- stages.cpp - The section `tokenizer` of an artifact ----------------===//
//
// The last bytes of an input, behind the last zero, are a text that the stages
// cut, put into their template and join.
//
//===----------------------------------------------------------------------===//

#include "AlignedCopy.h"
#include "runtime/tokenizer/TokenizerStages.h"

#include <numeric>

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::AlignedCopy copy(data, size);
  auto stages = TokenizerStages::parse(copy.view(), {0, 2});
  if (!stages.ok())
    return 0;
  std::string_view text = copy.view().substr(copy.view().rfind('\0') + 1);
  std::vector<Piece> pieces;
  stages->cut(text, TokenizerStages::Side::Source, /*tracks=*/true, pieces);
  const TextTemplate &around = stages->sourceTemplate();
  around.trim(text, stages->tokenNames(), pieces);
  if (pieces.size() * around.specialCount(true) < size * 16)
    (void)around.build(pieces, &pieces);
  stages->cut(text, TokenizerStages::Side::Target, /*tracks=*/false, pieces);
  std::vector<int32_t> ids(1000);
  std::iota(ids.begin(), ids.end(), 0);
  (void)stages->join(ids);
  return 0;
}
