//===- FindLanguageCode.cpp - Which language to translate into ------------===//
//
// The Marian models of Hugging Face take `>>code<<` at the start of a text for
// one piece, which no SentencePiece model knows (MarianTokenizer._tokenize).
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class FindLanguageCode final : public TextStage {
public:
  FindLanguageCode(int32_t unknown, DoubleArray vocabulary)
      : unknown(unknown), vocabulary(vocabulary) {}

  void apply(TextParts &parts) const override {
    parts.split([&](const TextPart &part, auto &sink) {
      size_t end = part.text.find("<<");
      if (part.text.substr(0, 2) != ">>" || end == std::string_view::npos)
        return sink(part);
      TextPart code = part.slice(0, end + 2);
      int32_t known = vocabulary.find(code.text);
      code.id = known < 0 ? unknown : known;
      sink(code);
      sink(part.slice(end + 2, part.text.size()));
    });
  }

private:
  int32_t unknown;
  DoubleArray vocabulary;
};
} // namespace

stages::MadeText stages::makeFindLanguageCode(std::string_view table,
                                              DoubleArray vocabulary) {
  TableReader reader(table);
  const format::CodesHeader *header = nullptr;
  reader.take(header, 1);
  if (!reader.takeRest().empty() || !reader.isWhole() ||
      header->unknown > format::kPieceIdMask)
    return Status::error("does not say what an unknown code is");
  return std::unique_ptr<TextStage>(
      std::make_unique<FindLanguageCode>(int32_t(header->unknown), vocabulary));
}
