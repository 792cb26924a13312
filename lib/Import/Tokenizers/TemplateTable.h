//===- TemplateTable.h - Writes what stands around texts --------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_TEMPLATETABLE_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_TEMPLATETABLE_H

#include "lib/Import/Tokenizers/StageList.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include <optional>
#include <vector>

namespace heddle {

/// The table of format::kTemplate, which says what fields mean.
struct TemplateTable {
  std::vector<format::TemplateItem> single = {{format::kFirstText, 0}},
                                    pair = {{format::kFirstText, 0},
                                            {format::kSecondText, 1}};
  uint32_t flags = 0;
  int32_t language = -1;

  /// Tokens in front of a text and behind it, or behind two.
  static TemplateTable around(std::optional<int64_t> before,
                              std::optional<int64_t> after);

  /// How many tokens stand around one text.
  int64_t countSpecial() const;
  void addTo(StageList &stages) const;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_TEMPLATETABLE_H
