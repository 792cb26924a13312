//===- Model.h - The models of heddle.h -------------------------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_API_MODEL_H
#define HEDDLE_RUNTIME_API_MODEL_H

#include "runtime/heddle.h"
#include "runtime/session/Model.h"

#include <memory>

/// A share of a loaded model. Sessions have shares of their own.
struct heddle_model {
  std::shared_ptr<const heddle::Model> loaded;
};

#endif // HEDDLE_RUNTIME_API_MODEL_H
