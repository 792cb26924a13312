//===- Lookups.cpp - Layers that read rows of tables ----------------------===//
//
// Embeddings of a vocabulary, with their positions and without, and the logits
// of short lists of candidates: as in Marian's, the most frequent words are in
// every list, the others belong to a sentence. oneDNN has a peer only where the
// rows of candidates stand side by side.
//
//===----------------------------------------------------------------------===//

#include "bench/kernels/Layers.h"
#include "bench/kernels/OneDnn.h"

namespace heddle::bench {

using test::EntryCall;

static constexpr int64_t kVocabulary = 32000;

/// Ids from all over the vocabulary.
static std::vector<int32_t> someIds(int64_t count) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i)
    ids.push_back(int32_t(i * 7919 % kVocabulary));
  return ids;
}

static std::vector<int32_t> somePositions(int64_t rows) {
  std::vector<int32_t> positions;
  for (int64_t row = 0; row < rows; ++row)
    positions.push_back(int32_t(row % 61));
  return positions;
}

static std::string addEmbeddings(const std::string &target) {
  Module module;
  std::vector<LayerCase> cases;
  for (int64_t width : {256, 512, 1024}) {
    std::string columns = std::to_string(width);
    std::string scales = std::to_string(width / 2 - 1);
    Sizes sizes = {"rows", columns}, table = {"32000", columns},
          places = {"512", columns};
    std::string scale = " {scale = 16.0 : f32}";
    EntryText(module, "plain" + columns)
        .ids("ids", {"rows"})
        .input("t", table)
        .yields("embedding %ids, %t" + scale, sizes);
    EntryText(module, "sinusoidal" + columns)
        .ids("ids", {"rows"})
        .input("t", table)
        .ids("positions", {"rows"})
        .yields("embedding %ids, %t positions(sinusoidal, " + scales +
                    ", halves) at %positions" + scale,
                sizes);
    EntryText(module, "learned" + columns)
        .ids("ids", {"rows"})
        .input("t", table)
        .input("p", places)
        .ids("positions", {"rows"})
        .yields("embedding %ids, %t positions(learned, %p, 2) at %positions" +
                    scale,
                sizes);
    for (std::string positions : {"plain", "sinusoidal", "learned"}) {
      bool isPlain = positions == "plain", isLearned = positions == "learned";
      for (int64_t rows : {1, 16, 512}) {
        LayerCase layer{"embedding " + (isPlain ? "" : positions + " ") +
                            product({rows, width}),
                        positions + columns,
                        {{Dim::Rows, rows}},
                        moved((isLearned ? 3.0 : 2.0) * rows * width),
                        {"t"}};
        if (isLearned)
          layer.inputs.push_back("p");
        layer.fill = [=](EntryCall &call) {
          call.set("ids", someIds(rows));
          if (!isPlain)
            call.set("positions", somePositions(rows));
        };
        cases.push_back(std::move(layer));
      }
    }
  }
  return addCases(module, cases, target);
}

static std::string addPositions(const std::string &target) {
  Module module;
  std::vector<LayerCase> cases;
  constexpr int64_t kWidth = 512;
  Sizes sizes = {"rows", "512"};
  for (std::string layout : {"halves", "interleaved"})
    EntryText(module, layout)
        .input("x", sizes)
        .ids("positions", {"rows"})
        .yields("positions.sinusoidal %x at %positions {timescales = 256 : "
                "i64, layout = #transformer<position_layout " +
                    layout + ">}",
                sizes);
  EntryText(module, "learned")
      .input("x", sizes)
      .input("p", {"512", "512"})
      .ids("positions", {"rows"})
      .yields("positions.learned %x, %p at %positions {offset = 2 : i64}",
              sizes);
  for (std::string kind : {"halves", "interleaved", "learned"})
    for (int64_t rows : {1, 16, 512}) {
      bool isLearned = kind == "learned";
      LayerCase layer{"positions " + kind + " " + product({rows, kWidth}),
                      kind,
                      {{Dim::Rows, rows}},
                      moved((isLearned ? 3.0 : 2.0) * rows * kWidth),
                      {"x"}};
      if (isLearned)
        layer.inputs.push_back("p");
      layer.fill = [rows](EntryCall &call) {
        call.set("positions", somePositions(rows));
      };
      cases.push_back(std::move(layer));
    }
  return addCases(module, cases, target);
}

namespace {
/// A step: one row of each sentence, and its list.
struct Lists {
  int64_t sentences, candidates, width;

  std::string name() const { return product({sentences, candidates, width}); }
  std::vector<std::pair<Dim, int64_t>> dims() const {
    return {{Dim::Batch, sentences},
            {Dim::Rows, sentences},
            {Dim::Shortlist, candidates}};
  }
  /// A row and a bias a logit, as often as sentences share them.
  Work work() const {
    double logits = sentences * candidates;
    return {2 * logits * width, 4 * (logits * (width + 2) + sentences * width)};
  }
  /// Sets what all forms take.
  void fill(EntryCall &call) const {
    call.set("counts", std::vector<int32_t>(sentences, int32_t(candidates)));
    std::vector<int32_t> of(sentences);
    for (int64_t row = 0; row < sentences; ++row)
      of[row] = int32_t(row);
    call.set("sentences", of);
  }
  /// Ascending lists with their first hundred in common.
  std::vector<int32_t> ids() const {
    std::vector<int32_t> result;
    constexpr int64_t kCommon = 100;
    int64_t stride = (kVocabulary - kCommon) / (candidates - kCommon);
    for (int64_t sentence = 0; sentence < sentences; ++sentence)
      for (int64_t c = 0; c < candidates; ++c)
        result.push_back(int32_t(c < kCommon
                                     ? c
                                     : kCommon + (c - kCommon) * stride +
                                           (c * 13 + sentence * 5) % stride));
    return result;
  }
};
} // namespace

/// A product a sentence: for a batch of them oneDNN has reference code alone.
static Peer candidatePeer(const Lists &lists, EntryCall &call) {
  auto onednn = std::make_shared<OneDnn>();
  int64_t candidates = lists.candidates, width = lists.width;
  OneDnn::Memory x = onednn->memory({lists.sentences, width}, call.get("x"));
  OneDnn::Memory bias =
      onednn->memory({lists.sentences, candidates}, call.get("bias"));
  OneDnn::Memory y = onednn->memory({lists.sentences, candidates});
  std::vector<float> all = call.get("rows");
  for (int64_t sentence = 0; sentence < lists.sentences; ++sentence) {
    auto begin = all.begin() + sentence * candidates * width;
    OneDnn::Dims logits = {1, candidates};
    onednn->matmul(onednn->part(x, sentence * width, {1, width}),
                   onednn->transposed({width, candidates},
                                      {begin, begin + candidates * width}),
                   onednn->part(y, sentence * candidates, logits),
                   onednn->part(bias, sentence * candidates, logits));
  }
  return OneDnn::peer(onednn, y);
}

static std::string addCandidates(const std::string &target) {
  for (int64_t width : {256, 512}) {
    std::string columns = std::to_string(width);
    Sizes logits = {"rows", "shortlist"};
    Module module;
    EntryText(module, "table")
        .input("x", {"rows", columns})
        .input("rows", {"32000", columns})
        .input("bias", {"32000"})
        .ids("counts", {"batch"})
        .ids("ids", {"batch", "shortlist"})
        .ids("sentences", {"rows"})
        .yields("candidate_logits %x, %rows, %bias, %counts gather(%ids) of "
                "%sentences",
                logits);
    EntryText(module, "own")
        .input("x", {"rows", columns})
        .input("rows", {"batch", "shortlist", columns})
        .input("bias", {"batch", "shortlist"})
        .ids("counts", {"batch"})
        .ids("sentences", {"rows"})
        .yields("candidate_logits %x, %rows, %bias, %counts of %sentences",
                logits);
    std::vector<LayerCase> cases;
    for (int64_t sentences : {1, 16}) {
      Lists lists{sentences, 1000, width};
      cases.push_back({"candidates of a table " + lists.name(),
                       "table",
                       lists.dims(),
                       lists.work(),
                       {"x", "rows", "bias"}});
      cases.back().fill = [lists](EntryCall &call) {
        lists.fill(call);
        call.set("ids", lists.ids());
      };
      cases.push_back({"candidates " + lists.name(),
                       "own",
                       lists.dims(),
                       lists.work(),
                       {"x", "rows", "bias"}});
      cases.back().fill = [lists](EntryCall &call) { lists.fill(call); };
      cases.back().peer = [lists](EntryCall &call) {
        return candidatePeer(lists, call);
      };
    }
    if (std::string error = addCases(module, cases, target); !error.empty())
      return error;
  }
  return "";
}

std::string addLookups(const std::string &target) {
  for (auto addSome : {addEmbeddings, addPositions, addCandidates})
    if (std::string error = addSome(target); !error.empty())
      return error;
  return "";
}

} // namespace heddle::bench
