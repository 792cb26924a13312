//===- Embeddings.cpp - Vectors of heddle.h -------------------------------===//
//
// A block of vectors is a stream of inputs that are in memory, whose vectors
// stay there.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Arguments.h"
#include "runtime/api/InputSource.h"
#include "runtime/api/Model.h"
#include "runtime/api/Session.h"
#include "runtime/lines/Embedding.h"
#include "runtime/lines/VectorTypes.h"

#include <algorithm>
#include <limits>
#include <vector>

using namespace heddle;

Result<EmbedOptions> heddle::embedOptionsOf(const heddle_session &session) {
  if (Status status = session.model->checkTask("embed"); !status.ok())
    return status;
  EmbedOptions options = session.values.embed;
  static_cast<TextOptions &>(options) = session.textOptions();
  Status status =
      checkEmbedOptions(*session.model, options, session.settings.nameOf(""));
  return status.ok() ? Result(options) : status;
}

/// Embeds lines; of the session's call.
static Status embed(heddle_session &session, const LineRunOptions &options,
                    LineSource &source, const VectorWriter &writer) {
  Result<EmbedOptions> wanted = embedOptionsOf(session);
  if (!wanted.ok())
    return wanted.status();
  return embedLines(*session.workers, options, *wanted, source, writer);
}

heddle_status heddle_vector_width(const heddle_session *session,
                                  size_t *width) {
  if (width)
    *width = 0;
  if (Status status = checkPointers({{"session", session}, {"width", width}});
      !status.ok())
    return reportMisuse(status);
  Result<EmbedOptions> options = embedOptionsOf(*session);
  if (!options.ok())
    return report(options.status());
  *width = size_t(widthOf(*session->model, *options));
  return HEDDLE_OK;
}

const char *heddle_vector_word(const heddle_model *model, size_t component,
                               size_t *size) {
  if (size)
    *size = 0;
  if (!model || !size)
    return nullptr;
  const Model &loaded = *model->loaded;
  const std::optional<EmbedTask> &task = loaded.manifest().embed;
  bool isWord = task && task->logarithms > 0 && loaded.tokenizer() &&
                component < size_t(loaded.manifest().sourceVocabulary);
  if (!isWord)
    return nullptr;
  std::call_once(model->words.once, [&] {
    for (int32_t id = 0; id < loaded.manifest().sourceVocabulary; ++id)
      model->words.all.push_back(loaded.tokenizer()->spellingOf(id));
  });
  const std::string &word = model->words.all[component];
  *size = word.size();
  return word.empty() ? nullptr : word.data();
}

heddle_status heddle_embed(heddle_session *session, const heddle_input *inputs,
                           size_t count, float **vectors, size_t *width) {
  if (vectors)
    *vectors = nullptr;
  if (width)
    *width = 0;
  size_t columns = 0;
  std::vector<float> block;
  VectorWriter gather = {
      [&](const std::vector<float> &vector, const std::string &) {
        block.resize(block.size() + columns,
                     std::numeric_limits<float>::quiet_NaN());
        std::copy(vector.begin(), vector.end(),
                  block.end() - ptrdiff_t(columns));
        return Status::success();
      },
      [] { return Status::success(); }};
  heddle_status status = callOverInputs(
      session, inputs, count, {{"vectors", vectors}, {"width", width}},
      [&] {
        Result<EmbedOptions> wanted = embedOptionsOf(*session);
        if (wanted.ok())
          columns = size_t(widthOf(*session->model, *wanted));
        return wanted.status();
      },
      [&](const LineRunOptions &options, LineSource &lines) {
        return embed(*session, options, lines, gather);
      });
  if (status != HEDDLE_OK)
    return status;
  void *copy;
  status = giveCopy(block.data(), block.size() * sizeof(float), &copy);
  if (status != HEDDLE_OK)
    return status;
  *vectors = static_cast<float *>(copy);
  *width = columns;
  return HEDDLE_OK;
}

heddle_status heddle_embed_stream(heddle_session *session,
                                  const heddle_source *source,
                                  const heddle_vector_sink *sink) {
  return callOverSource(
      session, source, sink, sink && sink->vector,
      [&](const LineRunOptions &options, LineSource &lines) {
        SinkCalls calls(*session, sink->context, sink->flush, sink->notice);
        return embed(
            *session, options, lines,
            {[&](const std::vector<float> &vector, const std::string &notice) {
               return calls.give(notice, [&] {
                 return sink->vector(sink->context,
                                     vector.empty() ? nullptr : vector.data(),
                                     vector.size());
               });
             },
             [&] { return calls.flush(); }});
      });
}

size_t heddle_vector_bytes(heddle_vector_type type, size_t width) {
  return type >= HEDDLE_VECTOR_FLOAT32 && type <= HEDDLE_VECTOR_BITS
             ? storedBytes(VectorType(type), width)
             : 0;
}

/// What a caller of heddle_store_vectors may get wrong.
static Status checkStored(heddle_vector_type type, const float *vectors,
                          size_t count, size_t width, const void *stored) {
  if (type < HEDDLE_VECTOR_FLOAT32 || type > HEDDLE_VECTOR_BITS)
    return Status::error("'type' is ", int(type), ", expected ",
                         int(HEDDLE_VECTOR_FLOAT32), " to ",
                         int(HEDDLE_VECTOR_BITS));
  size_t numbers;
  if (__builtin_mul_overflow(count, width, &numbers))
    numbers = std::numeric_limits<size_t>::max();
  return checkArrays({{"vectors", vectors, "count * width", numbers},
                      {"stored", static_cast<const char *>(stored),
                       "count * width", numbers}});
}

heddle_status heddle_store_vectors(heddle_vector_type type,
                                   const float *vectors, size_t count,
                                   size_t width, void *stored) {
  if (Status status = checkStored(type, vectors, count, width, stored);
      !status.ok())
    return reportMisuse(status);
  size_t bytes = heddle_vector_bytes(type, width);
  for (size_t i = 0; i < count; ++i)
    storeVector(VectorType(type), vectors + i * width, width,
                static_cast<char *>(stored) + i * bytes);
  return HEDDLE_OK;
}
