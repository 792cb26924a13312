//===- EncoderHeads.h - Heads that classes put on encoders ------*- C++ -*-===//
//
// The classes ...ForSequenceClassification, ...ForTokenClassification,
// ...ForQuestionAnswering and ...ForMaskedLM of transformers: a head makes
// logits of the last hidden states. Families differ in names, activations and
// norms alone.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_ENCODERHEADS_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_ENCODERHEADS_H

#include "lib/Import/Blocks.h"
#include "lib/Import/HuggingFace/HuggingFaceFolder.h"

namespace heddle {

/// norm(activation(dense(x))), any of which may be missing.
struct HeadBlock {
  std::optional<LinearBlock> dense = {};
  std::optional<ActivationKind> activation = {};
  std::optional<NormBlock> norm = {};
};

/// The heads that a family's classes have. Names are those of the file.
struct EncoderHeads {
  /// Of masked words: a vector of each mask, then its product with the rows of
  /// the table of words, or of another one if they are not tied, and a bias. Of
  /// biases the first that the file has counts; none if there are none.
  HeadBlock fill = {};
  std::string words, untiedWords;
  llvm::SmallVector<std::string, 2> fillBiases = {};
  /// Of labels of texts: a vector of each text, then logits.
  Pooling pooling = Pooling::Cls;
  HeadBlock classify = {};
  std::string classifier = "classifier";
  /// Of labels of tokens: a vector of each, then logits.
  HeadBlock tag = {};
  std::string tagger = "classifier";
  /// Of the first and the last token of an answer: a vector of each, then two
  /// logits.
  HeadBlock answer = {};
  std::string answerer = "qa_outputs";
  /// The token behind a question whose tokens are global ones.
  std::optional<int64_t> separator = {};
};

/// What heads read.
struct HeadInputs {
  /// The width of hidden states and of the table of words.
  int64_t width, tableWidth, vocabulary;
  /// The most tokens of a text, if something says it.
  std::optional<int64_t> maxTokens;
  /// The token that hides another one.
  std::optional<int64_t> mask;
  /// Whether the tokenizer pads on the left.
  bool padsLeft = false;
  /// The token that ends texts, if the tokenizer says it.
  std::optional<int64_t> end = {};
};

/// Logits of words for each of the vectors `x` [..., width], as the head of
/// masked words computes them: [..., vocabulary]. Fails if the file lacks it.
llvm::Expected<mlir::Value> buildWordLogits(HuggingFaceFolder &folder,
                                            LayerBuilder &layers,
                                            const EncoderHeads &heads,
                                            const HeadInputs &inputs,
                                            mlir::Value x);

/// What follows "For" in the name of the folder's class, "" for a bare model.
std::string readHeadOfClass(ConfigReader &config);

/// Writes the functions of the heads that the folder's class has, and their
/// tasks. One whose tensors are missing is left out, with a warning if that
/// head is all the class is for.
llvm::Error addHeads(HuggingFaceFolder &folder, LayerBuilder &layers,
                     const EncoderHeads &heads, const HeadInputs &inputs,
                     ImportedModel &model);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_ENCODERHEADS_H
