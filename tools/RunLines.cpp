//===- RunLines.cpp - What heddle-run does with lines ---------------------===//
//
// The runtime's jobs between standard input and standard output.
//
//===----------------------------------------------------------------------===//

#include "tools/RunLines.h"

#include "runtime/SentenceLines.h"
#include "runtime/Translation.h"
#include "tools/AnswerLines.h"
#include "tools/Progress.h"
#include "tools/RunSetup.h"

#include <algorithm>
#include <cstdio>
#include <functional>

using namespace heddle;

/// What the model and the command line say of a search.
static Result<SearchOptions> searchFor(const Model &model,
                                       const LineTokens &tokens,
                                       const RunOptions &options) {
  SearchOptions search = options.search;
  search.wantsSums = options.scores || options.nBest;
  if (search.samples && !search.beams)
    search.beams = 1;
  if (!options.badWords.empty()) {
    Result<std::vector<TokenIds>> words =
        readTargets(options.badWords, tokens, TargetPart::Any);
    if (!words.ok())
      return words.status();
    words->erase(std::remove(words->begin(), words->end(), TokenIds()),
                 words->end());
    search.badWords = std::move(*words);
  }
  if (search.suppress)
    for (int32_t id : *search.suppress)
      if (id >= model.manifest().targetVocabulary)
        return Status::error("--suppress has the id ", id,
                             ", expected ids from 0 to ",
                             model.manifest().targetVocabulary - 1);
  Result<Generation> settings = settingsFor(model.manifest(), search);
  if (!settings.ok())
    return settings.status();
  if (options.nBest && *options.nBest > settings->beams)
    return Status::error("--n-best is ", *options.nBest, " but '", options.file,
                         "' searches with ", settings->beams,
                         settings->beams == 1 ? " beam" : " beams",
                         " (--beam N asks for more)");
  return search;
}

/// Prints answers as `print` has them, and says how many there were.
static AnswerWriter
printerTo(OutputWriter &output, Progress &progress,
          std::function<std::string(const std::string &)> print) {
  return
      [&, print = std::move(print)](const std::vector<std::string> &answers) {
        for (const std::string &each : answers)
          output.print(print(each));
        Status status = output.flush();
        if (status.ok())
          progress.add(answers.size());
        return status;
      };
}

Status heddle::printTranslations(const Model &model, const RunOptions &options,
                                 OutputWriter &output) {
  Result<LineTokens> tokens = tokensFor(model, options);
  if (!tokens.ok())
    return tokens.status();
  Result<SearchOptions> search = searchFor(model, *tokens, options);
  if (!search.ok())
    return search.status();
  Result<InputLines> input = openInput(options, options.prefix);
  if (!input.ok())
    return input.status();
  Result<Workers> workers = equipWorkers(model, options);
  if (!workers.ok())
    return workers.status();
  Progress progress(options.texts.empty());
  int64_t number = 0;
  AnswerWriter write =
      printerTo(output, progress, [&](const std::string &answer) {
        return numberAnswer(number++, answer, options);
      });
  SentenceLines sentences(*input);
  LineSource &source =
      options.split ? static_cast<LineSource &>(sentences) : *input;
  Status status = translateLines(
      *workers, lineRunOptions(options), *tokens, *search, source,
      [&](const std::vector<Hypothesis> &hypotheses) {
        return formatAnswer(*tokens, hypotheses, options);
      },
      options.split ? sentences.joining(std::move(write)) : std::move(write));
  return status.ok() ? reportRun(*workers, options) : status;
}

Status heddle::printScores(const Model &model, const RunOptions &options,
                           OutputWriter &output) {
  Result<LineTokens> tokens = tokensFor(model, options);
  if (!tokens.ok())
    return tokens.status();
  Result<InputLines> input = openInput(options, options.score);
  if (!input.ok())
    return input.status();
  Result<Workers> workers = equipWorkers(model, options);
  if (!workers.ok())
    return workers.status();
  Perplexity perplexity;
  Status status;
  {
    Progress progress(options.texts.empty());
    status = scoreLines(
        *workers, lineRunOptions(options), *tokens, *input, formatScores,
        printerTo(output, progress, [&](const std::string &answer) {
          perplexity.add(answer);
          return answer + "\n";
        }));
  }
  if (!status.ok())
    return status;
  fprintf(stderr, "%s\n", perplexity.describe().c_str());
  return reportRun(*workers, options);
}
