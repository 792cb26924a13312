//===- RunSetup.cpp - What the jobs of heddle-run begin with --------------===//
//
// Small translations of options.
//
//===----------------------------------------------------------------------===//

#include "tools/RunSetup.h"

#include "tools/ProfileReport.h"

#include <algorithm>
#include <utility>

using namespace heddle;

Status heddle::checkGlobalTokens(const Manifest &manifest,
                                 const RunOptions &options) {
  const Entry &encode = *manifest.entry("encode");
  if (options.globalTokens && !encode.argument("global", ArgumentKind::Input))
    return Status::error("--global is given, but '", options.file,
                         "' knows no global tokens");
  return {};
}

Result<LineTokens> heddle::tokensFor(const Model &model,
                                     const RunOptions &options) {
  if (!options.ids && !model.tokenizer())
    return Status::error("'", options.file,
                         "' has no tokenizer, expected --ids");
  if (Status status = checkGlobalTokens(model.manifest(), options);
      !status.ok())
    return status;
  return LineTokens(model, options.ids, options.maxSource);
}

Result<InputLines> heddle::openInput(const RunOptions &options,
                                     const std::string &targets) {
  std::optional<LineReader> targetLines;
  if (!targets.empty()) {
    Result<LineReader> opened = LineReader::open(targets);
    if (!opened.ok())
      return opened.status();
    targetLines.emplace(std::move(*opened));
  }
  Result<LineReader> lines = options.texts.empty()
                                 ? LineReader::standardInput()
                                 : LineReader::texts(options.texts);
  if (!lines.ok())
    return lines.status();
  return InputLines(std::move(*lines), std::move(targetLines));
}

Result<std::vector<TokenIds>> heddle::readTargets(const std::string &path,
                                                  const LineTokens &tokens,
                                                  TargetPart part) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines.ok())
    return lines.status();
  std::vector<TokenIds> targets;
  for (;;) {
    Result<std::optional<std::string>> line = lines->next();
    if (!line.ok())
      return line.status();
    if (!*line)
      return targets;
    Result<TokenIds> target = tokens.target(**line, part);
    if (!target.ok())
      return Status::error(lines->nameOf(lines->linesRead() - 1), " ",
                           target.message());
    targets.push_back(std::move(*target));
  }
}

Result<Workers> heddle::equipWorkers(const Model &model,
                                     const RunOptions &options) {
  WorkerOptions workers;
  workers.threads = options.threads.value_or(1);
  workers.workers =
      options.workers ? *options.workers : workersForAllCores(workers.threads);
  // None without a text; those of --teacher run one after the other.
  if (!options.texts.empty())
    workers.workers = std::min(workers.workers, int64_t(options.texts.size()));
  if (!options.teacher.empty())
    workers.workers = 1;
  workers.profiles = options.profile.has_value();
  if (options.globalTokens)
    workers.globalTokens = *options.globalTokens;
  return Workers::create(model, workers);
}

LineRunOptions heddle::lineRunOptions(const RunOptions &options) {
  LineRunOptions result;
  result.batch = options.batch;
  result.mayHaveFewerWorkers = !options.workers;
  result.textsOfAnswer = options.nBest.value_or(1);
  if (options.maxMemory)
    result.maxMemory = *options.maxMemory << 20;
  return result;
}

Status heddle::reportRun(const Workers &workers, const RunOptions &options) {
  if (!options.profile)
    return Status::success();
  return reportProfile(workers.model(), workers.profiles(),
                       options.threads.value_or(1), *options.profile);
}
