//===- PostProcessors.cpp - Post-processors of tokenizer.json -------------===//
//
// Each becomes two lists, the tokens of one text and those of two.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Json/Readers.h"
#include "lib/Weights/Json.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace heddle {

namespace {
class PostProcessorReader {
public:
  explicit PostProcessorReader(PostProcessor &into) : into(into) {}

  Error read(Component component);

private:
  using Items = std::vector<PostProcessor::Item>;

  Error readProcessing(Component &component);
  Error readList(Component &component, StringRef list, Items &items);
  Error addTokens(Component &component, StringRef list, StringRef name,
                  int64_t type, Items &items);
  Error readFixed(Component &component, bool isBert);
  void readTrimming(Component &component) {
    bool sparesFirst = component.boolean("add_prefix_space", true);
    if (component.boolean("trim_offsets", true)) {
      into.trimsRanges = true;
      into.sparesFirstSpace = sparesFirst;
    }
    component.any("use_regex");
  }

  PostProcessor &into;
  bool hasTokens = false;
};
} // namespace

/// An id, or null of a token that a class of transformers names alone.
static bool isId(const json::Value &value) {
  std::optional<int64_t> id = value.getAsInteger();
  return value.kind() == json::Value::Null ||
         (id && *id >= 0 && *id <= kMaxTokenId);
}

/// The ids that a template has for one of its tokens.
Error PostProcessorReader::addTokens(Component &component, StringRef list,
                                     StringRef name, int64_t type,
                                     Items &items) {
  const json::Value *known = component.any("special_tokens");
  const json::Object *all = known ? known->getAsObject() : nullptr;
  const json::Object *entry = all ? all->getObject(name) : nullptr;
  const json::Array *ids = entry ? entry->getArray("ids") : nullptr;
  if (!ids)
    return component.refuse(list, "tokens of 'special_tokens' with ids");
  for (const json::Value &id : *ids) {
    if (!isId(id))
      return component.refuse("special_tokens", "ids");
    items.push_back(
        {PostProcessor::What::Token, type, name.str(), id.getAsInteger()});
  }
  return Error::success();
}

Error PostProcessorReader::readList(Component &component, StringRef list,
                                    Items &items) {
  const json::Value *value = component.any(list);
  if (!value)
    return Error::success();
  items.clear();
  const json::Array *parts = value->getAsArray();
  if (!parts)
    return component.refuse(list, "a list");
  for (const json::Value &value : *parts) {
    const json::Object *part = value.getAsObject();
    const json::Object *text = part ? part->getObject("Sequence") : nullptr,
                       *token =
                           part ? part->getObject("SpecialToken") : nullptr;
    const json::Object *either = text ? text : token;
    std::optional<StringRef> id =
        either ? either->getString("id") : std::nullopt;
    std::optional<int64_t> type =
        either ? either->getInteger("type_id") : std::nullopt;
    if (!id || !type || *type < 0 || *type > INT32_MAX ||
        (text && *id != "A" && *id != "B"))
      return component.refuse(list, "tokens and the texts A and B with types");
    if (token) {
      if (Error error = addTokens(component, list, *id, *type, items))
        return error;
      continue;
    }
    items.push_back(
        {*id == "A" ? PostProcessor::What::First : PostProcessor::What::Second,
         *type, "", std::nullopt});
  }
  auto has = [&](PostProcessor::What what) {
    return any_of(items, [&](const PostProcessor::Item &item) {
      return item.what == what;
    });
  };
  if (list == "single" &&
      (!has(PostProcessor::What::First) || has(PostProcessor::What::Second)))
    return component.refuse(list, "the text A, and not B");
  return Error::success();
}

Error PostProcessorReader::readProcessing(Component &component) {
  component.any("special_tokens"); // There may be none in the lists.
  if (Error error = readList(component, "single", into.single))
    return error;
  return readList(component, "pair", into.pair);
}

/// BERT's and RoBERTa's processors have their lists in the library's code.
Error PostProcessorReader::readFixed(Component &component, bool isBert) {
  auto tokenOf = [&](StringRef field) -> std::optional<PostProcessor::Item> {
    const json::Value *value = component.any(field);
    const json::Array *pair = value ? value->getAsArray() : nullptr;
    if (!pair || pair->size() != 2 || !(*pair)[0].getAsString() ||
        !isId((*pair)[1]))
      return std::nullopt;
    return PostProcessor::Item{PostProcessor::What::Token, 0,
                               (*pair)[0].getAsString()->str(),
                               (*pair)[1].getAsInteger()};
  };
  std::optional<PostProcessor::Item> first = tokenOf("cls"),
                                     last = tokenOf("sep");
  for (auto &[field, token] : {std::pair("cls", &first), {"sep", &last}})
    if (!*token)
      return component.refuse(field, "a token and its id");
  if (!isBert)
    readTrimming(component);
  into.single.insert(into.single.begin(), *first);
  into.single.push_back(*last);
  PostProcessor::Item &second = into.pair.back();
  second.type = isBert;
  into.pair.insert(into.pair.begin(), *first);
  into.pair.insert(into.pair.end() - 1, *last);
  if (!isBert)
    into.pair.insert(into.pair.end() - 1, *last);
  last->type = isBert;
  into.pair.push_back(*last);
  return Error::success();
}

Error PostProcessorReader::read(Component component) {
  StringRef type = component.type();
  if (type == "ByteLevel") {
    readTrimming(component);
    return component.finish();
  }
  if (type == "Sequence") {
    if (Error error = component.forEach(
            "processors", [&](Component part) { return read(part); }))
      return error;
    return component.finish();
  }
  bool isBert = type == "BertProcessing",
       isFixed = isBert || type == "RobertaProcessing";
  if (hasTokens || (!isFixed && type != "TemplateProcessing"))
    return component.refuseType(
        "ByteLevel, TemplateProcessing, BertProcessing, RobertaProcessing, "
        "or a sequence of ByteLevel and one of the others");
  hasTokens = true;
  if (Error error =
          isFixed ? readFixed(component, isBert) : readProcessing(component))
    return error;
  return component.finish();
}

Expected<PostProcessor> readPostProcessor(Component component) {
  PostProcessor made;
  if (Error error = PostProcessorReader(made).read(component))
    return std::move(error);
  return made;
}

} // namespace heddle
