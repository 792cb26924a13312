//===- Embedding.cpp - Text to vectors ------------------------------------===//
//
// A prompt stands in front of a text before anything else happens to it. Texts
// are cut in tokens, special ones included, as the library does; the tokenizer
// itself strips and lower-cases them if the model's folder says so. An answer
// of the pipeline is the bytes of a vector.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/Embedding.h"

#include "runtime/lines/LineTokens.h"
#include "runtime/session/EmbeddedTexts.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace heddle;

/// torch.nn.functional.normalize divides by no less.
static constexpr double kLeastLength = 1e-12;

Status heddle::checkEmbedOptions(const Model &model,
                                 const EmbedOptions &options,
                                 const std::string &settingPrefix) {
  const EmbedTask &task = *model.manifest().embed;
  const std::string &file = model.artifact().path();
  if (options.prompt && !options.prompt->empty() &&
      !task.findPrompt(*options.prompt)) {
    std::string names;
    for (const Prompt &prompt : task.prompts)
      names += (names.empty() ? "" : ", ") + prompt.name;
    return Status::error(settingPrefix, "prompt is '", *options.prompt,
                         "', but '", file, "' has ",
                         names.empty() ? "no prompts" : "the prompts " + names);
  }
  if (int64_t width = vectorWidth(model);
      options.dimensions && *options.dimensions > width)
    return Status::error(settingPrefix, "dimensions is ", *options.dimensions,
                         ", but the vectors of '", file, "' have ", width);
  return Status::success();
}

int64_t heddle::widthOf(const Model &model, const EmbedOptions &options) {
  return options.dimensions.value_or(vectorWidth(model));
}

/// The vector that is given of one that a model computes.
static std::vector<float> finish(const float *vector, int64_t width,
                                 const EmbedOptions &options) {
  std::vector<float> result(vector,
                            vector + options.dimensions.value_or(width));
  if (!options.normalizes)
    return result;
  double squares = 0;
  for (float x : result)
    squares += double(x) * double(x);
  double length = std::max(std::sqrt(squares), kLeastLength);
  for (float &x : result)
    x = float(double(x) / length);
  return result;
}

namespace {
class EmbedJob : public LineJob {
public:
  EmbedJob(const Model &model, const EmbedOptions &options,
           const LineSource &source);

  Result<Sentence> encode(int64_t number, const Line &line) override {
    Result<Sentence> sentence = encode(line.source);
    if (!sentence.ok())
      return Status::error(source.nameOf(number), " ", sentence.message());
    if (!sentence->notice.empty())
      sentence->notice = source.nameOf(number) + " " + sentence->notice;
    return sentence;
  }
  Result<int64_t> bytesFor(Session &session, const Batch &batch) override {
    return session.bytesFor(batch.sources, embedRequest(), batch.features);
  }
  Result<std::vector<std::string>> answer(Session &session,
                                          const Batch &batch) override {
    std::vector<std::string> answers;
    Status status = embedSources(
        model, session, batch.sources, batch.features,
        [&](size_t, const float *vector) {
          std::vector<float> result = finish(vector, width, options);
          answers.emplace_back(reinterpret_cast<const char *>(result.data()),
                               result.size() * sizeof(float));
        });
    return status.ok() ? Result(std::move(answers)) : status;
  }

private:
  Result<Sentence> encode(const LineText &line) const;
  Result<Sentence> encodeText(std::string_view text) const;

  const Model &model;
  const EmbedOptions &options;
  const LineSource &source;
  const int64_t width;
  /// Tokens that are read of a text.
  std::optional<size_t> most;
  /// What stands in front of each text, and how many tokens it has.
  std::string prompt;
  int32_t promptTokens = 0;
};
} // namespace

/// The tokens of a prompt: those of its text alone, of which no more than
/// `most` are read, without a special one at the end, as the library counts
/// them.
static int32_t countPromptTokens(const Tokenizer &tokenizer,
                                 const std::string &prompt,
                                 std::optional<size_t> most) {
  bool isCut = false;
  auto tokens = tokenizer.encodeBeginning(prompt, most, isCut);
  if (!tokens.ok())
    return 0;
  bool endsSpecially = !tokens->texts.empty() && tokens->texts.back() < 0;
  return int32_t(tokens->ids.size()) - endsSpecially;
}

EmbedJob::EmbedJob(const Model &model, const EmbedOptions &options,
                   const LineSource &source)
    : model(model), options(options), source(source),
      width(vectorWidth(model)) {
  const EmbedTask &task = *model.manifest().embed;
  std::optional<int64_t> asked =
      options.maxTokens ? options.maxTokens : task.maxTokens;
  for (std::optional<int64_t> bound : {asked, model.manifest().sourcePositions})
    if (bound)
      most = std::min(most.value_or(size_t(*bound)), size_t(*bound));
  std::string name = options.prompt.value_or(task.prompt.value_or(""));
  const Prompt *found = task.findPrompt(name);
  if (!found || found->text.empty() || !model.tokenizer())
    return;
  prompt = found->text;
  promptTokens = countPromptTokens(*model.tokenizer(), prompt, most);
}

Result<Sentence> EmbedJob::encode(const LineText &line) const {
  Sentence sentence;
  if (line.ids) {
    sentence.source = *line.ids;
  } else if (options.ids) {
    Result<TokenIds> ids = parseIds(line.text);
    if (!ids.ok())
      return ids.status();
    sentence.source = std::move(*ids);
  } else {
    Result<Sentence> encoded = encodeText(line.text);
    if (!encoded.ok())
      return encoded;
    sentence = std::move(*encoded);
  }
  if (Status status = model.checkSource(sentence.source); !status.ok())
    return status;
  // Ids stand for themselves: they are never cut.
  if (options.maxTokens && int64_t(sentence.source.size()) > *options.maxTokens)
    return Status::error("has ", sentence.source.size(),
                         " tokens, expected at most ", *options.maxTokens);
  return sentence;
}

Result<Sentence> EmbedJob::encodeText(std::string_view text) const {
  if (Status status = LineTokens(model, /*ids=*/false).checkTokenizer();
      !status.ok())
    return status;
  bool isCut = false;
  auto encoded = model.tokenizer()->encodeBeginning(prompt + std::string(text),
                                                    most, isCut);
  if (!encoded.ok())
    return encoded.status();
  Sentence sentence;
  if (isCut) {
    std::string tokens = std::to_string(*most) + " tokens";
    if (options.refusesLong)
      return Status::error("has more than ", tokens);
    sentence.notice = "has more than " + tokens + " and is cut";
  }
  if (int32_t types = model.manifest().sourceTypes)
    for (int32_t type : encoded->types)
      if (type >= types)
        return Status::error("has a token of type ", type,
                             " but the model has ", types);
  sentence.source = std::move(encoded->ids);
  sentence.types = std::move(encoded->types);
  sentence.promptTokens =
      std::min(promptTokens, int32_t(sentence.source.size()));
  return sentence;
}

Status heddle::embedLines(const Workers &workers, const LineRunOptions &options,
                          const EmbedOptions &embed, LineSource &source,
                          const VectorWriter &writer) {
  EmbedJob job(workers.model(), embed, source);
  return runLines(
      workers, options, source, job,
      [&](const std::vector<LineAnswer> &answers) {
        for (const LineAnswer &answer : answers) {
          std::vector<float> vector(answer.text.size() / sizeof(float));
          // Of a line that has failed both are empty.
          std::copy(answer.text.begin(), answer.text.end(),
                    reinterpret_cast<char *>(vector.data()));
          if (Status status = writer.write(vector, answer.notice); !status.ok())
            return status;
        }
        return writer.flush();
      });
}
