//===- EngineRequests.cpp - Requests of heddle.h to an engine -------------===//
//
// What is wrong with a request is told where it is submitted, on that thread,
// which reads its text, too.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/EngineRequests.h"

#include "runtime/api/InputSource.h"
#include "runtime/api/NamedLabels.h"
#include "runtime/api/SearchRequest.h"
#include "runtime/lines/Embedding.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <string_view>
#include <utility>

using namespace heddle;

/// Gives the session of a request its settings, which may be null.
static Status configure(heddle_session &session,
                        const heddle_settings *wanted) {
  Settings settings = wanted ? wanted->set : Settings();
  // Those of the machine are the engine's.
  for (const heddle_setting &setting : settingsList())
    if (setting.group == std::string_view(kMachineGroup))
      if (Status status = settings.set(setting.name, nullptr); !status.ok())
        return status;
  if (Status status = session.configure(settings); !status.ok())
    return status;
  // They take another pass over the answer.
  for (auto [name, isGiven] :
       {std::pair("alignments", session.values.search.aligns),
        std::pair("replace-unknowns", session.values.search.replacesUnknowns),
        std::pair("coverage-penalty",
                  session.values.search.coveragePenalty.value_or(0) != 0)})
    if (isGiven)
      return Status::error("a request to an engine takes no setting '", name,
                           "'");
  // Sources that are encoded together have one meaning.
  if (session.values.split || !session.values.inputs.empty())
    return Status::error("a request to an engine takes no setting '",
                         session.values.split ? "split" : "global", "'");
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Models that generate
//===----------------------------------------------------------------------===//

GenerationRequest::GenerationRequest(std::shared_ptr<const Model> model,
                                     RequestEngine &engine,
                                     const heddle_request &request)
    : engine(engine), context(request.context), token(request.token),
      finished(request.finished) {
  session.model = std::move(model);
}

Result<EngineRequest> GenerationRequest::make(const heddle_request &request) {
  session.onToken = token;
  if (Status status = configure(session, request.settings); !status.ok())
    return status;
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
  const Manifest &manifest = session.model->manifest();
  if (manifest.promptsTarget)
    if (Status status = checkRoom(manifest.generation,
                                  int64_t(prompt->size() + beginning->size()),
                                  search.maxLength);
        !status.ok())
      return Status::error("the input ", status.message());
  const Tokenizer *tokenizer = session.model->tokenizer();
  stream.emplace([this](const TokenIds &ids) { return tokens->text(ids); },
                 [tokenizer](int32_t id) {
                   return tokenizer && byteOfPiece(tokenizer->nameOf(id)) >= 0;
                 },
                 manifest.tokenizer.cleansUp, stopsOf(session), token, context,
                 session.cancelled);
  return EngineRequest{std::move(*prompt), std::move(*beginning), search, {}};
}

void GenerationRequest::tell(const TokenIds &before, int32_t id, bool isLast) {
  stream->add(int64_t(number), before, id, isLast);
  if (session.cancelled)
    engine.cancel(number);
}

void GenerationRequest::finish(
    const Result<std::vector<Hypothesis>> &found) const {
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

//===----------------------------------------------------------------------===//
// Encoders
//===----------------------------------------------------------------------===//

EncoderRequest::EncoderRequest(std::shared_ptr<const Model> model,
                               const heddle_request &request)
    : context(request.context), vector(request.vector), labels(request.labels) {
  session.model = std::move(model);
}

/// The job of the task that the request asks for.
Result<std::unique_ptr<TextJob>> EncoderRequest::makeJob() {
  const Model &model = *session.model;
  if (vector) {
    Result<EmbedOptions> options = embedOptionsOf(session);
    if (!options.ok())
      return options.status();
    embed = std::move(*options);
    return makeEmbedJob(model, embed, source);
  }
  for (Role each : {Role::Classify, Role::Tag, Role::Answer, Role::Fill})
    if (model.manifest().textTask(each)) {
      task = each;
      break;
    }
  if (task == Role::Embed)
    return model.checkTask(nameOf(Role::Classify));
  label = labelOptionsOf(session);
  answer = answerOptionsOf(session);
  return task == Role::Answer ? makeAnswerJob(model, answer, source)
                              : makeLabelJob(model, task, label, source);
}

Result<TextRequest> EncoderRequest::make(const heddle_request &request) {
  if (Status status = configure(session, request.settings); !status.ok())
    return status;
  Result<std::unique_ptr<TextJob>> job = makeJob();
  if (!job.ok())
    return job.status();
  Line line = lineOf(*request.input);
  if (line.pair && !(*job)->takesPairs())
    return Status::error("the input is a pair of texts, expected one text");
  Result<Sentence> sentence = (*job)->encode(/*number=*/0, line);
  if (!sentence.ok())
    return sentence.status();
  return TextRequest{std::move(*job), std::move(*sentence)};
}

void EncoderRequest::finish(Result<LineAnswer> found) const {
  const char *failure = found.ok() ? nullptr : found.message().c_str();
  if (vector) {
    auto values =
        found.ok() ? takeList<float>(found->answer) : std::vector<float>();
    return vector(context, number, failure ? nullptr : values.data(),
                  values.size(), failure);
  }
  if (failure)
    return labels(context, number, nullptr, 0, failure);
  auto name = [&] {
    if (task == Role::Answer) {
      std::vector<TextAnswer> answers = takeAnswers(*found, answer);
      return nameAnswers(&answers);
    }
    std::vector<Label> all = takeLabels(*found, label);
    return nameLabels(session, task, &all);
  };
  NamedLabels named = name();
  labels(context, number, named.data(), named.labels.size(), nullptr);
}
