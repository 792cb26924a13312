//===- TextTasks.cpp - What an encoder's tasks say of texts ---------------===//
//
// EntryContract.h has made sure that an entry returns one block, whose first
// dimension is the batch, or counts the tokens or masks of all its sources, and
// whose last one is a number.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/TextTasks.h"

using namespace heddle;

/// Which argument of the entry the output is.
static size_t findOutput(const Entry &entry) {
  size_t index = 0;
  while (entry.arguments[index].kind != ArgumentKind::Output)
    ++index;
  return index;
}

/// Rows of an output, led by `dim`, that a source has.
static int64_t rowsOf(const TokenIds &source, const Extent &dim,
                      const Manifest &manifest) {
  if (dim.dim == Dim::Tokens)
    return int64_t(source.size());
  return dim.dim == Dim::Masks ? int64_t(masksOf(source, manifest).size()) : 1;
}

int64_t heddle::taskWidth(const Model &model, Role task) {
  const Entry &entry = *model.manifest().entry(task);
  return entry.arguments[findOutput(entry)].shape.back().size;
}

DecoderRequest heddle::taskRequest(Role task) {
  DecoderRequest request;
  request.task = task;
  return request;
}

Status heddle::runTask(const Model &model, Role task, Session &session,
                       const std::vector<TokenIds> &sources,
                       const SourceFeatures &features, const TaskSink &sink) {
  if (Status status = session.begin(sources, taskRequest(task), features);
      !status.ok())
    return status;
  const Entry &entry = *model.manifest().entry(task);
  size_t output = findOutput(entry);
  auto *values = static_cast<const float *>(session.taskOutput(output));
  int64_t size = 1;
  const std::vector<Extent> &shape = entry.arguments[output].shape;
  for (size_t i = 1; i < shape.size(); ++i)
    size *= session.extent(shape[i]);
  for (size_t i = 0; i < sources.size(); ++i) {
    sink(i, values);
    values += rowsOf(sources[i], shape.front(), model.manifest()) * size;
  }
  return Status::success();
}
