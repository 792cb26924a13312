//===- ToyTokenizer.cpp - A tokenizer without a compiler ------------------===//

#include "ToyTokenizer.h"

#include "runtime/tokenizer/TokenizerFormat.h"

using namespace heddle;
using namespace heddle::test;

template <typename T> static std::string bytesOf(const T &value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}

std::string heddle::test::buildToyStages(const std::vector<ToyStage> &stages) {
  size_t begin =
      sizeof(format::StageListHeader) + stages.size() * sizeof(format::Stage);
  std::string list =
                  bytesOf(format::StageListHeader{uint32_t(stages.size()), 0}),
              tables;
  for (const ToyStage &stage : stages) {
    list += bytesOf(format::Stage{stage.kind, stage.uses, begin + tables.size(),
                                  stage.table.size()});
    tables += stage.table;
    while (tables.size() % format::kStageAlignment)
      tables += '\0';
  }
  return list + tables;
}

std::string heddle::test::buildToyTokenizer(const std::string &source,
                                            const std::string &target,
                                            uint32_t unknown,
                                            uint32_t firstText,
                                            const ToyTemplate &around) {
  auto count = uint32_t(target.size());
  std::string header = bytesOf(format::CharactersHeader{unknown, 0}),
              begins = bytesOf(uint32_t(0)), joinings, texts;
  for (uint32_t id = 0; id < count; ++id) {
    if (id != unknown && id >= firstText)
      texts += target[id];
    begins += bytesOf(uint32_t(texts.size()));
    joinings += bytesOf(format::kJoinsAsText);
  }
  std::string items;
  for (int32_t id : around.before)
    items += bytesOf(format::TemplateItem{id, 0});
  items += bytesOf(format::TemplateItem{format::kFirstText, 0});
  for (int32_t id : around.after)
    items += bytesOf(format::TemplateItem{id, around.typeBehind});
  auto itemCount = uint32_t(items.size() / sizeof(format::TemplateItem));
  // Two texts have what one has, but for the second.
  items += items + bytesOf(format::TemplateItem{format::kSecondText, 1});
  return buildToyStages(
      {{format::kCutCharacters, format::kUsedForSource, header + source},
       {format::kCutCharacters, format::kUsedForTarget, header + target},
       {format::kTexts, format::kUsedToJoin,
        bytesOf(format::TextsHeader{count, 0}) + begins + joinings + texts},
       {format::kJoinBytes, format::kUsedToJoin, ""},
       {format::kTemplate, format::kUsedForSource,
        bytesOf(format::TemplateHeader{itemCount, itemCount + 1, 0,
                                       around.language}) +
            items}});
}
