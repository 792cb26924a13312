//===- DecoderFamily.h - Decoders alone -------------------------*- C++ -*-===//
//
// What language models share: a text is the beginning of its target, and
// @decode is all they have. A family's file reads its network and writes its
// layers; the ids of config.json, the output and the task are here.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_DECODERFAMILY_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_DECODERFAMILY_H

#include "lib/Import/Blocks.h"
#include "lib/Import/HuggingFace/HuggingFaceArchitecture.h"
#include "lib/Import/HuggingFace/HuggingFaceFolder.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// What a family says by its code.
struct DecoderFamily {
  llvm::StringRef modelType;
  /// In front of all tensors but those of the output, unless the class without
  /// a head wrote the file.
  llvm::StringRef prefix;
  /// The table of the ids, behind the prefix.
  llvm::StringRef table;
  /// The class of the tokenizer if the folder names none.
  llvm::StringRef tokenizerClass;
  DefaultIds ids;
  /// `tie_word_embeddings` by default.
  bool isTied = false;
};

/// What the ends of a network have to know of it.
struct DecoderSizes {
  int64_t vocabulary, width, positions;
};

/// A decoder that is being imported.
class DecoderImport {
public:
  /// Reads all of the configurations that does not shape the layers, and finds
  /// weights and tokenizer. `family` and `folder` must outlive the import.
  static llvm::Expected<std::unique_ptr<DecoderImport>>
  begin(HuggingFaceFolder &folder, const DecoderFamily &family,
        const DecoderSizes &sizes);

  LayerBuilder &getLayers() { return *layers; }
  Blocks getBlocks() { return Blocks(*layers); }
  /// The name of a tensor of the bare model, as the file has it.
  std::string nameOf(llvm::StringRef name) const { return prefix + name.str(); }

  /// Begins @decode and returns the vectors of its ids.
  mlir::Value beginDecode();
  /// Ends it with the logits of the last hidden states and gives the model
  /// away.
  llvm::Expected<ImportedModel> finish(mlir::Value states);

private:
  DecoderImport(HuggingFaceFolder &folder, const DecoderFamily &family,
                const DecoderSizes &sizes)
      : folder(folder), family(family), sizes(sizes) {}

  llvm::Error readConfig();

  HuggingFaceFolder &folder;
  const DecoderFamily &family;
  DecoderSizes sizes;
  bool isTied = false;
  double deviation = 0;
  mlir::DictionaryAttr generation;
  ImportedModel model;
  std::optional<LayerBuilder> layers;
  std::string prefix;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_DECODERFAMILY_H
