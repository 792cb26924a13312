//===- Family.cpp - A family of transformers' classes ---------------------===//
//
// Families.inc is made by CMake: FAMILY(Name) for each file of Families/.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/EncoderDecoder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace heddle {

ArrayRef<Family> getFamilies() {
  static const Family all[] = {
#define FAMILY(NAME) makeFamily##NAME(),
#include "lib/Import/HuggingFace/Families.inc"
#undef FAMILY
  };
  return all;
}

/// "Bart" of BartForConditionalGeneration, "Marian" of MarianMTModel, "Bert" of
/// BertModel.
static StringRef stemOf(StringRef className) {
  for (StringRef end : {"For", "MTModel", "Model"})
    className = className.take_front(className.find(end));
  return className;
}

const Family &chooseFamily(ConfigReader &config) {
  ArrayRef<Family> all = getFamilies();
  std::string type = config.text("model_type", "");
  const json::Value *value = config.readNonNull("architectures");
  const json::Array *classes = value ? value->getAsArray() : nullptr;
  std::optional<StringRef> name = classes && classes->size() == 1
                                      ? classes->front().getAsString()
                                      : std::nullopt;
  const Family *found = find_if(all, [&](const Family &known) {
    return type.empty() ? name == known.className : type == known.modelType;
  });
  if (found == all.end()) {
    bool isNamed = type.empty();
    auto nameOf = [&](const Family &known) {
      return (isNamed ? known.className : known.modelType).str();
    };
    config.fail(isNamed ? "architectures" : "model_type",
                join(map_range(all, nameOf), ", "));
    return all.front();
  }
  if (name && !name->starts_with(stemOf(found->className)))
    config.warn("architectures",
                "though its 'model_type' makes it a " + found->className);
  return *found;
}

Family makeEncoderDecoder(HuggingFaceArchitecture architecture) {
  return {architecture.modelType, architecture.className, importEncoderDecoder,
          architecture};
}

} // namespace heddle
