//===- RunRanking.cpp - What heddle-run does to rank lines ----------------===//
//
// All lines are read before the first is scored: the best one may be the last.
//
//===----------------------------------------------------------------------===//

#include "tools/run/RunRanking.h"

#include "tools/run/AnswerLines.h"
#include "tools/run/InputLines.h"
#include "tools/run/StreamPrinter.h"

#include <algorithm>
#include <cstdio>
#include <utility>

using namespace heddle;

namespace {
/// The lines of an input as pairs with a query, and what they score.
class Ranking {
public:
  Ranking(InputLines &input, StreamPrinter &printer, const RunOptions &options)
      : input(input), printer(printer), options(options) {}

  Status read();
  /// Borrow this object.
  heddle_source source();
  heddle_label_sink sink();
  void print(OutputWriter &output) const;

private:
  heddle_next next(heddle_input &pair);
  int take(const heddle_label *labels, size_t count);

  InputLines &input;
  StreamPrinter &printer;
  const RunOptions &options;
  std::vector<std::string> texts;
  size_t given = 0;
  /// Of each line, in their order; none of those that were skipped.
  std::vector<std::optional<float>> scores;
};
} // namespace

Status Ranking::read() {
  for (;;) {
    Result<std::optional<std::string>> line = input.next();
    if (!line.ok())
      return line.status();
    if (!*line)
      return Status::success();
    texts.push_back(std::move(**line));
  }
}

heddle_next Ranking::next(heddle_input &pair) {
  if (given == texts.size())
    return HEDDLE_NEXT_END;
  pair = {};
  pair.text = options.rank->data();
  pair.text_size = options.rank->size();
  pair.pair = texts[given].data();
  pair.pair_size = texts[given].size();
  ++given;
  return HEDDLE_NEXT_INPUT;
}

heddle_source Ranking::source() {
  heddle_source source = {};
  source.context = this;
  source.count = texts.size();
  source.next = [](void *context, int, heddle_input *pair) {
    return static_cast<Ranking *>(context)->next(*pair);
  };
  source.name = [](void *context, int64_t number, int, char *text,
                   size_t size) {
    std::string name = static_cast<Ranking *>(context)->input.nameOf(number);
    snprintf(text, size, "%s", name.c_str());
  };
  return source;
}

int Ranking::take(const heddle_label *labels, size_t count) {
  printer.begin(labels != nullptr);
  printer.end();
  scores.push_back(labels ? std::optional(labels->score) : std::nullopt);
  if (!labels || count == 1)
    return 0;
  printer.fail(Status::error("--rank takes a model with one label, but '",
                             options.file, "' has ", count));
  return 1;
}

heddle_label_sink Ranking::sink() {
  return {this,
          [](void *context, const heddle_label *labels, size_t count) {
            return static_cast<Ranking *>(context)->take(labels, count);
          },
          [](void *context) {
            return static_cast<Ranking *>(context)->printer.flush();
          },
          [](void *context, size_t, const char *sentence) {
            static_cast<Ranking *>(context)->printer.notice(sentence);
          }};
}

void Ranking::print(OutputWriter &output) const {
  std::vector<size_t> order;
  for (size_t line = 0; line < scores.size(); ++line)
    if (scores[line])
      order.push_back(line);
  // Lines of one score stay in their order.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(-*scores[a], a) < std::pair(-*scores[b], b);
  });
  size_t most = std::min(order.size(), options.top.value_or(order.size()));
  for (size_t place = 0; place < most; ++place) {
    size_t line = order[place];
    output.print(formatRankedLine({int64_t(line), *scores[line], texts[line]},
                                  options.plain));
  }
}

Status heddle::printRanking(Run &run, const RunOptions &options,
                            OutputWriter &output) {
  Result<InputLines> input = InputLines::open(options.texts);
  if (!input.ok())
    return input.status();
  Status status = Status::success();
  {
    Progress progress = Progress::ofLines(options.texts.empty());
    StreamPrinter printer(run, output, progress);
    Ranking ranking(*input, printer, options);
    if (Status read = ranking.read(); !read.ok())
      return read;
    heddle_source source = ranking.source();
    heddle_label_sink sink = ranking.sink();
    status =
        statusOf(heddle_classify_stream(run.session.get(), &source, &sink));
    if (Status scored = printer.finish(); !scored.ok())
      return scored;
    if (status.ok())
      ranking.print(output);
  }
  if (Status written = output.flush(); !written.ok())
    return written;
  return status.ok() ? reportRun(run, options) : status;
}
