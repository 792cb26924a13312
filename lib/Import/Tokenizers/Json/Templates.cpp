//===- Templates.cpp - Post-processors of tokenizer.json ------------------===//
//
// Of a text alone: the tokens in front of it and behind it.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Json/Readers.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace heddle {

/// The tokens of a template, in front of the text and behind it.
static bool readPieces(const json::Array *single, const json::Object *known,
                       TextTemplate &into) {
  bool isBehind = false;
  for (const json::Value &part : single ? *single : json::Array()) {
    const json::Object *object = part.getAsObject();
    const json::Object *sequence =
                           object ? object->getObject("Sequence") : nullptr,
                       *special =
                           object ? object->getObject("SpecialToken") : nullptr;
    if (sequence && sequence->getString("id") == "A" && !isBehind) {
      isBehind = true;
      continue;
    }
    std::optional<StringRef> name =
        special ? special->getString("id") : std::nullopt;
    const json::Object *entry =
        name && known ? known->getObject(*name) : nullptr;
    const json::Array *tokens = entry ? entry->getArray("tokens") : nullptr;
    if (!tokens)
      return false;
    for (const json::Value &token : *tokens) {
      if (!token.getAsString())
        return false;
      (isBehind ? into.after : into.before)
          .push_back(token.getAsString()->str());
    }
  }
  return isBehind;
}

/// Adds what one post-processor puts around a text.
static bool readProcessor(Component component, TextTemplate &into) {
  StringRef type = component.type();
  if (type == "ByteLevel")
    return true;
  if (type == "TemplateProcessing") {
    const json::Value *single = component.any("single"),
                      *known = component.any("special_tokens");
    return single && known &&
           readPieces(single->getAsArray(), known->getAsObject(), into);
  }
  if (type == "RobertaProcessing" || type == "BertProcessing") {
    for (auto [field, side] :
         {std::pair("cls", &into.before), std::pair("sep", &into.after)}) {
      const json::Value *value = component.any(field);
      const json::Array *token = value ? value->getAsArray() : nullptr;
      if (!token || token->size() != 2 || !(*token)[0].getAsString())
        return false;
      side->push_back((*token)[0].getAsString()->str());
    }
    return true;
  }
  if (type != "Sequence")
    return false;
  bool areRead = true;
  Error error = component.forEach("processors", [&](Component part) {
    areRead &= part.type() != "Sequence" && readProcessor(part, into);
    return Error::success();
  });
  areRead &= !error;
  consumeError(std::move(error));
  return areRead;
}

Error readTemplate(Component component, TextTemplate &into) {
  if (readProcessor(component, into) && into.before.size() <= 1 &&
      into.after.size() <= 2)
    return Error::success();
  return component.refuse("at most one token before a text and two after it");
}

} // namespace heddle
