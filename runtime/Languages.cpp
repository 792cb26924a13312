//===- Languages.cpp - Languages of a request -----------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "runtime/Languages.h"

#include "runtime/NearNames.h"

#include <string_view>
#include <vector>

using namespace heddle;

Result<int32_t> heddle::findLanguage(const TokenizerDescription &tokenizer,
                                     const std::string &name) {
  std::vector<std::string_view> known;
  std::optional<int32_t> byCode;
  size_t sameCode = 0;
  for (const Language &language : tokenizer.languages) {
    if (language.name == name)
      return language.token;
    known.push_back(language.name);
    if (language.name.substr(0, language.name.find('_')) == name) {
      byCode = language.token;
      ++sameCode;
    }
  }
  if (known.empty())
    return Status::error("names a language, but the model knows none");
  if (sameCode == 1)
    return *byCode;
  std::string question = askForNames(findNearNames(name, known));
  return Status::error("has the value '", name, "', expected one of ",
                       known.size(), " languages, such as ", known.front(),
                       question.empty() ? "" : ": ", question);
}

void heddle::setTargetLanguage(const TokenizerDescription &tokenizer,
                               int32_t language, Generation &generation) {
  if (tokenizer.targetLanguage == TargetLanguage::Start)
    generation.start = language;
  else
    generation.forcedBos = language;
}
