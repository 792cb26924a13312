//===- NamedLabels.h - Labels as heddle.h has them --------------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_API_NAMEDLABELS_H
#define HEDDLE_RUNTIME_API_NAMEDLABELS_H

#include "runtime/api/Session.h"
#include "runtime/heddle.h"
#include "runtime/lines/Labels.h"
#include "runtime/lines/QuestionAnswers.h"

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

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

/// Labels by a task of a session's model; null if the input was skipped.
NamedLabels nameLabels(const heddle_session &session, Role task,
                       const std::vector<Label> *labels);

/// Answers to a question, as labels of places; null if it was skipped.
NamedLabels nameAnswers(const std::vector<TextAnswer> *answers);

/// What a session asks of the tasks that label texts, and answer questions.
LabelOptions labelOptionsOf(const heddle_session &session);
AnswerOptions answerOptionsOf(const heddle_session &session);

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_NAMEDLABELS_H
