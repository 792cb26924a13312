//===- EmbedManifestTests.cpp - Manifests of embedders --------------------===//
//
// Each test changes one thing in the valid manifest of an embedder and expects
// the sentence about it.
//
//===----------------------------------------------------------------------===//

#include "ManifestMessage.h"
#include "ToyModel.h"

#include "runtime/artifact/Manifest.h"

#include <functional>

using namespace heddle;
using namespace heddle::test;
using nlohmann::json;

/// The sentence about a changed manifest, or "valid".
static std::string messageWith(const std::function<void(json &)> &change) {
  json manifest = withEmbedding(toyManifest());
  change(manifest);
  return messageOfManifest(manifest);
}

/// The same of one whose task is changed.
static std::string messageWithTask(const std::function<void(json &)> &change) {
  return messageWith([&](json &m) { change(m["tasks"]["embed"]); });
}

/// And of one whose entry with the role `embed` is.
static std::string messageWithEntry(const std::function<void(json &)> &change) {
  return messageWith([&](json &m) { change(m["entries"].back()); });
}

TEST(EmbedManifestTest, has_prompts) {
  json text = withoutGeneration(withEmbedding(toyManifest()));
  text["tasks"]["embed"] = json::parse(R"({"max_tokens": 12,
    "prompts": {"query": "q: ", "none": ""}, "prompt": "none"})");
  Result<Manifest> manifest = parseManifest(text.dump());
  ASSERT_TRUE(manifest.ok()) << manifest.message();
  EXPECT_FALSE(manifest->generates);
  EXPECT_EQ(manifest->targetVocabulary, 0);
  EXPECT_EQ(manifest->sourceTypes, 2);
  EXPECT_EQ(manifest->sourcePad, 5);
  ASSERT_TRUE(manifest->embed);
  EXPECT_EQ(manifest->embed->maxTokens, 12);
  EXPECT_EQ(manifest->embed->prompt, "none");
  ASSERT_EQ(manifest->embed->prompts.size(), 2u);
  ASSERT_TRUE(manifest->embed->findPrompt("query"));
  EXPECT_EQ(manifest->embed->findPrompt("query")->text, "q: ");
  EXPECT_EQ(manifest->embed->findPrompt("q: "), nullptr);

  EXPECT_EQ(messageWithTask([](json &) {}), "valid");
  EXPECT_EQ(messageWithTask([](json &task) { task["normalize"] = 1; }),
            "manifest: the task 'embed' has the key 'normalize', which this "
            "runtime does not know");
  EXPECT_EQ(messageWithTask([](json &task) { task["max_tokens"] = 0; }),
            "manifest: the task 'embed' has 'max_tokens' = 0, expected an "
            "integer from 1 to 2147483647");
  EXPECT_EQ(messageWithTask([](json &task) { task["prompts"] = {"query"}; }),
            "manifest: the task 'embed' has 'prompts' as array, expected an "
            "object");
  EXPECT_EQ(messageWithTask([](json &task) {
              task["prompts"] = {{"query", "q: "}, {"passage", 7}};
            }),
            "manifest: the task 'embed' has the prompt 'passage', which is no "
            "text");
  EXPECT_EQ(messageWithTask([](json &task) {
              task["prompts"] = {{"query", "q: "}};
              task["prompt"] = "q: ";
            }),
            "manifest: the task 'embed' has the default prompt 'q: ', which is "
            "none of its prompts");
  EXPECT_EQ(messageWithTask([](json &task) { task["prompt"] = 1; }),
            "manifest: the task 'embed' has 'prompt' as number, expected a "
            "string");
  EXPECT_EQ(messageWithTask([](json &task) { task["weights"] = "log"; }),
            "manifest: the task 'embed' has the weights 'log' (supported: "
            "log1p, log1p_log1p)");
  EXPECT_EQ(messageWith([](json &m) { m["source"]["types"] = 0; }),
            "manifest: 'source' has 'types' = 0, expected an integer from 1 to "
            "2147483647");
  EXPECT_EQ(messageWith([](json &m) { m["source"]["pad"] = -1; }),
            "manifest: 'source' has 'pad' = -1, expected an integer from 0 to "
            "2147483647");
}

TEST(EmbedManifestTest, sparse_vectors_weigh_the_words) {
  for (auto [name, logarithms] :
       {std::pair("log1p", 1), std::pair("log1p_log1p", 2)}) {
    json text = withEmbedding(toyManifest());
    text["tasks"]["embed"]["weights"] = name;
    json &shape = text["entries"].back()["arguments"].back()["shape"];
    shape = {"batch", kToySourceVocabulary};
    Result<Manifest> manifest = parseManifest(text.dump());
    ASSERT_TRUE(manifest.ok()) << manifest.message();
    EXPECT_EQ(manifest->embed->logarithms, logarithms);
    EXPECT_EQ(messageOfManifest(text), "valid");
    shape = {"batch", 4};
    EXPECT_EQ(messageOfManifest(text),
              "manifest: entry '" +
                  text["entries"].back()["name"].get<std::string>() +
                  "' returns 'vectors' as f32 [batch, 4], expected 'vectors' "
                  "as f32 [batch, 9]");
  }
}

TEST(EmbedManifestTest, returns_a_vector_for_each_source) {
  EXPECT_EQ(messageWithEntry([](json &) {}), "valid");
  EXPECT_EQ(
      messageWith([](json &m) { m["entries"].erase(m["entries"].size() - 1); }),
      "manifest: it has the task 'embed' and no entry with the role "
      "'embed'");
  EXPECT_EQ(messageWith([](json &m) { m["tasks"].erase("embed"); }),
            "manifest: entry 'embed' computes the task 'embed', which is none "
            "of the model's");
  const std::string returns = "manifest: entry 'embed' returns ",
                    expected = ", expected 'vectors' as f32 [batch, width]";
  EXPECT_EQ(messageWithEntry([](json &entry) { entry["arguments"].erase(3); }),
            returns + "nothing" + expected);
  EXPECT_EQ(messageWithEntry(
                [](json &entry) { entry["arguments"][3]["name"] = "states"; }),
            returns + "'states' as f32 [batch, 4]" + expected);
  EXPECT_EQ(messageWithEntry(
                [](json &entry) { entry["arguments"][3]["dtype"] = "bf16"; }),
            returns + "'vectors' as bf16 [batch, 4]" + expected);
  EXPECT_EQ(messageWithEntry([](json &entry) {
              entry["arguments"][3]["shape"] = {"batch", "source"};
            }),
            returns + "'vectors' as f32 [batch, source]" + expected);
  EXPECT_EQ(messageWithEntry([](json &entry) {
              entry["arguments"][3]["shape"] = {"batch", "source", 4};
            }),
            returns + "'vectors' as f32 [batch, source, 4]" + expected);
  EXPECT_EQ(messageWithEntry(
                [](json &entry) { entry["arguments"][2]["name"] = "ids"; }),
            "manifest: entry 'embed' has the input 'ids', which the runtime "
            "does not have at that point");
  EXPECT_EQ(messageWithEntry(
                [](json &entry) { entry["arguments"][0]["shape"][2] = 3; }),
            "manifest: entry 'embed' has the input 'memory' as f32 [batch, "
            "source, 3], expected f32 [batch, source, 2]");
  EXPECT_EQ(messageWithEntry([](json &entry) {
              entry["arguments"][2]["shape"] = {"source"};
            }),
            "manifest: entry 'embed' has the input 'prompt' as i32 [source], "
            "expected i32 [batch]");
  EXPECT_EQ(
      messageWithEntry([](json &entry) { entry["dims"].push_back("rows"); }),
      "manifest: entry 'embed' has the dim 'rows', which has no value at "
      "that point");
}

TEST(EmbedManifestTest, types_and_positions_need_keys_of_the_source) {
  for (auto [key, input] :
       {std::pair("types", "types"), {"pad", "source_positions"}})
    EXPECT_EQ(messageWith([&, key = key](json &m) { m["source"].erase(key); }),
              "manifest: entry 'encode' has the input '" + std::string(input) +
                  "', but 'source' has no '" + key + "'");
}

TEST(EmbedManifestTest, any_value_may_have_any_type) {
  json manifest = withEmbedding(toyManifest());
  manifest["tasks"]["embed"] = {
      {"max_tokens", 7}, {"prompts", {{"query", "q: "}}}, {"prompt", "query"}};
  ASSERT_EQ(messageOfManifest(manifest), "valid");
  for (const char *place :
       {"/source/types", "/source/pad", "/tasks/embed",
        "/tasks/embed/max_tokens", "/tasks/embed/prompts",
        "/tasks/embed/prompts/query", "/tasks/embed/prompt"})
    for (const json &value :
         {json(nullptr), json(true), json(-7), json(1.5), json(json::array()),
          json(json::array({"query"})), json(json::object({{"a", 1}}))}) {
      json changed = manifest;
      changed[json::json_pointer(place)] = value;
      EXPECT_NE(messageOfManifest(changed), "valid") << place << " " << value;
    }
}
