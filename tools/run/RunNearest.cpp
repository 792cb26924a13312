//===- RunNearest.cpp - What heddle-run does to search vectors ------------===//
//
// Vectors of a NumPy file are there for everybody: queries are answered some at
// a time, as they come. Lines of text have to be embedded, once: all queries
// are read first. Neither holds more vectors than the queries' own.
//
//===----------------------------------------------------------------------===//

#include "tools/run/RunNearest.h"

#include "tools/run/AnswerLines.h"
#include "tools/run/BestLines.h"
#include "tools/run/InputLines.h"
#include "tools/run/StreamPrinter.h"
#include "tools/run/vectors/NearestRows.h"
#include "tools/run/vectors/NpyRows.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace heddle;

/// As many queries at least share a reading of the file, if they are there.
static constexpr size_t kQueriesTogether = 64;

/// Puts the first of these prompts that the model has in front of texts,
/// unless somebody says which.
static Status choosePrompt(Run &run, const RunOptions &options,
                           std::initializer_list<const char *> names) {
  if (options.ids || options.hasPrompt)
    return Status::success();
  const char *known = nullptr;
  for (const char *name : names)
    if (!known && heddle_model_has_prompt(run.model.get(), name))
      known = name;
  heddle_settings_set(options.settings.get(), "prompt", known);
  return statusOf(
      heddle_session_configure(run.session.get(), options.settings.get()));
}

namespace {
/// Takes the vectors of lines.
struct VectorTaker {
  StreamPrinter &lines;
  /// Null for a line that was skipped.
  const std::function<void(const float *values)> take;
  const std::function<void()> flush = [] {};

  /// Borrows this object.
  heddle_vector_sink sink() {
    return {this,
            [](void *context, const float *values, size_t) {
              auto *self = static_cast<VectorTaker *>(context);
              self->lines.begin(values != nullptr);
              self->take(values);
              self->lines.end();
              return 0;
            },
            [](void *context) {
              auto *self = static_cast<VectorTaker *>(context);
              self->flush();
              return self->lines.flush();
            },
            [](void *context, size_t, const char *sentence) {
              static_cast<VectorTaker *>(context)->lines.notice(sentence);
            }};
  }
};

class Search {
public:
  Search(Run &run, const RunOptions &options, OutputWriter &output,
         size_t width)
      : run(run), options(options), output(output), width(width) {}

  Status inFile(const NpyRows &rows);
  Status inLines(InputLines &lines);

private:
  using Take = std::function<void(const float *values)>;
  Status embed(InputLines &lines, const Take &take,
               const std::function<void()> &flush);
  Status embedQueries(const Take &take, const std::function<void()> &flush);
  void print(NearestRows &nearest, const std::vector<int64_t> &queries,
             bool hasTexts);

  Run &run;
  const RunOptions &options;
  OutputWriter &output;
  const size_t width;
};
} // namespace

/// Embeds lines, with what is counted of them.
Status Search::embed(InputLines &lines, const Take &take,
                     const std::function<void()> &flush) {
  Progress progress = Progress::ofLines(options.texts.empty());
  StreamPrinter printer(run, output, progress);
  VectorTaker taker = {printer, take, flush};
  heddle_source source = lines.source();
  heddle_vector_sink sink = taker.sink();
  Status status =
      statusOf(heddle_embed_stream(run.session.get(), &source, &sink));
  Status written = printer.finish();
  return written.ok() ? status : written;
}

Status Search::embedQueries(const Take &take,
                            const std::function<void()> &flush) {
  if (Status status = choosePrompt(run, options, {"query"}); !status.ok())
    return status;
  Result<InputLines> lines = InputLines::open(
      options.query ? std::vector<std::string>{*options.query} : options.texts);
  return lines.ok() ? embed(*lines, take, flush) : lines.status();
}

/// Prints what was found for queries, which have these numbers.
void Search::print(NearestRows &nearest, const std::vector<int64_t> &queries,
                   bool hasTexts) {
  for (size_t i = 0; i < queries.size(); ++i)
    for (ScoredLine &row : nearest.takeBest(i))
      output.print(formatRankedLine(
          {row.number, row.score,
           hasTexts ? std::optional(std::move(row.text)) : std::nullopt,
           options.query ? std::nullopt : std::optional(queries[i])},
          options.plain));
}

Status Search::inFile(const NpyRows &rows) {
  heddle_vector_type type = rows.format().type;
  size_t bytes = heddle_vector_bytes(type, width);
  std::optional<NearestRows> nearest;
  // Those that wait for an answer.
  std::vector<int64_t> waiting;
  int64_t read = 0;
  auto answer = [&] {
    if (waiting.empty())
      return;
    for (int64_t row = 0; row < rows.count(); ++row)
      nearest->addRow(rows.data() + size_t(row) * bytes);
    print(*nearest, waiting, /*hasTexts=*/false);
    nearest.reset();
    waiting.clear();
  };
  return embedQueries(
      [&](const float *values) {
        int64_t number = read++;
        if (!values)
          return;
        if (!nearest)
          nearest.emplace(type, width, options.mostNearest);
        nearest->addQuery(values);
        waiting.push_back(number);
        if (waiting.size() == kQueriesTogether)
          answer();
      },
      answer);
}

Status Search::inLines(InputLines &lines) {
  NearestRows nearest(HEDDLE_VECTOR_FLOAT32, width, options.mostNearest);
  std::vector<int64_t> queries;
  int64_t read = 0;
  Status status = embedQueries(
      [&](const float *values) {
        int64_t number = read++;
        if (!values)
          return;
        nearest.addQuery(values);
        queries.push_back(number);
      },
      [] {});
  if (status.ok())
    status = choosePrompt(run, options, {"document", "passage", "corpus"});
  if (!status.ok())
    return status;
  // Lines are read by another thread than the one that takes their vectors.
  LinesUnderWay underWay;
  lines.onLine([&](const std::string &line) { underWay.add(line); });
  status = embed(
      lines,
      [&](const float *values) {
        std::string text = underWay.take();
        if (values)
          nearest.addRow(values, text);
        else
          nearest.skipRow();
      },
      [] {});
  if (status.ok())
    print(nearest, queries, /*hasTexts=*/true);
  return status;
}

Status heddle::printNearest(Run &run, const RunOptions &options,
                            OutputWriter &output) {
  size_t width = 0;
  if (Status status = statusOf(heddle_vector_width(run.session.get(), &width));
      !status.ok())
    return status;
  Search search(run, options, output, width);
  Status status = Status::success();
  if (isNpyFile(options.nearest)) {
    Result<NpyRows> rows = NpyRows::open(options.nearest, width);
    status = rows.ok() ? search.inFile(*rows) : rows.status();
  } else {
    Result<InputLines> lines = InputLines::openFile(options.nearest);
    status = lines.ok() ? search.inLines(*lines) : lines.status();
  }
  if (Status written = output.flush(); !written.ok())
    return written;
  return status.ok() ? reportRun(run, options) : status;
}
