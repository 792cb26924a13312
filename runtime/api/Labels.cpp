//===- Labels.cpp - Labels of heddle.h ------------------------------------===//
//
// A batch is a stream of inputs that are in memory, whose labels stay there.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Arguments.h"
#include "runtime/api/InputSource.h"
#include "runtime/api/NamedLabels.h"
#include "runtime/api/Session.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace heddle;

struct heddle_labels {
  /// Has the names of labels.
  std::shared_ptr<const Model> model;
  std::vector<NamedLabels> inputs;
};

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
  if (task == Role::Answer)
    return answerLines(*session.workers, options, answerOptionsOf(session),
                       source,
                       {[&](const auto *found, const std::string &notice) {
                          return writer.write(nameAnswers(found), notice);
                        },
                        writer.flush});
  return labelLines(
      *session.workers, options, task, labelOptionsOf(session), source,
      {[&](const auto *found, const std::string &notice) {
         return writer.write(nameLabels(session, task, found), notice);
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
