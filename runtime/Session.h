//===- Session.h - One batch at a time through a model ----------*- C++ -*-===//
//
// Binds the entries of an artifact to buffers and calls them: encode, then
// either the full form of the decoder or prepare and steps. It knows names and
// shapes from the manifest and nothing of what is computed in between.
//
// Steps run over rows. A row decodes one sentence of the batch; a row that is
// done gives its place to the last one, so that work shrinks with the batch.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_H
#define HEDDLE_RUNTIME_SESSION_H

#include "runtime/Manifest.h"
#include "runtime/Model.h"
#include "runtime/Profile.h"
#include "runtime/Result.h"
#include "runtime/ThreadPool.h"
#include "runtime/TokenChoice.h"
#include "runtime/Workspace.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle {

using TokenIds = std::vector<int32_t>;

/// The forms of a decoder: the whole target at once, or token by token over
/// the vocabulary, of which GreedyStep returns the largest logits only, or over
/// each sentence's candidates; or none, where the encoder is all that runs.
enum class DecoderForm { None, Full, Step, GreedyStep, ShortlistStep };

/// What a session may use beside its own thread: threads to share its work
/// with, and a profile of the model to count it in. Borrowed, and of one
/// session.
struct SessionOptions {
  ThreadPool *pool = nullptr;
  Profile *profile = nullptr;
  /// Ascending positions of the tokens that a Longformer takes for global ones,
  /// of every sentence that has them; of no effect on other models.
  std::vector<int32_t> globalTokens = {0};
};

/// Owns the memory of a batch and reuses it for the next one. Borrows the
/// model. One thread at a time; sessions of one model are independent.
class Session {
public:
  explicit Session(const Model &model, SessionOptions options = {})
      : model(model), pool(options.pool), profile(options.profile),
        globalTokens(std::move(options.globalTokens)) {}

  /// Encodes a batch of sentences and prepares the decoder: the only call that
  /// allocates. `length` bounds what follows: the target length of the full
  /// form, or the number of steps. `candidates`, for ShortlistStep, has one
  /// ascending list of target ids a sentence; `forbidden`, for GreedyStep, is
  /// the most ids that a row of a step forbids. Fails on an empty batch, on
  /// sentences that Model::checkSource refuses, on a form that the artifact
  /// does not have and where memory is short.
  Status begin(const std::vector<TokenIds> &sources, DecoderForm form,
               int64_t length, const std::vector<TokenIds> &candidates = {},
               int64_t forbidden = 0);

  /// An argument of the entry `encode`, by its index there: an output is valid
  /// until the next begin.
  const void *encoderArgument(size_t index) const {
    return encode.buffers[index];
  }

  /// The decoder's input, for the caller to fill: [sentences, length] for the
  /// full form, [rows] for a step.
  int32_t *ids() const { return decoderIds; }
  /// Another one of GreedyStep, forbiddenWidth() a row: ids that may not come
  /// next, and -1 for none.
  int32_t *forbidden(int64_t row) const {
    return forbiddenIds + row * forbiddenWidth();
  }
  int64_t forbiddenWidth() const { return dims[Dim::Forbidden]; }
  /// The decoder's result, which the caller may overwrite:
  /// [sentences, length, vocabulary] or [rows, vocabulary or candidates()].
  float *logits() const { return decoderLogits; }
  /// The result of GreedyStep for a row.
  LargestLogits largest(int64_t row) const {
    return {decoderLogits + row * ranges, largestIds + row * ranges, ranges};
  }
  /// The width of a row of ShortlistStep's logits: the longest list.
  int64_t candidateWidth() const { return dims[Dim::Shortlist]; }

  /// Runs the full form over ids().
  void runFull();
  /// Runs one step of all rows, which all are at this position.
  void runStep(int32_t position);

  /// Rows that are not finished; one a sentence at first.
  int64_t rows() const { return dims[Dim::Rows]; }
  /// The sentence that a row decodes.
  int32_t sentence(int64_t row) const { return sentences[row]; }
  /// Ends a row: the last one takes its place, with its states. Go through the
  /// rows from the last to the first to meet each one once.
  void finish(int64_t row);

private:
  /// An entry with its buffers for this batch.
  struct Binding {
    const EntryPoint *entry = nullptr;
    std::vector<int64_t> places;
    std::vector<void *> buffers;
    std::vector<int64_t> dims;
  };
  /// One state of constant size: a row is `rowBytes` long.
  struct State {
    char *rows;
    int64_t rowBytes;
  };
  /// The places of what later entries read, by kind and name.
  using Places = std::map<std::pair<ArgumentKind, std::string_view>, int64_t>;

  Status findEntries(DecoderForm form);
  Status layOut(DecoderForm form, int64_t length);
  Status bind(Binding &binding, const Places &shared);
  void connect(Binding &binding);
  void fillInputs(const std::vector<TokenIds> &sources,
                  const std::vector<TokenIds> &candidates);
  void findDecoderResults();
  void call(Binding &binding);

  const Model &model;
  ThreadPool *pool;
  Profile *profile;
  std::vector<int32_t> globalTokens;
  Workspace workspace;
  DimValues dims;
  int64_t arenaBytes = 0;
  void *arena = nullptr;
  void *scratch = nullptr;
  Binding encode, prepare, decode;
  std::vector<State> states;

  int32_t *sourceIds = nullptr, *lengths = nullptr, *globals = nullptr;
  int32_t *candidateIds = nullptr, *counts = nullptr;
  int32_t *decoderIds = nullptr, *positions = nullptr, *sentences = nullptr;
  int32_t *caches = nullptr;
  int32_t *forbiddenIds = nullptr, *largestIds = nullptr;
  float *decoderLogits = nullptr;
  /// The width of a row of GreedyStep's results.
  int64_t ranges = 0;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_H
