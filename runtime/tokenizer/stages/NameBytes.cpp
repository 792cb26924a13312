//===- NameBytes.cpp - A character for each byte --------------------------===//
//
// `ByteLevel` as a normalizer of the library tokenizers: what follows sees the
// characters that its pieces are spelt with.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/stages/Stages.h"

#include <array>

using namespace heddle;

namespace {
class NameBytes final : public TextStage {
public:
  explicit NameBytes(const uint16_t *characters) {
    for (size_t byte = 0; byte < names.size(); ++byte)
      appendUtf8(characters[byte], names[byte]);
  }

  void apply(TextParts &parts) const override {
    parts.rewrite([&](const TextPart &part, TextWriter &writer) {
      std::string_view text = part.text, rest = text;
      while (!rest.empty()) {
        size_t begin = text.size() - rest.size();
        std::string made;
        for (char byte : takeCodePoint(rest).bytes)
          made += names[static_cast<unsigned char>(byte)];
        writer.replace(begin, text.size() - rest.size(), made);
      }
      return true;
    });
  }

private:
  std::array<std::string, 256> names;
};
} // namespace

stages::MadeText stages::makeNameBytes(std::string_view table) {
  TableReader reader(table);
  const uint16_t *characters = nullptr;
  reader.take(characters, 256);
  if (!reader.takeRest().empty() || !reader.isWhole())
    return Status::error("does not name all bytes");
  return std::unique_ptr<TextStage>(std::make_unique<NameBytes>(characters));
}
