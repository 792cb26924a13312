//===- Component.cpp - An object of tokenizer.json ------------------------===//
//
// A field counts as read when somebody has asked for it, whether it is there
// or not.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Json/Component.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace heddle {

StringRef Component::type() const {
  const json::Object *object = value.getAsObject();
  return object ? object->getString("type").value_or("") : "";
}

const json::Value *Component::any(StringRef name) {
  known.insert(name);
  const json::Object *object = value.getAsObject();
  const json::Value *found = object ? object->get(name) : nullptr;
  return found && found->kind() != json::Value::Null ? found : nullptr;
}

bool Component::boolean(StringRef name, bool byDefault) {
  const json::Value *found = any(name);
  if (!found)
    return byDefault;
  if (!found->getAsBoolean() && !wrong)
    wrong = {name.str(), "true, false"};
  return found->getAsBoolean().value_or(byDefault);
}

std::string Component::text(StringRef name, StringRef byDefault) {
  const json::Value *found = any(name);
  if (!found)
    return byDefault.str();
  if (!found->getAsString() && !wrong)
    wrong = {name.str(), "a text"};
  return found->getAsString().value_or(byDefault).str();
}

int64_t Component::number(StringRef name, int64_t byDefault) {
  const json::Value *found = any(name);
  if (!found)
    return byDefault;
  if (!found->getAsInteger() && !wrong)
    wrong = {name.str(), "a number"};
  return found->getAsInteger().value_or(byDefault);
}

size_t Component::count(StringRef list) {
  const json::Value *found = any(list);
  const json::Array *parts = found ? found->getAsArray() : nullptr;
  return parts ? parts->size() : 0;
}

Error Component::forEach(StringRef list, function_ref<Error(Component)> read) {
  const json::Value *found = any(list);
  const json::Array *parts = found ? found->getAsArray() : nullptr;
  if (!parts)
    return refuse("an object with a list '" + list + "'");
  for (auto [index, part] : enumerate(*parts))
    if (Error error =
            read({part, (field + "." + list + "[" + Twine(index) + "]").str()}))
      return error;
  return Error::success();
}

Error Component::finish() {
  if (wrong)
    return refuse(wrong->first, wrong->second);
  known.insert("type");
  const json::Object *object = value.getAsObject();
  if (!object)
    return refuse("an object");
  // The order of a hash table must not show.
  std::vector<StringRef> names;
  for (const auto &[name, content] : *object)
    if (!known.contains(StringRef(name)) && content.kind() != json::Value::Null)
      names.push_back(name);
  if (names.empty())
    return Error::success();
  return refuse(*min_element(names), "null");
}

Error Component::refuse(const Twine &supported) const {
  return refuseTokenizerField("tokenizer.json", field, value, supported);
}

Error Component::refuse(StringRef name, const Twine &supported) const {
  const json::Object *object = value.getAsObject();
  const json::Value *content = object ? object->get(name) : nullptr;
  return refuseTokenizerField("tokenizer.json", field + "." + name,
                              content ? *content : json::Value(nullptr),
                              supported);
}

} // namespace heddle
