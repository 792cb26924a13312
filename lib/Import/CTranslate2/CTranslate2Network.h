//===- CTranslate2Network.h - The layers of a specification -----*- C++ -*-===//
//
// CTranslate2's specifications share their layers: an encoder, a decoder with
// attention to an encoder, one without. Converters fuse linears: the first of
// self-attention has the rows of queries, keys and values, the second of
// attention to an encoder those of keys and values.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2NETWORK_H
#define HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2NETWORK_H

#include "lib/Import/Blocks.h"
#include "lib/Import/CTranslate2/CTranslate2Variables.h"
#include <map>

namespace heddle {

/// The epsilons of norms, which no variable has.
struct CTranslate2Epsilons {
  float layer = 1e-5f, rms = 1e-6f;
};

/// An encoder or a decoder.
struct CTranslate2Side {
  /// "encoder" or "decoder".
  std::string scope;
  /// The table of ids: [vocabulary, width].
  std::string table;
  int64_t vocabulary, width, depth, heads;
  /// How many types of tokens there are, whose vectors are added; 0 for none.
  int64_t types = 0;
  /// Which attention to the memory shows alignments: of that layer, from the
  /// end if it is negative, so many of the first heads, or all if it is 0.
  int64_t alignmentLayer, alignedHeads;
  bool isPreNorm;
  ActivationKind activation;
  /// Of the vectors of tokens, and of those that a decoder's logits are made
  /// of.
  float embeddingScale, outputScale;
  /// The table of positions, empty for one that is computed, and its rows; none
  /// if attention turns queries and keys instead, or has biases of distances.
  /// `isAlibi`: linear ones, `scalesAlibi`: which are scaled as products are.
  std::string positionTable;
  std::optional<int64_t> positions;
  bool isAlibi = false, scalesAlibi = false;
};

/// Reads the options of a side; `heads` is what older files leave out.
CTranslate2Side readSide(CTranslate2Variables &variables, llvm::StringRef scope,
                         int64_t heads);

/// Writes the layers of sides. Borrows both.
class CTranslate2Network {
public:
  CTranslate2Network(LayerBuilder &layers, CTranslate2Variables &variables,
                     const CTranslate2Epsilons &epsilons)
      : layers(layers), variables(variables), epsilons(epsilons) {}

  /// ids [batch, length] -> [batch, length, width], with positions. `types` of
  /// tokens, of the same shape, is null if a side has none.
  mlir::Value embed(mlir::Value ids, const CTranslate2Side &side,
                    mlir::Value types = {});

  /// A layer of a side. `memory` and its mask are null if nothing is attended
  /// to but the side itself.
  struct Sources {
    mlir::Value mask, memory, memoryMask;
  };
  mlir::Value layer(mlir::Value input, const CTranslate2Side &side,
                    int64_t index, const Sources &sources);

  /// The norm behind the last layer, if there is one.
  mlir::Value finish(mlir::Value input, const CTranslate2Side &side);

  /// What a decoder's states are multiplied by.
  mlir::Value logits(mlir::Value states, const CTranslate2Side &side);

private:
  Blocks blocks() { return Blocks(layers, "/"); }
  bool hasNorm(const std::string &name) const {
    return variables.has(name + "/gamma");
  }
  NormBlock normOf(const std::string &name);
  LinearBlock linearOf(const std::string &name, int64_t width);
  mlir::Value sublayer(mlir::Value input, const CTranslate2Side &side,
                       const std::string &name,
                       llvm::function_ref<mlir::Value(mlir::Value)> apply);
  mlir::Value attention(mlir::Value input, mlir::Value memory, mlir::Value mask,
                        const CTranslate2Side &side, const std::string &name);
  mlir::Value feedForward(mlir::Value input, const CTranslate2Side &side,
                          const std::string &name);
  mlir::Value addPositions(mlir::Value x, const CTranslate2Side &side);
  /// Frequencies of attention `name` and the pairs of its queries and keys,
  /// if it turns any.
  void addRotary(const std::string &name, int64_t headWidth,
                 AttentionBlock &block);
  /// Biases of the distances that attention `name` tells apart; null of none.
  mlir::Value relativeBiases(const CTranslate2Side &side,
                             const std::string &name);
  AttentionBlock attentionOf(const CTranslate2Side &side,
                             const std::string &name, bool isOfMemory);
  FfnBlock ffnOf(const CTranslate2Side &side, const std::string &name);
  /// Sublayers with norms in front of them and behind, as Gemma 2 has them.
  mlir::Value betweenNorms(mlir::Value input, const CTranslate2Side &side,
                           const std::string &name, mlir::Value mask);
  /// Attention and ffn of one input side by side, as GPT-NeoX has them.
  mlir::Value parallel(mlir::Value input, const CTranslate2Side &side,
                       const std::string &name, mlir::Value mask);

  LayerBuilder &layers;
  CTranslate2Variables &variables;
  CTranslate2Epsilons epsilons;
  /// By the table: layers of a side share one.
  std::map<std::string, mlir::Value> biases;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2NETWORK_H
