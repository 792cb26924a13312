//===- Translation.cpp - Text to text -------------------------------------===//
//
// Tokenising and its inverse happen where batches run, on every worker.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/Translation.h"

#include "runtime/engine/Engine.h"
#include "runtime/lines/EngineRunner.h"
#include "runtime/search/TargetScores.h"
#include "runtime/search/TeacherForcing.h"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

using namespace heddle;

/// Whether a text says nothing.
static bool isBlank(const LineText &line) {
  return line.ids ? line.ids->empty()
                  : line.text.find_first_not_of(' ') == std::string::npos;
}

namespace {

/// Lines whose targets are said to some part.
class TextJob : public LineJob {
public:
  TextJob(const Model &model, const LineTokens &tokens,
          const std::vector<LineTokens> &others, const LineSource &source,
          TargetPart part, OnError onError, bool ofAnyLength = false)
      : model(model), source(source), tokens(tokens), others(others),
        part(part), crops(onError == OnError::Crop), ofAnyLength(ofAnyLength) {}

  Result<Sentence> encode(int64_t number, const Line &line) override {
    std::string cut;
    Result<TokenIds> ids = tokens.source(line.source, crops ? &cut : nullptr);
    if (!ids.ok())
      return Status::error(source.nameOf(number), " ", ids.message());
    if (ids->empty() && !isBlank(line.target))
      return Status::error(source.nameOf(number), " is empty, but ",
                           source.nameOfTarget(number), " has a target for it");
    Result<TokenIds> target = tokens.target(line.target, part, ofAnyLength);
    if (!target.ok())
      return Status::error(source.nameOfTarget(number), " ", target.message());
    if (Status status = checkBehindPrompt(*ids, *target); !status.ok())
      return Status::error(source.nameOfTarget(number), " ", status.message());
    Sentence sentence{std::move(*ids), std::move(*target)};
    if (Status status = encodeForOthers(number, line, sentence, cut);
        !status.ok())
      return status;
    if (!cut.empty())
      sentence.notice = source.nameOf(number) + " " + cut;
    return sentence;
  }

protected:
  const Model &model;
  const LineSource &source;

private:
  /// What the other members of an ensemble read, which have to take the target,
  /// too; `cut` says what was cut first.
  Status encodeForOthers(int64_t number, const Line &line, Sentence &sentence,
                         std::string &cut) const {
    if (sentence.source.empty())
      return Status::success();
    for (const LineTokens &other : others) {
      std::string ownCut;
      Result<TokenIds> ids =
          other.source(line.source, crops ? &ownCut : nullptr);
      if (ids.ok() && ids->empty())
        ids = Status::error("has no token");
      if (!ids.ok())
        return Status::error(source.nameOf(number), ", as '", other.file(),
                             "' reads it, ", ids.message());
      sentence.others.push_back(std::move(*ids));
      if (cut.empty())
        cut = ownCut;
      Result<TokenIds> target = other.target({"", sentence.target}, part);
      if (!target.ok())
        return Status::error(source.nameOfTarget(number), ", as '",
                             other.file(), "' reads it, ", target.message());
    }
    return Status::success();
  }
  /// Whether a prompt leaves room for what a target begins with.
  Status checkBehindPrompt(const TokenIds &prompt,
                           const TokenIds &target) const {
    std::optional<int64_t> positions = model.manifest().generation.maxTarget;
    if (!model.manifest().promptsTarget || part != TargetPart::Beginning ||
        !positions || prompt.size() + target.size() <= size_t(*positions))
      return Status::success();
    return Status::error("has ", target.size(), " tokens behind a prompt of ",
                         prompt.size(), ", but the model has positions for ",
                         *positions);
  }

  const LineTokens &tokens;
  const std::vector<LineTokens> &others;
  TargetPart part;
  bool crops, ofAnyLength;
};

class TranslationJob : public TextJob {
public:
  TranslationJob(const Model &model, const TranslationOptions &translation,
                 const LineSource &source, OnError onError)
      : TextJob(model, translation.tokens, translation.others, source,
                TargetPart::Beginning, onError),
        search(translation.search), format(translation.format) {}

  Result<Sentence> encode(int64_t number, const Line &line) override {
    size_t lists = search.allowed.size();
    if (lists > 1 && size_t(number) >= lists)
      return Status::error(source.nameOf(number),
                           " has no list of allowed tokens: there are ", lists);
    Result<Sentence> sentence = TextJob::encode(number, line);
    if (search.replacesUnknowns && sentence.ok()) {
      std::lock_guard<std::mutex> lock(textsMutex);
      texts[number] = line.source.text;
    }
    if (!sentence.ok() || !model.manifest().promptsTarget)
      return sentence;
    Status status =
        checkRoom(model.manifest().generation,
                  int64_t(sentence->source.size() + sentence->target.size()),
                  search.maxLength);
    return status.ok() ? std::move(sentence)
                       : Result<Sentence>(Status::error(source.nameOf(number),
                                                        " ", status.message()));
  }
  Result<int64_t> bytesFor(Session &session, const Batch &batch) override {
    return bytesToGenerate(model, session, batch.sources, batch.targets,
                           session.ensemble() ? optionsOf(batch) : search);
  }
  Result<std::vector<Answer>> answer(Session &session,
                                     const Batch &batch) override {
    SearchOptions own = optionsOf(batch);
    if (search.onToken)
      own.onToken = [&](int64_t sentence, const TokenIds &before, int32_t token,
                        bool isLast) {
        hasShown = true;
        search.onToken(batch.lines[size_t(sentence)], before, token, isLast);
      };
    auto found = generate(model, session, batch.sources, batch.targets, own);
    if (!found.ok())
      return found.status();
    if (search.replacesUnknowns)
      addTexts(batch, *found);
    std::vector<Answer> answers;
    for (const std::vector<Hypothesis> &hypotheses : *found)
      answers.push_back(format(hypotheses));
    return answers;
  }
  bool mayAnswerAgain() const override { return !hasShown; }
  std::unique_ptr<BatchPipeline::Runner>
  makeRunner(const Workers &workers, int64_t worker, int64_t sentences,
             const std::optional<RunnerLimit> &limit) override;

private:
  /// Lists of lines become those of the batch's sentences.
  SearchOptions optionsOf(const Batch &batch) const {
    SearchOptions own = search;
    own.others = batch.features.others;
    if (search.allowed.size() > 1) {
      own.allowed.clear();
      for (int64_t line : batch.lines)
        own.allowed.push_back(search.allowed[size_t(line)]);
    }
    return own;
  }
  /// Gives hypotheses the texts of their sources, which are not needed again.
  void addTexts(const Batch &batch,
                std::vector<std::vector<Hypothesis>> &found) {
    std::lock_guard<std::mutex> lock(textsMutex);
    for (size_t i = 0; i < found.size(); ++i) {
      auto text = texts.find(batch.lines[i]);
      for (Hypothesis &each : found[i])
        each.sourceText = text->second;
      texts.erase(text);
    }
  }
  EngineRequest requestOf(const Batch &batch, size_t sentence) const;

  const SearchOptions &search;
  const HypothesesFormat &format;
  /// Of lines by their numbers, until they are answered.
  std::mutex textsMutex;
  std::map<int64_t, std::string> texts;
  /// Somebody has had a token.
  std::atomic<bool> hasShown = false;
};

/// An engine with as many slots as leave half of its memory for what they have;
/// none if not even one does.
static Result<std::unique_ptr<Engine>>
openWithin(const Model &model, EngineLimits limits,
           const SessionOptions &options) {
  while (true) {
    auto engine = Engine::open(model, limits, options);
    if (!limits.memory ||
        (engine.ok() && (*engine)->fixedBytes() <= *limits.memory / 2))
      return engine;
    if (limits.slots == 1)
      return Status::error("an engine leaves too little of its memory");
    limits.slots = (limits.slots + 1) / 2;
  }
}

/// Texts that a model continues are requests to an engine, which has the same
/// bits. A GPU may have to give its work to the CPU; alternatives take several
/// searches; and an engine may have no memory for its slots.
std::unique_ptr<BatchPipeline::Runner>
TranslationJob::makeRunner(const Workers &workers, int64_t worker,
                           int64_t sentences,
                           const std::optional<RunnerLimit> &limit) {
  Result<Generation> settings = settingsFor(model.manifest(), search);
  if (!model.manifest().promptsTarget || model.isOnGpu() ||
      search.alternatives > 0 || !settings.ok())
    return nullptr;
  EngineLimits limits{sentences, settings->beams, {}};
  if (limit)
    limits.memory = limit->memory.share();
  auto open = [this, limits, options = workers.sessionOptions(worker)] {
    return openWithin(model, limits, options);
  };
  std::unique_ptr<BatchPipeline::Runner> runner;
  auto make = [&] {
    if (auto engine = open(); engine.ok())
      runner = std::make_unique<EngineRunner>(
          std::move(*engine), open, sentences,
          [this](const Batch &batch, size_t sentence) {
            return requestOf(batch, sentence);
          },
          format, limit);
  };
  if (limit)
    limit->memory.together(make);
  else
    make();
  return runner;
}

EngineRequest TranslationJob::requestOf(const Batch &batch,
                                        size_t sentence) const {
  int64_t line = batch.lines[sentence];
  EngineRequest request{
      batch.sources[sentence], batch.targets[sentence], search, {}};
  if (search.allowed.size() > 1)
    request.options.allowed = {search.allowed[size_t(line)]};
  if (search.onToken)
    request.options.onToken = [this, line](int64_t, const TokenIds &before,
                                           int32_t token, bool isLast) {
      search.onToken(line, before, token, isLast);
    };
  return request;
}

class ScoreJob : public TextJob {
public:
  ScoreJob(const Model &model, const ScoreOptions &scores,
           const LineSource &source, OnError onError)
      : TextJob(model, scores.tokens, scores.others, source, TargetPart::Whole,
                onError, scores.overlap.has_value()),
        start(scores.tokens.generation().start), format(scores.format),
        overlap(scores.overlap),
        positions(model.manifest().generation.maxTarget) {}

  Result<Sentence> encode(int64_t number, const Line &line) override {
    Result<Sentence> sentence = TextJob::encode(number, line);
    if (!sentence.ok())
      return sentence;
    if (isCut(*sentence))
      return sentence;
    Status status = checkTaught(model, sentence->source, sentence->target);
    if (!status.ok())
      return Status::error(source.nameOfTarget(number), " ", status.message());
    return sentence;
  }
  Result<int64_t> bytesFor(Session &session, const Batch &batch) override {
    Windows windows = windowsOf(batch);
    return bytesToScore(model, session, windows.sources, windows.targets,
                        othersOf(session, batch));
  }
  Result<std::vector<Answer>> answer(Session &session,
                                     const Batch &batch) override {
    Windows windows = windowsOf(batch);
    auto scores = scoreTokens(model, session, windows.sources, windows.targets,
                              start, othersOf(session, batch));
    if (!scores.ok())
      return scores.status();
    std::vector<Answer> answers;
    auto window = scores->begin();
    for (size_t i = 0; i < windows.counts.size(); ++i) {
      std::vector<float> all;
      for (int64_t k = 0; k < windows.counts[i]; ++k, ++window)
        all.insert(all.end(), window->begin(), window->end());
      answers.push_back(format(batch.targets[i], all));
    }
    return answers;
  }

private:
  /// What is scored of a batch, and how many windows each sentence has.
  struct Windows {
    std::vector<TokenIds> sources, targets;
    std::vector<int64_t> counts;
  };
  Windows windowsOf(const Batch &batch) const;
  /// An ensemble scores no windows.
  static std::vector<std::vector<TokenIds>> othersOf(const Session &session,
                                                     const Batch &batch) {
    return session.ensemble() ? batch.features.others
                              : std::vector<std::vector<TokenIds>>();
  }
  /// Whether a sentence is scored in windows.
  bool isCut(const Sentence &sentence) const {
    return overlap && positions &&
           taughtPositions(model, sentence.source, sentence.target) >
               *positions;
  }

  std::optional<int32_t> start;
  const ScoresFormat &format;
  std::optional<int64_t> overlap, positions;
};

ScoreJob::Windows ScoreJob::windowsOf(const Batch &batch) const {
  Windows windows;
  for (size_t i = 0; i < batch.sources.size(); ++i) {
    const TokenIds &source = batch.sources[i], &target = batch.targets[i];
    if (isCut({source, target})) {
      windows.counts.push_back(addWindows(source, target, *positions, *overlap,
                                          windows.sources, windows.targets));
      continue;
    }
    windows.sources.push_back(source);
    windows.targets.push_back(target);
    windows.counts.push_back(1);
  }
  return windows;
}

} // namespace

Status heddle::translateLines(const Workers &workers,
                              const LineRunOptions &options,
                              const TranslationOptions &translation,
                              LineSource &source, const AnswerWriter &write) {
  TranslationJob job(workers.model(), translation, source, options.onError);
  return runLines(workers, options, source, job, write);
}

Status heddle::scoreLines(const Workers &workers, const LineRunOptions &options,
                          const ScoreOptions &scores, LineSource &source,
                          const AnswerWriter &write) {
  std::optional<int64_t> positions =
      workers.model().manifest().generation.maxTarget;
  if (scores.overlap && positions && *scores.overlap > *positions)
    return Status::error("windows overlap by ", *scores.overlap,
                         " tokens, but '", workers.model().artifact().path(),
                         "' has positions for ", *positions);
  ScoreJob job(workers.model(), scores, source, options.onError);
  return runLines(workers, options, source, job, write);
}
