//===- EmbeddedTexts.cpp - A vector for each text -------------------------===//
//
// EntryContract.h has made sure that the entry returns vectors and nothing
// else.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/EmbeddedTexts.h"

using namespace heddle;

/// Which argument of the entry the vectors are.
static size_t findVectors(const Entry &entry) {
  size_t index = 0;
  while (entry.arguments[index].kind != ArgumentKind::Output)
    ++index;
  return index;
}

int64_t heddle::vectorWidth(const Model &model) {
  const Entry &entry = *model.manifest().entry(Role::Embed);
  return entry.arguments[findVectors(entry)].shape[1].size;
}

DecoderRequest heddle::embedRequest() {
  DecoderRequest request;
  request.task = Role::Embed;
  return request;
}

Status heddle::embedSources(const Model &model, Session &session,
                            const std::vector<TokenIds> &sources,
                            const SourceFeatures &features,
                            const VectorSink &sink) {
  if (Status status = session.begin(sources, embedRequest(), features);
      !status.ok())
    return status;
  const Entry &entry = *model.manifest().entry(Role::Embed);
  auto *vectors =
      static_cast<const float *>(session.taskOutput(findVectors(entry)));
  int64_t width = vectorWidth(model);
  for (size_t i = 0; i < sources.size(); ++i)
    sink(i, vectors + int64_t(i) * width);
  return Status::success();
}
