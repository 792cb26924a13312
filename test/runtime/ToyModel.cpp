//===- ToyModel.cpp - A model whose every token is known ------------------===//
//
// Manifest, shortlist and oracle of the toy.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include "runtime/artifact/EntryContract.h"
#include "runtime/artifact/Manifest.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <set>

using namespace heddle;
using namespace heddle::test;
using nlohmann::json;

static constexpr uint32_t kSeed = 17;
static constexpr float kWeight = 2.0f;
/// The token that has no position, if positions are counted from it.
static constexpr int32_t kPad = 5;
/// The shortlist admits these ids for every sentence ...
static constexpr int32_t kFirst = 2;

/// ... and these for a source id.
static Ids listOf(int32_t source) {
  return source % 3 == 0 ? Ids{} : Ids{(source * 7) % 11, (source + 4) % 11};
}

json heddle::test::toyManifest() {
  json manifest = json::parse(R"({
    "heddle": "0.1.0", "model": {"name": "toy", "family": "hash"},
    "isas": ["x86-64-v3"], "options": {"source": "test"},
    "source": {"vocabulary": 9},
    "tasks": {"generate": {"vocabulary": 11, "start": -1, "eos": [0], "pad": 5, "max_length": 12}},
    "tokenizer": {"kind": "none"},
    "kernels": ["step", "shortlist_step", "unused"],
    "layers": ["toy.step", "toy.shortlist"],
    "entries": [
      {"name": "encode", "role": "encode", "symbol": "encode",
       "arena_symbol": "encode_arena",
       "dims": ["batch", "source"], "arguments": [
        {"name": "ids", "kind": "input", "dtype": "i32",
         "shape": ["batch", "source"]},
        {"name": "lengths", "kind": "input", "dtype": "i32",
         "shape": ["batch"]},
        {"name": "memory", "kind": "output", "dtype": "f32",
         "shape": ["batch", "source", 2]}]},
      {"name": "decode", "role": "full", "decoder": "decode",
       "symbol": "decode", "arena_symbol": "decode_arena",
       "dims": ["batch", "source", "target"], "arguments": [
        {"name": "ids", "kind": "input", "dtype": "i32",
         "shape": ["batch", "target"]},
        {"name": "memory", "kind": "input", "dtype": "f32",
         "shape": ["batch", "source", 2]},
        {"name": "lengths", "kind": "input", "dtype": "i32",
         "shape": ["batch"]},
        {"name": "logits", "kind": "output", "dtype": "f32",
         "shape": ["batch", "target", 11]}]},
      {"name": "decode.prepare", "role": "prepare", "decoder": "decode",
       "symbol": "prepare",
       "arena_symbol": "prepare_arena", "dims": ["source", "batch"],
       "arguments": [
        {"name": "memory", "kind": "input", "dtype": "f32",
         "shape": ["batch", "source", 2]},
        {"name": "lengths", "kind": "input", "dtype": "i32",
         "shape": ["batch"]},
        {"name": "summary", "kind": "output", "dtype": "i32",
         "shape": ["batch", 3]}]},
      {"name": "decode.step", "role": "step", "decoder": "decode",
       "symbol": "step", "arena_symbol": "step_arena",
       "kernels": [0], "layers": [0],
       "dims": ["rows", "batch", "capacity"], "arguments": [
        {"name": "history", "kind": "state", "dtype": "i32",
         "shape": ["rows", "capacity"]},
        {"name": "ids", "kind": "input", "dtype": "i32", "shape": ["rows"]},
        {"name": "positions", "kind": "input", "dtype": "i32",
         "shape": ["rows"]},
        {"name": "sentences", "kind": "input", "dtype": "i32",
         "shape": ["rows"]},
        {"name": "summary", "kind": "prepared", "dtype": "i32",
         "shape": ["batch", 3]},
        {"name": "rolling", "kind": "state", "dtype": "i32",
         "shape": ["rows", 1]},
        {"name": "logits", "kind": "output", "dtype": "f32",
         "shape": ["rows", 11]}]},
      {"name": "shortlist.prepare", "role": "prepare", "decoder": "shortlist",
       "symbol": "shortlist_prepare",
       "arena_symbol": "shortlist_prepare_arena",
       "dims": ["batch", "source", "shortlist"], "arguments": [
        {"name": "memory", "kind": "input", "dtype": "f32",
         "shape": ["batch", "source", 2]},
        {"name": "lengths", "kind": "input", "dtype": "i32",
         "shape": ["batch"]},
        {"name": "candidates", "kind": "input", "dtype": "i32",
         "shape": ["batch", "shortlist"]},
        {"name": "counts", "kind": "input", "dtype": "i32",
         "shape": ["batch"]},
        {"name": "summary", "kind": "output", "dtype": "i32",
         "shape": ["batch", 3]},
        {"name": "gathered", "kind": "output", "dtype": "i32",
         "shape": ["batch", "shortlist"]}]},
      {"name": "shortlist.step", "role": "step", "decoder": "shortlist",
       "symbol": "shortlist_step", "kernels": [1], "layers": [1],
       "arena_symbol": "shortlist_step_arena",
       "dims": ["rows", "batch", "capacity", "shortlist"], "arguments": [
        {"name": "ids", "kind": "input", "dtype": "i32", "shape": ["rows"]},
        {"name": "positions", "kind": "input", "dtype": "i32",
         "shape": ["rows"]},
        {"name": "sentences", "kind": "input", "dtype": "i32",
         "shape": ["rows"]},
        {"name": "counts", "kind": "input", "dtype": "i32",
         "shape": ["batch"]},
        {"name": "summary", "kind": "prepared", "dtype": "i32",
         "shape": ["batch", 3]},
        {"name": "gathered", "kind": "prepared", "dtype": "i32",
         "shape": ["batch", "shortlist"]},
        {"name": "rolling", "kind": "state", "dtype": "i32",
         "shape": ["rows", 1]},
        {"name": "history", "kind": "state", "dtype": "i32",
         "shape": ["rows", "capacity"]},
        {"name": "logits", "kind": "output", "dtype": "f32",
         "shape": ["rows", "shortlist"]}]}]
  })");
  return manifest;
}

json heddle::test::withGreedyStep(json manifest) {
  for (json &entry : manifest["entries"]) {
    if (entry["name"] != "decode.step")
      continue;
    entry["name"] = "decode.greedy";
    entry["role"] = "greedy";
    entry["symbol"] = "greedy";
    entry["arena_symbol"] = "greedy_arena";
    entry["dims"].push_back("forbidden");
    entry["arguments"].erase(entry["arguments"].size() - 1);
    json added = json::parse(R"([
      {"name": "forbidden", "kind": "input", "dtype": "i32",
       "shape": ["rows", "forbidden"]},
      {"name": "values", "kind": "output", "dtype": "f32", "shape": ["rows", 3]},
      {"name": "largest", "kind": "output", "dtype": "i32",
       "shape": ["rows", 3]}])");
    entry["arguments"].insert(entry["arguments"].end(), added.begin(),
                              added.end());
  }
  return manifest;
}

json heddle::test::withBestStep(json manifest) {
  manifest["entries"].push_back(json::parse(R"({
      "name": "decode.best", "role": "best", "decoder": "decode",
      "symbol": "best", "arena_symbol": "best_arena",
      "dims": ["rows", "batch", "capacity", "caches", "forbidden", "best"],
      "arguments": [
       {"name": "ids", "kind": "input", "dtype": "i32", "shape": ["rows"]},
       {"name": "positions", "kind": "input", "dtype": "i32",
        "shape": ["rows"]},
       {"name": "sentences", "kind": "input", "dtype": "i32",
        "shape": ["rows"]},
       {"name": "caches", "kind": "input", "dtype": "i32", "shape": ["rows"]},
       {"name": "history", "kind": "input", "dtype": "i32",
        "shape": ["rows", "capacity"]},
       {"name": "summary", "kind": "prepared", "dtype": "i32",
        "shape": ["batch", 3]},
       {"name": "rolling", "kind": "state", "dtype": "i32",
        "shape": ["rows", 1]},
       {"name": "tokens", "kind": "state", "dtype": "i32",
        "shape": ["caches", "capacity"]},
       {"name": "forbidden", "kind": "input", "dtype": "i32",
        "shape": ["rows", "forbidden"]},
       {"name": "maxima", "kind": "output", "dtype": "f32",
        "shape": ["rows", 3]},
       {"name": "sums", "kind": "output", "dtype": "f32", "shape": ["rows", 3]},
       {"name": "values", "kind": "output", "dtype": "f32",
        "shape": ["rows", 3, "best"]},
       {"name": "best", "kind": "output", "dtype": "i32",
        "shape": ["rows", 3, "best"]}]})"));
  return manifest;
}

json heddle::test::withBestStepAndChunk(json manifest) {
  manifest = withBestStep(std::move(manifest));
  json &entries = manifest["entries"];
  entries.erase(
      std::find_if(entries.begin(), entries.end(), [](const json &entry) {
        return entry["name"] == "decode.step";
      }));
  entries.push_back(json::parse(R"({
    "name": "decode.chunk", "role": "chunk", "decoder": "decode",
    "symbol": "chunk", "arena_symbol": "chunk_arena",
    "dims": ["batch", "target", "wanted", "caches", "capacity"],
    "arguments": [
     {"name": "ids", "kind": "input", "dtype": "i32",
      "shape": ["batch", "target"]},
     {"name": "target_lengths", "kind": "input", "dtype": "i32",
      "shape": ["batch"]},
     {"name": "wanted", "kind": "input", "dtype": "i32",
      "shape": ["batch", "wanted"]},
     {"name": "caches", "kind": "input", "dtype": "i32", "shape": ["batch"]},
     {"name": "summary", "kind": "prepared", "dtype": "i32",
      "shape": ["batch", 3]},
     {"name": "rolling", "kind": "state", "dtype": "i32",
      "shape": ["batch", 1]},
     {"name": "tokens", "kind": "state", "dtype": "i32",
      "shape": ["caches", "capacity"]},
     {"name": "logits", "kind": "output", "dtype": "f32",
      "shape": ["batch", "wanted", 11]}]})"));
  return manifest;
}

json heddle::test::withGlobalTokens(json manifest) {
  for (json &entry : manifest["entries"]) {
    if (entry["name"] != "encode")
      continue;
    entry["symbol"] = "encode_global";
    entry["arena_symbol"] = "encode_global_arena";
    entry["dims"].push_back("globals");
    entry["arguments"].push_back(json::parse(R"(
      {"name": "global", "kind": "input", "dtype": "i32",
       "shape": ["batch", "globals"]})"));
  }
  return manifest;
}

json heddle::test::withEmbedding(json manifest) {
  manifest["source"]["types"] = 2;
  manifest["source"]["pad"] = kPad;
  manifest["tasks"]["embed"] = json::object();
  for (json &entry : manifest["entries"]) {
    if (entry["name"] != "encode")
      continue;
    entry["symbol"] = "encode_typed";
    entry["arena_symbol"] = "encode_typed_arena";
    for (const char *name : {"types", "source_positions"})
      entry["arguments"].push_back({{"name", name},
                                    {"kind", "input"},
                                    {"dtype", "i32"},
                                    {"shape", {"batch", "source"}}});
  }
  manifest["entries"].push_back(json::parse(R"({
    "name": "embed", "role": "embed", "symbol": "embed",
    "arena_symbol": "embed_arena", "dims": ["batch", "source"],
    "arguments": [
     {"name": "memory", "kind": "input", "dtype": "f32",
      "shape": ["batch", "source", 2]},
     {"name": "lengths", "kind": "input", "dtype": "i32", "shape": ["batch"]},
     {"name": "prompt", "kind": "input", "dtype": "i32", "shape": ["batch"]},
     {"name": "vectors", "kind": "output", "dtype": "f32",
      "shape": ["batch", 4]}]})"));
  return manifest;
}

json heddle::test::withLabels(json manifest) {
  const json memory = {{"name", "memory"},
                       {"kind", "input"},
                       {"dtype", "f32"},
                       {"shape", {"batch", "source", 2}}};
  auto add = [&](const char *task, const json &settings, const json &dims,
                 const json &asked, const json &shape) {
    manifest["tasks"][task] = settings;
    manifest["entries"].push_back(
        {{"name", task},
         {"role", task},
         {"symbol", task},
         {"arena_symbol", std::string(task) + "_arena"},
         {"dims", dims},
         {"arguments",
          {memory,
           asked,
           {{"name", "logits"},
            {"kind", "output"},
            {"dtype", "f32"},
            {"shape", shape}}}}});
  };
  const json lengths = {{"name", "lengths"},
                        {"kind", "input"},
                        {"dtype", "i32"},
                        {"shape", {"batch"}}},
             masks = {{"name", "masks"},
                      {"kind", "input"},
                      {"dtype", "i32"},
                      {"shape", {"batch", "masks"}}};
  add("classify", {{"labels", {"first", "long", "last"}}}, {"batch", "source"},
      lengths, {"batch", 3});
  add("tag", {{"labels", {"id", "place", "length"}}}, {"batch", "source"},
      lengths, {"batch", "source", 3});
  add("fill", {{"mask", kToyMask}}, {"batch", "source", "masks"}, masks,
      {"batch", "masks", kToySourceVocabulary});
  return manifest;
}

json heddle::test::withoutGeneration(json manifest) {
  manifest["tasks"].erase("generate");
  json kept = json::array();
  for (json &entry : manifest["entries"])
    if (!entry.contains("decoder"))
      kept.push_back(std::move(entry));
  manifest["entries"] = std::move(kept);
  return manifest;
}

/// The section `shortlist`.
static std::string shortlistBytes() {
  std::vector<uint64_t> words = {kFirst, kToySourceVocabulary, 0, 0};
  std::vector<uint32_t> ids;
  for (int32_t source = 0; source < kToySourceVocabulary; ++source) {
    for (int32_t id : listOf(source))
      ids.push_back(static_cast<uint32_t>(id));
    words.push_back(ids.size());
  }
  words[2] = ids.size();
  std::string bytes(reinterpret_cast<const char *>(words.data()),
                    words.size() * sizeof(uint64_t));
  return bytes.append(reinterpret_cast<const char *>(ids.data()),
                      ids.size() * sizeof(uint32_t));
}

ArtifactBuilder heddle::test::toyArtifact(const json &manifest) {
  std::string weights(3 * format::kWeightsChunk / 2, '\0');
  std::memcpy(weights.data(), &kWeight, sizeof(kWeight));
  ArtifactBuilder builder;
  builder.add("manifest", manifest.dump())
      .add("code.x86-64-v3", readFile(HEDDLE_TOY_KERNEL))
      .addWeights(weights);
  if (manifest.contains(json::json_pointer("/tasks/generate")))
    builder.add("shortlist", shortlistBytes());
  return builder;
}

static uint32_t mix(uint32_t hash, uint32_t value) {
  hash = (hash ^ value) * 2654435761u;
  return hash ^ (hash >> 15);
}

std::vector<float> heddle::test::toyLogits(const Ids &source,
                                           const Ids &generated) {
  uint32_t sentence = kSeed, prefix = mix(kSeed, uint32_t(kToyStart));
  for (int32_t id : source)
    sentence = mix(sentence, uint32_t(id));
  for (int32_t id : generated)
    prefix = mix(prefix, uint32_t(id));
  std::vector<float> logits;
  for (uint32_t id = 0; id < uint32_t(kToyTargetVocabulary); ++id)
    logits.push_back(kWeight * float(mix(mix(sentence, prefix), id) >> 28));
  logits[kToyEos] += float(generated.size()) / 2;
  return logits;
}

Ids heddle::test::toyCandidates(const Ids &source) {
  std::set<int32_t> ids;
  for (int32_t id = 0; id < kFirst; ++id)
    ids.insert(id);
  for (int32_t id : source)
    for (int32_t target : listOf(id))
      ids.insert(target);
  return Ids(ids.begin(), ids.end());
}

Ids heddle::test::toyGreedy(const Ids &source, const json &generation,
                            int64_t limit,
                            const std::optional<Ids> &candidates) {
  Ids eos = generation["eos"];
  Ids generated;
  while (int64_t(generated.size()) < limit) {
    // As transformers sees it: input_ids of one row, start token included.
    Ids sequence = {kToyStart};
    sequence.insert(sequence.end(), generated.begin(), generated.end());
    std::vector<float> scores = toyLogits(source, generated);
    auto forbid = [&](int32_t id) {
      scores[id] = -std::numeric_limits<float>::infinity();
    };
    if (candidates)
      for (int32_t id = 0; id < kToyTargetVocabulary; ++id)
        if (!std::count(candidates->begin(), candidates->end(), id))
          forbid(id);
    // NoBadWordsLogitsProcessor
    for (const Ids &word : generation.value("bad_words", std::vector<Ids>())) {
      if (word.size() == 1 && std::count(eos.begin(), eos.end(), word[0]))
        continue;
      if (word.size() > 1 && word.size() > sequence.size())
        continue;
      if (std::equal(word.begin(), word.end() - 1,
                     sequence.end() - ptrdiff_t(word.size() - 1)))
        forbid(word.back());
    }
    // MinLengthLogitsProcessor
    if (int64_t(sequence.size()) < generation.value("min_length", 0))
      for (int32_t id : eos)
        forbid(id);
    // ForcedBOSTokenLogitsProcessor, ForcedEOSTokenLogitsProcessor
    auto force = [&](int32_t id) {
      std::fill(scores.begin(), scores.end(),
                -std::numeric_limits<float>::infinity());
      scores[id] = 0;
    };
    if (sequence.size() == 1 && generation.contains("forced_bos"))
      force(generation["forced_bos"]);
    if (int64_t(sequence.size()) == limit && generation.contains("forced_eos"))
      force(generation["forced_eos"]);
    // SuppressTokensLogitsProcessor, SuppressTokensAtBeginLogitsProcessor
    for (int32_t id : generation.value("suppress", Ids()))
      forbid(id);
    if (sequence.size() == (generation.contains("forced_bos") ? 2 : 1))
      for (int32_t id : generation.value("begin_suppress", Ids()))
        forbid(id);
    auto best = std::max_element(scores.begin(), scores.end());
    // Here transformers goes on with token 0, which is not allowed either.
    if (*best == -std::numeric_limits<float>::infinity())
      break;
    generated.push_back(int32_t(best - scores.begin()));
    if (std::count(eos.begin(), eos.end(), generated.back()))
      break;
  }
  return generated;
}

std::vector<float> heddle::test::toyVector(const Ids &source,
                                           int32_t promptTokens) {
  std::vector<float> vector = {0, float(source.size()), float(promptTokens), 0};
  int32_t counted = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    bool isPad = source[i] == kPad;
    counted += !isPad;
    if (i >= size_t(promptTokens))
      vector[0] += float(i + 1) * float(source[i]);
    vector[3] += float(i + 1) * float(isPad ? kPad : kPad + counted);
  }
  return vector;
}

std::vector<Ids> heddle::test::toySources(size_t count) {
  std::mt19937 random(7);
  std::vector<Ids> sources(count);
  for (Ids &source : sources)
    for (size_t left = 1 + random() % 9; left > 0; --left)
      source.push_back(int32_t(random() % kToySourceVocabulary));
  return sources;
}
