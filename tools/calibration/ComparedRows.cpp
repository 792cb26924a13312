//===- ComparedRows.cpp - What models make of the same lines --------------===//
//
// A decoder follows the targets that the model in f32 has written, so that
// positions have the same past. Texts are read as heddle-run reads them, pairs
// with a tab between their texts, and long ones in windows where a task has
// them.
//
//===----------------------------------------------------------------------===//

#include "tools/calibration/ComparedRows.h"
#include "runtime/lines/LineTokens.h"
#include "runtime/lines/QuestionAnswers.h"
#include "runtime/lines/TextReading.h"
#include "runtime/search/Generate.h"
#include "runtime/search/TeacherForcing.h"
#include "runtime/session/TextTasks.h"
#include "tools/LineReader.h"
#include "tools/RuntimeErrors.h"

using namespace mlir;
using namespace heddle;

/// Lines that targets are written of together.
static constexpr size_t kBatch = 32;

/// Those from number `first` on.
template <typename Element>
static std::vector<Element> partOf(const std::vector<Element> &all,
                                   size_t first, size_t count) {
  if (all.empty())
    return {};
  auto begin = all.begin() + ptrdiff_t(first);
  return {begin, begin + ptrdiff_t(std::min(count, all.size() - first))};
}

/// Calls read(number, text) for each line of a file.
static llvm::Error
forEachLine(LineReader &file,
            llvm::function_ref<llvm::Error(int64_t, std::string)> read) {
  for (;;) {
    auto line = toExpected(file.next());
    if (!line)
      return line.takeError();
    if (!*line)
      return llvm::Error::success();
    if (llvm::Error error = read(file.linesRead() - 1, std::move(**line)))
      return error;
  }
}

//===----------------------------------------------------------------------===//
// Logits of targets
//===----------------------------------------------------------------------===//

namespace {
class TargetRows final : public ComparedRows {
public:
  TargetRows(const Model &f32, ThreadPool &pool)
      : ComparedRows(pool, RowKind::Logits, {"logits", "token", "next token"}),
        width(size_t(f32.manifest().targetVocabulary)) {}

  llvm::Error readLines(const Model &f32, LineReader &file);
  llvm::Error writeTargets(const Model &f32);
  llvm::Error score(const Model &model, size_t first, size_t count,
                    const RowSink &sink) override;

private:
  size_t width;
  std::vector<TokenIds> targets;
};
} // namespace

llvm::Error TargetRows::readLines(const Model &f32, LineReader &file) {
  LineTokens tokens(f32, /*ids=*/!f32.tokenizer(), /*maxSource=*/std::nullopt);
  return forEachLine(
      file, [&](int64_t number, std::string text) -> llvm::Error {
        Result<TokenIds> source = tokens.source({std::move(text)});
        if (!source.ok())
          return makeError(file.nameOf(number) + " " + source.message());
        if (!source->empty())
          sources.push_back(std::move(*source));
        return llvm::Error::success();
      });
}

llvm::Error TargetRows::writeTargets(const Model &f32) {
  Session session(f32, {&pool, nullptr});
  SearchOptions greedy;
  greedy.beams = 1;
  for (size_t first = 0; first < sources.size(); first += kBatch) {
    auto answers =
        toExpected(generate(f32, session, partOf(sources, first, kBatch),
                            /*prefixes=*/{}, greedy));
    if (!answers)
      return answers.takeError();
    for (std::vector<Hypothesis> &hypotheses : *answers)
      targets.push_back(std::move(hypotheses.front().tokens));
  }
  for (const TokenIds &target : targets)
    rowCount += target.size();
  byteCount = rowCount * width * sizeof(float);
  return llvm::Error::success();
}

llvm::Error TargetRows::score(const Model &model, size_t first, size_t count,
                              const RowSink &sink) {
  Session session(model, {&pool, nullptr});
  Teaching teaching{DecoderForm::Step, model.manifest().generation.start};
  return toError(scoreTargets(
      model, session, partOf(sources, first, count),
      partOf(targets, first, count), teaching,
      [&](int64_t sentence, int64_t position, const float *row) {
        sink(size_t(sentence), size_t(position), ArrayRef(row, width));
        return Status::success();
      }));
}

//===----------------------------------------------------------------------===//
// What tasks compute of texts
//===----------------------------------------------------------------------===//

namespace {
class TaskRows final : public ComparedRows {
public:
  TaskRows(const Model &f32, Role task, ThreadPool &pool);

  llvm::Error readLines(const Model &f32, LineReader &file);
  llvm::Error score(const Model &model, size_t first, size_t count,
                    const RowSink &sink) override;

private:
  llvm::Error add(const Model &f32, Sentence sentence);
  size_t rowsOf(const Manifest &manifest, const TokenIds &source) const;

  Role task;
  size_t width;
  SourceFeatures features;
};

/// Names lines, which somebody else reads.
class LineNames final : public LineSource {
public:
  explicit LineNames(const LineReader &file) : file(file) {}
  Lines next(const LineLimits &) override { return {}; }
  std::string nameOf(int64_t number) const override {
    return file.nameOf(number);
  }

private:
  const LineReader &file;
};
} // namespace

/// The task that the class of a folder is for: vectors, if it has no other.
static Role mainTaskOf(const Manifest &manifest) {
  Role main = Role::Embed;
  for (Role role : kTaskRoles)
    if (manifest.textTask(role))
      main = role;
  return main;
}

static RowKind kindOf(const Manifest &manifest, Role task) {
  if (task == Role::Embed)
    return RowKind::Vector;
  bool isAlone = task == Role::Classify &&
                 manifest.classify->scores != LabelScores::Softmax;
  return isAlone ? RowKind::Labels : RowKind::Logits;
}

static RowWords wordsOf(Role task) {
  switch (task) {
  case Role::Embed:
    return {"vectors", "", ""};
  case Role::Classify:
    return {"logits of labels", "", "label"};
  case Role::Tag:
    return {"logits of labels", "token", "label"};
  case Role::Answer:
    return {"logits of answers", "end", "end"};
  default:
    return {"logits of words", "mask", "word"};
  }
}

TaskRows::TaskRows(const Model &f32, Role task, ThreadPool &pool)
    : ComparedRows(pool, kindOf(f32.manifest(), task), wordsOf(task)),
      task(task), width(size_t(taskWidth(f32, task))) {}

/// Rows that are compared of a source: an answer has the places where it begins
/// and where it ends.
size_t TaskRows::rowsOf(const Manifest &manifest,
                        const TokenIds &source) const {
  switch (task) {
  case Role::Tag:
    return source.size();
  case Role::Answer:
    return 2;
  case Role::Fill:
    return masksOf(source, manifest).size();
  default:
    return 1;
  }
}

llvm::Error TaskRows::add(const Model &f32, Sentence sentence) {
  if (sentence.source.empty())
    return llvm::Error::success();
  size_t rows = rowsOf(f32.manifest(), sentence.source);
  rowCount += rows;
  byteCount += rows * sizeof(float) *
               (task == Role::Answer ? sentence.source.size() : width);
  sources.push_back(std::move(sentence.source));
  // Those of one type are 0.
  sentence.types.resize(sources.back().size());
  features.types.push_back(std::move(sentence.types));
  features.promptTokens.push_back(sentence.promptTokens);
  for (Sentence &window : sentence.windows)
    if (llvm::Error error = add(f32, std::move(window)))
      return error;
  return llvm::Error::success();
}

llvm::Error TaskRows::readLines(const Model &f32, LineReader &file) {
  const Manifest &manifest = f32.manifest();
  TextOptions options;
  options.ids = !f32.tokenizer();
  LineNames names(file);
  TextUse use;
  if (task == Role::Answer)
    use.stride = kAnswerStride;
  if (task == Role::Embed)
    if (const Prompt *prompt =
            manifest.embed->findPrompt(manifest.embed->prompt.value_or("")))
      use.prompt = prompt->text;
  TextReader reader(f32, *manifest.textTask(task), options, names, use);
  bool hasPairs = task == Role::Classify || task == Role::Answer;
  return forEachLine(
      file, [&](int64_t number, std::string text) -> llvm::Error {
        Line line;
        size_t tab = hasPairs ? text.find('\t') : std::string::npos;
        if (tab != std::string::npos)
          line.pair = text.substr(tab + 1);
        else if (task == Role::Answer && !text.empty())
          return makeError(file.nameOf(number) +
                           " has no tab between a question and its text");
        line.source.text = text.substr(0, tab);
        auto sentence = toExpected(reader.read(number, line));
        if (!sentence)
          return sentence.takeError();
        return add(f32, std::move(*sentence));
      });
}

llvm::Error TaskRows::score(const Model &model, size_t first, size_t count,
                            const RowSink &sink) {
  Session session(model, {&pool, nullptr});
  std::vector<TokenIds> batch = partOf(sources, first, count);
  SourceFeatures ofBatch;
  if (model.manifest().sourceTypes > 0)
    ofBatch.types = partOf(features.types, first, count);
  ofBatch.promptTokens = partOf(features.promptTokens, first, count);
  auto take = [&](size_t text, const float *rows) {
    size_t tokens = batch[text].size();
    size_t rowsOfText = rowsOf(model.manifest(), batch[text]);
    if (task != Role::Answer) {
      for (size_t row = 0; row < rowsOfText; ++row)
        sink(text, row, ArrayRef(rows + row * width, width));
      return;
    }
    for (size_t end = 0; end < rowsOfText; ++end) {
      std::vector<float> places;
      for (size_t token = 0; token < tokens; ++token)
        places.push_back(rows[token * width + end]);
      sink(text, end, places);
    }
  };
  return toError(runTask(model, task, session, batch, ofBatch, take));
}

//===----------------------------------------------------------------------===//
// Either of them
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<ComparedRows>>
ComparedRows::read(const Model &f32, const std::string &path,
                   ThreadPool &pool) {
  auto file = toExpected(LineReader::open(path));
  if (!file)
    return file.takeError();
  const Manifest &manifest = f32.manifest();
  std::unique_ptr<ComparedRows> rows;
  if (manifest.generates) {
    auto targets = std::make_unique<TargetRows>(f32, pool);
    if (llvm::Error error = targets->readLines(f32, *file))
      return std::move(error);
    if (llvm::Error error = targets->writeTargets(f32))
      return std::move(error);
    rows = std::move(targets);
  } else if (Role task = mainTaskOf(manifest); manifest.textTask(task)) {
    auto ofTask = std::make_unique<TaskRows>(f32, task, pool);
    if (llvm::Error error = ofTask->readLines(f32, *file))
      return std::move(error);
    rows = std::move(ofTask);
  } else {
    return makeError("--calibrate compares logits or vectors, but the model " +
                     manifest.describeTasks());
  }
  if (rows->countLines() == 0)
    return makeError("'" + path + "' has no line with a token");
  if (rows->countRows() == 0 && !manifest.generates)
    return makeError("'" + path + "' has no line with a mask");
  return rows;
}
