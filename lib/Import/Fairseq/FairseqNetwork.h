//===- FairseqNetwork.h - The layers of fairseq's Transformer ---*- C++ -*-===//
//
// Names of tensors are those of fairseq 0.12.2, and those of files that it
// still reads: norms as `layer_norms.N`, queries, keys and values as rows of
// one `in_proj_weight`, the output as `embed_out`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_FAIRSEQ_FAIRSEQNETWORK_H
#define HEDDLE_LIB_IMPORT_FAIRSEQ_FAIRSEQNETWORK_H

#include "lib/Import/Blocks.h"
#include "lib/Import/Fairseq/FairseqOptions.h"

namespace heddle {

/// Writes @encode and @decode. Borrows all; failures are the builder's.
class FairseqNetwork {
public:
  /// Rows of the tables.
  struct Vocabularies {
    int64_t source, target, pad;
  };
  FairseqNetwork(LayerBuilder &layers, const FairseqOptions &options,
                 const Vocabularies &vocabularies);

  void build();

  /// Whether checkpoints have this tensor, which is not part of the network: a
  /// marker, or a second name of a table.
  bool isUsual(llvm::StringRef name) const;

private:
  Blocks blocks() { return Blocks(layers); }
  bool has(const std::string &name) const { return layers.find(name); }
  mlir::Value linear(mlir::Value input, const std::string &name, int64_t width);
  mlir::Value norm(mlir::Value input, const std::string &name);
  /// The norm of a layer's sublayer.
  std::string normName(const std::string &layer, llvm::StringRef name,
                       int64_t older) const;
  mlir::Value embed(mlir::Value ids, const FairseqSide &side,
                    const TableBlock &table);
  mlir::Value positions(mlir::Value x, const FairseqSide &side);
  mlir::Value attention(mlir::Value input, mlir::Value memory, mlir::Value mask,
                        const FairseqSide &side, const std::string &name);
  mlir::Value sublayer(mlir::Value input, const FairseqSide &side,
                       const std::string &normName,
                       llvm::function_ref<mlir::Value(mlir::Value)> apply);
  /// The memory of a decoder, and the mask of its keys, or null.
  struct Memory {
    mlir::Value states, mask;
  };
  mlir::Value layer(mlir::Value input, const FairseqSide &side, int64_t index,
                    mlir::Value mask, const Memory &memory);
  mlir::Value finish(mlir::Value input, const FairseqSide &side);

  LayerBuilder &layers;
  const FairseqOptions &options;
  int64_t pad;
  /// Of each side, and of the output.
  TableBlock source, target, output;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_FAIRSEQ_FAIRSEQNETWORK_H
