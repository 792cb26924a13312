//===- HuggingFaceConfig.cpp - config.json of an encoder-decoder ----------===//
//
// Reads the class, then each side of the network with the defaults of that
// class, then what must fit: heads and widths, positions, activations. Whatever
// is left in the file goes through the lists of HuggingFaceFields.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/HuggingFaceConfig.h"
#include "lib/Import/HuggingFace/Activations.h"
#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceFields.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace heddle {

static HuggingFaceStack readStack(ConfigReader &config, const std::string &side,
                                  const std::string &heads, int64_t width,
                                  const DefaultStack &byDefault) {
  HuggingFaceStack stack;
  stack.depth = config.size(side + "_layers", byDefault.depth, 1, kMaxDepth);
  stack.heads = config.size(heads, byDefault.heads, 1, kMaxWidth);
  stack.ffnWidth =
      config.size(side + "_ffn_dim", byDefault.ffnWidth, 1, kMaxWidth);
  if (width % stack.heads != 0)
    config.fail(heads, "divisors of d_model = " + Twine(width));
  return stack;
}

void readPositions(ConfigReader &config, HuggingFaceConfig &model) {
  model.encoder.maxPositions = model.decoder.maxPositions =
      config.size("max_position_embeddings",
                  model.architecture->sizes.positions, 1, kMaxWidth);
  // Two rows of a learned table stand for no position.
  model.positionsOffset = model.form.staticPositions ? 0 : 2;
}

void readPlainPositions(ConfigReader &config, HuggingFaceConfig &model) {
  readPositions(config, model);
  model.positionsOffset = 0;
}

void readCountedPositions(ConfigReader &config, HuggingFaceConfig &model) {
  readPositions(config, model);
  // The last one of the table of a side.
  constexpr int64_t mostPad = kMaxWidth;
  model.pad = config.size("pad_token_id", 1, 0, mostPad);
  model.positionsOffset = *model.pad + 1;
  if (model.width < 4)
    config.fail("d_model", "4 and more, since sines have several timescales");
}

Expected<HuggingFaceConfig> readHuggingFaceConfig(ConfigReader &config) {
  const Family &family = chooseFamily(config);
  if (Error error = config.takeError())
    return std::move(error);
  if (!family.encoderDecoder)
    return makeError("'" + config.getPath() + "' is that of a " +
                     family.className + ", which is no encoder-decoder");
  HuggingFaceConfig model;
  model.architecture = &*family.encoderDecoder;

  model.form = model.architecture->form;
  // An alias overwrites what the field itself says: PretrainedConfig sets it
  // later.
  auto nameOf = [&](const char *alias, const char *field) {
    config.read(field);
    return std::string(config.read(alias) ? alias : field);
  };
  const DefaultSizes &sizes = model.architecture->sizes;
  model.width =
      config.size(nameOf("hidden_size", "d_model"), sizes.width, 1, kMaxWidth);
  std::string encoderHeads =
      nameOf("num_attention_heads", "encoder_attention_heads");
  model.encoder =
      readStack(config, "encoder", encoderHeads, model.width, sizes.encoder);
  model.decoder = readStack(config, "decoder", "decoder_attention_heads",
                            model.width, sizes.decoder);
  model.tieWordEmbeddings =
      config.truth("tie_word_embeddings", model.architecture->tiesTables);
  model.shareEmbeddings = model.tieWordEmbeddings;
  model.vocabulary = model.decoderVocabulary = model.decoderRows =
      config.size(model.architecture->vocabularyField,
                  model.architecture->vocabulary, 1, kMaxVocabulary);
  model.scaleEmbedding =
      config.truth("scale_embedding", model.architecture->scalesEmbedding);
  model.activation = readActivation(config, "activation_function",
                                    model.architecture->activation);
  model.deviation = 0.02;
  if (const json::Value *deviation = config.readNonNull("init_std"))
    if (std::optional<double> number = deviation->getAsNumber();
        number && *number > 0 && std::isfinite(*number))
      model.deviation = *number;
  model.architecture->readForm(config, model);

  model.sourceCharacters = config.text("grapheme_chars", "");
  model.targetCharacters = config.text("phoneme_chars", "");
  if (model.sourceCharacters.empty() != model.targetCharacters.empty())
    config.fail("phoneme_chars", "given together with grapheme_chars");
  if (!model.sourceCharacters.empty())
    model.bos = config.id("bos_token_id", model.architecture->ids.bos,
                          model.vocabulary);

  refuseUnsupportedNetwork(
      config, std::max(model.encoder.maxPositions, model.decoder.maxPositions));
  if (config.readNonNull("auto_map"))
    config.warn("auto_map", "but code of the folder is not run, as without "
                            "trust_remote_code");
  if (Error error = config.takeError())
    return std::move(error);
  return model;
}

} // namespace heddle
