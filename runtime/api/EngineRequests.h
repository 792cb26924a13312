//===- EngineRequests.h - Requests of heddle.h to an engine -----*- C++ -*-===//
//
// A request has its settings in a session of its own, which runs nothing: so it
// means what it means elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_API_ENGINEREQUESTS_H
#define HEDDLE_RUNTIME_API_ENGINEREQUESTS_H

#include "runtime/api/Session.h"
#include "runtime/api/TokenStream.h"
#include "runtime/engine/Engine.h"
#include "runtime/heddle.h"
#include "runtime/lines/TextEngine.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// What a request to a model that generates needs until it has finished.
class GenerationRequest {
public:
  GenerationRequest(std::shared_ptr<const Model> model, RequestEngine &engine,
                    const heddle_request &request);

  /// Fails as heddle_translate does.
  Result<EngineRequest> make(const heddle_request &request);
  void tell(const TokenIds &before, int32_t id, bool isLast);
  void finish(const Result<std::vector<Hypothesis>> &found) const;

  /// 0 until it has been submitted.
  std::atomic<uint64_t> number = 0;

private:
  RequestEngine &engine;
  void *context;
  heddle_token_callback token;
  heddle_finished_callback finished;
  heddle_session session;
  std::optional<LineTokens> tokens;
  SearchOptions search;
  std::optional<TokenStream> stream;
};

/// What a request to an encoder needs until it has finished: a vector, or
/// labels.
class EncoderRequest {
public:
  EncoderRequest(std::shared_ptr<const Model> model,
                 const heddle_request &request);

  /// Fails as heddle_embed or a function of labels does.
  Result<TextRequest> make(const heddle_request &request);
  void finish(Result<LineAnswer> found) const;

  /// 0 until it has been submitted.
  std::atomic<uint64_t> number = 0;

private:
  /// The one line of a request.
  class Input : public LineSource {
  public:
    Lines next(const LineLimits &) override { return {{}, /*last=*/true}; }
    std::string nameOf(int64_t) const override { return "the input"; }
  };
  Result<std::unique_ptr<TextJob>> makeJob();

  void *context;
  heddle_finished_vector_callback vector;
  heddle_finished_labels_callback labels;
  heddle_session session;
  Role task = Role::Embed;
  /// Of its task.
  EmbedOptions embed;
  LabelOptions label;
  AnswerOptions answer;
  Input source;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_ENGINEREQUESTS_H
