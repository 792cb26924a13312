//===- DecodeParameters.h - Uses the weights of a model ---------*- C++ -*-===//

#ifndef HEDDLE_TEST_FUZZ_DECODEPARAMETERS_H
#define HEDDLE_TEST_FUZZ_DECODEPARAMETERS_H

#include "lib/Import/ImportModel.h"

namespace heddle::fuzz {

/// Decodes the first rows of each parameter.
inline void decodeParameters(ImportedModel &model) {
  for (auto parameter : model.module->getOps<ParameterOp>()) {
    auto tensor = model.weights.open(parameter);
    if (!tensor) {
      llvm::consumeError(tensor.takeError());
      continue;
    }
    constexpr uint64_t most = 1 << 20;
    if (tensor->getColumns() > most)
      continue;
    std::vector<float> row(tensor->getColumns());
    for (uint64_t r = 0; r < std::min<uint64_t>(tensor->getRows(), 4); ++r)
      tensor->decodeRows(r, 1, row);
  }
}

} // namespace heddle::fuzz

#endif // HEDDLE_TEST_FUZZ_DECODEPARAMETERS_H
