//===- CTranslate2Config.cpp - What config.json says ----------------------===//
//
// Fields and defaults are those of CTranslate2 4.8.5. What its other models
// read, and no translator here, is refused; a field that it does not know has
// no effect there either.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/CTranslate2/CTranslate2Config.h"
#include "lib/Support/Error.h"

using namespace llvm;

namespace heddle {

static constexpr StringLiteral kSaidByShapes[] = {
    "multi_query_attention", "quantization_bits", "quantization_group_size"};

/// The id of a token that a field names; `byDefault` if no file says it.
static Expected<int64_t> readToken(ConfigReader &config, StringRef field,
                                   StringRef byDefault,
                                   const CTranslate2Vocabulary &vocabulary) {
  std::string token = config.text(field, byDefault);
  if (std::optional<int64_t> id = vocabulary.find(token))
    return *id;
  return makeError("'" + config.getPath() + "' has '" + field +
                   "' with the value \"" + token +
                   "\", which is no token of '" + vocabulary.path + "'");
}

/// A switch of config.json, or, in older files, a variable.
static bool readSwitch(CTranslate2Folder &folder,
                       CTranslate2Variables &variables, StringRef field,
                       StringRef older) {
  bool value = variables.flag(older, false);
  return folder.config.boolean(field, value);
}

/// What starts a target: null is for callers to say.
static Error readStart(CTranslate2Folder &folder,
                       CTranslate2Variables &variables,
                       CTranslate2Config &result) {
  ConfigReader &config = folder.config;
  bool isEos = !variables.flag("with_target_bos", true);
  if (variables.flag("user_decoder_start_tokens", false))
    return Error::success();
  const json::Value *value = config.read("decoder_start_token");
  if (value && value->getAsNull())
    return Error::success();
  std::string byDefault = isEos ? config.text("eos_token", "</s>")
                                : config.text("bos_token", "<s>");
  Expected<int64_t> start =
      readToken(config, "decoder_start_token", byDefault, folder.target);
  if (!start)
    return start.takeError();
  result.start = *start;
  return Error::success();
}

Expected<CTranslate2Config>
readCTranslate2Config(CTranslate2Folder &folder,
                      CTranslate2Variables &variables,
                      CTranslate2Purpose purpose) {
  ConfigReader &config = folder.config;
  CTranslate2Config result;
  double epsilon = config.number("layer_norm_epsilon", -1, -1, 1);
  if (epsilon >= 0)
    result.epsilons = {float(epsilon), float(epsilon)};
  if (purpose != CTranslate2Purpose::Encodes) {
    Expected<int64_t> eos =
        readToken(config, "eos_token", "</s>", folder.target);
    if (!eos)
      return eos.takeError();
    result.eos = *eos;
  }
  if (purpose == CTranslate2Purpose::Translates)
    if (Error error = readStart(folder, variables, result))
      return std::move(error);
  auto readSide = [&](StringRef field, StringRef older, StringRef token,
                      StringRef byDefault,
                      std::optional<int64_t> &id) -> Error {
    if (!readSwitch(folder, variables, field, older))
      return Error::success();
    Expected<int64_t> read = readToken(config, token, byDefault, folder.source);
    if (!read)
      return read.takeError();
    id = *read;
    return Error::success();
  };
  if (Error error = readSide("add_source_bos", "with_source_bos", "bos_token",
                             "<s>", result.sourceBos))
    return std::move(error);
  if (Error error = readSide("add_source_eos", "with_source_eos", "eos_token",
                             "</s>", result.sourceEos))
    return std::move(error);
  result.startsFromZero =
      variables.flag("decoder/start_from_zero_embedding", false);
  result.unknown = config.text("unk_token", "<unk>");
  for (StringRef token : {"bos_token", "eos_token"})
    config.text(token, "");
  config.require("quantization_type", {nullptr, 0});
  for (StringRef field : {"suppress_ids", "suppress_ids_begin", "lang_ids"})
    config.require(field, {nullptr, json::Array()});
  config.ignore(kSaidByShapes);
  for (StringRef field : config.getUnread())
    config.warn(field, "which CTranslate2 does not read");
  if (Error error = config.takeError())
    return std::move(error);
  return result;
}

} // namespace heddle
