//===- Session.h - One batch at a time through a model ----------*- C++ -*-===//
//
// Binds the entries of an artifact to buffers and calls them: encode, then a
// task, or the full form of the decoder, or prepare and steps. It knows names
// and shapes from the manifest and nothing of what is computed in between.
//
// Steps run over rows. A row decodes one sentence of the batch, and several
// rows may decode the same one; between steps the caller says which rows go on,
// so that work shrinks with the batch.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_SESSION_H
#define HEDDLE_RUNTIME_SESSION_SESSION_H

#include "runtime/Result.h"
#include "runtime/artifact/Manifest.h"
#include "runtime/search/BestLogits.h"
#include "runtime/search/Ensemble.h"
#include "runtime/search/GreedyChoice.h"
#include "runtime/session/DecoderRows.h"
#include "runtime/session/Device.h"
#include "runtime/session/Model.h"
#include "runtime/session/Profile.h"
#include "runtime/session/SharedBeginnings.h"
#include "runtime/session/SourceInputs.h"
#include "runtime/session/Workspace.h"
#include "runtime/threads/ThreadPool.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle {

using TokenIds = std::vector<int32_t>;

/// Takes the logits f32 [vocabulary] behind a position of a sentence, which are
/// its own during the call. A failure ends what tells them.
using LogitsOfPosition =
    std::function<Status(int64_t sentence, int64_t position, float *logits)>;

/// What a session may use beside its own thread: threads to share its work
/// with, and a profile of the model to count it in. Borrowed, and of one
/// session.
struct SessionOptions {
  ThreadPool *pool = nullptr;
  Profile *profile = nullptr;
  /// What settings say of inputs; of no effect on models without them.
  InputSettings inputs = {};
  /// Ends a decoding at its next step; null if nobody will. Borrowed.
  const std::atomic<bool> *cancelled = nullptr;
  /// Other models that decode with the session's; null for none.
  const Ensemble *ensemble = nullptr;
};

/// Owns the memory of a batch and reuses it for the next one. Borrows the
/// model. One thread at a time; sessions of one model are independent.
class Session {
public:
  explicit Session(const Model &model, const SessionOptions &options = {})
      : model(model), isRagged(model.manifest().isRagged()), pool(options.pool),
        profile(options.profile), inputSettings(options.inputs),
        cancelled(options.cancelled), device(model.makeDevice()),
        companions(options.ensemble) {
    makeOthers(options);
  }

  /// Encodes a batch of sentences and prepares the decoder: the call that takes
  /// memory for all that follow. There is one row a sentence then.
  /// ShortlistStep needs candidates. The caller has checked the ids with
  /// Model::checkSource, where an error can name their line. Fails on an empty
  /// batch, on a form that the artifact does not have and if memory is short.
  Status begin(const std::vector<TokenIds> &sources,
               const DecoderRequest &request,
               const SourceFeatures &features = {});

  /// The bytes of the device that begin() would take for a batch, without what
  /// it takes besides: kernels and graphs of a GPU. The batch before has ended
  /// then. Fails as begin() does, except if memory is short.
  Result<int64_t> bytesFor(const std::vector<TokenIds> &sources,
                           const DecoderRequest &request,
                           const SourceFeatures &features = {});
  /// Gives the memory of a batch back, which has ended then. The one call that
  /// another thread may make while bytesFor() runs, which asks the device for
  /// sizes and takes nothing.
  void release() {
    caches.clear();
    states.clear();
    beginnings.reset();
    workspace.release();
    for (auto &other : others)
      other->release();
  }

  /// An output of the entry `encode`, by its index among its arguments, of a
  /// batch without a decoder; valid until the next begin.
  const void *encoderOutput(size_t index) const {
    return workspace.hostAt(encode.places[index]);
  }

  /// The same of the entry of a batch's task.
  const void *taskOutput(size_t index) const {
    return workspace.hostAt(task.places[index]);
  }

  /// What an extent of an entry is in the batch.
  int64_t extent(const Extent &of) const { return of.in(dims); }

  /// The source tokens that each sentence of the batch has room for, if they
  /// are padded: outputs of `encode` are [sentences, sourceTokens(), ...]. At
  /// least its longest source.
  int64_t sourceTokens() const { return dims[Dim::Source]; }

  /// The decoder's input, for the caller to fill: [sentences, length] for the
  /// full and the align form, [rows] for a step.
  int32_t *ids() const { return decoder.ids(); }
  /// Another one of GreedyStep and BestStep, forbiddenWidth() a row: ids that
  /// may not come next, then -1.
  int32_t *forbidden(int64_t row) const { return decoder.forbidden(row); }
  int64_t forbiddenWidth() const { return dims[Dim::Forbidden]; }
  /// The decoder's result, which the caller may overwrite:
  /// [sentences, length, vocabulary], or [rows, vocabulary or candidates()].
  float *logits() const { return decoderLogits; }
  /// The result of GreedyStep for a row.
  LargestLogits largest(int64_t row) const {
    return {ofRanges.values + row * lists, ofRanges.ids + row * lists, lists};
  }
  /// The result of BestStep for a row.
  BestLogits best(int64_t row) const {
    int64_t count = dims[Dim::Best], first = row * lists * count;
    return {ofRanges.maxima + row * ranges,
            ofRanges.sums + row * ranges,
            ofRanges.values + first,
            ofRanges.ids + first,
            ranges,
            lists,
            count};
  }
  /// An output of the align form, of that name, once runFull() has run.
  const float *aligned(std::string_view output) const {
    return static_cast<const float *>(
        static_cast<const void *>(workspace.hostAt(placeOf(decode, output))));
  }
  /// The width of a row of ShortlistStep's logits: the longest list.
  int64_t candidateWidth() const { return dims[Dim::Shortlist]; }

  /// Runs the full or the align form over ids(). It fails, as all that follow,
  /// if the device does.
  Status runFull();
  /// Runs the decoder over the first positions of each sentence, several at
  /// once, behind which its row then is: `inputs`, one list a sentence, none
  /// longer than was asked for. The form Prefill may tell the logits of
  /// positions, of sentence i from from[i] on, in order; others tell none.
  Status runPrefill(const std::vector<TokenIds> &inputs,
                    const std::vector<int64_t> &from = {},
                    const LogitsOfPosition &tell = {});
  /// The same of pieces of prompts of other sentences than rows have. With
  /// `guesses`, a list a row, the first call runs a step of all rows beside
  /// them, too, each with what may follow its id, and tells the logits behind
  /// its id and each guess, rows first and in order. The row has one position
  /// more behind it then; accept() says of the guesses that were right.
  Status extend(const std::vector<PromptPiece> &pieces,
                const LogitsOfPosition &tell = {},
                const std::vector<TokenIds> *guesses = nullptr);
  /// Of the guesses of a row the first `right` were right: it has them behind
  /// it, too.
  void accept(int64_t row, int64_t guesses, int64_t right);
  /// Runs one step of all rows, each at its position, which is then the next.
  Status runStep();

  /// What the device failed in first: it may be done on another one, in a
  /// session of Model::onCpu().
  Status deviceFailure() const { return device->failure(); }

  /// What decodes with the model; null for nothing. Logits of Full and Step
  /// are the ensemble's log-probabilities then, and other forms of steps and
  /// logits of a prefill are not to be asked for.
  const Ensemble *ensemble() const { return companions; }

  /// Whether whoever runs it is asked to stop.
  bool isCancelled() const {
    return cancelled && cancelled->load(std::memory_order_relaxed);
  }

  /// Rows that go on.
  int64_t rows() const { return decoder.count(); }
  /// The sentence that a row decodes, and how many steps it has behind it.
  int32_t sentence(int64_t row) const { return decoder.sentence(row); }
  int32_t position(int64_t row) const { return decoder.position(row); }
  /// Goes on with as many rows as there are parents: row i continues what row
  /// parents[i] was. No sentence may get more rows than were asked for, which
  /// stand together.
  Status keep(const std::vector<int32_t> &parents);
  /// Ends all rows, whatever the device has failed in.
  void dropRows() { decoder.drop(); }
  /// A new row, behind all others, of a sentence that has none: so many
  /// positions of it are in its cache. No more than the batch has sentences.
  Status join(int32_t sentence, int64_t position);
  /// A sentence without a row gets the source of one of another session, which
  /// has begun a batch of the same form that prepares only. The device may copy
  /// until that session's finish(); what the host gives of sources is there
  /// once they are sent.
  Status adopt(int32_t sentence, Session &from, int32_t number);
  Status sendSources() { return workspace.send(batchInputs); }
  /// Returns when the device has done what it was asked for.
  Status finish() { return device->fetch(nullptr, nullptr, /*bytes=*/0); }
  /// Steps that follow forbid at most so many ids a row, and BestStep tells so
  /// many logits: no more than the batch was begun with.
  void narrow(int64_t forbidden, int64_t best) {
    dims[Dim::Forbidden] = forbidden;
    dims[Dim::Best] = best;
  }
  /// Steps of ShortlistStep that follow have a list of candidates for each
  /// sentence, null for one without a row.
  Status setCandidates(const std::vector<const TokenIds *> &lists);
  /// A sentence has ended: what its caches have behind so many positions costs
  /// nothing until they are written to again, and is its own. What they have
  /// before may be shared, unless the next one `overwrites` it. If that fails,
  /// they have nothing, and it has to succeed for no position first.
  Status leave(int32_t sentence, int64_t kept = 0, bool overwrites = false);
  /// The same of a source that it has adopted.
  Status leaveSource(int32_t sentence);
  /// Whether KV caches and adopted sources of slots cost what is written to.
  bool costsWhatIsTouched() const { return device->pageBytes().has_value(); }
  /// The bytes of the batch, without those that do.
  int64_t bytes() const { return workspace.takenSize(); }
  /// What is free for them, if the device says so.
  std::optional<int64_t> freeBytes() const { return device->freeBytes(); }
  /// The bytes of one cache with so many positions, in whole pages, and of an
  /// adopted source of so many tokens.
  int64_t cacheBytes(int64_t positions) const;
  int64_t sourceBytes(int64_t tokens) const;
  /// The last position up to which no cache overwrites its first ones.
  int64_t keptPositions() const;
  /// A sentence without a row has the first `positions` of another one, which
  /// has not been beyond keptPositions(), and writes to them no more. If the
  /// batch shares beginnings, whole blocks of them stand in memory once, unless
  /// it `overwrites` them.
  Status copyBeginning(int32_t from, int32_t to, int64_t positions,
                       bool overwrites);
  /// How many positions of a sentence mean something: of its first cache, and
  /// from which one on of the others, which are of its beams.
  struct UsedPositions {
    int64_t all = 0, behindPrompt = 0;
  };
  /// Gives a batch more positions, between steps: `before` is what it has begun
  /// with, `request` what it goes on with. Returns whether there is memory; if
  /// not, nothing has changed. Fails if the batch is lost. Copies what is used,
  /// which takes its memory twice meanwhile. Only if mayGrow().
  Result<bool> grow(const std::vector<TokenIds> &sentences,
                    const DecoderRequest &before, const DecoderRequest &request,
                    const std::vector<UsedPositions> &used);
  /// Whether the system leaves addresses to others: threads and heaps.
  bool leavesAddresses() const { return device->mayTake(int64_t(64) << 20); }
  bool mayGrow() const { return isOnHost() && adopted.empty(); }
  /// Whether its memory is the host's, which gives addresses first and pages
  /// once they are written.
  bool isOnHost() const { return device->hasPages(); }
  /// The blocks of a batch that shares beginnings, or null.
  const SharedBeginnings *sharedBeginnings() const { return beginnings.get(); }
  /// Whether a sentence without a row has a prompt in its cache.
  void hold(int32_t sentence, bool isHeld) { decoder.hold(sentence, isHeld); }

private:
  /// An entry with its buffers for this batch.
  struct Binding {
    const EntryPoint *entry = nullptr;
    std::vector<Place> places;
    std::vector<HeddleAddress> buffers;
    std::vector<int64_t> dims;
    /// What the host reads of it.
    PlaceRange results;
    /// Where the device puts the best of all ranges, values and ids; none if
    /// the host has each range's.
    std::optional<std::pair<Place, Place>> merged;
  };
  /// One state of constant size, on the device: a row is `rowBytes` long. Or
  /// one with slots for positions: a cache is, and `slots` say how many.
  struct State {
    char *rows;
    int64_t rowBytes, slots = 0;
    /// Slots of a batch of any length: a ring has a bound.
    int64_t mostSlots = 0;
    /// Whether beginnings are shared in it.
    bool isShared = false;

    int64_t bytesOf(int64_t positions) const {
      return positions * (rowBytes / slots);
    }
  };
  /// What steps read of sources, if sentences adopt them.
  struct AdoptedArgument {
    const Argument *argument;
    Place place;
  };
  /// Where things stand in the workspace.
  struct Layout {
    /// Of each of sourceInputs().
    std::vector<Place> sources;
    Place arena, scratch;
    std::optional<SpareRows> spare;
    Places shared;
  };

  Result<Layout> plan(const std::vector<TokenIds> &sources,
                      const DecoderRequest &request,
                      const SourceFeatures &features);
  Status findEntries(const DecoderRequest &request);
  Layout placeInputs(const DecoderRequest &request);
  static void shareOutputs(const Binding &binding, ArgumentKind kind,
                           Places &shared);
  Status bindEntries(const DecoderRequest &request, Layout &layout);
  Status placeAdopted(const Binding &binding, Places &shared);
  void measureAdopted();
  const char *prepared(std::string_view name) const;
  Result<Layout> layOut(const DecoderRequest &request);
  Status ofBatch(const Status &status) const;
  void settle(const Layout &layout);
  Status bind(Binding &binding, const Places &shared, bool hasResults = false);
  void rehearse(Binding &binding);
  int64_t widestState() const;
  void connect(Binding &binding);
  SourceBatch batchOf(const std::vector<TokenIds> &sources,
                      const DecoderRequest &request,
                      const SourceFeatures &features) const {
    return {sources,          features,     inputSettings,
            model.manifest(), request.task, isRagged};
  }
  Status touchRange(const State &cache, int32_t number, int64_t first,
                    int64_t last);
  Status touch(int32_t number, int64_t first, int64_t last);
  Status touch(const CacheWrites &writes);
  int64_t pageBytes() const { return device->pageBytes().value_or(1); }
  Status findDecoderResults();
  void makeBeginnings();
  void forEachUsed(
      const std::vector<UsedPositions> &used,
      const std::vector<int64_t> &shared, const std::vector<char> &hasShared,
      const std::function<void(char *memory, int64_t bytes)> &piece) const;
  void makeOthers(SessionOptions options);
  bool takeOthers(const DecoderRequest &request) const;
  std::vector<TokenIds> sourcesOf(size_t other,
                                  const std::vector<TokenIds> &sources,
                                  const SourceFeatures &features) const;
  Result<int64_t> bytesForOthers(const std::vector<TokenIds> &sources,
                                 const DecoderRequest &request,
                                 const SourceFeatures &features);
  Status beginOthers(const std::vector<TokenIds> &sources,
                     const DecoderRequest &request,
                     const SourceFeatures &features);
  Status prefillOthers(const std::vector<TokenIds> &inputs);
  Status runOthers(int64_t rows, int64_t width, bool isStep);
  static Place placeOf(const Binding &binding, std::string_view output);
  void findRanges();
  CallFrame frameOfStep() const;
  Status call(Binding &binding, const CallFrame &frame = {});

  const Model &model;
  bool isRagged;
  ThreadPool *pool;
  Profile *profile;
  InputSettings inputSettings;
  const std::atomic<bool> *cancelled;
  std::unique_ptr<Device> device;
  Workspace workspace{*device};
  DimValues dims;
  DecoderRows decoder{*device, workspace, dims};
  /// Of the longest source, and of a target, as errors name them: `dims` may
  /// have more.
  int64_t askedSource = 0, askedTarget = 0;
  int64_t arenaBytes = 0, deviceScratch = 0;
  void *arena = nullptr;
  void *scratch = nullptr;
  Binding encode, task, prepare, prefill, decode;
  std::vector<State> states, caches;
  bool hasSlots = false, sharesBeginnings = false;
  /// By cache, of slots: behind these positions nothing is touched.
  std::vector<int64_t> touchedPositions;
  std::unique_ptr<SharedBeginnings> beginnings;
  std::vector<AdoptedArgument> adopted;
  /// Of a source's first token, in whole pages, and of each other one at most.
  int64_t firstTokenBytes = 0, tokenBytes = 0;
  /// None if each sentence has one row, which moves to the front alone.
  std::optional<SpareRows> spareRows;
  /// What the device is given once a batch.
  PlaceRange batchInputs;

  /// Of each of sourceInputs().
  std::vector<int32_t *> sourceValues;
  float *decoderLogits = nullptr, *prefillLogits = nullptr;
  /// The results of GreedyStep and BestStep, and how many ranges a row has.
  struct {
    const float *maxima, *sums, *values;
    const int32_t *ids;
  } ofRanges = {};
  int64_t ranges = 0;
  /// Where a device that merges finds the lists of all ranges of each row, and
  /// leaves one; and how many lists of a row the host reads.
  std::optional<RangeMerge> merge;
  int64_t lists = 0;

  const Ensemble *companions;
  /// One for each other member of the ensemble, with the same rows.
  std::vector<std::unique_ptr<Session>> others;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_SESSION_H
