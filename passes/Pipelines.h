//===- Pipelines.h - The order of passes ------------------------*- C++ -*-===//
//
// The only place where order lives. A pipeline ends where its name says; the
// tools run them one after the other, tests run them by name in heddle-opt.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_PASSES_PIPELINES_H
#define HEDDLE_PASSES_PIPELINES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace heddle {

/// The fusion passes by name, in their order. Each can be left out: that costs
/// time and changes no token.
llvm::ArrayRef<llvm::StringLiteral> getFusionNames();

struct ModelOptions {
  /// Rules that restrict attention; see RestrictAttentionPass.
  std::string attention;
  /// What products multiply: auto, f32, bf16, f16, int8 or int8w; see
  /// ChoosePrecisionPass.
  std::string dtype = "auto";
  /// What is multiplied in wider types, by name; see there, too.
  std::vector<std::string> keep;
  /// What multiplies weights of int8w: f32 or bf16.
  std::string activations = "f32";
  /// What attention multiplies, and KV caches hold: f32, bf16 or f16; empty for
  /// what dtype and activations say.
  std::string cacheDtype;
  /// Whether int8 rotates vectors, for what no search stands behind: see there.
  bool rotated = false;
  /// Of a model that --calibrate measures: products stay in f32, of factors
  /// that are rounded to those types if this is true; see FakeQuantizePass.
  std::optional<bool> fakeQuantize;
  /// False leaves weights as the reference lowering reads them fastest.
  bool packWeights = true;
  /// False on a GPU, whose kernels divide pasts by themselves.
  bool dividesPasts = true;
  /// Names of fusion passes to leave out.
  std::vector<std::string> withoutFusions;
};

/// What is asked of the mathematics of a model, as imported: the first passes
/// of buildModelPipeline, which includes them.
void buildRequestPipeline(mlir::OpPassManager &manager,
                          const ModelOptions &options);

/// From the mathematics of a model, on tensors, to layer ops on planned memory:
/// the same for every ISA level. Parameters have their place in the artifact.
void buildModelPipeline(mlir::OpPassManager &manager,
                        const ModelOptions &options);

struct CodeOptions {
  /// The ISA level of the kernels, or the architecture of a GPU if they run
  /// on one.
  std::string isa;
  /// False leaves every op to the reference lowering, the oracle.
  bool kernels = true;
  /// Whether linear layers are oneDNN's, which wants weights that are not
  /// packed.
  bool oneDnn = false;
  /// Whether kernels run on a GPU.
  bool onGpu = false;
};

/// From layer ops to entry points made of kernels and loops over memrefs.
void buildCodePipeline(mlir::OpPassManager &manager,
                       const CodeOptions &options);

/// From entry points to the LLVM dialect, and from kernels of a GPU.
void buildLLVMPipeline(mlir::OpPassManager &manager);
void buildDeviceLLVMPipeline(mlir::OpPassManager &manager);

/// The path of a model in parts, for heddle-opt: `heddle-model`,
/// `heddle-tiles`, `heddle-kernels`, `heddle-llvm`; `heddle-grids`, which
/// stands for the second and third on a GPU, and `heddle-device-llvm` for its
/// kernels; and `heddle-reference`, which stands for the first three if
/// there are no kernels.
void registerPipelines();

} // namespace heddle

#endif // HEDDLE_PASSES_PIPELINES_H
