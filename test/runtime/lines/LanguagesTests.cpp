//===- LanguagesTests.cpp - Languages of a request ------------------------===//

#include "test/runtime/ToyTokenizer.h"
#include "test/runtime/api/ApiTest.h"

#include "runtime/lines/Languages.h"
#include "runtime/search/Generate.h"
#include "runtime/search/TeacherForcing.h"
#include "runtime/session/Model.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::test;
using nlohmann::json;

namespace {

TokenizerDescription manyLanguages() {
  TokenizerDescription tokenizer;
  tokenizer.languages = {
      {"en_XX", 4}, {"pt_XX", 5}, {"zh_CN", 6}, {"zh_TW", 7}};
  return tokenizer;
}

std::string messageOf(const TokenizerDescription &tokenizer,
                      const std::string &name) {
  Result<int32_t> found = findLanguage(tokenizer, name);
  return found.ok() ? std::to_string(*found) : found.status().message();
}

TEST(Languages, are_found_by_name_and_by_code) {
  TokenizerDescription tokenizer = manyLanguages();
  EXPECT_EQ(messageOf(tokenizer, "pt_XX"), "5");
  EXPECT_EQ(messageOf(tokenizer, "pt"), "5");
  EXPECT_EQ(messageOf(tokenizer, "zh_TW"), "7");
}

TEST(Languages, that_are_unknown_name_the_nearest) {
  TokenizerDescription tokenizer = manyLanguages();
  EXPECT_EQ(messageOf(tokenizer, "pt_BR"),
            "has the value 'pt_BR', expected one of 4 languages, such as "
            "en_XX: is 'pt_XX' meant?");
  // Two begin so.
  EXPECT_EQ(messageOf(tokenizer, "zh"),
            "has the value 'zh', expected one of 4 languages, such as en_XX: "
            "is 'zh_CN' or 'zh_TW' meant?");
  EXPECT_EQ(messageOf(tokenizer, "Klingon"),
            "has the value 'Klingon', expected one of 4 languages, such as "
            "en_XX");
  EXPECT_EQ(messageOf(TokenizerDescription(), "pt"),
            "names a language, but the model knows none");
}

TEST(Languages, are_found_by_the_other_code_of_iso_639) {
  TokenizerDescription nllb, m2m;
  nllb.languages = {{"arb_Arab", 1},  {"arz_Arab", 2},  {"eng_Latn", 3},
                    {"swh_Latn", 4},  {"yue_Hant", 5},  {"zho_Hans", 6},
                    {"zho_Hant", 7},  {"acm_Arab", 8},  {"apc_Arab", 9},
                    {"fra_Latn", 10}, {"prs_Arab", 11}, {"pes_Arab", 12}};
  m2m.languages = {{"__ast__", 1}, {"__en__", 2}, {"__ns__", 3}};
  EXPECT_EQ(messageOf(nllb, "en"), "3");
  EXPECT_EQ(messageOf(nllb, "eng"), "3");
  EXPECT_EQ(messageOf(nllb, "fr"), "10");
  EXPECT_EQ(messageOf(nllb, "yue"), "5");
  // Of a macrolanguage there is one member here.
  EXPECT_EQ(messageOf(nllb, "sw"), "4");
  EXPECT_EQ(messageOf(nllb, "swa"), "4");
  EXPECT_EQ(messageOf(m2m, "__en__"), "2");
  EXPECT_EQ(messageOf(m2m, "en"), "2");
  EXPECT_EQ(messageOf(m2m, "eng"), "2");
  EXPECT_EQ(messageOf(m2m, "ast"), "1");
  EXPECT_EQ(messageOf(m2m, "ns"), "3");
  // A name is more than its code.
  for (const char *name : {"en_Latn", "__eng__", "en_", "", "_", "EN"})
    EXPECT_NE(messageOf(m2m, name), "2") << name;
}

TEST(Languages, of_which_several_fit_are_named) {
  TokenizerDescription nllb;
  nllb.languages = {{"acm_Arab", 1}, {"arb_Arab", 2}, {"arz_Arab", 3},
                    {"apc_Arab", 4}, {"zho_Hans", 5}, {"zho_Hant", 6},
                    {"yue_Hant", 7}, {"prs_Arab", 8}, {"pes_Arab", 9}};
  EXPECT_EQ(messageOf(nllb, "zh"),
            "has the value 'zh', expected one of 9 languages, such as "
            "acm_Arab: is 'zho_Hans' or 'zho_Hant' meant?");
  EXPECT_EQ(messageOf(nllb, "zho"),
            "has the value 'zho', expected one of 9 languages, such as "
            "acm_Arab: is 'zho_Hans' or 'zho_Hant' meant?");
  EXPECT_EQ(messageOf(nllb, "fa"),
            "has the value 'fa', expected one of 9 languages, such as "
            "acm_Arab: is 'prs_Arab' or 'pes_Arab' meant?");
  // Too many to ask for each.
  EXPECT_EQ(messageOf(nllb, "ar"),
            "has the value 'ar', expected one of 9 languages, such as "
            "acm_Arab, arb_Arab or arz_Arab");
}

class LanguagesTest : public ToyModelTest {};

/// A target language is a first token that is forced, or another start.
TEST_F(LanguagesTest, of_targets_are_what_the_model_would_say) {
  auto load = [&](json manifest) {
    TemporaryFile file(toyArtifact(manifest).build());
    Result<Model> model = Model::load(file.path());
    EXPECT_TRUE(model.ok()) << model.message();
    return std::move(*model);
  };
  constexpr int32_t language = 5;
  json said = toyManifest(), forced = said, started = said;
  forced["tasks"]["generate"]["forced_bos"] = language;
  started["tasks"]["generate"]["start"] = language;
  auto translate = [](const Model &model,
                      std::optional<int32_t> targetLanguage) {
    Session session(model);
    SearchOptions options;
    options.targetLanguage = targetLanguage;
    std::vector<Ids> answers;
    auto result = generate(model, session, toySources(20), {}, options);
    EXPECT_TRUE(result.ok()) << result.message();
    for (const auto &hypotheses : *result)
      answers.push_back(hypotheses.front().tokens);
    return answers;
  };
  Model plain = load(said), forcing = load(forced), starting = load(started);
  EXPECT_EQ(translate(plain, language), translate(forcing, std::nullopt));
  EXPECT_NE(translate(plain, language), translate(plain, std::nullopt));

  json byStart = said;
  byStart["tokenizer"] = {{"kind", "byte-level"},
                          {"languages", json::array({"pt_XX"})},
                          {"language_tokens", {language}},
                          {"target_language", "start"}};
  Result<Manifest> parsed = parseManifest(byStart.dump());
  ASSERT_TRUE(parsed.ok()) << parsed.message();
  Generation generation = parsed->generation;
  setTargetLanguage(parsed->tokenizer, language, generation);
  EXPECT_EQ(generation.start, starting.manifest().generation.start);
  EXPECT_EQ(generation.forcedBos, std::nullopt);
}

/// What a session's settings name is in the ids of heddle_encode: in front of a
/// source, or behind its end; and in front of targets.
class EncodedLanguagesTest : public ApiTest {
protected:
  enum class Place { Front, Behind };
  void loadWith(Place place, const char *target = "forced_bos") {
    json manifest = toyManifest();
    manifest["tokenizer"] = {{"kind", "byte-level"},
                             {"eos", 0},
                             {"languages", json::array({"en_XX", "pt_XX"})},
                             {"language_tokens", {7, 8}},
                             {"target_language", target}};
    ToyTemplate around = {{7}, {0}, 0};
    if (place == Place::Behind) {
      manifest["tokenizer"]["language"] = 7;
      around = {{}, {0, 7}, 2};
    }
    load(manifest,
         {{"tokenizer",
           buildToyTokenizer("abcdefghijkl", "abcdefghijkl", 11, 0, around)}});
  }
  Ids encode(unsigned kind) {
    int32_t *ids = nullptr;
    size_t count = 0;
    EXPECT_EQ(heddle_encode(session, kind, "ab", 2, nullptr, &ids, &count),
              HEDDLE_OK)
        << heddle_error();
    Ids found(ids, ids + count);
    heddle_free(ids);
    return found;
  }
};

TEST_F(EncodedLanguagesTest, of_sources) {
  loadWith(Place::Front);
  Ids expected = encode(HEDDLE_SOURCE);
  EXPECT_EQ(expected.front(), 7);
  ASSERT_EQ(set("source-language", "pt"), HEDDLE_OK);
  expected.front() = 8;
  EXPECT_EQ(encode(HEDDLE_SOURCE), expected);
  ASSERT_EQ(set("source-language", "en_XX"), HEDDLE_OK);
  expected.front() = 7;
  EXPECT_EQ(encode(HEDDLE_SOURCE), expected);

  loadWith(Place::Behind);
  expected = encode(HEDDLE_SOURCE);
  EXPECT_EQ(expected.back(), 7);
  ASSERT_EQ(set("source-language", "pt_XX"), HEDDLE_OK);
  expected.back() = 8;
  EXPECT_EQ(encode(HEDDLE_SOURCE), expected);
}

TEST_F(EncodedLanguagesTest, of_targets) {
  loadWith(Place::Front);
  Ids part = encode(HEDDLE_TARGET_PART);
  ASSERT_EQ(set("target-language", "pt"), HEDDLE_OK);
  EXPECT_EQ(encode(HEDDLE_TARGET_PART), part);
  Ids beginning = part;
  beginning.insert(beginning.begin(), 8);
  EXPECT_EQ(encode(HEDDLE_TARGET_BEGINNING), beginning);
  beginning.push_back(0);
  EXPECT_EQ(encode(HEDDLE_TARGET), beginning);
}

/// SMaLL-100 reads which language to write in the source, and its decoder
/// starts as if there were none.
TEST_F(EncodedLanguagesTest, of_sources_that_have_the_target) {
  loadWith(Place::Front, "source");
  Ids expected = encode(HEDDLE_SOURCE), part = encode(HEDDLE_TARGET_PART);
  EXPECT_EQ(expected.front(), 7);
  ASSERT_EQ(set("target-language", "pt"), HEDDLE_OK);
  expected.front() = 8;
  EXPECT_EQ(encode(HEDDLE_SOURCE), expected);
  EXPECT_EQ(encode(HEDDLE_TARGET_BEGINNING), part);
  EXPECT_NE(set("source-language", "en"), HEDDLE_OK);
  EXPECT_NE(std::string(heddle_error()).find("source-language is given, but '"),
            std::string::npos)
      << heddle_error();
  EXPECT_EQ(encode(HEDDLE_SOURCE), expected);
}

TEST_F(EncodedLanguagesTest, that_are_unknown_leave_a_session_as_it_was) {
  loadWith(Place::Behind);
  ASSERT_EQ(set("source-language", "pt"), HEDDLE_OK);
  Ids before = encode(HEDDLE_SOURCE);
  EXPECT_NE(set("source-language", "Klingon"), HEDDLE_OK);
  EXPECT_EQ(encode(HEDDLE_SOURCE), before);
}

} // namespace
