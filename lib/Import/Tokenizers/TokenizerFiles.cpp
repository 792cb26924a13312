//===- TokenizerFiles.cpp - What a folder says of its tokenizer -----------===//
//
// The fields of tokenizer_config.json that have no effect on ids and text in
// transformers 4.57.6 are not looked at: model_max_length, truncation_side,
// padding_side and their kin count only if a caller asks for truncation or
// padding; `errors`, `do_lower_case`, `legacy`, `keep_accents`, `trim_offsets`
// and `use_fast` are not read by the classes that are supported here.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heddle {

char UnsupportedTokenizer::ID;

Error refuseTokenizerField(StringRef path, const Twine &field,
                           const json::Value &value, const Twine &supported) {
  return make_error<UnsupportedTokenizer>(
      ("'" + sys::path::filename(path) + "' has '" + field +
       "' with the value " + formatJson(value) + " (supported: " + supported +
       ")")
          .str());
}

std::string TokenizerFiles::path(StringRef name) const {
  SmallString<128> path = StringRef(folder);
  sys::path::append(path, name);
  return path.str().str();
}

bool TokenizerFiles::has(StringRef name) const {
  return sys::fs::exists(path(name));
}

Expected<bool> TokenizerFiles::hasAll(ArrayRef<StringRef> names) const {
  auto isThere = [&](StringRef name) { return has(name); };
  auto there = find_if(names, isThere);
  if (there == names.end())
    return false;
  auto missing = find_if_not(names, isThere);
  if (missing == names.end())
    return true;
  return make_error<UnsupportedTokenizer>(
      ("the folder has '" + *there + "' but no '" + *missing + "'").str());
}

TokenizerFiles TokenizerFiles::withoutWhole() const {
  TokenizerFiles others = *this;
  others.whole.reset();
  others.wholeAdded.clear();
  return others;
}

bool TokenizerFiles::isTrue(StringRef field, bool byDefault) const {
  const json::Value *value = config.get(field);
  if (!value)
    return byDefault;
  if (std::optional<StringRef> text = value->getAsString())
    return !text->empty();
  if (std::optional<double> number = value->getAsNumber())
    return *number != 0;
  return value->getAsBoolean().value_or(false);
}

std::optional<SpecialToken>
TokenizerFiles::find(StringRef field, const SpecialToken &byDefault) const {
  auto found = special.find(field.str());
  if (found == special.end())
    return byDefault;
  std::optional<SpecialToken> token = found->second;
  if (token && !token->form && byDefault.form) {
    token->form = byDefault.form;
    token->form->content = token->content;
  }
  return token;
}

void appendSpecial(ArrayRef<SpecialToken> tokens,
                   std::vector<SpecialToken> &list) {
  const size_t before = list.size();
  for (const SpecialToken &token : tokens)
    if (none_of(ArrayRef(list).take_front(before),
                [&](const SpecialToken &other) {
                  return other.content == token.content;
                }))
      list.push_back(token);
}

void appendOthers(const TokenizerFiles &files,
                  std::vector<SpecialToken> &list) {
  if (files.additional)
    appendSpecial(*files.additional, list);
  for (const SpecialToken &token : files.extra)
    appendSpecial(token, list);
}

/// Fails if a flag of an added token is none. In tokenizer.json all must be
/// there, and elsewhere `normalized` may be null.
static Error checkFlags(const json::Object &token, StringRef content,
                        StringRef path) {
  bool isWhole = path.ends_with("tokenizer.json");
  for (StringRef name :
       {"single_word", "lstrip", "rstrip", "normalized", "special"}) {
    const json::Value *value = token.get(name);
    bool isOpen = value ? name == "normalized" && value->getAsNull() : true;
    if ((value && value->getAsBoolean()) || (isOpen && !isWhole))
      continue;
    return makeError("'" + path + "' has '" + name + "' of the added token '" +
                     content + "' with the value " +
                     formatJson(value ? *value : json::Value(nullptr)) +
                     " (expected true, false)");
  }
  return Error::success();
}

/// The token that an object with "content" describes.
static Expected<AddedTokenForm> readForm(const json::Object &token,
                                         StringRef path) {
  std::optional<StringRef> content = token.getString("content");
  if (!content || content->empty())
    return makeError("'" + path + "' has an added token without 'content'");
  if (!json::isUTF8(*content) || content->contains('\0'))
    return makeError("'" + path + "' has an added token that is no text");
  if (Error error = checkFlags(token, *content, path))
    return std::move(error);
  auto flag = [&](StringRef name, bool byDefault) {
    return token.getBoolean(name).value_or(byDefault);
  };
  AddedTokenForm form;
  form.content = content->str();
  form.stripsLeft = flag("lstrip", false);
  form.stripsRight = flag("rstrip", false);
  form.isWord = flag("single_word", false);
  form.isSpecial = flag("special", false);
  form.isNormalized = flag("normalized", !form.isSpecial);
  form.isOpen = !token.getBoolean("normalized");
  return form;
}

/// A special token, which is a text or an object.
static Expected<SpecialToken> readSpecial(const json::Value &value,
                                          StringRef field, StringRef path) {
  if (std::optional<StringRef> text = value.getAsString();
      text && !text->empty() && !text->contains('\0'))
    return SpecialToken{text->str(), std::nullopt};
  const json::Object *object = value.getAsObject();
  if (!object)
    return makeError("'" + path + "' has '" + field + "' with the value " +
                     formatJson(value) + " (expected a token)");
  Expected<AddedTokenForm> form = readForm(*object, path);
  if (!form)
    return form.takeError();
  form->isSpecial = true;
  // Python makes the token of this file a special one before it reads it.
  if (form->isOpen && path.ends_with("special_tokens_map.json"))
    form->isNormalized = form->isOpen = false;
  return SpecialToken{form->content, *form};
}

/// Reads the fields of special tokens of one file.
static Error readSpecialFields(const json::Object &object, StringRef path,
                               TokenizerFiles &files) {
  for (StringRef field : kSpecialFields) {
    const json::Value *value = object.get(field);
    if (!value)
      continue;
    if (value->getAsNull()) {
      files.special[field.str()] = std::nullopt;
      continue;
    }
    Expected<SpecialToken> token = readSpecial(*value, field, path);
    if (!token)
      return token.takeError();
    files.special[field.str()] = *token;
  }
  if (const json::Array *list = object.getArray("additional_special_tokens")) {
    if (!files.additional)
      files.additional.emplace();
    for (const json::Value &value : *list) {
      Expected<SpecialToken> token =
          readSpecial(value, "additional_special_tokens", path);
      if (!token)
        return token.takeError();
      bool isKnown = any_of(*files.additional, [&](const SpecialToken &other) {
        return other.content == token->content && other.form == token->form;
      });
      if (!isKnown)
        files.additional->push_back(*token);
    }
  }
  return Error::success();
}

/// The keys of a file's object in their order, see listJsonKeys.
static std::vector<std::string> keysOf(StringRef path, StringRef field = "") {
  auto buffer = mapFile(path);
  if (buffer)
    return listJsonKeys((*buffer)->getBuffer(), field);
  consumeError(buffer.takeError());
  return {};
}

/// Reads `extra_special_tokens` of tokenizer_config.json; a list there is none.
static Error readExtra(const json::Object &config, StringRef path,
                       TokenizerFiles &files) {
  const json::Object *extra = config.getObject("extra_special_tokens");
  if (!extra)
    return Error::success();
  for (const std::string &field : keysOf(path, "extra_special_tokens")) {
    const json::Value *value = extra->get(field);
    if (!value) // Of another object, by a key that an escape hides.
      continue;
    Expected<SpecialToken> token = readSpecial(*value, field, path);
    if (!token)
      return token.takeError();
    files.extra.push_back(*token);
  }
  return Error::success();
}

/// Reads `added_tokens_decoder`.
static Error readDecoder(const json::Object &decoder, StringRef path,
                         TokenizerFiles &files) {
  for (const std::string &id : keysOf(path, "added_tokens_decoder")) {
    int64_t number;
    const json::Object *object = decoder.getObject(id);
    if (!object || StringRef(id).getAsInteger(10, number) || number < 0 ||
        number > kMaxTokenId)
      return makeError("'" + path + "' has an added token '" + id +
                       "' that is no id with an object");
    Expected<AddedTokenForm> form = readForm(*object, path);
    if (!form)
      return form.takeError();
    files.added[number] = files.forms[form->content] = *form;
  }
  return Error::success();
}

/// The tokens that are special for added_tokens.json. Python has made no tokens
/// yet of the objects in tokenizer_config.json, so that these are not.
static StringSet<> namesOfSpecial(const json::Object &config,
                                  const json::Object &map) {
  StringSet<> names;
  auto add = [&](const json::Value &value, bool isOfMap) {
    const json::Object *object = value.getAsObject();
    if (std::optional<StringRef> text = value.getAsString())
      names.insert(*text);
    else if (object && isOfMap)
      names.insert(object->getString("content").value_or(""));
  };
  for (StringRef field : kSpecialFields) {
    const json::Value *value = map.get(field);
    if (value || config.get(field))
      add(value ? *value : *config.get(field), /*isOfMap=*/value);
  }
  for (const json::Object *object : {&config, &map})
    if (const json::Array *list = object->getArray("additional_special_tokens"))
      for (const json::Value &value : *list)
        add(value, /*isOfMap=*/object == &map);
  return names;
}

/// Reads `added_tokens.json`, a mapping from tokens to ids.
static Error readAddedFile(const json::Object &ids, StringRef path,
                           const StringSet<> &special, TokenizerFiles &files) {
  for (const std::string &token : keysOf(path)) {
    StringRef text = token;
    const json::Value &value = *ids.get(token);
    std::optional<int64_t> id = value.getAsInteger();
    if (!id || *id < 0 || *id > kMaxTokenId || text.empty() ||
        text.contains('\0'))
      return makeError("'" + path + "' gives the token '" + text + "' the id " +
                       formatJson(value));
    AddedTokenForm form;
    form.content = text.str();
    form.isSpecial = special.contains(text);
    form.isNormalized = !form.isSpecial;
    files.added[*id] = std::move(form);
  }
  return Error::success();
}

/// Reads the added tokens of tokenizer.json, which has them in order.
static Error readWholeAdded(const json::Object &whole, StringRef path,
                            bool counts, TokenizerFiles &files) {
  const json::Value *list = whole.get("added_tokens");
  const json::Array *tokens = list ? list->getAsArray() : nullptr;
  if (list && !tokens)
    return makeError("'" + path + "' has 'added_tokens' with the value " +
                     formatJson(*list) + " (expected a list)");
  for (const json::Value &value : tokens ? *tokens : json::Array()) {
    const json::Object *object = value.getAsObject();
    std::optional<int64_t> id =
        object ? object->getInteger("id") : std::nullopt;
    if (!id || *id < 0 || *id > kMaxTokenId)
      return makeError("'" + path + "' has an added token without 'id'");
    Expected<AddedTokenForm> form = readForm(*object, path);
    if (!form)
      return form.takeError();
    files.wholeAdded.push_back(*form);
    if (counts)
      files.added[*id] = files.forms[form->content] = *form;
  }
  return Error::success();
}

Expected<TokenizerFiles> readTokenizerFiles(StringRef folder) {
  TokenizerFiles files;
  files.folder = folder.str();
  auto read = [&](StringRef name, json::Object &into) -> Error {
    if (!files.has(name))
      return Error::success();
    Expected<json::Object> object = readJsonFile(files.path(name));
    if (!object)
      return object.takeError();
    into = std::move(*object);
    return Error::success();
  };
  json::Object model, map, added;
  if (Error error = read("tokenizer_config.json", files.config))
    return std::move(error);
  if (Error error = read("config.json", model))
    return std::move(error);
  for (const auto &[name, object] : {std::pair<StringRef, const json::Object &>(
                                         "tokenizer_config.json", files.config),
                                     {"config.json", model}})
    if (std::optional<StringRef> text = object.getString("tokenizer_class");
        text && files.className.empty()) {
      text->consume_back("Fast");
      files.className = text->str();
      files.classPath = files.path(name);
    }
  if (files.has("tokenizer.json"))
    if (Error error = read("tokenizer.json", files.whole.emplace()))
      return std::move(error);
  std::string configPath = files.configPath();
  if (Error error = readSpecialFields(files.config, configPath, files))
    return std::move(error);
  if (Error error = readExtra(files.config, configPath, files))
    return std::move(error);
  const json::Object *decoder = files.config.getObject("added_tokens_decoder");
  if (decoder) {
    if (Error error = readDecoder(*decoder, configPath, files))
      return std::move(error);
  } else {
    if (Error error = read("special_tokens_map.json", map))
      return std::move(error);
    if (Error error = readSpecialFields(
            map, files.path("special_tokens_map.json"), files))
      return std::move(error);
    if (Error error = read("added_tokens.json", added))
      return std::move(error);
    if (Error error = readAddedFile(added, files.path("added_tokens.json"),
                                    namesOfSpecial(files.config, map), files))
      return std::move(error);
  }
  if (files.whole)
    if (Error error = readWholeAdded(*files.whole, files.path("tokenizer.json"),
                                     /*counts=*/!decoder, files))
      return std::move(error);
  // A tokenizer that is converted anew takes nothing else of it.
  if (files.isTrue("from_slow")) {
    files.whole.reset();
    files.wholeAdded.clear();
  }
  // A special token that is listed among the added ones has the form there. It
  // is one object in Python, which a slow tokenizer, if a fast one is
  // converted from it, makes special as it stands.
  for (auto &[field, token] : files.special) {
    if (!token)
      continue;
    if (auto form = files.forms.find(token->content); form != files.forms.end())
      token->form = form->second;
    if (files.whole || !token->form)
      continue;
    for (auto &[id, form] : files.added)
      form.isOpen &= !(form == *token->form);
    token->form->isOpen = false;
  }
  auto close = [&](std::vector<SpecialToken> &tokens) {
    for (SpecialToken &token : tokens)
      if (token.form && !files.whole)
        token.form->isOpen = false;
  };
  if (files.additional)
    close(*files.additional);
  close(files.extra);
  return files;
}

Error checkTokenizerConfig(const TokenizerFiles &files, bool isSlow) {
  auto refuse = [&](StringRef field, const Twine &supported) {
    return refuseTokenizerField(files.configPath(), field,
                                *files.config.get(field), supported);
  };
  if (files.isTrue("split_special_tokens"))
    return refuse("split_special_tokens", "false");
  if (!isSlow)
    return Error::success();
  if (files.isTrue("separate_vocabs"))
    return refuse("separate_vocabs", "false");
  const json::Object *model = files.config.getObject("sp_model_kwargs");
  for (StringRef option :
       {"enable_sampling", "add_bos", "add_eos", "reverse", "emit_unk_piece"})
    if (model && model->getBoolean(option).value_or(false))
      return refuse("sp_model_kwargs", "{}");
  return Error::success();
}

} // namespace heddle
