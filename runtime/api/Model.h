//===- Model.h - The models of heddle.h -------------------------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_API_MODEL_H
#define HEDDLE_RUNTIME_API_MODEL_H

#include "runtime/heddle.h"
#include "runtime/session/Model.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

/// A share of a loaded model. Sessions have shares of their own.
struct heddle_model {
  std::shared_ptr<const heddle::Model> loaded;
  /// The other members of an ensemble, of which `loaded` is the first.
  std::vector<std::shared_ptr<const heddle::Model>> others = {};
  /// Of heddle_vector_word: the words of components, spelled at the first call.
  struct Words {
    std::once_flag once;
    std::vector<std::string> all;
  };
  mutable Words words = {};
};

#endif // HEDDLE_RUNTIME_API_MODEL_H
