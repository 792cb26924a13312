//===- Engine.cpp - Engines of heddle.h -----------------------------------===//
//
// A request has its settings in a session of its own, which runs nothing: so it
// means what it means elsewhere.
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/Engine.h"

#include "runtime/api/Arguments.h"
#include "runtime/api/InputSource.h"
#include "runtime/api/Model.h"
#include "runtime/api/SearchRequest.h"
#include "runtime/api/TokenStream.h"
#include "runtime/threads/ThreadPool.h"
#include "runtime/tokenizer/Tokenizer.h"

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
  std::unique_ptr<Engine> engine;
  /// Whether a thread runs it.
  std::atomic<bool> isRunning = false;
};

namespace {

/// What a request needs until it has finished.
struct ApiRequest {
  ApiRequest(heddle_engine &engine, const heddle_request &request)
      : engine(engine), context(request.context), token(request.token),
        finished(request.finished) {
    session.model = engine.model;
  }

  /// Fails as heddle_translate does.
  Result<EngineRequest> make(const heddle_request &request);
  void tell(const TokenIds &before, int32_t id, bool isLast);
  void finish(const Result<std::vector<Hypothesis>> &found) const;

  heddle_engine &engine;
  void *context;
  heddle_token_callback token;
  heddle_finished_callback finished;
  heddle_session session;
  std::optional<LineTokens> tokens;
  SearchOptions search;
  std::optional<TokenStream> stream;
  /// 0 until it has been submitted.
  std::atomic<uint64_t> number = 0;
};

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

Result<EngineRequest> ApiRequest::make(const heddle_request &request) {
  Settings settings = request.settings ? request.settings->set : Settings();
  // Those of the machine are the engine's.
  for (const heddle_setting &setting : settingsList())
    if (setting.group == std::string_view(kMachineGroup))
      if (Status status = settings.set(setting.name, nullptr); !status.ok())
        return status;
  session.onToken = token;
  if (Status status = session.configure(settings); !status.ok())
    return status;
  // Sources that are encoded together have one meaning.
  if (session.values.split || !session.values.inputs.empty())
    return Status::error("a request to an engine takes no setting '",
                         session.values.split ? "split" : "global", "'");
  tokens.emplace(session.tokens());
  Result<SearchOptions> options = searchFor(session, *tokens);
  if (!options.ok())
    return options.status();
  search = std::move(*options);
  Line line = lineOf(*request.input);
  Result<TokenIds> prompt = tokens->source(line.source);
  if (!prompt.ok())
    return Status::error("the input ", prompt.message());
  Result<TokenIds> beginning =
      tokens->target(line.target, TargetPart::Beginning);
  if (!beginning.ok())
    return Status::error("the target of the input ", beginning.message());
  const Tokenizer *tokenizer = session.model->tokenizer();
  stream.emplace([this](const TokenIds &ids) { return tokens->text(ids); },
                 [tokenizer](int32_t id) {
                   return tokenizer && byteOfPiece(tokenizer->nameOf(id)) >= 0;
                 },
                 session.model->manifest().tokenizer.cleansUp, stopsOf(session),
                 token, context, session.cancelled);
  return EngineRequest{std::move(*prompt), std::move(*beginning), search, {}};
}

void ApiRequest::tell(const TokenIds &before, int32_t id, bool isLast) {
  stream->add(int64_t(number), before, id, isLast);
  if (session.cancelled)
    engine.engine->cancel(number);
}

void ApiRequest::finish(const Result<std::vector<Hypothesis>> &found) const {
  if (!found.ok())
    return finished(context, number, nullptr, 0, found.message().c_str());
  // At the last token of all.
  if (session.cancelled)
    return finished(context, number, nullptr, 0, "the request was cancelled");
  std::vector<AnswerText> answers =
      answersOf(*found, search, stopsOf(session), *tokens);
  std::vector<heddle_answer_text> views = viewsOf(answers);
  finished(context, number, views.data(), views.size(), nullptr);
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
  auto created = std::make_unique<heddle_engine>();
  created->model = model->loaded;
  Result<std::unique_ptr<ThreadPool>> pool =
      ThreadPool::create(asked.threads ? int64_t(asked.threads) : 1);
  if (!pool.ok())
    return report(pool.status());
  created->pool = std::move(*pool);
  EngineLimits own;
  own.slots = asked.slots ? int64_t(asked.slots) : own.slots;
  own.beams = asked.beams ? int64_t(asked.beams)
                          : created->model->manifest().generation.beams;
  if (asked.tokens)
    own.positions = own.sources = int64_t(asked.tokens);
  if (asked.memory)
    own.memory = int64_t(asked.memory) << 20;
  SessionOptions options;
  options.pool = created->pool.get();
  auto opened = Engine::open(*created->model, own, options);
  if (!opened.ok())
    return report(opened.status());
  created->engine = std::move(*opened);
  *engine = created.release();
  return HEDDLE_OK;
}

void heddle_engine_free(heddle_engine *engine) { delete engine; }

heddle_status heddle_engine_submit(heddle_engine *engine,
                                   const heddle_request *request,
                                   uint64_t *number) {
  if (number)
    *number = 0;
  if (Status status = checkPointers({{"engine", engine}, {"request", request}});
      !status.ok())
    return reportMisuse(status);
  if (Status status = checkPointers(
          {{"input", request->input}, {"finished", request->finished}});
      !status.ok())
    return reportMisuse(status);
  if (Status status = checkInput(*request->input); !status.ok())
    return reportMisuse(status);
  if (request->settings)
    if (heddle_status status = heddle_settings_check(request->settings);
        status != HEDDLE_OK)
      return status;
  auto own = std::make_shared<ApiRequest>(*engine, *request);
  Result<EngineRequest> made = own->make(*request);
  if (!made.ok())
    return report(made.status());
  if (own->token)
    made->options.onToken = [own](int64_t, const TokenIds &before, int32_t id,
                                  bool isLast) {
      own->tell(before, id, isLast);
    };
  made->finished = [own](const Result<std::vector<Hypothesis>> &found) {
    own->finish(found);
  };
  Result<uint64_t> submitted = engine->engine->submit(
      std::move(*made), [own](uint64_t given) { own->number = given; });
  if (!submitted.ok())
    return report(submitted.status());
  if (number)
    *number = *submitted;
  return HEDDLE_OK;
}

heddle_status heddle_engine_cancel(heddle_engine *engine, uint64_t number) {
  Status status = checkPointers({{"engine", engine}});
  if (status.ok())
    engine->engine->cancel(number);
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
  Result<bool> left = engine->engine->step();
  *isLeft = left.ok() && *left;
  return report(left.status());
}

heddle_status heddle_engine_run(heddle_engine *engine) {
  if (Status status = checkPointers({{"engine", engine}}); !status.ok())
    return reportMisuse(status);
  EngineRun run(*engine);
  Status status = run.check();
  return status.ok() ? report(engine->engine->run()) : reportMisuse(status);
}

heddle_status heddle_engine_count(const heddle_engine *engine,
                                  heddle_engine_counts *counts) {
  if (Status status = checkPointers({{"engine", engine}, {"counts", counts}});
      !status.ok())
    return reportMisuse(status);
  EngineStatistics has = engine->engine->statistics();
  *counts = {uint64_t(has.submitted),    uint64_t(has.finished),
             uint64_t(has.running),      uint64_t(has.steps),
             uint64_t(has.stepRows),     uint64_t(has.prompts),
             uint64_t(has.promptRows),   uint64_t(has.guesses),
             uint64_t(has.rightGuesses), uint64_t(has.sharedTokens)};
  return HEDDLE_OK;
}
