//===- Decoders.cpp - Decoders of tokenizer.json --------------------------===//
//
// A decoder joins the texts of pieces. Those of chains of decoders are
// refused.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Json/Readers.h"

using namespace llvm;

namespace heddle {

static void addWords(bool cleansUp, StringRef mark, StageList &stages) {
  stages.addHeader(format::kJoinWords, format::kUsedToJoin,
                   format::WordJoinHeader{cleansUp, uint32_t(mark.size())},
                   mark);
}

Error addDecoder(Component component, StageList &stages) {
  StringRef type = component.type();
  if (type == "ByteLevel") {
    stages.add(format::kJoinBytes, format::kUsedToJoin);
    return Error::success();
  }
  if (type == "WordPiece") {
    std::string mark = component.text("prefix", "##");
    bool cleansUp = component.boolean("cleanup", true);
    if (Error error = component.finish())
      return error;
    addWords(cleansUp, mark, stages);
    return Error::success();
  }
  return component.refuse("ByteLevel, WordPiece");
}

void addPlainDecoder(StageList &stages) {
  addWords(/*cleansUp=*/false, "", stages);
}

} // namespace heddle
