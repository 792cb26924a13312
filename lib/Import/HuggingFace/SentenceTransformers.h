//===- SentenceTransformers.h - From hidden states to vectors ---*- C++ -*-===//
//
// The files that sentence-transformers 5.2.3 puts beside a model: modules.json
// lists what follows the transformer, each module has a folder of its own.
// Without modules.json the library means over all tokens and stops there.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_SENTENCETRANSFORMERS_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_SENTENCETRANSFORMERS_H

#include "lib/Import/HuggingFace/HuggingFaceFolder.h"

namespace heddle {

/// A module behind the pooling.
struct VectorModule {
  enum class Kind { Dense, Normalize, LayerNorm } kind;
  /// Of Dense and LayerNorm, the folder of its weights, in the model's; it
  /// stands in front of the names of their tensors.
  std::string folder = {};
  /// Of Dense.
  int64_t in = 0, out = 0;
  bool hasBias = true;
  /// None for the identity.
  std::optional<ActivationKind> activation = {};
};

/// How texts become vectors.
struct EmbedModules {
  llvm::SmallVector<Pooling> modes = {Pooling::Mean};
  /// Whether the tokens of a prompt are pooled, too.
  bool poolsPrompt = true;
  std::vector<VectorModule> modules;
  /// Of sparse vectors (SpladePooling): how many times log(1 + x) is taken of
  /// the largest logit of each word, or of 0; 0 for pooled hidden states.
  int logarithms = 0;
  /// Whether the folder has modules.json.
  bool isOfLibrary = false;
  /// The most tokens of a text, special ones included; none for what the
  /// tokenizer and the positions say.
  std::optional<int64_t> maxTokens;
  /// Whether texts lose their capitals.
  bool lowers = false;
  std::vector<std::pair<std::string, std::string>> prompts;
  std::optional<std::string> defaultPrompt;

  /// Whether prompts are pooled, or the modes can do without: the library
  /// masks the vectors of a prompt where they are, and [CLS] with them, once it
  /// has taken it.
  bool hasKnownPrompt() const {
    return poolsPrompt || !llvm::is_contained(modes, Pooling::Cls) ||
           !llvm::is_contained(modes, Pooling::Max);
  }
  /// Bounds the tokens of a text.
  void limitTokens(int64_t most);
  /// Puts what happens to texts of vectors in front of a tokenizer's stages:
  /// they are stripped as Python does.
  void prepareTexts(ImportedTokenizer &tokenizer) const;
};

/// The folder of the transformer in a folder with modules.json: often the same.
llvm::Expected<std::string> findTransformerFolder(llvm::StringRef folder);

/// Reads the modules of a folder for hidden states of this width. What would
/// change a vector and is not supported is an error.
llvm::Expected<EmbedModules> readEmbedModules(const HuggingFaceFolder &folder,
                                              int64_t width);

/// Adds the weights of modules.
llvm::Error addModuleWeights(const HuggingFaceFolder &folder,
                             const EmbedModules &embed, WeightSource &weights);

/// Writes @embed for hidden states of this width. Fails if widths do not follow
/// each other.
llvm::Error buildEmbed(LayerBuilder &layers, const EmbedModules &embed,
                       int64_t width);

/// Logits of words [..., vocabulary] of hidden states.
using WordLogits =
    llvm::function_ref<llvm::Expected<mlir::Value>(mlir::Value states)>;

/// Writes @embed of sparse vectors: the largest logit of each word.
llvm::Error buildSparseEmbed(LayerBuilder &layers, int64_t width,
                             int64_t vocabulary, WordLogits logits);

/// The task's settings, in the manifest's words.
mlir::DictionaryAttr describeEmbedTask(const EmbedModules &embed,
                                       mlir::MLIRContext &context);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_SENTENCETRANSFORMERS_H
