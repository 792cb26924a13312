//===- HuggingFaceForm.cpp - Which form a checkpoint has ------------------===//
//
// Compares each field of an older form with the tensors of both sides: a field
// that they prove counts, any other one is a warning. HuggingFaceForm.h has the
// rules.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/HuggingFaceForm.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace heddle {

namespace {
/// Compares the fields of older forms with the tensors.
class FormReader {
public:
  FormReader(ConfigReader &config, HuggingFaceConfig &model, FindTensor find,
             StringRef prefix)
      : config(config), model(model), find(find), prefix(prefix) {}

  /// Takes what the field says if `isProven`, and else warns.
  void read(StringRef field, bool HuggingFaceForm::*part, bool isProven);
  /// Warns of a field with another value than the one that holds anyway.
  void expect(StringRef field, const json::Value &value);

  bool hasWeights() const { return bool(find); }
  /// The tensor of one side, or null.
  const TensorInfo *tensor(StringRef side, StringRef name) const;
  /// Whether the tensors of both sides are there, or are not.
  bool haveBoth(StringRef name) const;
  bool haveNone(StringRef name) const;

  std::vector<std::string> remarks;

private:
  ConfigReader &config;
  HuggingFaceConfig &model;
  FindTensor find;
  StringRef prefix;
};
} // namespace

const TensorInfo *FormReader::tensor(StringRef side, StringRef name) const {
  return find ? find((prefix + side + "." + name).str()) : nullptr;
}

bool FormReader::haveBoth(StringRef name) const {
  return tensor("encoder", name) && tensor("decoder", name);
}

bool FormReader::haveNone(StringRef name) const {
  return hasWeights() && !tensor("encoder", name) && !tensor("decoder", name);
}

void FormReader::expect(StringRef field, const json::Value &value) {
  const json::Value *found = config.readNonNull(field);
  if (found && *found != value)
    config.warn(field, "which transformers 4.57.6 does not read: " +
                           model.architecture->className + " means " +
                           (value == json::Value(true)    ? "true"
                            : value == json::Value(false) ? "false"
                                                          : "2"));
}

void FormReader::read(StringRef field, bool HuggingFaceForm::*part,
                      bool isProven) {
  const json::Value *found = config.readNonNull(field);
  std::optional<bool> value = found ? found->getAsBoolean() : std::nullopt;
  if (!isProven || !model.architecture->hadOtherForms || !value ||
      *value == model.form.*part)
    return expect(field, model.form.*part);
  model.form.*part = *value;
  remarks.push_back(("'" + field + "' of '" + config.getPath() + "' is " +
                     (*value ? "true" : "false") +
                     ", as the tensors show: a checkpoint of transformers 3")
                        .str());
}

std::vector<std::string> settleForm(ConfigReader &config,
                                    HuggingFaceConfig &model, FindTensor find,
                                    StringRef prefix) {
  FormReader reader(config, model, find, prefix);
  const HuggingFaceForm form = model.form;
  reader.read("add_final_layer_norm", &HuggingFaceForm::finalNorm,
              reader.haveBoth("layer_norm.weight"));
  reader.read("normalize_before", &HuggingFaceForm::normalizeBefore,
              model.form.finalNorm != form.finalNorm);
  constexpr StringLiteral embeddingNorm = "layernorm_embedding.weight";
  reader.read("normalize_embedding", &HuggingFaceForm::normalizeEmbedding,
              form.normalizeEmbedding ? reader.haveNone(embeddingNorm)
                                      : reader.haveBoth(embeddingNorm));

  constexpr StringLiteral table = "embed_positions.weight";
  if (form.staticPositions) {
    // The class takes the table of the file, be it learned, and computes one
    // if there is none.
    if (reader.haveBoth(table))
      config.read("static_position_embeddings");
    else
      reader.expect("static_position_embeddings", true);
    // What a formula has no use for; Pegasus wrote 1.
    config.read("extra_pos_embeddings");
  } else {
    const TensorInfo *stored = reader.tensor("encoder", table);
    bool hasPlainTable = stored && !stored->shape.empty() &&
                         stored->shape.front() == model.encoder.maxPositions;
    reader.read("static_position_embeddings", &HuggingFaceForm::staticPositions,
                hasPlainTable || reader.haveNone(table));
    if (model.form.staticPositions)
      model.positionsOffset = 0;
    if (model.positionsOffset != 0)
      reader.expect("extra_pos_embeddings", model.positionsOffset);
    else
      config.read("extra_pos_embeddings");
  }
  reader.expect("do_blenderbot_90_layernorm",
                model.architecture->normalizesBeforePositions);
  return std::move(reader.remarks);
}

} // namespace heddle
