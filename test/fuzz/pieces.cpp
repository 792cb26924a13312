//===- pieces.cpp - Tables of pieces in an artifact -----------------------===//
//
// The last bytes of an input, behind the last zero, are a text that the table
// cuts and joins.
//
//===----------------------------------------------------------------------===//

#include "AlignedCopy.h"
#include "runtime/tokenizer/SentencePieces.h"

#include <numeric>

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::AlignedCopy copy(data, size);
  auto pieces = SentencePieces::parse(copy.view(), "tokenizer.source");
  if (!pieces.ok())
    return 0;
  std::string_view text = copy.view().substr(copy.view().rfind('\0') + 1);
  (void)pieces->cut(text);
  std::vector<int32_t> ids(size_t(std::min(pieces->pieceCount(), 1000)));
  std::iota(ids.begin(), ids.end(), 0);
  (void)pieces->join(ids, pieces->texts());
  return 0;
}
