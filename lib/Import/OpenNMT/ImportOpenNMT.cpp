//===- ImportOpenNMT.cpp - Checkpoints of OpenNMT-py ----------------------===//
//
// A checkpoint has all but a tokenizer. The search has the beams, the limit and
// the length penalty that onmt_translate has by default. It ends with as many
// finished hypotheses as beams; there, when the best of a step is finished.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/HuggingFaceFolder.h"
#include "lib/Import/ImportCheckpoint.h"
#include "lib/Import/OpenNMT/OpenNMTNetwork.h"
#include "lib/Import/OpenNMT/OpenNMTVocabulary.h"
#include "lib/Import/SearchAttributes.h"
#include "lib/Import/Tokenizers/NumberedTokens.h"
#include "lib/Import/UnreadTensors.h"
#include "lib/Support/Error.h"
#include "lib/Support/Tasks.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

static constexpr int64_t kBeams = 5;
/// Of release 3, which divides by the length, and before, when it did not.
static constexpr int64_t kMaxLength = 250, kOlderMaxLength = 100;

namespace {
/// Ids of special tokens; of padding none if there is none.
struct SpecialTokens {
  int64_t start, eos, sourceUnknown, targetUnknown;
  std::optional<int64_t> pad;
};
} // namespace

static Expected<SpecialTokens>
readSpecialTokens(const OpenNMTVocabularies &vocabularies, StringRef path) {
  SpecialTokens special;
  for (auto [token, side, tokens, id] :
       {std::tuple(StringRef(vocabularies.start), "tgt", &vocabularies.target,
                   &special.start),
        {"</s>", "tgt", &vocabularies.target, &special.eos},
        {"<unk>", "src", &vocabularies.source, &special.sourceUnknown},
        {"<unk>", "tgt", &vocabularies.target, &special.targetUnknown}}) {
    std::optional<int64_t> found = findToken(*tokens, token);
    if (!found)
      return makeError("'vocab' of '" + path + "' has no token '" + token +
                       "' in '" + side + "'");
    *id = *found;
  }
  special.pad = findToken(vocabularies.target, "<blank>");
  return special;
}

static DictionaryAttr getGenerationAttr(MLIRContext &context,
                                        const SpecialTokens &special,
                                        bool isOlder,
                                        std::optional<int64_t> positions) {
  SearchAttributes attributes(context);
  attributes.addCount(setting::start, special.start);
  attributes.addIds(setting::eos, int32_t(special.eos));
  attributes.addCount(setting::beams, kBeams);
  attributes.addText(setting::earlyStopping, "true");
  if (isOlder)
    attributes.addNumber(setting::lengthPenalty, 0);
  attributes.addCount(setting::maxLength,
                      isOlder ? kOlderMaxLength : kMaxLength);
  if (positions)
    attributes.addCount(setting::maxTarget, *positions);
  return attributes.build();
}

/// What tensors without a place in the network are of.
static constexpr TensorFeature kFeatures[] = {
    {"relative_positions_embeddings", "relative positions of Shaw et al."},
    {"relative_attention_bias", "relative positions of T5"},
    {"emb_luts.1", "features of tokens"},
    {"average_layer", "average attention"},
    {"gating_layer", "average attention"},
    {"copy_attn", "attention that copies"},
    {"linear_copy", "attention that copies"},
    {"lora_", "low-rank adapters"},
    {"experts", "a mixture of experts"}};

Expected<ImportedModel> importOpenNMT(TorchCheckpoint &checkpoint,
                                      StringRef folder, MLIRContext &context,
                                      const ImportOptions &options) {
  std::string path = checkpoint.getPath().str();
  const PickleValue &root = checkpoint.getRoot();
  Expected<OpenNMTOptions> network = readOpenNMTOptions(root, path);
  if (!network)
    return network.takeError();
  Expected<OpenNMTVocabularies> vocabularies =
      readOpenNMTVocabularies(root, path);
  if (!vocabularies)
    return vocabularies.takeError();
  Expected<SpecialTokens> special = readSpecialTokens(*vocabularies, path);
  if (!special)
    return special.takeError();

  ImportedModel model;
  const PickleValue *weights = root.find("model"),
                    *generator = root.find("generator");
  if (!weights || !generator)
    return makeError("'" + path +
                     "' has no weights 'model' and 'generator' (those of a "
                     "file apart, safetensors, are not supported)");
  auto tables =
      checkpoint.takeTensors({{weights, ""}, {generator, "generator."}});
  if (!tables)
    return tables.takeError();
  for (TensorFile &file : *tables)
    if (Error error = model.weights.add(std::move(file)))
      return std::move(error);

  model.module = createModule(path, "opennmt", context);
  LayerBuilder layers(*model.module, model.weights);
  auto sourceTokens = int64_t(vocabularies->source.size()),
       targetTokens = int64_t(vocabularies->target.size());
  OpenNMTNetwork builder(layers, *network, sourceTokens, targetTokens);
  builder.build();
  if (Error error = layers.takeError())
    return std::move(error);
  auto isUsual = [&](StringRef name) { return builder.isUsual(name); };
  if (Error error = refuseUnreadTensors(*model.module, model.weights, isUsual,
                                        path, kFeatures))
    return std::move(error);

  std::vector<int64_t> left = {special->start, special->eos};
  if (special->pad)
    left.push_back(*special->pad);
  Expected<ImportedTokenizer> tokenizer = readTokenizerBeside(
      folder, options.tokenizer,
      {{std::move(vocabularies->source), special->sourceUnknown},
       {std::move(vocabularies->target), special->targetUnknown},
       /*bos=*/std::nullopt,
       /*eos=*/std::nullopt,
       std::move(left)});
  if (!tokenizer)
    return tokenizer.takeError();
  setTokenizer(std::move(*tokenizer), model);
  setTasks(*model.module,
           {sourceTokens, targetTokens, builder.countPositions("encoder"),
            getGenerationAttr(context, *special, vocabularies->isOlder,
                              builder.countPositions("decoder"))});
  return model;
}

} // namespace heddle
