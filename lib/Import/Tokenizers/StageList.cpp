//===- StageList.cpp - Writes the stages of a tokenizer -------------------===//
//
// The list comes first, then the tables; the layout is that of
// TokenizerFormat.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/StageList.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace heddle {

void StageList::add(uint32_t kind, uint32_t uses, std::string table) {
  entries.push_back({kind, uses, std::move(table)});
}

std::string StageList::build() const {
  std::vector<format::Stage> stages;
  size_t begin =
      sizeof(format::StageListHeader) + entries.size() * sizeof(format::Stage);
  std::string tables;
  for (const Entry &entry : entries) {
    auto equal = llvm::find_if(
        ArrayRef(entries).take_front(stages.size()),
        [&](const Entry &before) { return before.table == entry.table; });
    size_t place = begin + tables.size();
    if (size_t index = equal - entries.data(); index < stages.size())
      place = stages[index].begin;
    else
      tables += entry.table;
    tables.resize(alignTo(tables.size(), format::kStageAlignment));
    stages.push_back({entry.kind, entry.uses, place, entry.table.size()});
  }
  std::string section;
  appendValues(section,
               ArrayRef(format::StageListHeader{uint32_t(stages.size()), 0}));
  appendValues(section, ArrayRef(stages));
  return section + tables;
}

StageList StageList::of(StringRef section) {
  format::StageListHeader header;
  memcpy(&header, section.data(), sizeof header);
  StageList list;
  for (uint32_t i = 0; i < header.count; ++i) {
    format::Stage stage;
    memcpy(&stage, section.data() + sizeof header + i * sizeof stage,
           sizeof stage);
    list.add(stage.kind, stage.uses,
             section.substr(stage.begin, stage.size).str());
  }
  return list;
}

std::string insertStages(StringRef section, const StageList &front) {
  StageList list = StageList::of(section);
  list.entries.insert(list.entries.begin(), front.entries.begin(),
                      front.entries.end());
  return list.build();
}

std::string buildTexts(ArrayRef<StringRef> texts, ArrayRef<uint16_t> joinings) {
  std::string table;
  appendValues(table, ArrayRef(format::TextsHeader{uint32_t(texts.size()), 0}));
  std::vector<uint32_t> begins = {0};
  for (StringRef text : texts)
    begins.push_back(begins.back() + uint32_t(text.size()));
  appendValues(table, ArrayRef(begins));
  appendValues(table, joinings);
  for (StringRef text : texts)
    table += text;
  return table;
}

} // namespace heddle
