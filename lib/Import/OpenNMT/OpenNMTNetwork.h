//===- OpenNMTNetwork.h - The layers of OpenNMT-py's models -----*- C++ -*-===//
//
// The Transformer of OpenNMT-py 2 and 3: norms in front of sublayers and one
// behind the last layer of each side.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_OPENNMT_OPENNMTNETWORK_H
#define HEDDLE_LIB_IMPORT_OPENNMT_OPENNMTNETWORK_H

#include "lib/Import/Blocks.h"
#include "lib/Import/OpenNMT/OpenNMTOptions.h"

namespace heddle {

/// Writes @encode and @decode. Borrows all; failures are the builder's.
class OpenNMTNetwork {
public:
  OpenNMTNetwork(LayerBuilder &layers, const OpenNMTOptions &options,
                 int64_t sourceTokens, int64_t targetTokens);

  void build();

  /// How many positions a side has; none if there is no end.
  std::optional<int64_t> countPositions(llvm::StringRef scope) const;

  /// Whether checkpoints have this tensor, which is not part of the network.
  bool isUsual(llvm::StringRef name) const;

private:
  Blocks blocks() { return Blocks(layers); }
  bool has(const std::string &name) const { return layers.find(name); }
  /// How many layers have tensors whose names begin so.
  int64_t countLayers(llvm::StringRef prefix) const;
  LinearBlock linearOf(const std::string &name, int64_t width) const;
  mlir::Value norm(mlir::Value input, const std::string &name);
  mlir::Value embed(mlir::Value ids, llvm::StringRef scope,
                    const TableBlock &table);
  /// `memory` is null for attention of a side to itself.
  mlir::Value attention(mlir::Value input, mlir::Value memory, mlir::Value mask,
                        const std::string &name);
  mlir::Value ffn(mlir::Value input, const std::string &name);
  mlir::Value encoderLayer(mlir::Value input, mlir::Value mask,
                           const std::string &name);
  struct Memory {
    mlir::Value states, mask;
  };
  mlir::Value decoderLayer(mlir::Value input, mlir::Value mask,
                           const Memory &memory, const std::string &name);

  LayerBuilder &layers;
  const OpenNMTOptions &options;
  int64_t width = 1, ffnWidth = 1;
  TableBlock source, target, output;
  /// Where the bias of the output stands.
  std::string outputBias;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_OPENNMT_OPENNMTNETWORK_H
