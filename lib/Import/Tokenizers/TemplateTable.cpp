//===- TemplateTable.cpp - Writes what stands around texts ----------------===//
//
// Models that read a single text have a template of two all the same: as slow
// tokenizers of transformers do, it puts one text behind the other.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/TemplateTable.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

using namespace llvm;

namespace heddle {

TemplateTable TemplateTable::around(std::optional<int64_t> before,
                                    std::optional<int64_t> after) {
  TemplateTable table;
  for (auto *items : {&table.single, &table.pair}) {
    if (before)
      items->insert(items->begin(), {int32_t(*before), 0});
    if (after)
      items->push_back({int32_t(*after), 0});
  }
  return table;
}

int64_t TemplateTable::countSpecial() const {
  return count_if(
      single, [](const format::TemplateItem &item) { return item.id >= 0; });
}

void TemplateTable::addTo(StageList &stages) const {
  std::string items;
  appendValues(items, ArrayRef(single));
  appendValues(items, ArrayRef(pair));
  stages.addHeader(format::kTemplate, format::kUsedForSource,
                   format::TemplateHeader{uint32_t(single.size()),
                                          uint32_t(pair.size()), flags,
                                          language},
                   items);
}

} // namespace heddle
