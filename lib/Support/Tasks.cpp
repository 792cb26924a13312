//===- Tasks.cpp - What a module says it does -----------------------------===//
//
// Two attributes of a module: what it reads, and what it does with it.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Tasks.h"
#include "dialect/Transformer.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace heddle {

DictionaryAttr findTask(ModuleOp module, StringRef name) {
  auto tasks = module->getAttrOfType<DictionaryAttr>(kTasksAttr);
  return tasks ? tasks.getAs<DictionaryAttr>(name) : DictionaryAttr();
}

void setSource(ModuleOp module, const SourceAttributes &source) {
  Builder builder(module.getContext());
  NamedAttrList attributes;
  auto set = [&](StringRef key, std::optional<int64_t> value) {
    if (value)
      attributes.set(key, builder.getI32IntegerAttr(int32_t(*value)));
  };
  set(kVocabularyKey, source.vocabulary);
  set(kPositionsKey, source.positions);
  set(kTypesKey, source.types);
  set(kPadKey, source.pad);
  module->setAttr(kSourceAttr, attributes.getDictionary(module.getContext()));
}

void setTask(ModuleOp module, StringRef name, DictionaryAttr settings) {
  NamedAttrList tasks(module->getAttrOfType<DictionaryAttr>(kTasksAttr));
  tasks.set(name, settings);
  module->setAttr(kTasksAttr, tasks.getDictionary(module.getContext()));
}

void setTasks(ModuleOp module, const GeneratingModel &model) {
  setSource(module, {model.sourceVocabulary, model.sourcePositions,
                     /*types=*/{}, model.sourcePad});
  NamedAttrList task(model.settings);
  task.set(kVocabularyKey,
           Builder(module.getContext())
               .getI32IntegerAttr(int32_t(model.targetVocabulary)));
  setTask(module, kGenerateTask, task.getDictionary(module.getContext()));
}

} // namespace heddle
