//===- LabelManifestTests.cpp - Manifests of models with labels -----------===//
//
// Each test changes one thing in the valid manifest of a model that classifies
// texts, labels tokens and guesses masks, and expects the sentence about it.
//
//===----------------------------------------------------------------------===//

#include "ManifestMessage.h"
#include "ToyModel.h"

#include "runtime/artifact/Manifest.h"

#include <functional>

using namespace heddle;
using namespace heddle::test;
using nlohmann::json;

using Change = std::function<void(json &)>;

/// The sentence about a changed manifest, or "valid".
static std::string messageWith(const Change &change) {
  json manifest = withLabels(toyManifest());
  change(manifest);
  return messageOfManifest(manifest);
}

/// The same of one whose task is changed.
static std::string messageWithTask(const char *task, const Change &change) {
  return messageWith([&](json &m) { change(m["tasks"][task]); });
}

/// And of one whose entry with that role is.
static std::string messageWithEntry(const char *role, const Change &change) {
  return messageWith([&](json &m) {
    for (json &entry : m["entries"])
      if (entry["role"] == role)
        change(entry);
  });
}

TEST(LabelManifestTest, has_labels_and_a_mask) {
  json text = withoutGeneration(withLabels(toyManifest()));
  text["tasks"]["classify"] = {
      {"labels", {"a"}}, {"scores", "sigmoid"}, {"max_tokens", 12}};
  for (json &entry : text["entries"])
    if (entry["role"] == "classify")
      entry["arguments"][2]["shape"] = {"batch", 1};
  Result<Manifest> manifest = parseManifest(text.dump());
  ASSERT_TRUE(manifest.ok()) << manifest.message();
  ASSERT_TRUE(manifest->classify && manifest->tag && manifest->fill);
  EXPECT_EQ(manifest->classify->labels, std::vector<std::string>{"a"});
  EXPECT_EQ(manifest->classify->scores, LabelScores::Sigmoid);
  EXPECT_EQ(manifest->classify->maxTokens, 12);
  EXPECT_EQ(manifest->tag->labels,
            (std::vector<std::string>{"id", "place", "length"}));
  EXPECT_EQ(manifest->tag->scores, LabelScores::Softmax);
  EXPECT_EQ(manifest->tag->maxTokens, std::nullopt);
  EXPECT_EQ(manifest->fill->mask, kToyMask);
  EXPECT_EQ(manifest->textTask(Role::Tag), &*manifest->tag);
  EXPECT_EQ(manifest->textTask(Role::Embed), nullptr);
  EXPECT_EQ(manifest->textTask(Role::Encode), nullptr);
  EXPECT_TRUE(manifest->hasTask("fill"));
  EXPECT_FALSE(manifest->hasTask("embed"));
  EXPECT_FALSE(manifest->hasTask("encode"));
  EXPECT_EQ(manifest->describeTasks(),
            "classifies texts and labels tokens and guesses masked tokens");
}

/// With the entry of the task `tag` as one of the task `answer`.
static json withAnswers() {
  json text = withoutGeneration(withLabels(toyManifest()));
  text["tasks"]["answer"] = {{"max_tokens", 12}};
  text["tasks"].erase("tag");
  for (json &entry : text["entries"])
    if (entry["role"] == "tag") {
      entry["role"] = "answer";
      entry["arguments"][2]["shape"].back() = 2;
    }
  return text;
}

TEST(LabelManifestTest, answers_questions) {
  json text = withAnswers();
  Result<Manifest> manifest = parseManifest(text.dump());
  ASSERT_TRUE(manifest.ok()) << manifest.message();
  ASSERT_TRUE(manifest->answer);
  EXPECT_EQ(manifest->answer->maxTokens, 12);
  EXPECT_EQ(manifest->answer->separator, std::nullopt);
  EXPECT_EQ(manifest->textTask(Role::Answer), &*manifest->answer);
  EXPECT_TRUE(manifest->hasTask("answer"));
  EXPECT_EQ(manifest->describeTasks(),
            "classifies texts and answers questions and guesses masked tokens");
  for (json &entry : text["entries"])
    if (entry["role"] == "answer")
      entry["arguments"][2]["shape"].back() = 3;
  EXPECT_EQ(messageOfManifest(text),
            "manifest: entry 'tag' returns 'logits' as f32 [batch, source, 3], "
            "expected 'logits' as f32 [batch, source, 2]");
  text = withAnswers();
  text["tasks"]["answer"]["separator"] = 3;
  manifest = parseManifest(text.dump());
  ASSERT_TRUE(manifest.ok()) << manifest.message();
  EXPECT_EQ(manifest->answer->separator, 3);
  text["tasks"]["answer"]["separator"] = 9;
  EXPECT_EQ(messageOfManifest(text),
            "manifest: the task 'answer' has 'separator' = 9, expected an "
            "integer from 0 to 8");
  text = withAnswers();
  text["tasks"]["answer"]["labels"] = {"a"};
  EXPECT_EQ(messageOfManifest(text),
            "manifest: the task 'answer' has the key 'labels', which this "
            "runtime does not know");
}

TEST(LabelManifestTest, refuses_keys_and_values_of_tasks) {
  for (const char *task : {"classify", "tag"}) {
    const std::string has = "manifest: the task '" + std::string(task) + "' ";
    EXPECT_EQ(messageWithTask(task, [](json &t) { t.erase("labels"); }),
              has + "has no 'labels'");
    EXPECT_EQ(
        messageWithTask(task, [](json &t) { t["labels"] = json::array(); }),
        has + "has no labels");
    EXPECT_EQ(
        messageWithTask(task, [](json &t) { t["labels"] = {"a", "b", "a"}; }),
        has + "has the label 'a' twice");
    EXPECT_EQ(
        messageWithTask(task, [](json &t) { t["labels"] = {"a", 1, "b"}; }),
        has + "has number in 'labels', expected a string");
    EXPECT_EQ(messageWithTask(task, [](json &t) { t["mask"] = 1; }),
              has + "has the key 'mask', which this runtime does not know");
    EXPECT_EQ(messageWithTask(task, [](json &t) { t["max_tokens"] = 0; }),
              has + "has 'max_tokens' = 0, expected an integer from 1 to "
                    "2147483647");
  }
  EXPECT_EQ(messageWithTask("classify", [](json &t) { t["scores"] = "tanh"; }),
            "manifest: the task 'classify' has 'scores' with the value 'tanh' "
            "(supported: softmax, sigmoid, none)");
  EXPECT_EQ(messageWithTask("tag", [](json &t) { t["scores"] = "softmax"; }),
            "manifest: the task 'tag' has the key 'scores', which this runtime "
            "does not know");
  EXPECT_EQ(messageWithTask("fill", [](json &t) { t["mask"] = 9; }),
            "manifest: the task 'fill' has 'mask' = 9, expected an integer "
            "from 0 to 8");
  EXPECT_EQ(messageWithTask("fill", [](json &t) { t.erase("mask"); }),
            "manifest: the task 'fill' has no 'mask'");
  EXPECT_EQ(
      messageWith([](json &m) { m["tasks"]["sing"] = json::object(); }),
      "manifest: 'tasks' has the task 'sing' (supported: generate, embed, "
      "classify, tag, answer, fill)");
}

TEST(LabelManifestTest, returns_logits_of_labels) {
  EXPECT_EQ(messageWith([](json &) {}), "valid");
  const std::string returns = "' returns 'logits' as f32 ",
                    expected = ", expected 'logits' as f32 ";
  for (auto [task, shape] : {std::pair("classify", "[batch, 3]"),
                             {"tag", "[batch, source, 3]"},
                             {"fill", "[batch, masks, 9]"}}) {
    const std::string entry = "manifest: entry '" + std::string(task);
    EXPECT_EQ(
        messageWith([&, task = task](json &m) { m["tasks"].erase(task); }),
        entry + "' computes the task '" + task +
            "', which is none of the model's");
    EXPECT_EQ(
        messageWithEntry(
            task, [](json &e) { e["arguments"][2]["shape"].back() = 4; }),
        entry + returns +
            std::string(shape).replace(std::string(shape).size() - 2, 1, "4") +
            expected + shape);
    EXPECT_EQ(messageWithEntry(
                  task, [](json &e) { e["arguments"][2]["name"] = "vectors"; }),
              entry + "' returns 'vectors' as f32 " + shape + expected + shape);
    EXPECT_EQ(messageWithEntry(task, [](json &e) { e["arguments"].erase(2); }),
              entry + "' returns nothing" + expected + shape);
    EXPECT_EQ(messageWithEntry(
                  task, [](json &e) { e["arguments"][2]["dtype"] = "bf16"; }),
              entry + "' returns 'logits' as bf16 " + shape + expected + shape);
    EXPECT_EQ(messageWith([&, task = task](json &m) {
                json kept = json::array();
                for (json &e : m["entries"])
                  if (e["role"] != task)
                    kept.push_back(e);
                m["entries"] = kept;
              }),
              "manifest: it has the task '" + std::string(task) +
                  "' and no entry with the role '" + task + "'");
  }
  // Masks are those of the task `fill` alone.
  EXPECT_EQ(messageWithEntry("tag",
                             [](json &e) {
                               e["dims"].push_back("masks");
                               e["arguments"][1] = {
                                   {"name", "masks"},
                                   {"kind", "input"},
                                   {"dtype", "i32"},
                                   {"shape", {"batch", "masks"}}};
                             }),
            "manifest: entry 'tag' has the dim 'masks', which has no value at "
            "that point");
}

/// Without padding: [batch, source, ...] is [tokens, ...], and masks are those
/// of all texts.
static json ragged() {
  json text = withoutGeneration(withLabels(toyManifest()));
  for (json &entry : text["entries"]) {
    for (json &dim : entry["dims"])
      if (dim == "source")
        dim = "tokens";
    for (json &argument : entry["arguments"]) {
      json &shape = argument["shape"];
      if (shape.size() > 1 && (shape[1] == "source" || shape[1] == "masks"))
        shape.erase(0);
      if (shape[0] == "source")
        shape[0] = "tokens";
    }
  }
  return text;
}

TEST(LabelManifestTest, texts_may_stand_one_behind_the_other) {
  EXPECT_EQ(messageOfManifest(ragged()), "valid");
  Result<Manifest> manifest = parseManifest(ragged().dump());
  ASSERT_TRUE(manifest.ok()) << manifest.message();
  EXPECT_TRUE(manifest->isRagged());
  manifest = parseManifest(withLabels(toyManifest()).dump());
  ASSERT_TRUE(manifest.ok()) << manifest.message();
  EXPECT_FALSE(manifest->isRagged());

  auto input = [](const char *name, const json &shape) {
    return json{
        {"name", name}, {"kind", "input"}, {"dtype", "i32"}, {"shape", shape}};
  };
  // Where tokens stand, for whoever asks.
  json text = ragged();
  json &encode = text["entries"][0];
  encode["dims"].push_back("blocks");
  for (const char *name : {"positions", "sequences"})
    encode["arguments"].push_back(input(name, {"tokens"}));
  encode["arguments"].push_back(input("blocks", {"blocks"}));
  text["entries"][1]["arguments"].push_back(input("starts", {"batch"}));
  EXPECT_EQ(messageOfManifest(text), "valid");

  // Padded and ragged entries do not mix.
  text = ragged();
  text["entries"][0]["arguments"][0]["shape"] = {"batch"};
  EXPECT_EQ(messageOfManifest(text),
            "manifest: entry 'encode' has the input 'ids' as i32 [batch], "
            "expected i32 [tokens]");
  text = ragged();
  text["entries"][2]["dims"].push_back("source");
  EXPECT_EQ(messageOfManifest(text),
            "manifest: entry 'tag' has the dim 'source', which has no value at "
            "that point");
  text = ragged();
  text["entries"][2]["arguments"][2]["shape"] = {"batch", 3};
  EXPECT_EQ(messageOfManifest(text),
            "manifest: entry 'tag' returns 'logits' as f32 [batch, 3], "
            "expected 'logits' as f32 [tokens, 3]");
  text = withLabels(toyManifest());
  text["entries"][0]["arguments"].push_back(input("starts", {"batch"}));
  EXPECT_EQ(messageOfManifest(text),
            "manifest: entry 'encode' has the input 'starts', which the "
            "runtime does not have at that point");
}

TEST(LabelManifestTest, any_value_may_have_any_type) {
  json manifest = withLabels(toyManifest());
  ASSERT_EQ(messageOfManifest(manifest), "valid");
  manifest["tasks"]["classify"]["scores"] = "none";
  for (const char *place :
       {"/tasks/classify", "/tasks/classify/labels", "/tasks/classify/labels/0",
        "/tasks/classify/scores", "/tasks/tag", "/tasks/tag/labels",
        "/tasks/fill", "/tasks/fill/mask"})
    for (const json &value :
         {json(nullptr), json(true), json(-7), json(1.5), json(json::array()),
          json(json::array({"query"})), json(json::object({{"a", 1}}))}) {
      json changed = manifest;
      changed[json::json_pointer(place)] = value;
      EXPECT_NE(messageOfManifest(changed), "valid") << place << " " << value;
    }
}
