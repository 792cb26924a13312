//===- OpenNMTOptions.h - What a checkpoint of OpenNMT-py says --*- C++ -*-===//
//
// The options of OpenNMT-py 2.3.0 and 3.5.1 that shape a Transformer, which a
// file has as one Namespace `opt`. Widths and depths are those of tensors.
// Options that change the computation, and that no network here has, are
// refused by their names.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_OPENNMT_OPENNMTOPTIONS_H
#define HEDDLE_LIB_IMPORT_OPENNMT_OPENNMTOPTIONS_H

#include "dialect/Transformer.h"
#include "lib/Weights/Pickle.h"
#include <optional>
#include <string>

namespace heddle {

struct OpenNMTOptions {
  int64_t heads;
  /// Of keys and values; 0 for as many as of queries.
  int64_t kvHeads;
  ActivationKind activation;
  /// Whether another linear multiplies what is activated.
  bool isGated;
  NormKind norm;
  float epsilon;
  /// One table for both sides; one for the decoder and the output.
  bool sharesTables, sharesOutput;
  /// Whether a table of positions is added to embeddings, which are scaled
  /// then.
  bool addsPositions;
  bool isParallel;
  /// Rotary positions: the base, how many elements of a head are turned, 0 for
  /// all, and whether pairs are neighbours, not halves.
  struct Rotary {
    double base;
    int64_t width;
    bool hasNeighbours;
  };
  std::optional<Rotary> rotary;
  /// Whether distances of positions lower scores (ALiBi).
  bool isAlibi;
};

/// `root` is the dictionary of a checkpoint, `path` its file.
llvm::Expected<OpenNMTOptions> readOpenNMTOptions(const PickleValue &root,
                                                  llvm::StringRef path);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_OPENNMT_OPENNMTOPTIONS_H
