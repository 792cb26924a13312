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

namespace {
/// A family that is like one of those that are read, but computes what Heddle
/// lacks.
struct RefusedFamily {
  StringLiteral modelType, stem, reason;
};
} // namespace

static constexpr RefusedFamily kRefusedFamilies[] = {
    {"longt5", "LongT5",
     "attends to blocks of neighbours and to means of blocks"},
    {"mvp", "Mvp", "has trained prompts in front of keys and values"},
    {"pegasus_x", "PegasusX",
     "attends in blocks that layers shift, and to global tokens of its own"},
    {"prophetnet", "ProphetNet",
     "predicts several tokens at once by streams of attention"},
    {"xlm-prophetnet", "XLMProphetNet",
     "predicts several tokens at once by streams of attention"}};

const Family &chooseFamily(ConfigReader &config) {
  ArrayRef<Family> all = getFamilies();
  std::string type = config.text("model_type", "");
  const json::Value *value = config.readNonNull("architectures");
  const json::Array *classes = value ? value->getAsArray() : nullptr;
  std::optional<StringRef> name = classes && classes->size() == 1
                                      ? classes->front().getAsString()
                                      : std::nullopt;
  std::vector<std::pair<FamilyClass, const Family *>> known;
  for (const Family &family : all) {
    known.push_back({{family.modelType, family.className}, &family});
    for (const FamilyClass &kin : family.kin)
      known.push_back({kin, &family});
  }
  auto found = find_if(known, [&](const auto &each) {
    return type.empty() ? name == each.first.className
                        : type == each.first.modelType;
  });
  if (found == known.end()) {
    bool isNamed = type.empty();
    const auto *refused = find_if(kRefusedFamilies, [&](const auto &each) {
      return isNamed ? name && name->starts_with(each.stem)
                     : type == each.modelType;
    });
    if (refused != std::end(kRefusedFamilies)) {
      config.refuse(isNamed ? "architectures" : "model_type",
                    "but Heddle does not read " + refused->stem + ", which " +
                        refused->reason);
      return all.front();
    }
    auto nameOf = [&](const auto &each) {
      return (isNamed ? each.first.className : each.first.modelType).str();
    };
    config.fail(isNamed ? "architectures" : "model_type",
                join(map_range(known, nameOf), ", "));
    return all.front();
  }
  StringRef className = found->first.className;
  if (name && !name->starts_with(stemOf(className)))
    config.warn("architectures",
                "though its 'model_type' makes it a " + className);
  return *found->second;
}

Family makeEncoderDecoder(HuggingFaceArchitecture architecture) {
  return {architecture.modelType, architecture.className, importEncoderDecoder,
          architecture};
}

} // namespace heddle
