//===- ManifestTests.cpp - Manifests that are wrong -----------------------===//
//
// Each test changes one thing in a valid manifest and expects the sentence
// about it.
//
//===----------------------------------------------------------------------===//

#include "ManifestMessage.h"
#include "ToyModel.h"

#include "runtime/artifact/EntryContract.h"
#include "runtime/artifact/Manifest.h"

#include <functional>
#include <random>
#include <set>

using namespace heddle;
using namespace heddle::test;
using nlohmann::json;

/// The sentence about a changed manifest, or "valid".
static std::string messageWith(const std::function<void(json &)> &change) {
  json manifest = toyManifest();
  change(manifest);
  return messageOfManifest(manifest);
}

TEST(ManifestTest, libraries_that_nobody_knows) {
  EXPECT_EQ(messageWith([](json &manifest) {
              manifest["libraries"] = {"libheddle-onednn.so"};
            }),
            "valid");
  EXPECT_EQ(messageWith([](json &manifest) {
              manifest["libraries"] = {"/tmp/other.so"};
            }),
            "manifest: it needs the library '/tmp/other.so' (supported: "
            "libheddle-onednn.so)");
}

TEST(ManifestTest, reads_every_key) {
  json text = toyManifest();
  text["source"]["positions"] = 13;
  text["tasks"]["generate"] = json::parse(R"({
    "vocabulary": 11, "start": 4, "eos": [0, 2], "pad": 1, "suppress": [3], "begin_suppress": [5],
    "bad_words": [[6], [7, 8]], "forced_bos": 9, "forced_eos": 10,
    "min_length": 11, "min_new_tokens": 16, "max_length": 12, "length_factor": 2.5,
    "max_target": 14, "max_source_length": 15, "crop_source": 1,
    "beams": 6, "length_penalty": 0.6, "word_penalty": -0.5,
    "early_stopping": "shrink", "patience": 2.5, "coverage_penalty": 0.25})");
  text["tokenizer"] = json::parse(R"({"kind": "characters", "unknown": 3,
    "bos": 1, "eos": 2})");
  Result<Manifest> manifest = parseManifest(text.dump());
  ASSERT_TRUE(manifest.ok()) << manifest.message();
  EXPECT_EQ(manifest->compilerVersion, "0.1.0");
  EXPECT_EQ(manifest->modelName, "toy");
  EXPECT_EQ(manifest->family, "hash");
  EXPECT_EQ(manifest->isas, std::vector<std::string>{"x86-64-v3"});
  ASSERT_EQ(manifest->options.size(), 1u);
  EXPECT_EQ(manifest->options[0].second, "test");
  EXPECT_EQ(manifest->kernels,
            (std::vector<std::string>{"step", "shortlist_step", "unused"}));
  EXPECT_EQ(manifest->layers,
            (std::vector<std::string>{"toy.step", "toy.shortlist"}));
  ASSERT_EQ(manifest->places.size(), 2u);
  EXPECT_EQ(manifest->places[1].entry, 5);
  EXPECT_EQ(manifest->places[1].kernel, 1);
  EXPECT_EQ(manifest->places[1].layer, 1);
  EXPECT_EQ(manifest->sourceVocabulary, 9);
  EXPECT_EQ(manifest->targetVocabulary, 11);
  const Generation &generation = manifest->generation;
  EXPECT_EQ(generation.start, 4);
  EXPECT_EQ(generation.eos, (Ids{0, 2}));
  EXPECT_EQ(generation.pad, 1);
  EXPECT_EQ(generation.suppress, Ids{3});
  EXPECT_EQ(generation.beginSuppress, Ids{5});
  EXPECT_EQ(generation.badWords, (std::vector<Ids>{{6}, {7, 8}}));
  EXPECT_EQ(generation.forcedBos, 9);
  EXPECT_EQ(generation.forcedEos, 10);
  EXPECT_EQ(generation.minLength, 11);
  EXPECT_EQ(generation.minNewTokens, 16);
  EXPECT_EQ(generation.maxLength, 12);
  EXPECT_EQ(generation.lengthFactor, 2.5);
  EXPECT_EQ(manifest->sourcePositions, 13);
  EXPECT_TRUE(manifest->generates);
  EXPECT_EQ(generation.maxTarget, 14);
  EXPECT_EQ(generation.maxSourceLength, 15);
  EXPECT_TRUE(generation.cropsSources);
  EXPECT_EQ(generation.beams, 6);
  EXPECT_EQ(generation.lengthPenalty, 0.6);
  EXPECT_EQ(generation.wordPenalty, -0.5);
  EXPECT_EQ(generation.earlyStopping, EarlyStopping::Shrink);
  EXPECT_EQ(generation.patience, 2.5);
  EXPECT_EQ(generation.coveragePenalty, 0.25);
  const TokenizerDescription &tokenizer = manifest->tokenizer;
  EXPECT_EQ(tokenizer.kind, "characters");
  EXPECT_EQ(tokenizer.unknown, 3);
  EXPECT_EQ(tokenizer.bos, 1);
  EXPECT_EQ(tokenizer.eos, 2);
  ASSERT_EQ(manifest->entries.size(), 6u);
  const Entry &step = manifest->entries[3];
  EXPECT_EQ(step.name, "decode.step");
  EXPECT_EQ(step.dims,
            (std::vector<Extent>{{Extent::kUnbounded, Dim::Rows},
                                 {Extent::kUnbounded, Dim::Batch},
                                 {Extent::kUnbounded, Dim::Capacity}}));
  EXPECT_EQ(step.arguments[0].kind, ArgumentKind::State);
  EXPECT_EQ(describe(step.arguments[0]), "i32 [rows, capacity]");
}

TEST(ManifestTest, slots_with_a_bound) {
  json changed = toyManifest();
  json &step = changed["entries"][3];
  step["dims"] = {"rows", "batch", "capacity<=7", "capacity"};
  step["arguments"][0]["shape"] = {"rows", "capacity<=7"};
  Result<Manifest> manifest = parseManifest(changed.dump());
  ASSERT_TRUE(manifest.ok()) << manifest.message();
  const Argument &state = manifest->entries[3].arguments[0];
  EXPECT_EQ(describe(state), "i32 [rows, capacity<=7]");
  DimValues dims;
  dims[Dim::Rows] = 2;
  for (auto [capacity, slots] : {std::pair(5, 5), {7, 7}, {9, 7}}) {
    dims[Dim::Capacity] = capacity;
    EXPECT_EQ(state.byteSize(dims), 2 * slots * 4);
  }
  for (const char *dim :
       {"capacity<=0", "capacity<=", "capacity<=7x", "capacity<= 7",
        "capacity<=-1", "capacity<=9223372036854775808", "rows<=7"})
    EXPECT_NE(messageWith([&](json &m) {
                m["entries"][3]["dims"].push_back(dim);
              }).find("has the dim '" + std::string(dim) + "' (supported: "),
              std::string::npos)
        << dim;
}

TEST(ManifestTest, several_of_a_dim_make_one) {
  json changed = withoutGeneration(withLabels(toyManifest()));
  auto change = [&](const std::string &dim) {
    for (json &entry : changed["entries"]) {
      for (json &argument : entry["arguments"])
        if (argument["name"] == "memory")
          argument["shape"][1] = dim;
      entry["dims"].push_back(dim);
    }
  };
  json plain = changed;
  change("source floordiv 3");
  Result<Manifest> manifest = parseManifest(changed.dump());
  ASSERT_TRUE(manifest.ok()) << manifest.message();
  const Argument &memory = manifest->entries[0].arguments.back();
  EXPECT_EQ(describe(memory), "f32 [batch, source floordiv 3, 2]");
  DimValues dims;
  dims[Dim::Batch] = 2;
  for (auto [source, states] : {std::pair(9, 3), {8, 2}, {3, 1}, {2, 0}}) {
    dims[Dim::Source] = source;
    EXPECT_EQ(manifest->entries[0].dims.back().in(dims), states);
    EXPECT_EQ(memory.byteSize(dims), 2 * states * 2 * 4);
  }
  // It is another dim than the source.
  changed = plain;
  changed["entries"][0]["dims"].push_back("source floordiv 2");
  changed["entries"][0]["arguments"].back()["shape"][1] = "source floordiv 2";
  EXPECT_EQ(messageOfManifest(changed),
            "manifest: entry 'classify' has the input 'memory' as f32 [batch, "
            "source, 2], expected f32 [batch, source floordiv 2, 2]");
  for (const char *dim :
       {"source floordiv 1", "source floordiv", "source floordiv 2x",
        "source  floordiv 2", "source floordiv -2", "capacity floordiv 2",
        "source floordiv 4 floordiv 2", "sauce floordiv 2",
        "source floordiv 9223372036854775808"})
    EXPECT_NE(messageWith([&](json &m) {
                m["entries"][3]["dims"].push_back(dim);
              }).find("has the dim '" + std::string(dim) + "' (supported: "),
              std::string::npos)
        << dim;
}

TEST(ManifestTest, pinned_slots_of_a_ring) {
  auto message = [](int argument, const char *slots, const json &pinned) {
    return messageWith([&](json &m) {
      m["entries"][3]["dims"].push_back(slots);
      json &state = m["entries"][3]["arguments"][argument];
      state["shape"] = {"rows", slots};
      state["pinned"] = pinned;
    });
  };
  EXPECT_EQ(message(0, "capacity<=7", 6), "valid");
  const char *refused =
      "manifest: an argument of entry 'decode.step' has 7 pinned slots, "
      "expected fewer than those of a state with a bound";
  EXPECT_EQ(message(0, "capacity<=7", 7), refused);
  EXPECT_EQ(message(0, "shortlist", 7), refused);
  // The ids of rows are no state.
  EXPECT_EQ(message(1, "capacity<=8", 7), refused);
  for (const json &pinned : {json(0), json(-1), json("2")})
    EXPECT_NE(message(0, "capacity<=7", pinned).find("'pinned'"),
              std::string::npos)
        << pinned;
}

TEST(ManifestTest, generation_needs_only_its_end) {
  EXPECT_EQ(messageWith([](json &m) {
              m["tasks"]["generate"] = {{"vocabulary", 11}, {"eos", {0}}};
            }),
            "valid");
  EXPECT_EQ(messageWith([](json &m) {
              m["tasks"]["generate"] = {{"vocabulary", 11},
                                        {"eos", json::array()}};
            }),
            "valid");
  EXPECT_EQ(messageWith(
                [](json &m) { m["tasks"]["generate"] = {{"vocabulary", 11}}; }),
            "manifest: the task 'generate' has no 'eos'");
}

TEST(ManifestTest, tasks_are_known_by_name) {
  EXPECT_EQ(messageWith([](json &m) { m["tasks"]["sing"] = json::object(); }),
            "manifest: 'tasks' has the task 'sing' (supported: "
            "generate, embed, classify, tag, answer, fill)");
  EXPECT_EQ(messageWith([](json &m) { m["tasks"]["generate"] = 1; }),
            "manifest: 'tasks' has 'generate' as number, expected an object");
  EXPECT_EQ(messageWith([](json &m) { m["source"]["odd"] = 1; }),
            "manifest: 'source' has the key 'odd', which this runtime does not "
            "know");
  EXPECT_EQ(messageWith([](json &m) { m["tasks"] = json::object(); }),
            "manifest: entry 'decode' is a form of a decoder, which no task "
            "needs");
}

TEST(ManifestTest, types_and_ranges) {
  EXPECT_EQ(messageWith([](json &m) { m = json::array(); }),
            "manifest: it is array, expected an object");
  EXPECT_EQ(messageWith([](json &m) { m.erase("heddle"); }),
            "manifest: it has no 'heddle'");
  EXPECT_EQ(messageWith([](json &m) { m["model"]["name"] = 7; }),
            "manifest: 'model' has 'name' as number, expected a string");
  EXPECT_EQ(messageWith([](json &m) { m["isas"] = {1}; }),
            "manifest: it has number in 'isas', expected a string");
  EXPECT_EQ(messageWith([](json &m) { m["isas"] = json::array(); }),
            "manifest: it has no name in 'isas'");
  EXPECT_EQ(messageWith([](json &m) { m["source"]["vocabulary"] = 0; }),
            "manifest: 'source' has 'vocabulary' = 0, expected an integer from "
            "1 to 2147483647");
  EXPECT_EQ(messageWith([](json &m) {
              m["source"]["vocabulary"] = 1e300;
            }).find("manifest: 'source' has 'vocabulary' = 1e+300"),
            0u);
  EXPECT_EQ(messageWith([](json &m) { m["tasks"]["generate"]["start"] = -2; }),
            "manifest: the task 'generate' has 'start' = -2, expected an "
            "integer from "
            "-1 to 10");
  EXPECT_EQ(
      messageWith(
          [](json &m) { m["tasks"]["generate"]["max_length"] = ~uint64_t(0); }),
      "manifest: the task 'generate' has 'max_length' = 18446744073709551615, "
      "expected an integer from 1 to 2147483647");
  EXPECT_EQ(
      messageWith([](json &m) { m["tasks"]["generate"]["eos"] = {0, 11}; }),
      "manifest: the task 'generate' has 11 in 'eos', expected an id from 0 to "
      "10");
  EXPECT_EQ(
      messageWith([](json &m) { m["tasks"]["generate"]["eos"] = 0; }),
      "manifest: the task 'generate' has number in 'eos', expected an array of "
      "ids");
  EXPECT_EQ(messageWith([](json &m) {
              m["tasks"]["generate"]["bad_words"] = {{1}, json::array()};
            }),
            "manifest: the task 'generate' has an empty list in 'bad_words'");
  EXPECT_EQ(
      messageWith(
          [](json &m) { m["tasks"]["generate"]["length_factor"] = "2"; }),
      "manifest: the task 'generate' has 'length_factor' = \"2\", expected a "
      "positive number");
  auto withLanguages = [](json tokens, const char *target) {
    return messageWith([&](json &m) {
      m["tokenizer"] = {{"kind", "byte-level"},
                        {"languages", json::array({"en_XX", "pt_XX"})},
                        {"language_tokens", tokens},
                        {"target_language", target}};
    });
  };
  EXPECT_EQ(withLanguages({1}, "start"),
            "manifest: 'tokenizer' names 2 languages with tokens for 1");
  EXPECT_EQ(withLanguages({1, 2}, "end"),
            "manifest: 'tokenizer' has the target language 'end' (supported: "
            "start, forced_bos, source)");
  EXPECT_NE(withLanguages({1, 1 << 20}, "start"), "");
  EXPECT_EQ(
      messageWith([](json &m) {
        m["tokenizer"] = {{"kind", "sentencepiece"}, {"frame", "odd"}};
      }),
      "manifest: 'tokenizer' has the key 'frame', which this runtime does "
      "not know");
  EXPECT_EQ(
      messageWith([](json &m) { m["tasks"]["generate"]["beams"] = 257; }),
      "manifest: the task 'generate' has 'beams' = 257, expected an integer "
      "from 1 to 256");
  EXPECT_EQ(
      messageWith([](json &m) { m["tasks"]["generate"]["top_p"] = 1.5; }),
      "manifest: the task 'generate' has 'top_p' = 1.5, expected a number from "
      "0 to 1");
  EXPECT_EQ(messageWith([](json &m) {
              m["tasks"]["generate"]["early_stopping"] = "maybe";
            }),
            "manifest: the task 'generate' has 'early_stopping' with the value "
            "'maybe' "
            "(supported: true, false, never, shrink)");
}

TEST(ManifestTest, unknown_settings_are_not_ignored) {
  EXPECT_EQ(
      messageWith([](json &m) { m["tasks"]["generate"]["num_beams"] = 4; }),
      "manifest: the task 'generate' has the key 'num_beams', which this "
      "runtime does not know");
}

TEST(ManifestTest, shapes) {
  auto shape = [](json value) {
    return messageWith(
        [&](json &m) { m["entries"][0]["arguments"][2]["shape"] = value; });
  };
  EXPECT_EQ(shape({"batch", "rows"}),
            "manifest: an argument of entry 'encode' has the dim \"rows\" in "
            "its shape, which entry 'encode' does not declare");
  EXPECT_EQ(shape({0}), "manifest: an argument of entry 'encode' has 0 in its "
                        "shape, expected a positive integer or a dim");
  EXPECT_EQ(shape({1.5}),
            "manifest: an argument of entry 'encode' has 1.5 in its shape, "
            "expected a positive integer or a dim");
  EXPECT_EQ(shape({int64_t(1) << 31, int64_t(1) << 31}),
            "manifest: an argument of entry 'encode' has a shape of more bytes "
            "than 63 bits can count");
  EXPECT_EQ(shape(std::vector<int>(9, 1)),
            "manifest: an argument of entry 'encode' has 9 dimensions, "
            "expected at most 8");
}

TEST(ManifestTest, entries) {
  EXPECT_EQ(messageWith([](json &m) { m["entries"][0]["dims"] = {"time"}; }),
            "manifest: an entry 'encode' has the dim 'time' (supported: batch, "
            "source, target, rows, capacity, capacity<=N, shortlist, "
            "forbidden, globals, caches, wanted, best, masks, and DIM floordiv "
            "N)");
  EXPECT_EQ(messageWith([](json &m) { m["entries"][1]["name"] = "encode"; }),
            "manifest: an entry repeats the name 'encode'");
  EXPECT_EQ(messageWith([](json &m) {
              m["entries"][0]["arguments"][0]["dtype"] = "f64";
            }),
            "manifest: an argument of entry 'encode' has the dtype 'f64' "
            "(supported: f32, i32, i8, bf16, f16)");
  EXPECT_EQ(messageWith([](json &m) {
              m["entries"][0]["arguments"][0]["kind"] = "result";
            }),
            "manifest: an argument of entry 'encode' has the kind 'result' "
            "(supported: input, prepared, state, output)");
  EXPECT_EQ(messageWith([](json &m) {
              m["entries"][0]["arguments"][1]["name"] = "ids";
            }),
            "manifest: an argument of entry 'encode' repeats the input 'ids'");
  EXPECT_EQ(messageWith([](json &m) { m["entries"][3]["kernels"] = {3}; }),
            "manifest: an entry has 3 in 'kernels', expected an id from 0 to "
            "2");
  EXPECT_EQ(messageWith([](json &m) { m["entries"][3]["layers"] = {2}; }),
            "manifest: an entry has 2 in 'layers', expected an id from -1 to "
            "1");
  EXPECT_EQ(messageWith([](json &m) { m["entries"][3]["layers"] = {0, -1}; }),
            "manifest: an entry 'decode.step' has 2 layers of 1 calls of "
            "kernels");
  auto addOne = [](json &m) {
    m["entries"].push_back(m["entries"][3]);
    m["entries"].back()["name"] = "other.step";
  };
  EXPECT_EQ(messageWith(addOne),
            "manifest: it has two entries with the role 'step', 'decode.step' "
            "and 'other.step'");
  EXPECT_EQ(messageWith([&](json &m) {
              addOne(m);
              m["entries"].back().erase("role");
              m["entries"].back().erase("decoder");
            }),
            "valid"); // Entries without a role are left alone.
  EXPECT_EQ(messageWith([](json &m) { m["entries"][1]["role"] = "whole"; }),
            "manifest: an entry 'decode' has the role 'whole' (supported: "
            "encode, full, prepare, step, beam, extend, chunk, greedy, best, "
            "align, embed, classify, tag, answer, fill)");
  EXPECT_EQ(messageWith([](json &m) { m["entries"][1].erase("decoder"); }),
            "manifest: an entry has no 'decoder'");
}

TEST(EntryContractTest, inputs_the_runtime_does_not_have) {
  EXPECT_EQ(messageWith([](json &m) {
              m["entries"][3]["arguments"][1]["name"] = "parents";
            }),
            "manifest: entry 'decode.step' has the input 'parents', which the "
            "runtime does not have at that point");
  EXPECT_EQ(messageWith([](json &m) {
              m["entries"][3]["arguments"][4]["name"] = "keys";
            }),
            "manifest: entry 'decode.step' has the prepared 'keys', which the "
            "runtime does not have at that point");
  EXPECT_EQ(messageWith([](json &m) { m["entries"].erase(2); }),
            "manifest: entry 'decode.step' has the prepared 'summary', which "
            "the runtime does not have at that point");
}

TEST(EntryContractTest, an_encoder_and_some_decoder) {
  auto keep = [](const std::set<std::string> &names) {
    return messageWith([&](json &m) {
      json kept = json::array();
      for (const json &entry : m["entries"])
        if (names.count(entry["name"]))
          kept.push_back(entry);
      m["entries"] = kept;
    });
  };
  EXPECT_EQ(keep({"decode"}),
            "manifest: it has no entry with the role 'encode'");
  EXPECT_EQ(keep({"encode", "decode.prepare"}),
            "manifest: it has the task 'generate' and no entry with the role "
            "'full' or 'step'");
  EXPECT_EQ(keep({"encode", "decode"}), "valid");
  EXPECT_EQ(keep({"encode", "decode.prepare", "decode.step"}), "valid");
}

TEST(EntryContractTest, a_greedy_step_returns_the_largest_logits) {
  auto with = [](const std::function<void(json &)> &change) {
    return messageWith([&](json &m) {
      m = withGreedyStep(m);
      change(m["entries"][3]);
    });
  };
  EXPECT_EQ(with([](json &) {}), "valid");
  EXPECT_EQ(with([](json &entry) { entry["arguments"].erase(7); }),
            "manifest: entry 'decode.greedy' has 1 outputs, expected 'values' "
            "and 'largest'");
  EXPECT_EQ(with([](json &entry) { entry["arguments"][8]["name"] = "ids"; }),
            "manifest: entry 'decode.greedy' has 2 outputs, expected 'values' "
            "and 'largest'");
  EXPECT_EQ(with([](json &entry) { entry["arguments"][8]["shape"][1] = 4; }),
            "manifest: entry 'decode.greedy' has the output 'largest' as i32 "
            "[rows, 4], expected i32 [rows, 3]");
  EXPECT_EQ(
      with([](json &entry) { entry["arguments"][7]["shape"][1] = "batch"; }),
      "manifest: entry 'decode.greedy' has the output 'values' as f32 [rows, "
      "batch], expected f32 [rows, 1]");
  EXPECT_EQ(with([](json &entry) { entry["arguments"][7]["dtype"] = "i32"; }),
            "manifest: entry 'decode.greedy' has the output 'values' as i32 "
            "[rows, 3], expected f32 [rows, 3]");
  EXPECT_EQ(with([](json &entry) { entry["arguments"][6]["shape"].erase(0); }),
            "manifest: entry 'decode.greedy' has the input 'forbidden' as i32 "
            "[forbidden], expected i32 [rows, forbidden]");
}

TEST(EntryContractTest, a_best_step_returns_the_best_logits_and_sums) {
  auto with = [](const std::function<void(json &)> &change) {
    return messageWith([&](json &m) {
      m = withBestStepAndChunk(m);
      for (json &entry : m["entries"])
        if (entry["role"] == "best")
          change(entry["arguments"]);
    });
  };
  EXPECT_EQ(with([](json &) {}), "valid");
  EXPECT_EQ(with([](json &arguments) { arguments.erase(12); }),
            "manifest: entry 'decode.best' has 3 outputs, expected 'maxima', "
            "'sums', 'values' and 'best'");
  EXPECT_EQ(with([](json &arguments) { arguments[10]["shape"][1] = 4; }),
            "manifest: entry 'decode.best' has the output 'sums' as f32 [rows, "
            "4], expected f32 [rows, 3]");
  EXPECT_EQ(with([](json &arguments) { arguments[12]["shape"][2] = 8; }),
            "manifest: entry 'decode.best' has the output 'best' as i32 [rows, "
            "3, 8], expected i32 [rows, 3, best]");
  EXPECT_EQ(with([](json &arguments) { arguments[4]["shape"][1] = "rows"; }),
            "manifest: entry 'decode.best' has the input 'history' as i32 "
            "[rows, rows], expected i32 [rows, capacity]");
  EXPECT_EQ(with([](json &arguments) { arguments[7]["name"] = "past"; }),
            "manifest: entry 'decode.chunk' leaves no state 'past' as i32 "
            "[caches, capacity], which entry 'decode.best' goes on from");
}

/// The toy with a chunk that leaves the states of its step.
static std::string messageWithChunk(const std::function<void(json &)> &change) {
  return messageWith([&](json &m) {
    json chunk = m["entries"][3];
    chunk["name"] = "decode.chunk";
    chunk["role"] = "chunk";
    chunk["dims"] = {"batch", "target", "wanted", "capacity"};
    json &arguments = chunk["arguments"];
    arguments[0]["shape"][0] = "batch";
    arguments[1]["shape"] = {"batch", "target"};
    arguments[2] = {{"name", "target_lengths"},
                    {"kind", "input"},
                    {"dtype", "i32"},
                    {"shape", {"batch"}}};
    arguments[3] = {{"name", "wanted"},
                    {"kind", "input"},
                    {"dtype", "i32"},
                    {"shape", {"batch", "wanted"}}};
    arguments[5]["shape"][0] = "batch";
    arguments[6]["shape"] = {"batch", "wanted", 11};
    change(chunk);
    m["entries"].push_back(chunk);
  });
}

TEST(EntryContractTest, a_chunk_leaves_what_its_step_goes_on_from) {
  EXPECT_EQ(messageWithChunk([](json &) {}), "valid");
  EXPECT_EQ(messageWithChunk(
                [](json &chunk) { chunk["arguments"][5]["shape"][1] = 2; }),
            "manifest: entry 'decode.chunk' leaves no state 'rolling' as i32 "
            "[batch, 1], which entry 'decode.step' goes on from");
  EXPECT_EQ(messageWithChunk([](json &chunk) {
              chunk["arguments"].push_back(chunk["arguments"][5]);
              chunk["arguments"].back()["name"] = "more";
            }),
            "manifest: entry 'decode.chunk' leaves 3 states, but entry "
            "'decode.step' has 2");
  EXPECT_EQ(messageWithChunk([](json &chunk) {
              chunk["dims"].push_back("rows");
              chunk["arguments"][5]["shape"][0] = "rows";
            }),
            "manifest: entry 'decode.chunk' has the dim 'rows', which has no "
            "value at that point");
  EXPECT_EQ(messageWithChunk([](json &chunk) {
              chunk["arguments"][6]["shape"][1] = "target";
            }),
            "manifest: entry 'decode.chunk' has logits as f32 [batch, target, "
            "11], expected f32 [batch, wanted, 11]");
}

/// The toy, whose states are caches alone, with rows of any sentences.
static std::string
messageWithExtend(const std::function<void(json &)> &change) {
  return messageWith([&](json &m) {
    json &step = m["entries"][3];
    step["dims"].push_back("caches");
    for (size_t state : {0, 5})
      step["arguments"][state]["shape"] = {"caches", "capacity"};
    json extend = step;
    extend["name"] = "decode.extend";
    extend["role"] = "extend";
    extend["dims"] = {"tokens", "blocks", "wanted",
                      "batch",  "caches", "capacity"};
    json &arguments = extend["arguments"];
    auto list = [](const char *name, const char *dim) {
      return json{{"name", name},
                  {"kind", "input"},
                  {"dtype", "i32"},
                  {"shape", {dim}}};
    };
    for (json &argument : arguments)
      if (argument["shape"][0] == "rows")
        argument["shape"][0] =
            argument["kind"] == "output" ? "wanted" : "tokens";
    for (auto [name, dim] :
         {std::pair("prefill", "blocks"), std::pair("wanted", "wanted"),
          std::pair("wanted_sentences", "wanted")})
      arguments.push_back(list(name, dim));
    change(extend);
    m["entries"].push_back(extend);
  });
}

TEST(EntryContractTest, extend_has_rows_and_lists) {
  EXPECT_EQ(messageWithExtend([](json &) {}), "valid");
  EXPECT_EQ(
      messageWithExtend([](json &extend) {
        extend["arguments"][5]["shape"] = {"tokens", "capacity"};
      }),
      "manifest: entry 'decode.extend' has the state 'rolling' as i32 "
      "[tokens, capacity], expected 'caches' as its first dimension only");
  EXPECT_EQ(messageWithExtend([](json &extend) {
              extend["arguments"].back()["name"] = "forbidden";
            }),
            "manifest: entry 'decode.extend' has the input 'forbidden', which "
            "the runtime does not have at that point");
  EXPECT_EQ(messageWithExtend([](json &extend) {
              extend["arguments"].erase(extend["arguments"].begin());
            }),
            "manifest: entry 'decode.extend' leaves no state 'history' as i32 "
            "[caches, capacity], which entry 'decode.step' goes on from");
}

/// The toy whose states are caches, of which a beam's rows read several.
TEST(EntryContractTest, a_beam_has_a_history_and_caches) {
  auto with = [](const std::function<void(json &)> &change) {
    return messageWith([&](json &m) {
      json beam = m["entries"][3];
      beam["name"] = "decode.beam";
      beam["role"] = "beam";
      beam["dims"].push_back("caches");
      beam["arguments"][0]["shape"][0] = "caches";
      beam["arguments"].push_back({{"name", "history"},
                                   {"kind", "input"},
                                   {"dtype", "i32"},
                                   {"shape", {"rows", "capacity"}}});
      change(beam);
      m["entries"].push_back(beam);
    });
  };
  EXPECT_EQ(with([](json &) {}), "valid");
  EXPECT_EQ(with([](json &beam) {
              beam["arguments"].back()["shape"] = {"capacity", "rows"};
            }),
            "manifest: entry 'decode.beam' has the input 'history' as i32 "
            "[capacity, rows], expected i32 [rows, capacity]");
  EXPECT_EQ(with([](json &beam) {
              beam["arguments"][0]["shape"] = {"caches", "caches"};
            }),
            "manifest: entry 'decode.beam' has the state 'history' as i32 "
            "[caches, caches], expected 'rows' or 'caches' as its first "
            "dimension only");
  EXPECT_EQ(with([](json &beam) {
              beam["role"] = "step";
              beam["decoder"] = "other";
            }),
            "manifest: it has two entries with the role 'step', 'decode.step' "
            "and 'decode.beam'");
}

TEST(EntryContractTest, an_encoder_may_take_global_tokens) {
  auto with = [](const std::function<void(json &)> &change) {
    return messageWith([&](json &m) {
      m = withGlobalTokens(m);
      change(m["entries"]);
    });
  };
  EXPECT_EQ(with([](json &) {}), "valid");
  EXPECT_EQ(
      with([](json &entries) { entries[0]["arguments"][3]["shape"].erase(0); }),
      "manifest: entry 'encode' has the input 'global' as i32 [globals], "
      "expected i32 [batch, globals]");
  EXPECT_EQ(with([](json &entries) {
              entries[0]["arguments"][2]["name"] = "global";
              entries[0]["arguments"].erase(3);
            }),
            "manifest: entry 'encode' has an output of the name 'global', "
            "which is an input");
  EXPECT_EQ(
      with([](json &entries) { entries[2]["dims"].push_back("globals"); }),
      "manifest: entry 'decode.prepare' has the dim 'globals', which has "
      "no value at that point");
}

TEST(EntryContractTest, types_and_shapes_agree) {
  EXPECT_EQ(messageWith([](json &m) {
              m["entries"][3]["arguments"][1]["dtype"] = "f32";
            }),
            "manifest: entry 'decode.step' has the input 'ids' as f32 [rows], "
            "expected i32 [rows]");
  EXPECT_EQ(messageWith([](json &m) {
              m["entries"][2]["arguments"][0]["shape"][2] = 3;
            }),
            "manifest: entry 'decode.prepare' has the input 'memory' as f32 "
            "[batch, source, 3], expected f32 [batch, source, 2]");
  EXPECT_EQ(messageWith([](json &m) {
              m["entries"][3]["arguments"][0]["shape"] = {"capacity", "rows"};
            }),
            "manifest: entry 'decode.step' has the state 'history' as i32 "
            "[capacity, rows], expected 'rows' or 'caches' as its first "
            "dimension only");
  EXPECT_EQ(
      messageWith([](json &m) {
        m["entries"][3]["arguments"][0]["shape"] = {"rows", "rows"};
      }),
      "manifest: entry 'decode.step' has the state 'history' as i32 "
      "[rows, rows], expected 'rows' or 'caches' as its first dimension only");
  EXPECT_EQ(messageWith([](json &m) {
              m["entries"][1]["arguments"][3]["shape"][2] = 12;
            }),
            "manifest: entry 'decode' has logits as f32 [batch, target, 12], "
            "expected f32 [batch, target, 11]");
  EXPECT_EQ(messageWith([](json &m) {
              m["entries"][1]["arguments"][3]["name"] = "scores";
            }),
            "manifest: entry 'decode' has 1 outputs, expected the one output "
            "'logits'");
  EXPECT_EQ(messageWith(
                [](json &m) { m["entries"][0]["dims"].push_back("capacity"); }),
            "manifest: entry 'encode' has the dim 'capacity', which has no "
            "value at that point");
  EXPECT_EQ(messageWith([](json &m) {
              m["entries"][0]["arguments"][2]["name"] = "positions";
            }),
            "manifest: entry 'encode' has an output of the name 'positions', "
            "which is an input");
}

/// `levels` brackets, one in another.
static std::string nested(size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(ManifestTest, deep_nesting_is_refused) {
  // Deeper than any stack, wherever it stands, and whatever it makes of it.
  const std::string deep = nested(1000000);
  for (const char *key : {"options", "tasks", "entries", "unknown"}) {
    std::string text = toyManifest().dump();
    text.insert(1, '"' + std::string(key) + "\":{\"x\":" + deep + "},");
    Result<Manifest> parsed = parseManifest(text);
    ASSERT_FALSE(parsed.ok()) << key;
    EXPECT_EQ(parsed.message(), "manifest: it nests 1000002 levels deep, "
                                "expected at most 64");
  }
  for (const std::string &text :
       {deep, std::string(1000000, '['), std::string(1000000, '{')}) {
    Result<Manifest> parsed = parseManifest(text);
    ASSERT_FALSE(parsed.ok());
    EXPECT_EQ(parsed.message(), "manifest: it nests 1000000 levels deep, "
                                "expected at most 64");
  }
}

TEST(ManifestTest, nesting_within_the_limit_is_read) {
  auto withOption = [](const std::string &value) {
    std::string text = toyManifest().dump();
    text.replace(text.find("\"test\""), 6, value);
    return parseManifest(text);
  };
  // Two levels are those of the option.
  Result<Manifest> most = withOption(nested(62));
  ASSERT_TRUE(most.ok()) << most.message();
  EXPECT_EQ(most->options[0].second, nested(62));
  EXPECT_FALSE(withOption(nested(63)).ok());
  // Brackets of strings are text.
  std::string text = "\"\\\"" + std::string(1000, '[') + "\\\\\"";
  Result<Manifest> quoted = withOption(text);
  ASSERT_TRUE(quoted.ok()) << quoted.message();
  EXPECT_EQ(quoted->options[0].second, '"' + std::string(1000, '[') + '\\');
}

TEST(ManifestTest, damaged_text_is_refused_without_a_crash) {
  std::string original = toyManifest().dump();
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string text = original;
    for (int flips = 1 + random() % 3; flips > 0; --flips)
      text[random() % text.size()] = static_cast<char>(random());
    Result<Manifest> manifest = parseManifest(text);
    if (manifest.ok())
      (void)checkEntries(*manifest).ok();
  }
  EXPECT_FALSE(parseManifest("").ok());
  EXPECT_FALSE(parseManifest(std::string(100000, '[')).ok());
  EXPECT_FALSE(parseManifest("null").ok());
}

TEST(ManifestTest, any_value_may_have_any_type) {
  // Replaces each value of the tree by one of every type.
  std::vector<json> replacements = {
      nullptr, true, 7, -7, 1.5, "x", json::array(), json::object(), {{1}}};
  json original = toyManifest().flatten();
  for (const auto &item : original.items())
    for (const json &replacement : replacements) {
      json manifest = toyManifest();
      json::json_pointer place(item.key());
      while (!place.empty()) {
        json changed = manifest;
        changed[place] = replacement;
        Result<Manifest> parsed = parseManifest(changed.dump());
        if (parsed.ok())
          (void)checkEntries(*parsed).ok();
        place.pop_back();
      }
    }
}
