//===- Languages.cpp - Languages of a request -----------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/Languages.h"

#include "runtime/NearNames.h"

#include <string_view>
#include <vector>

using namespace heddle;

/// "pt" of "pt_XX".
static std::string_view codeOf(std::string_view name) {
  return name.substr(0, name.find_first_of("_-"));
}

Result<int32_t> heddle::findLanguage(const TokenizerDescription &tokenizer,
                                     const std::string &name) {
  std::vector<std::string_view> known;
  // With the same code, and the token of the last of them.
  std::vector<std::string_view> near;
  int32_t byCode = 0;
  for (const Language &language : tokenizer.languages) {
    if (language.name == name)
      return language.token;
    known.push_back(language.name);
    if (codeOf(language.name) == codeOf(name)) {
      near.push_back(language.name);
      byCode = language.token;
    }
  }
  if (known.empty())
    return Status::error("names a language, but the model knows none");
  if (near.size() == 1 && codeOf(name) == name)
    return byCode;
  std::string question =
      askForNames(near.empty() ? findNearNames(name, known) : near);
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
