//===- Tokens.cpp - Text to ids and back, for heddle.h --------------------===//
//
// Both directions read a session and change nothing in it: any number of
// threads may call them while nobody configures it. Text means what it means to
// a translation with the session's settings: with "ids" it is numbers with
// spaces between them.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Arguments.h"
#include "runtime/api/Failure.h"
#include "runtime/api/Session.h"
#include "runtime/lines/LineTokens.h"

using namespace heddle;

/// A kind without what is added to it.
static unsigned partOf(unsigned kind) {
  return kind & ~unsigned(HEDDLE_IDS | HEDDLE_CROP);
}

/// `kind` is one that exists.
static Result<TokenIds> encode(const heddle_session &session, unsigned kind,
                               std::string_view text) {
  LineTokens tokens(*session.model, session.values.ids || kind & HEDDLE_IDS,
                    session.values.maxSource, session.settings.nameOf(""),
                    session.languages);
  LineText line = {std::string(text)};
  std::string cut;
  switch (partOf(kind)) {
  case HEDDLE_SOURCE:
    return tokens.source(line, kind & HEDDLE_CROP ? &cut : nullptr);
  case HEDDLE_TARGET_PART:
    return tokens.target(line, TargetPart::Any);
  case HEDDLE_TARGET_BEGINNING:
    return tokens.target(line, TargetPart::Beginning);
  }
  return tokens.target(line, TargetPart::Whole);
}

heddle_status heddle_encode(const heddle_session *session, unsigned kind,
                            const char *text, size_t size, const char *name,
                            int32_t **ids, size_t *count) {
  if (ids)
    *ids = nullptr;
  if (count)
    *count = 0;
  if (Status status =
          checkPointers({{"session", session}, {"ids", ids}, {"count", count}});
      !status.ok())
    return reportMisuse(status);
  if (Status status = checkArrays({{"text", text, "size", size}}); !status.ok())
    return reportMisuse(status);
  if (partOf(kind) > HEDDLE_TARGET)
    return reportMisuse(Status::error("the kind of text is ", kind,
                                      ", expected 0 to ", int(HEDDLE_TARGET),
                                      ", or ", int(HEDDLE_IDS), " to ",
                                      HEDDLE_TARGET + HEDDLE_IDS, " for ids"));
  if (partOf(kind) != HEDDLE_SOURCE)
    if (Status status = session->model->checkTask("generate"); !status.ok())
      return report(status);
  Result<TokenIds> encoded =
      encode(*session, kind, text ? std::string_view(text, size) : "");
  if (!encoded.ok())
    return report(
        Status::error(name ? name : "the text", " ", encoded.message()));
  void *copy;
  heddle_status status =
      giveCopy(encoded->data(), encoded->size() * sizeof(int32_t), &copy);
  *ids = static_cast<int32_t *>(copy);
  *count = copy ? encoded->size() : 0;
  return status;
}

heddle_status heddle_decode(const heddle_session *session, const int32_t *ids,
                            size_t count, char **text, size_t *size) {
  if (text)
    *text = nullptr;
  if (size)
    *size = 0;
  if (Status status = checkPointers({{"session", session}, {"text", text}});
      !status.ok())
    return reportMisuse(status);
  if (Status status = checkArrays({{"ids", ids, "count", count}}); !status.ok())
    return reportMisuse(status);
  const Model &model = *session->model;
  if (!model.tokenizer() && !session->values.ids)
    return report(
        Status::error("'", model.artifact().path(), "' has no tokenizer"));
  TokenIds tokens(ids, ids + count);
  if (Status status = model.checkTarget(tokens); !status.ok())
    return report(Status::error("the text ", status.message()));
  std::string decoded = session->tokens().text(tokens);
  heddle_status status = giveText(decoded, text);
  if (size && status == HEDDLE_OK)
    *size = decoded.size();
  return status;
}
