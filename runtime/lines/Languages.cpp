//===- Languages.cpp - Languages of a request -----------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/Languages.h"

#include "runtime/NearNames.h"
#include "runtime/lines/LanguageCodes.h"

#include <algorithm>
#include <string_view>
#include <vector>

using namespace heddle;

/// How many names an error shows that has too many to ask for one.
static constexpr size_t kShownNames = 3;

/// "pt" of "pt_XX", "en" of "__en__".
static std::string_view codeOf(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  return name.substr(0, name.find_first_of("_-"));
}

static bool isSame(std::string_view code, std::string_view known) {
  return code == known;
}

/// The languages with the code of `name`, by the first rule that fits any.
static std::vector<const Language *>
findByCode(const std::vector<Language> &languages, std::string_view name) {
  std::vector<const Language *> found;
  for (auto fits : {isSame, areOneLanguage, hasMember}) {
    for (const Language &language : languages)
      if (fits(codeOf(name), codeOf(language.name)))
        found.push_back(&language);
    if (!found.empty())
      break;
  }
  return found;
}

Result<int32_t> heddle::findLanguage(const TokenizerDescription &tokenizer,
                                     const std::string &name) {
  const std::vector<Language> &languages = tokenizer.languages;
  if (languages.empty())
    return Status::error("names a language, but the model knows none");
  std::vector<std::string_view> known, near;
  for (const Language &language : languages) {
    if (language.name == name)
      return language.token;
    known.push_back(language.name);
  }
  std::vector<const Language *> found = findByCode(languages, name);
  if (found.size() == 1 && codeOf(name) == name)
    return found.front()->token;
  for (const Language *language : found)
    near.push_back(language->name);
  std::string question =
      askForNames(near.empty() ? findNearNames(name, known) : near);
  std::string shown(near.empty() || !question.empty() ? known.front()
                                                      : near.front());
  if (question.empty())
    for (size_t i = 1; i < std::min(near.size(), kShownNames); ++i)
      shown += (i + 1 == kShownNames ? " or " : ", ") + std::string(near[i]);
  return Status::error("has the value '", name, "', expected one of ",
                       known.size(), " languages, such as ", shown,
                       question.empty() ? "" : ": ", question);
}

void heddle::setTargetLanguage(const TokenizerDescription &tokenizer,
                               int32_t language, Generation &generation) {
  if (tokenizer.targetLanguage == TargetLanguage::Start)
    generation.start = language;
  else
    generation.forcedBos = language;
}
