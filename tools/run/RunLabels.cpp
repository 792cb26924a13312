//===- RunLabels.cpp - What heddle-run does with labels -------------------===//
//
// A stream of lines becomes JSON objects, or the best labels alone.
//
//===----------------------------------------------------------------------===//

#include "tools/run/RunLabels.h"

#include "tools/run/AnswerLines.h"
#include "tools/run/InputLines.h"
#include "tools/run/StreamPrinter.h"

using namespace heddle;

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {
/// The labels of one place, the best one first.
struct Place {
  const heddle_label *begin, *end;
};
} // namespace

static std::vector<Place> placesOf(const heddle_label *labels, size_t count) {
  // Tokens are numbered in windows.
  auto isSame = [](const heddle_label &a, const heddle_label &b) {
    return a.token == b.token && a.first_byte == b.first_byte;
  };
  std::vector<Place> places;
  for (const heddle_label *each = labels; each != labels + count; ++each)
    if (places.empty() || !isSame(*places.back().begin, *each))
      places.push_back({each, each + 1});
    else
      ++places.back().end;
  return places;
}

static std::string textOf(const heddle_label &label) {
  return quoteJson({label.text, label.text_size});
}

/// "label": "good", "score": 0.9, and those of others behind it.
static std::string formatBest(const Place &place, bool wantsAll) {
  std::string text = "\"label\": " + textOf(*place.begin) +
                     ", \"score\": " + formatJsonNumber(place.begin->score);
  if (!wantsAll)
    return text;
  text += ", \"scores\": {";
  for (const heddle_label *each = place.begin; each != place.end; ++each)
    text += (each == place.begin ? "" : ", ") + textOf(*each) + ": " +
            formatJsonNumber(each->score);
  return text + "}";
}

/// "start": 34, "end": 43, in bytes or characters.
static std::string formatSpan(const heddle_label &label, bool inBytes) {
  size_t start = inBytes ? label.first_byte : label.first_character;
  size_t end = inBytes ? label.last_byte : label.last_character;
  return "\"start\": " + std::to_string(start) +
         ", \"end\": " + std::to_string(end);
}

/// "token": 1, and where it is of a text.
static std::string formatPlace(const heddle_label &label, bool inBytes) {
  std::string text = "\"token\": " + std::to_string(label.token);
  if (label.token_name)
    text += ", \"name\": " + quoteJson(label.token_name);
  if (label.last_byte > 0)
    text += ", " + formatSpan(label, inBytes);
  return text;
}

static std::string formatFills(const Place &place) {
  std::string text = "\"fills\": [";
  for (const heddle_label *each = place.begin; each != place.end; ++each) {
    text += each == place.begin ? "{" : ", {";
    if (each->text_size > 0)
      text += "\"text\": " + textOf(*each) + ", ";
    text += "\"id\": " + std::to_string(each->id) +
            ", \"score\": " + formatJsonNumber(each->score) + "}";
  }
  return text + "]";
}

/// "answer": "in Berlin", "score": 0.9, and where it stands.
static std::string formatAnswer(const heddle_label &answer, bool inBytes) {
  return "\"answer\": " + textOf(answer) +
         ", \"score\": " + formatJsonNumber(answer.score) + ", " +
         formatSpan(answer, inBytes);
}

static constexpr const char kNoAnswer[] = "{\"answer\": null}\n";

/// The best of some answers, or all of them.
static std::string formatAnswers(const heddle_label *answers, size_t count,
                                 bool wantsAll, bool inBytes) {
  if (count == 0)
    return kNoAnswer;
  std::string text = "{" + formatAnswer(*answers, inBytes);
  if (!wantsAll)
    return text + "}\n";
  text += ", \"answers\": [";
  for (size_t i = 0; i < count; ++i)
    text += (i == 0 ? "{" : ", {") + formatAnswer(answers[i], inBytes) + "}";
  return text + "]}\n";
}

/// An object of each place.
static std::string formatPlaces(const std::string &task,
                                const std::vector<Place> &places, bool wantsAll,
                                bool inBytes) {
  bool isTag = task == "tag";
  std::string text = isTag ? "{\"tags\": [" : "{\"masks\": [";
  for (size_t i = 0; i < places.size(); ++i)
    text += std::string(i == 0 ? "" : ", ") + "{" +
            formatPlace(*places[i].begin, inBytes) + ", " +
            (isTag ? formatBest(places[i], wantsAll) : formatFills(places[i])) +
            "}";
  return text + "]}\n";
}

/// The line of a text that was skipped.
static std::string formatSkipped(const std::string &task, bool isPlain) {
  return isPlain              ? "\n"
         : task == "classify" ? "{\"label\": null}\n"
         : task == "tag"      ? "{\"tags\": null}\n"
         : task == "answer"   ? kNoAnswer
                              : "{\"masks\": null}\n";
}

static std::string formatPlain(const std::string &task,
                               const std::vector<Place> &places) {
  std::string text;
  for (const Place &place : places) {
    std::string_view best(place.begin->text, place.begin->text_size);
    text += text.empty() ? "" : " ";
    text += best.empty() && task != "answer" ? std::to_string(place.begin->id)
                                             : oneLine(best);
    if (task == "classify" || task == "answer")
      text += "\t" + formatNumber(place.begin->score);
  }
  return text + "\n";
}

//===----------------------------------------------------------------------===//
// The stream
//===----------------------------------------------------------------------===//

namespace {
/// Takes the labels of a stream.
struct LabelPrinter {
  StreamPrinter lines;
  const std::string &task;
  const RunOptions &options;

  /// Borrows this object.
  heddle_label_sink sink() {
    return {this,
            [](void *context, const heddle_label *labels, size_t count) {
              static_cast<LabelPrinter *>(context)->print(labels, count);
              return 0;
            },
            [](void *context) {
              return static_cast<LabelPrinter *>(context)->lines.flush();
            },
            [](void *context, size_t, const char *sentence) {
              static_cast<LabelPrinter *>(context)->lines.notice(sentence);
            }};
  }
  void print(const heddle_label *labels, size_t count) {
    lines.begin(labels != nullptr);
    std::vector<Place> places = placesOf(labels, count);
    bool wantsAll = options.top.value_or(1) > 1;
    bool inBytes = options.byteOffsets;
    lines.end(!labels         ? formatSkipped(task, options.plain)
              : options.plain ? formatPlain(task, places)
              : task == "answer"
                  ? formatAnswers(labels, count, wantsAll, inBytes)
              : task == "classify"
                  ? "{" + formatBest(places.front(), /*wantsAll=*/true) + "}\n"
                  : formatPlaces(task, places, wantsAll, inBytes));
  }
};
} // namespace

Status heddle::printLabels(Run &run, const std::string &task,
                           const RunOptions &options, OutputWriter &output) {
  auto stream = task == "classify" ? heddle_classify_stream
                : task == "tag"    ? heddle_tag_stream
                : task == "answer" ? heddle_find_answers_stream
                                   : heddle_fill_stream;
  Result<InputLines> input = InputLines::open(options.texts, options.second);
  if (!input.ok())
    return input.status();
  if (!options.second.empty())
    input->pairWithTargets();
  else if (options.question)
    input->pairWith(*options.question);
  else if (options.pairs || task == "answer")
    input->readPairs();
  Status status = Status::success();
  {
    Progress progress = Progress::ofLines(options.texts.empty());
    LabelPrinter printer = {StreamPrinter(run, output, progress), task,
                            options};
    heddle_source source = input->source();
    heddle_label_sink sink = printer.sink();
    status = statusOf(stream(run.session.get(), &source, &sink));
    if (Status written = printer.lines.finish(); !written.ok())
      return written;
  }
  return status.ok() ? reportRun(run, options) : status;
}
