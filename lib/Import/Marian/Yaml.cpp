//===- Yaml.cpp - The flat YAML of Marian ---------------------------------===//
//
// LLVM's parser yields nodes lazily: each is read to its end before the next is
// asked for, and the first that is too deep ends the walk, so that the depth of
// the input never becomes the depth of the stack.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Marian/Yaml.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

using namespace llvm;

namespace heddle {

std::string YamlValue::format() const {
  return isList ? "[" + join(values, ", ") + "]" : values.front();
}

/// The text of a scalar; nothing for any other node.
static std::optional<std::string> readScalar(yaml::Node *node) {
  SmallString<64> storage;
  if (auto *scalar = dyn_cast_or_null<yaml::ScalarNode>(node))
    return scalar->getValue(storage).str();
  return std::nullopt;
}

/// Whether a node is null in a word, without quotes.
static bool isNull(yaml::Node *node) {
  auto *scalar = dyn_cast_or_null<yaml::ScalarNode>(node);
  return scalar &&
         is_contained({"~", "null", "Null", "NULL"}, scalar->getRawValue());
}

/// Reads a value node; false when it is no scalar and no list of scalars.
static bool readValue(yaml::Node *node, YamlValue &value) {
  if (auto *list = dyn_cast_or_null<yaml::SequenceNode>(node)) {
    value.isList = true;
    for (yaml::Node &element : *list) {
      std::optional<std::string> text = readScalar(&element);
      if (!text)
        return false;
      value.values.push_back(*text);
    }
    return true;
  }
  if (isa_and_nonnull<yaml::NullNode>(node)) {
    value.values.emplace_back();
    return true;
  }
  std::optional<std::string> text = readScalar(node);
  if (text)
    value.values.push_back(isNull(node) ? "" : *text);
  return text.has_value();
}

/// Reads the root of the document; false after a syntax error, whose sentence
/// the caller has.
static Expected<YamlMapping> readMapping(yaml::Node *root, StringRef file) {
  YamlMapping mapping;
  auto *node = dyn_cast_or_null<yaml::MappingNode>(root);
  if (!node)
    return makeError("'" + file + "' is not a YAML mapping");
  for (yaml::KeyValueNode &entry : *node) {
    std::optional<std::string> key = readScalar(entry.getKey());
    if (!key)
      return makeError("'" + file + "' has a key that is no scalar");
    YamlValue value;
    if (!readValue(entry.getValue(), value))
      return makeError("'" + file + "' has the option '" + *key +
                       "' that is neither a scalar nor a list of scalars");
    if (!mapping.emplace(*key, std::move(value)).second)
      return makeError("'" + file + "' has the option '" + *key + "' twice");
  }
  return mapping;
}

Expected<YamlMapping> parseYaml(StringRef text, StringRef file) {
  std::string terminated = text.rtrim('\0').str();
  std::string syntaxError;
  SourceMgr sources;
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *context) {
        auto &sentence = *static_cast<std::string *>(context);
        if (sentence.empty())
          sentence = ("line " + Twine(diagnostic.getLineNo()) + ": " +
                      diagnostic.getMessage().rtrim('.'))
                         .str();
      },
      &syntaxError);
  yaml::Stream stream(terminated, sources, /*ShowColors=*/false);
  yaml::document_iterator document = stream.begin();
  yaml::Node *root = document == stream.end() ? nullptr : document->getRoot();
  Expected<YamlMapping> mapping = readMapping(root, file);
  if (!stream.failed() && syntaxError.empty())
    return mapping;
  consumeError(mapping.takeError());
  return makeError("'" + file + "' is not valid YAML: " + syntaxError);
}

} // namespace heddle
