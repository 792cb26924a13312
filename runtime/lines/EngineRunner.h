//===- EngineRunner.h - Batches of lines through an engine ------*- C++ -*-===//
//
// The lines of a language model join an engine as its slots are free, those of
// the next batch beside the last ones of the batch before: no step has fewer
// rows while there are lines.
//
// Within a limit the engine has a worker's share. What it can never have room
// for is answered by other means, once all others of the engine have ended and
// it has given its memory back.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_ENGINERUNNER_H
#define HEDDLE_RUNTIME_LINES_ENGINERUNNER_H

#include "runtime/engine/Engine.h"
#include "runtime/lines/BatchPipeline.h"
#include "runtime/lines/LineRun.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace heddle {

/// Of one worker, whose thread runs the engine.
class EngineRunner : public BatchPipeline::Runner, private MemoryHolder {
public:
  /// A sentence of a batch as a request, and the answer to its hypotheses.
  using RequestOf =
      std::function<EngineRequest(const Batch &batch, size_t sentence)>;
  using AnswerOf = std::function<Answer(const std::vector<Hypothesis> &)>;
  using OpenEngine = std::function<Result<std::unique_ptr<Engine>>()>;

  /// `open` has opened the engine, and opens it again.
  EngineRunner(std::unique_ptr<Engine> engine, OpenEngine open, int64_t slots,
               RequestOf requestOf, AnswerOf answerOf,
               const std::optional<RunnerLimit> &limit);
  ~EngineRunner() override;

  void begin(const Batch &batch, std::function<void(Answers)> done) override;
  bool isBusy() const override { return unfinished > 0; }
  bool hasRoom() const override {
    return unfinished <= slots && !(limit && limit->memory.isAwaited());
  }
  void advance() override;

private:
  struct OpenBatch;

  void release() override { engine.reset(); }
  void enter();
  void exitIfIdle();
  Status submit(const std::shared_ptr<OpenBatch> &open, size_t sentence);
  void answerOtherwise(OpenBatch &open, const std::vector<size_t> &sentences);

  std::unique_ptr<Engine> engine;
  OpenEngine openEngine;
  int64_t slots, unfinished = 0;
  RequestOf requestOf;
  AnswerOf answerOf;
  std::optional<RunnerLimit> limit;
  /// Whether it has entered the memory.
  bool isInside = false;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_ENGINERUNNER_H
