//===- TokenizerLoader.h - Imported tokenizers at run time ------*- C++ -*-===//

#ifndef HEDDLE_TEST_UNIT_TOKENIZERS_TOKENIZERLOADER_H
#define HEDDLE_TEST_UNIT_TOKENIZERS_TOKENIZERLOADER_H

#include "lib/Import/Tokenizers/Tokenizers.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "test/unit/FileBuilders.h"

namespace heddle::test {

/// What the runtime makes of an imported tokenizer, in an artifact of its own.
class LoadedTokenizer {
public:
  LoadedTokenizer(const ImportedTokenizer &imported, int64_t vocabulary);

  /// Whether there is a tokenizer; else `message` says why not.
  explicit operator bool() const { return tokenizer != nullptr; }
  const std::string &message() const { return sentence; }
  const Tokenizer *operator->() const { return tokenizer.get(); }

  /// The ids of a text, which must be readable.
  std::vector<int32_t> encode(std::string_view text) const;

private:
  TemporaryFolder folder;
  std::optional<Artifact> artifact;
  std::unique_ptr<Tokenizer> tokenizer;
  std::string sentence;
};

/// The characters that each range of bytes of a text has, from where to where.
class CharacterRanges {
public:
  explicit CharacterRanges(const std::string &text);

  void append(TextRange range, std::vector<int64_t> &numbers) const;

private:
  /// The number of the character that each byte is one of.
  std::vector<int64_t> characters;
};

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_TOKENIZERS_TOKENIZERLOADER_H
