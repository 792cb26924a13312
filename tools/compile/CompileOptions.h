//===- CompileOptions.h - The command line of heddle-compile ----*- C++ -*-===//
//
// Parses the arguments of heddle-compile strictly: what is not understood is an
// error, never ignored. Written by hand, since the libraries that the tool
// links register hundreds of options of their own with LLVM's parser.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_COMPILE_COMPILEOPTIONS_H
#define HEDDLE_TOOLS_COMPILE_COMPILEOPTIONS_H

#include "dialect/Transformer.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// What heddle-compile writes.
enum class Emit { Artifact, Executable, MLIR, LLVM, Assembly };

struct CompileOptions {
  std::string model;
  /// "-" is standard output. Empty if only a page is asked for.
  std::string output;
  std::string weights;
  /// See ImportOptions.
  std::string tokenizer;
  /// The seed of --random-weights.
  std::optional<uint64_t> randomSeed;
  /// The modes of --pool; empty for what the folder says.
  std::vector<Pooling> pooling;
  /// See ImportOptions.
  std::optional<int64_t> layers;
  /// Where random weights go, as safetensors; empty for nowhere.
  std::string writeWeights;
  /// Rules that restrict attention, in the language of
  /// lib/Masks/AttentionRules.h; empty for none.
  std::string attention;
  /// The folder for the module after each pass; empty for none.
  std::string dumpPasses;
  /// The page that shows how the model is compiled; empty for none.
  std::string explore;
  std::vector<std::string> dialectPlugins;
  /// ISA levels: native, portable (the default) or one by name; see
  /// lib/CodeGen/Machine/Target.h.
  std::string target;
  /// Leave every op to the reference lowering.
  bool reference = false;
  /// Fusion passes to leave out, by the names of passes/Pipelines.h.
  std::vector<std::string> withoutFusions;
  /// Say on standard output what was fused and what not.
  bool explain = false;
  /// generated (the default), or onednn for linear layers.
  std::string gemm;
  /// Whether products of f32 on a GPU are of tf32.
  bool tf32 = false;
  /// NVIDIA's assembler, which makes cubins; empty for PTX alone.
  std::string ptxas;
  /// auto, f32, bf16, f16, int8 or int8w; auto is int8 for weights that the
  /// model stores so, and otherwise f32.
  std::string dtype;
  /// What multiplies weights of int8w: f32 or bf16; empty for f32.
  std::string activationDtype;
  /// What attention multiplies, and KV caches hold: f32, bf16 or f16; empty for
  /// what dtype and activationDtype say.
  std::string cacheDtype;
  /// Weights that are multiplied in a wider type: bf16:GLOB, f16:GLOB or
  /// f32:GLOB over the names of the checkpoint.
  std::vector<std::string> keep;
  /// Lines of text to measure what fewer bits cost; empty for none.
  std::string calibrate;
  /// Whether this is an artifact that --calibrate measures, of which nothing is
  /// said.
  bool isTrial = false;
  /// Of such an artifact: that of ModelOptions.
  std::optional<bool> fakeQuantize;
  Emit emit = Emit::Artifact;
  /// Threads that compile; 0 for one on each core that this process may use.
  unsigned jobs = 0;
  bool help = false;
  bool version = false;
  bool license = false;

  /// Whether what is written can run, as opposed to be read.
  bool makesArtifact() const {
    return emit == Emit::Artifact || emit == Emit::Executable;
  }
};

/// An error about the text of --attention, which says so.
llvm::Error ofAttention(llvm::Error error);

/// Parses all arguments behind the program's name.
llvm::Expected<CompileOptions>
parseCompileOptions(llvm::ArrayRef<const char *> arguments);

} // namespace heddle

#endif // HEDDLE_TOOLS_COMPILE_COMPILEOPTIONS_H
