//===- TextJob.h - A task of an encoder over lines --------------*- C++ -*-===//
//
// What all jobs of encoders share: a batch through the task, and what its rows
// say of each text.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_TEXTJOB_H
#define HEDDLE_RUNTIME_LINES_TEXTJOB_H

#include "runtime/Result.h"
#include "runtime/lines/LineRun.h"
#include "runtime/session/TextTasks.h"

#include <cstdint>
#include <vector>

namespace heddle {

/// Borrows the model, which has the task.
class TextJob : public LineJob {
public:
  TextJob(const Model &model, Role task) : model(model), task(task) {}

  /// The answer to a text of a batch, by its rows (TaskSink). Any thread.
  virtual Answer read(const Batch &batch, size_t text,
                      const float *rows) const = 0;

  Result<int64_t> bytesFor(Session &session, const Batch &batch) override {
    return session.bytesFor(batch.sources, taskRequest(task), batch.features);
  }
  Result<std::vector<Answer>> answer(Session &session,
                                     const Batch &batch) override {
    std::vector<Answer> answers;
    Status status = runTask(model, task, session, batch.sources, batch.features,
                            [&](size_t text, const float *rows) {
                              answers.push_back(read(batch, text, rows));
                            });
    return status.ok() ? Result(std::move(answers)) : status;
  }

  const Model &model;
  const Role task;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_TEXTJOB_H
