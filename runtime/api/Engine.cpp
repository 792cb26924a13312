//===- Engine.cpp - Engines of heddle.h -----------------------------------===//
//
// Models that generate and encoders have engines of their own; callers see one.
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/Engine.h"

#include "runtime/api/Arguments.h"
#include "runtime/api/EngineRequests.h"
#include "runtime/api/Model.h"
#include "runtime/lines/TextEngine.h"
#include "runtime/threads/ThreadPool.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

using namespace heddle;

struct heddle_engine {
  std::shared_ptr<const Model> model;
  std::unique_ptr<ThreadPool> pool;
  /// Of a model that generates, or of an encoder.
  std::unique_ptr<Engine> generation;
  std::unique_ptr<TextEngine> texts;
  /// Whether a thread runs it.
  std::atomic<bool> isRunning = false;

  RequestEngine &any() const {
    return generation ? static_cast<RequestEngine &>(*generation) : *texts;
  }
};

namespace {
/// Runs an engine on one thread at a time.
class EngineRun {
public:
  explicit EngineRun(heddle_engine &engine)
      : engine(engine), isFirst(!engine.isRunning.exchange(true)) {}
  ~EngineRun() {
    if (isFirst)
      engine.isRunning = false;
  }
  EngineRun(const EngineRun &) = delete;
  EngineRun &operator=(const EngineRun &) = delete;

  Status check() const {
    return isFirst ? Status::success()
                   : Status::error("the engine runs already, expected one "
                                   "thread at a time");
  }

private:
  heddle_engine &engine;
  const bool isFirst;
};

} // namespace

/// The engine of a model's kind.
static Status open(heddle_engine &engine, const heddle_engine_limits &limits,
                   const SessionOptions &options) {
  const Manifest &manifest = engine.model->manifest();
  auto given = [](size_t limit, int64_t unit = 1) {
    return limit ? std::optional(int64_t(limit) * unit) : std::nullopt;
  };
  bool isEncoder = manifest.embed || manifest.classify || manifest.tag ||
                   manifest.answer || manifest.fill;
  std::optional<int64_t> tokens = given(limits.tokens),
                         memory = given(limits.memory, 1 << 20);
  if (!manifest.generates && isEncoder) {
    TextEngineLimits own;
    own.slots = given(limits.slots).value_or(own.slots);
    own.tokens = tokens;
    own.memory = memory;
    engine.texts = std::make_unique<TextEngine>(*engine.model, own, options);
    return Status::success();
  }
  EngineLimits own;
  own.slots = given(limits.slots).value_or(own.slots);
  own.beams = given(limits.beams).value_or(manifest.generation.beams);
  own.positions = own.sources = tokens;
  own.memory = memory;
  auto opened = Engine::open(*engine.model, own, options);
  if (opened.ok())
    engine.generation = std::move(*opened);
  return opened.status();
}

heddle_status heddle_engine_create(const heddle_model *model,
                                   const heddle_engine_limits *limits,
                                   heddle_engine **engine) {
  if (engine)
    *engine = nullptr;
  if (Status status = checkPointers({{"model", model}, {"engine", engine}});
      !status.ok())
    return reportMisuse(status);
  heddle_engine_limits asked = limits ? *limits : heddle_engine_limits{};
  for (auto [name, value, most] :
       {std::tuple("slots", asked.slots, int64_t(1) << 14),
        std::tuple("beams", asked.beams, int64_t(256)),
        std::tuple("tokens", asked.tokens, int64_t(INT32_MAX)),
        std::tuple("threads", asked.threads, int64_t(256)),
        std::tuple("memory", asked.memory, kMostMebibytes)})
    if (value > size_t(most))
      return reportMisuse(Status::error("the limit '", name, "' is ", value,
                                        ", expected at most ", most));
  if (!model->others.empty())
    return report(Status::error(
        "an engine runs one model, but '", model->loaded->artifact().path(),
        "' is the first of an ensemble of ", model->others.size() + 1));
  auto created = std::make_unique<heddle_engine>();
  created->model = model->loaded;
  Result<std::unique_ptr<ThreadPool>> pool =
      ThreadPool::create(asked.threads ? int64_t(asked.threads) : 1);
  if (!pool.ok())
    return report(pool.status());
  created->pool = std::move(*pool);
  SessionOptions options;
  options.pool = created->pool.get();
  if (Status status = open(*created, asked, options); !status.ok())
    return report(status);
  *engine = created.release();
  return HEDDLE_OK;
}

void heddle_engine_free(heddle_engine *engine) { delete engine; }

/// One callback takes the answer, and the model gives what that takes.
static Status checkCallbacks(const heddle_engine &engine,
                             const heddle_request &request) {
  const Manifest &manifest = engine.model->manifest();
  bool hasLabels =
      manifest.classify || manifest.tag || manifest.answer || manifest.fill;
  int count =
      bool(request.finished) + bool(request.vector) + bool(request.labels);
  bool isRight = request.finished ? bool(engine.generation)
                 : request.vector ? engine.texts && manifest.embed
                                  : engine.texts && hasLabels;
  if (count == 1 && isRight)
    return Status::success();
  const char *right = engine.generation ? "'finished'"
                      : !hasLabels      ? "'vector'"
                      : !manifest.embed ? "'labels'"
                                        : "'vector' or 'labels'";
  if (count == 1)
    return Status::error("the request has the callback '",
                         request.finished ? "finished"
                         : request.vector ? "vector"
                                          : "labels",
                         "', but '", engine.model->artifact().path(), "' ",
                         manifest.describeTasks(), ": expected ", right);
  return Status::error("the request has ", count,
                       " callbacks for its answer, expected one: ", right);
}

static Result<uint64_t> submitGeneration(heddle_engine &engine,
                                         const heddle_request &request) {
  auto own = std::make_shared<GenerationRequest>(engine.model,
                                                 *engine.generation, request);
  Result<EngineRequest> made = own->make(request);
  if (!made.ok())
    return made.status();
  if (request.token)
    made->options.onToken = [own](int64_t, const TokenIds &before, int32_t id,
                                  bool isLast) {
      own->tell(before, id, isLast);
    };
  made->finished = [own](const Result<std::vector<Hypothesis>> &found) {
    own->finish(found);
  };
  return engine.generation->submit(
      std::move(*made), [own](uint64_t given) { own->number = given; });
}

static Result<uint64_t> submitText(heddle_engine &engine,
                                   const heddle_request &request) {
  auto own = std::make_shared<EncoderRequest>(engine.model, request);
  Result<TextRequest> made = own->make(request);
  if (!made.ok())
    return made.status();
  made->finished = [own](Result<LineAnswer> found) {
    own->finish(std::move(found));
  };
  return engine.texts->submit(std::move(*made),
                              [own](uint64_t given) { own->number = given; });
}

heddle_status heddle_engine_submit(heddle_engine *engine,
                                   const heddle_request *request,
                                   uint64_t *number) {
  if (number)
    *number = 0;
  if (Status status = checkPointers({{"engine", engine}, {"request", request}});
      !status.ok())
    return reportMisuse(status);
  Status status = checkPointers({{"input", request->input}});
  if (status.ok())
    status = checkCallbacks(*engine, *request);
  if (status.ok())
    status = checkInput(*request->input);
  if (!status.ok())
    return reportMisuse(status);
  if (request->settings)
    if (heddle_status wrong = heddle_settings_check(request->settings);
        wrong != HEDDLE_OK)
      return wrong;
  Result<uint64_t> submitted = engine->generation
                                   ? submitGeneration(*engine, *request)
                                   : submitText(*engine, *request);
  if (submitted.ok() && number)
    *number = *submitted;
  return report(submitted.status());
}

heddle_status heddle_engine_cancel(heddle_engine *engine, uint64_t number) {
  Status status = checkPointers({{"engine", engine}});
  if (status.ok())
    engine->any().cancel(number);
  return reportMisuse(status);
}

heddle_status heddle_engine_step(heddle_engine *engine, int *isLeft) {
  if (isLeft)
    *isLeft = 0;
  if (Status status = checkPointers({{"engine", engine}, {"is_left", isLeft}});
      !status.ok())
    return reportMisuse(status);
  EngineRun run(*engine);
  if (Status status = run.check(); !status.ok())
    return reportMisuse(status);
  Result<bool> left = engine->any().step();
  *isLeft = left.ok() && *left;
  return report(left.status());
}

heddle_status heddle_engine_run(heddle_engine *engine) {
  if (Status status = checkPointers({{"engine", engine}}); !status.ok())
    return reportMisuse(status);
  EngineRun run(*engine);
  Status status = run.check();
  return status.ok() ? report(engine->any().run()) : reportMisuse(status);
}

heddle_status heddle_engine_count(const heddle_engine *engine,
                                  heddle_engine_counts *counts) {
  if (Status status = checkPointers({{"engine", engine}, {"counts", counts}});
      !status.ok())
    return reportMisuse(status);
  EngineStatistics has = engine->any().statistics();
  *counts = {uint64_t(has.submitted),    uint64_t(has.finished),
             uint64_t(has.running),      uint64_t(has.steps),
             uint64_t(has.stepRows),     uint64_t(has.prompts),
             uint64_t(has.promptRows),   uint64_t(has.guesses),
             uint64_t(has.rightGuesses), uint64_t(has.sharedTokens)};
  return HEDDLE_OK;
}
