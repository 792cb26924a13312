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

void setTasks(ModuleOp module, const GeneratingModel &model) {
  Builder builder(module.getContext());
  NamedAttrList source, task(model.settings);
  auto set = [&](NamedAttrList &into, StringRef key, int64_t value) {
    into.set(key, builder.getI32IntegerAttr(int32_t(value)));
  };
  set(source, kVocabularyKey, model.sourceVocabulary);
  if (model.sourcePositions)
    set(source, kPositionsKey, *model.sourcePositions);
  set(task, kVocabularyKey, model.targetVocabulary);
  module->setAttr(kSourceAttr, source.getDictionary(module.getContext()));
  module->setAttr(kTasksAttr,
                  builder.getDictionaryAttr(builder.getNamedAttr(
                      kGenerateTask, task.getDictionary(module.getContext()))));
}

} // namespace heddle
