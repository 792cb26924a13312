//===- StageList.h - Writes the stages of a tokenizer -----------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_STAGELIST_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_STAGELIST_H

#include "runtime/tokenizer/TokenizerFormat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace heddle {

/// Stages in the order in which they work. Their kinds, uses and tables are
/// those of runtime/tokenizer/TokenizerFormat.h.
class StageList {
public:
  /// Texts of a tokenizer that makes no difference between its sides.
  static constexpr uint32_t kBothSides =
      format::kUsedForSource | format::kUsedForTarget;

  void add(uint32_t kind, uint32_t uses, std::string table = {});
  /// The same of a table that is a header alone, and of one with bytes behind
  /// it.
  template <typename Header>
  void addHeader(uint32_t kind, uint32_t uses, const Header &header,
                 llvm::StringRef rest = {}) {
    std::string table(reinterpret_cast<const char *>(&header), sizeof header);
    add(kind, uses, table + rest.str());
  }

  /// The section `tokenizer`. Tables that are equal stand there once.
  std::string build() const;
  /// The stages of such a section, which build() has made.
  static StageList of(llvm::StringRef section);

private:
  friend std::string insertStages(llvm::StringRef section,
                                  const StageList &front);

  struct Entry {
    uint32_t kind, uses;
    std::string table;
  };
  std::vector<Entry> entries;
};

/// A section `tokenizer` with more stages in front.
std::string insertStages(llvm::StringRef section, const StageList &front);

/// The table of texts by their ids, and what they are in joined text.
std::string buildTexts(llvm::ArrayRef<llvm::StringRef> texts,
                       llvm::ArrayRef<uint16_t> joinings);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_STAGELIST_H
