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

/// What a field has, as far as it is of the right kind; whether it is.
template <typename Value>
static Value valueOf(std::optional<Value> found, bool isThere,
                     std::optional<Value> byDefault, bool &isRight) {
  isRight = isThere ? found.has_value() : byDefault.has_value();
  return found ? *found : byDefault.value_or(Value());
}

bool Component::boolean(StringRef name, std::optional<bool> byDefault) {
  const json::Value *found = any(name);
  bool isRight;
  bool value = valueOf(found ? found->getAsBoolean() : std::nullopt, found,
                       byDefault, isRight);
  if (!isRight && !wrong)
    wrong = {name.str(), "true, false"};
  return value;
}

std::string Component::text(StringRef name,
                            std::optional<StringRef> byDefault) {
  const json::Value *found = any(name);
  bool isRight;
  StringRef value = valueOf(found ? found->getAsString() : std::nullopt, found,
                            byDefault, isRight);
  if (!isRight && !wrong)
    wrong = {name.str(), "a text"};
  return value.str();
}

int64_t Component::number(StringRef name, std::optional<int64_t> byDefault) {
  const json::Value *found = any(name);
  bool isRight;
  int64_t value = valueOf(found ? found->getAsInteger() : std::nullopt, found,
                          byDefault, isRight);
  if (!isRight && !wrong)
    wrong = {name.str(), "a number"};
  return value;
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
            read({part, (field + "." + list + "[" + Twine(index) + "]").str(),
                  file}))
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
  return refuseTokenizerField(file, field, value, supported);
}

Error Component::refuse(StringRef name, const Twine &supported) const {
  const json::Object *object = value.getAsObject();
  const json::Value *content = object ? object->get(name) : nullptr;
  return refuseTokenizerField(file, field + "." + name,
                              content ? *content : json::Value(nullptr),
                              supported);
}

Error Component::refuseType(const Twine &supported) const {
  const json::Object *object = value.getAsObject();
  return object && object->get("type") ? refuse("type", supported)
                                       : refuse(supported);
}

Error Component::refusePiece(StringRef name, StringRef piece) const {
  // Other files have no fields.
  if (file == kWholeFile)
    return refuse(name, "a piece of the vocabulary");
  return make_error<UnsupportedTokenizer>(
      ("'" + file + "' has no piece '" + piece + "'").str());
}

} // namespace heddle
