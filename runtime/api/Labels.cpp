//===- Labels.cpp - Labels of heddle.h ------------------------------------===//
//
// A batch is a stream of inputs that are in memory, whose labels stay there.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/Labels.h"
#include "runtime/api/Arguments.h"
#include "runtime/api/InputSource.h"
#include "runtime/api/Session.h"
#include "runtime/lines/QuestionAnswers.h"
#include "runtime/lines/Spans.h"
#include "runtime/tokenizer/Utf8.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace heddle;

namespace {
/// The labels of an input, as heddle.h has them. Those of the manifest are
/// borrowed.
struct NamedLabels {
  NamedLabels() = default;
  /// A copy of a name would stand elsewhere.
  NamedLabels(const NamedLabels &) = delete;
  NamedLabels(NamedLabels &&) = default;

  /// Of tokens, and answers.
  std::deque<std::string> names;
  std::vector<heddle_label> labels;
  bool isSkipped = false;

  const std::string &keep(std::string name) {
    return names.emplace_back(std::move(name));
  }
  /// Not null if the input has an answer, which may be empty.
  const heddle_label *data() const {
    static constexpr heddle_label kNone = {};
    return isSkipped ? nullptr : labels.empty() ? &kNone : labels.data();
  }
};
} // namespace

struct heddle_labels {
  /// Has the names of labels.
  std::shared_ptr<const Model> model;
  std::vector<NamedLabels> inputs;
};

/// The labels of an input; null if it was skipped.
static NamedLabels nameLabels(const Model &model, Role task, bool areSpans,
                              const std::vector<Label> *labels) {
  NamedLabels named;
  named.isSkipped = !labels;
  if (!labels)
    return named;
  const Manifest &manifest = model.manifest();
  const Tokenizer *tokenizer = model.tokenizer();
  // Tokens that texts do not have stand there by their names.
  auto textOf = [&](int32_t token) {
    std::string text = tokenizer ? tokenizer->decode({token}) : "";
    return text.empty() && tokenizer ? repairUtf8(tokenizer->nameOf(token))
                                     : text;
  };
  for (const Label &label : *labels) {
    heddle_label &result = named.labels.emplace_back();
    const std::string &text = task == Role::Fill ? named.keep(textOf(label.id))
                              : task == Role::Tag
                                  ? manifest.tag->labels[size_t(label.id)]
                                  : manifest.classify->labels[size_t(label.id)];
    // The end of a name ends with its NUL.
    std::string_view name = areSpans ? nameOfSpan(text) : text;
    result.text = name.data();
    result.text_size = name.size();
    result.id = label.id;
    result.score = label.score;
    result.token = size_t(label.token);
    if (tokenizer && task != Role::Classify && !areSpans)
      result.token_name =
          named.keep(repairUtf8(tokenizer->nameOf(label.tokenId))).c_str();
    result.first_byte = label.place.bytes.begin;
    result.last_byte = label.place.bytes.end;
    result.first_character = label.place.characters.begin;
    result.last_character = label.place.characters.end;
  }
  return named;
}

/// Answers to a question, as labels of places; null if it was skipped.
static NamedLabels nameAnswers(const std::vector<TextAnswer> *answers) {
  NamedLabels named;
  named.isSkipped = !answers;
  if (!answers)
    return named;
  for (const TextAnswer &answer : *answers) {
    const std::string &text = named.keep(answer.text);
    heddle_label &result = named.labels.emplace_back();
    result.text = text.data();
    result.text_size = text.size();
    result.score = float(answer.score);
    result.first_byte = answer.bytes.begin;
    result.last_byte = answer.bytes.end;
    result.first_character = answer.characters.begin;
    result.last_character = answer.characters.end;
  }
  return named;
}

/// Whether labels are of spans.
static bool findsSpans(const heddle_session &session, Role task) {
  std::optional<Aggregation> aggregation = session.values.label.aggregation;
  return task == Role::Tag && aggregation && *aggregation != Aggregation::None;
}

namespace {
/// Takes the labels of inputs, as LabelWriter has it.
struct NamedWriter {
  std::function<Status(NamedLabels labels, const std::string &notice)> write;
  std::function<Status()> flush;
};
} // namespace

/// Labels lines by a task that the model has, of the session's call.
static Status label(heddle_session &session, Role task,
                    const LineRunOptions &options, LineSource &source,
                    const NamedWriter &writer) {
  const SettingValues &values = session.values;
  if (task == Role::Answer) {
    AnswerOptions wanted = values.answer;
    static_cast<TextOptions &>(wanted) = session.textOptions();
    wanted.top = values.label.top.value_or(wanted.top);
    return answerLines(*session.workers, options, wanted, source,
                       {[&](const auto *found, const std::string &notice) {
                          return writer.write(nameAnswers(found), notice);
                        },
                        writer.flush});
  }
  LabelOptions wanted = values.label;
  static_cast<TextOptions &>(wanted) = session.textOptions();
  bool areSpans = findsSpans(session, task);
  return labelLines(*session.workers, options, task, wanted, source,
                    {[&](const auto *found, const std::string &notice) {
                       return writer.write(
                           nameLabels(*session.model, task, areSpans, found),
                           notice);
                     },
                     writer.flush});
}

static heddle_status run(Role task, heddle_session *session,
                         const heddle_input *inputs, size_t count,
                         heddle_labels **labels) {
  if (labels)
    *labels = nullptr;
  auto gathered = std::make_unique<heddle_labels>();
  NamedWriter gather = {[&](NamedLabels found, const std::string &) {
                          gathered->inputs.push_back(std::move(found));
                          return Status::success();
                        },
                        [] { return Status::success(); }};
  heddle_status status = callOverInputs(
      session, inputs, count, {{"labels", labels}},
      [&] { return session->model->checkTask(nameOf(task)); },
      [&](const LineRunOptions &options, LineSource &lines) {
        return label(*session, task, options, lines, gather);
      });
  if (status != HEDDLE_OK)
    return status;
  gathered->model = session->model;
  *labels = gathered.release();
  return status;
}

static heddle_status run(Role task, heddle_session *session,
                         const heddle_source *source,
                         const heddle_label_sink *sink) {
  return callOverSource(
      session, source, sink, sink && sink->labels,
      [&](const LineRunOptions &options, LineSource &lines) {
        if (Status status = session->model->checkTask(nameOf(task));
            !status.ok())
          return status;
        SinkCalls calls(*session, sink->context, sink->flush, sink->notice);
        return label(*session, task, options, lines,
                     {[&](NamedLabels found, const std::string &notice) {
                        return calls.give(notice, [&] {
                          return sink->labels(sink->context, found.data(),
                                              found.labels.size());
                        });
                      },
                      [&] { return calls.flush(); }});
      });
}

heddle_status heddle_classify(heddle_session *session,
                              const heddle_input *inputs, size_t count,
                              heddle_labels **labels) {
  return run(Role::Classify, session, inputs, count, labels);
}

heddle_status heddle_tag(heddle_session *session, const heddle_input *inputs,
                         size_t count, heddle_labels **labels) {
  return run(Role::Tag, session, inputs, count, labels);
}

heddle_status heddle_find_answers(heddle_session *session,
                                  const heddle_input *inputs, size_t count,
                                  heddle_labels **labels) {
  return run(Role::Answer, session, inputs, count, labels);
}

heddle_status heddle_fill(heddle_session *session, const heddle_input *inputs,
                          size_t count, heddle_labels **labels) {
  return run(Role::Fill, session, inputs, count, labels);
}

heddle_status heddle_classify_stream(heddle_session *session,
                                     const heddle_source *source,
                                     const heddle_label_sink *sink) {
  return run(Role::Classify, session, source, sink);
}

heddle_status heddle_tag_stream(heddle_session *session,
                                const heddle_source *source,
                                const heddle_label_sink *sink) {
  return run(Role::Tag, session, source, sink);
}

heddle_status heddle_find_answers_stream(heddle_session *session,
                                         const heddle_source *source,
                                         const heddle_label_sink *sink) {
  return run(Role::Answer, session, source, sink);
}

heddle_status heddle_fill_stream(heddle_session *session,
                                 const heddle_source *source,
                                 const heddle_label_sink *sink) {
  return run(Role::Fill, session, source, sink);
}

const heddle_label *heddle_labels_of(const heddle_labels *labels, size_t input,
                                     size_t *count) {
  bool isThere = labels && input < labels->inputs.size();
  if (count)
    *count = isThere ? labels->inputs[input].labels.size() : 0;
  return isThere ? labels->inputs[input].data() : nullptr;
}

void heddle_labels_free(heddle_labels *labels) { delete labels; }
