//===- sentencepiece.cpp - Models of SentencePiece ------------------------===//
//
// A model that is read becomes a table, which cuts a text.
//
//===----------------------------------------------------------------------===//

#include "ScratchFolder.h"
#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "lib/Import/Tokenizers/SentencePieceTable.h"
#include "runtime/tokenizer/SentencePieces.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::ScratchFolder folder;
  auto model = readSentencePieceModel(
      folder.write("input.spm", {reinterpret_cast<const char *>(data), size}));
  if (!model) {
    llvm::consumeError(model.takeError());
    return 0;
  }
  std::string table = buildSentencePieceTable(*model);
  if (auto pieces = SentencePieces::parse(table, "table"); pieces.ok())
    (void)pieces->cut("Some text, \xC3\xA4 \xFF and more.");
  return 0;
}
