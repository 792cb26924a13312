//===- HuggingFaceForm.h - Which form a checkpoint has ----------*- C++ -*-===//
//
// transformers 3 read from config.json where the norms of BART and MarianMT
// stand (normalize_before, add_final_layer_norm, normalize_embedding) and
// whether positions are computed (static_position_embeddings). Since 4.2 each
// class has one form and does not read these fields, which real files still
// have, true or not.
//
// The tensors decide. A field that contradicts the class counts if the file
// has the tensors of that form, which no release since 4.2 wrote: then it is a
// checkpoint of transformers 3, and 4.57.6 would compute nonsense of it.
// Everywhere else the class's form counts, and the field is a warning:
//
//   add_final_layer_norm: true         both sides have a `layer_norm`
//   normalize_before: true             ... and add_final_layer_norm counts:
//                                      every published pre-norm model has both
//   normalize_embedding                the norm is there, or is not there
//   static_position_embeddings: true   there is no table, or one without the
//                                      two rows that stand for no position
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEFORM_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEFORM_H

#include "lib/Import/HuggingFace/HuggingFaceConfig.h"
#include "lib/Weights/TensorFile.h"

namespace heddle {

/// The tensor of a name, or null.
using FindTensor = llvm::function_ref<const TensorInfo *(llvm::StringRef name)>;

/// Settles `model.form` and `model.positionsOffset` by the fields of older
/// forms. Without weights `find` is null, and the class's form counts. `prefix`
/// stands in front of names, its dot included. Returns remarks for --explain.
std::vector<std::string> settleForm(ConfigReader &config,
                                    HuggingFaceConfig &model, FindTensor find,
                                    llvm::StringRef prefix);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEFORM_H
