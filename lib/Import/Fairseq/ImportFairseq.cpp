//===- ImportFairseq.cpp - Checkpoints of fairseq's Transformer -----------===//
//
// A checkpoint has the options and the weights; the dictionaries of both
// languages stand beside it. The search is that of fairseq-generate by its
// defaults. What it does at the limit, where it takes the end whatever else is
// likely, is left out.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Fairseq/FairseqNetwork.h"
#include "lib/Import/Fairseq/FairseqTokenizer.h"
#include "lib/Import/HuggingFace/HuggingFaceFolder.h"
#include "lib/Import/ImportCheckpoint.h"
#include "lib/Import/SearchAttributes.h"
#include "lib/Import/UnreadTensors.h"
#include "lib/Support/Error.h"
#include "lib/Support/Tasks.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

/// Defaults of fairseq-generate: beams, tokens in front of the end, at least
/// and at most.
static constexpr int64_t kBeams = 5, kMinLength = 1, kMaxLength = 200;

static DictionaryAttr getGenerationAttr(MLIRContext &context,
                                        const FairseqOptions &options) {
  SearchAttributes attributes(context);
  int64_t positions = options.decoder.positions;
  attributes.addCount(setting::start, FairseqDictionary::kEos);
  attributes.addIds(setting::eos, int32_t(FairseqDictionary::kEos));
  attributes.addCount(setting::beams, kBeams);
  attributes.addText(setting::earlyStopping, "true");
  attributes.addIds(setting::suppress, int32_t(FairseqDictionary::kPad));
  if (positions > kMinLength)
    attributes.addCount(setting::minNewTokens, kMinLength);
  attributes.addCount(
      setting::maxLength,
      std::max<int64_t>(std::min(kMaxLength + 1, positions), 1));
  attributes.addCount(setting::maxTarget, positions);
  return attributes.build();
}

/// No norm stood behind the last layer of an encoder of the first version, or
/// of a decoder of the first two.
static Error readFinalNorm(const WeightSource &weights, float without,
                           FairseqSide &side) {
  Expected<std::optional<float>> version =
      weights.readScalar(side.scope + ".version");
  if (!version)
    return version.takeError();
  bool isThere = weights.find(side.scope + ".layer_norm.weight").has_value();
  side.hasFinalNorm &= *version ? **version > without : isThere;
  return Error::success();
}

/// What tensors without a place in the network are of.
static constexpr TensorFeature kFeatures[] = {
    {"adaptive_softmax", "an adaptive softmax"},
    {"quant_noise", "quantization with noise"},
    {"experts", "a mixture of experts"},
    {"attn_ln", "norms inside sublayers"},
    {"ffn_layernorm", "norms inside sublayers"},
    {"c_attn", "factors of heads"},
    {"w_resid", "factors of residuals"},
    {"classification_heads", "heads that classify"},
    {"alignment", "alignments that are learned"}};

static Error checkRows(const FairseqDictionary &dictionary,
                       const WeightSource &weights, StringRef name) {
  std::optional<WeightSource::Entry> table = weights.find(name);
  auto count = int64_t(dictionary.tokens.size());
  // One that is not there, or is no table, fails where it is used.
  if (!table || table->tensor->shape.size() != 2 ||
      table->tensor->shape.front() == count)
    return Error::success();
  return makeError("'" + dictionary.path + "' has " + Twine(count) +
                   " tokens with the four special ones, but '" + name +
                   "' has " + Twine(table->tensor->shape.front()) + " rows");
}

/// The dictionaries of both languages.
static Expected<std::pair<FairseqDictionary, FairseqDictionary>>
readDictionaries(StringRef folder, const FairseqOptions &options) {
  auto read = [&](StringRef language) {
    SmallString<128> path = folder;
    sys::path::append(path, "dict." + language + ".txt");
    return readFairseqDictionary(std::string(path));
  };
  Expected<FairseqDictionary> source = read(options.source);
  if (!source)
    return source.takeError();
  Expected<FairseqDictionary> target = read(options.target);
  if (!target)
    return target.takeError();
  if (options.sharesAll && source->tokens != target->tokens)
    return makeError("'" + source->path + "' and '" + target->path +
                     "' have different tokens, but share_all_embeddings says "
                     "that both sides have one table");
  return std::pair(std::move(*source), std::move(*target));
}

Expected<ImportedModel> importFairseq(TorchCheckpoint &checkpoint,
                                      StringRef folder, MLIRContext &context,
                                      const ImportOptions &options) {
  std::string path = checkpoint.getPath().str();
  const PickleValue &root = checkpoint.getRoot();
  Expected<FairseqOptions> network = readFairseqOptions(root, path);
  if (!network)
    return network.takeError();
  auto dictionaries = readDictionaries(folder, *network);
  if (!dictionaries)
    return dictionaries.takeError();
  const auto &[source, target] = *dictionaries;

  ImportedModel model;
  auto tables = checkpoint.takeTensors({{root.find("model"), ""}});
  if (!tables)
    return tables.takeError();
  for (TensorFile &file : *tables)
    if (Error error = model.weights.add(std::move(file)))
      return std::move(error);
  for (auto [side, without] :
       {std::pair(&network->encoder, 1.0f), {&network->decoder, 2.0f}})
    if (Error error = readFinalNorm(model.weights, without, *side))
      return std::move(error);
  for (auto [dictionary, name] :
       {std::pair(&source, "encoder.embed_tokens.weight"),
        {&target, "decoder.embed_tokens.weight"}})
    if (Error error = checkRows(*dictionary, model.weights, name))
      return std::move(error);

  model.module = createModule(path, "fairseq", context);
  LayerBuilder layers(*model.module, model.weights);
  FairseqNetwork builder(layers, *network,
                         {int64_t(source.tokens.size()),
                          int64_t(target.tokens.size()),
                          FairseqDictionary::kPad});
  builder.build();
  if (Error error = layers.takeError())
    return std::move(error);
  auto isUsual = [&](StringRef name) { return builder.isUsual(name); };
  if (Error error = refuseUnreadTensors(*model.module, model.weights, isUsual,
                                        path, kFeatures))
    return std::move(error);

  Expected<ImportedTokenizer> tokenizer =
      readFairseqTokenizer(folder, source, target, options.tokenizer);
  if (!tokenizer)
    return tokenizer.takeError();
  setTokenizer(std::move(*tokenizer), model);
  setTasks(*model.module,
           {int64_t(source.tokens.size()), int64_t(target.tokens.size()),
            network->encoder.positions, getGenerationAttr(context, *network)});
  return model;
}

} // namespace heddle
