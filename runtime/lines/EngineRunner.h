//===- EngineRunner.h - Batches of lines through an engine ------*- C++ -*-===//
//
// The lines of a language model join an engine as its slots are free, those of
// the next batch beside the last ones of the batch before: no step has fewer
// rows while there are lines.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_ENGINERUNNER_H
#define HEDDLE_RUNTIME_LINES_ENGINERUNNER_H

#include "runtime/engine/Engine.h"
#include "runtime/lines/BatchPipeline.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heddle {

/// Of one worker, whose thread runs the engine.
class EngineRunner : public BatchPipeline::Runner {
public:
  /// A sentence of a batch as a request, and the answer to its hypotheses.
  using RequestOf =
      std::function<EngineRequest(const Batch &batch, size_t sentence)>;
  using AnswerOf = std::function<Answer(const std::vector<Hypothesis> &)>;

  EngineRunner(std::unique_ptr<Engine> engine, int64_t slots,
               RequestOf requestOf, AnswerOf answerOf)
      : engine(std::move(engine)), slots(slots),
        requestOf(std::move(requestOf)), answerOf(std::move(answerOf)) {}

  void begin(const Batch &batch, std::function<void(Answers)> done) override;
  bool isBusy() const override { return unfinished > 0; }
  bool hasRoom() const override { return unfinished <= slots; }
  void advance() override;

private:
  std::unique_ptr<Engine> engine;
  int64_t slots, unfinished = 0;
  RequestOf requestOf;
  AnswerOf answerOf;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_ENGINERUNNER_H
