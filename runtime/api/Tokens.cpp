//===- Tokens.cpp - Text to ids and back, for heddle.h --------------------===//

#include "runtime/LineTokens.h"
#include "runtime/api/Failure.h"
#include "runtime/api/Session.h"

#include <cstdlib>
#include <cstring>

using namespace heddle;

/// `kind` is one that exists.
static Result<TokenIds> encode(const heddle_session &session, unsigned kind,
                               std::string_view text) {
  LineTokens tokens(*session.model, session.values.ids || kind & HEDDLE_IDS,
                    session.values.maxSource, session.settings.nameOf(""));
  LineText line = {std::string(text)};
  switch (kind & ~HEDDLE_IDS) {
  case HEDDLE_SOURCE:
    return tokens.source(line);
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
  *ids = nullptr;
  *count = 0;
  if ((kind & ~HEDDLE_IDS) > HEDDLE_TARGET)
    return report(Status::error("the kind of text is ", kind & ~HEDDLE_IDS,
                                ", expected 0 to ", int(HEDDLE_TARGET)),
                  HEDDLE_MISUSED);
  Result<TokenIds> encoded =
      encode(*session, kind, text ? std::string_view(text, size) : "");
  if (!encoded.ok())
    return report(
        Status::error(name ? name : "the text", " ", encoded.message()));
  size_t bytes = encoded->size() * sizeof(int32_t);
  // Not of no bytes: such an address may be null.
  *ids = static_cast<int32_t *>(malloc(bytes + 1));
  if (!*ids)
    return report(Status::error("there is no memory for ", bytes, " bytes"));
  if (bytes > 0)
    std::memcpy(*ids, encoded->data(), bytes);
  *count = encoded->size();
  return HEDDLE_OK;
}

heddle_status heddle_decode(const heddle_session *session, const int32_t *ids,
                            size_t count, char **text, size_t *size) {
  *text = nullptr;
  const Model &model = *session->model;
  if (!model.tokenizer() && !session->values.ids)
    return report(
        Status::error("'", model.artifact().path(), "' has no tokenizer"));
  TokenIds tokens(ids, ids + count);
  if (Status status = model.checkTarget(tokens); !status.ok())
    return report(Status::error("the text ", status.message()));
  std::string decoded = session->tokens().text(tokens);
  if (size)
    *size = decoded.size();
  *text = copyForCaller(decoded);
  return HEDDLE_OK;
}
