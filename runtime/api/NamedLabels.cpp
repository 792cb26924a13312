//===- NamedLabels.cpp - Labels as heddle.h has them ----------------------===//
//
// Names of labels are those of the manifest; texts of tokens are made here.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/NamedLabels.h"

#include "runtime/lines/Spans.h"
#include "runtime/tokenizer/Utf8.h"

#include <optional>

using namespace heddle;

/// Whether labels are of spans.
static bool findsSpans(const heddle_session &session, Role task) {
  std::optional<Aggregation> aggregation = session.values.label.aggregation;
  return task == Role::Tag && aggregation && *aggregation != Aggregation::None;
}

NamedLabels heddle::nameLabels(const heddle_session &session, Role task,
                               const std::vector<Label> *labels) {
  NamedLabels named;
  named.isSkipped = !labels;
  if (!labels)
    return named;
  const Manifest &manifest = session.model->manifest();
  const Tokenizer *tokenizer = session.model->tokenizer();
  bool areSpans = findsSpans(session, task);
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

NamedLabels heddle::nameAnswers(const std::vector<TextAnswer> *answers) {
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

LabelOptions heddle::labelOptionsOf(const heddle_session &session) {
  LabelOptions options = session.values.label;
  static_cast<TextOptions &>(options) = session.textOptions();
  return options;
}

AnswerOptions heddle::answerOptionsOf(const heddle_session &session) {
  AnswerOptions options = session.values.answer;
  static_cast<TextOptions &>(options) = session.textOptions();
  options.top = session.values.label.top.value_or(options.top);
  return options;
}
