//===- sentencepiece.cpp - Models of SentencePiece ------------------------===//
//
// A model that is read becomes stages, which cut a text.
//
//===----------------------------------------------------------------------===//

#include "ScratchFolder.h"
#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "runtime/tokenizer/TokenizerStages.h"

using namespace heddle;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::ScratchFolder folder;
  auto model = readSentencePieceModel(
      folder.write("input.spm", {reinterpret_cast<const char *>(data), size}));
  if (!model) {
    llvm::consumeError(model.takeError());
    return 0;
  }
  StageList list;
  addSentencePieceCutter(*model, StageList::kBothSides, list);
  addSentencePieceJoiner(*model, /*numbers=*/nullptr, list);
  std::string section = list.build();
  std::vector<Piece> pieces;
  if (auto stages = TokenizerStages::parse(section, {}); stages.ok())
    stages->cut("Some text, \xC3\xA4 \xFF and more.",
                TokenizerStages::Side::Source, /*tracks=*/true, pieces);
  return 0;
}
