//===- RotaryScaling.cpp - Rotary positions of config.json ----------------===//
//
// modeling_rope_utils of transformers 4.57.6. Kinds that look at the length of
// a text are refused, but for `dynamic`: it changes nothing up to the positions
// that the network has.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/RotaryScaling.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace heddle {

static constexpr StringLiteral kField = "rope_scaling";

/// Whether the newer field says other numbers than the older two.
static bool contradicts(json::Object parameters, const json::Value *theta,
                        const json::Value *scaling) {
  const json::Value *base = parameters.get("rope_theta");
  if (base && (!theta || *base != *theta))
    return true;
  parameters.erase("rope_theta");
  const json::Object *older = scaling ? scaling->getAsObject() : nullptr;
  if (older)
    return parameters != *older;
  return parameters.getString("rope_type").value_or("default") != "default";
}

/// What transformers 5 writes in place of both fields. Release 4.57.6 does not
/// read it and computes another model than the file means.
static const json::Object *readParameters(ConfigReader &config) {
  constexpr StringLiteral field = "rope_parameters";
  const json::Value *value = config.readNonNull(field);
  const json::Object *parameters = value ? value->getAsObject() : nullptr;
  if (!parameters)
    return nullptr;
  const json::Value *theta = config.readNonNull("rope_theta"),
                    *scaling = config.readNonNull(kField);
  if (theta || scaling) {
    if (contradicts(*parameters, theta, scaling))
      config.warn(field, "beside an older field, which counts");
    return nullptr;
  }
  config.warnOfRead(field);
  return parameters;
}

/// The numbers of a kind that divides frequencies; fails if one is missing.
static SmallVector<double, 4> readNumbers(ConfigReader &config,
                                          const json::Object &scaling,
                                          ArrayRef<StringLiteral> names) {
  SmallVector<double, 4> numbers;
  for (StringRef name : names) {
    std::optional<double> number = scaling.getNumber(name);
    if (!number || !(*number > 0)) {
      config.fail(kField, "numbers above 0 for '" + join(names, "', '") + "'");
      return {};
    }
    numbers.push_back(*number);
  }
  return numbers;
}

static SmallVector<double, 4> readScaling(ConfigReader &config,
                                          const json::Object &scaling) {
  // The older name counts, if there are two.
  auto type = scaling.getString("type");
  if (!type)
    type = scaling.getString("rope_type");
  if (type == "dynamic")
    config.warn(kField, "which scales behind the positions that the model has, "
                        "where its texts end");
  if (type == "default" || type == "dynamic")
    return {};
  if (type == "linear")
    return readNumbers(config, scaling, {"factor"});
  if (type == "llama3") {
    auto numbers = readNumbers(config, scaling,
                               {"factor", "low_freq_factor", "high_freq_factor",
                                "original_max_position_embeddings"});
    if (!numbers.empty() && numbers[2] <= numbers[1])
      config.fail(kField, "a 'high_freq_factor' above 'low_freq_factor'");
    return numbers;
  }
  config.fail(kField, "the types default, linear, dynamic and llama3");
  return {};
}

LayerBuilder::Rotary readRotary(ConfigReader &config, double usualBase,
                                int64_t count) {
  LayerBuilder::Rotary rotary{usualBase, count};
  constexpr double least = 1.0001, most = 1e12;
  if (const json::Object *parameters = readParameters(config)) {
    rotary.base = parameters->getNumber("rope_theta").value_or(usualBase);
    if (!(rotary.base >= least && rotary.base <= most))
      config.fail("rope_parameters", "a 'rope_theta' above 1");
    rotary.scaling = readScaling(config, *parameters);
    return rotary;
  }
  rotary.base = config.number("rope_theta", usualBase, least, most);
  const json::Value *value = config.readNonNull(kField);
  if (!value)
    return rotary;
  if (const json::Object *scaling = value->getAsObject())
    rotary.scaling = readScaling(config, *scaling);
  else
    config.fail(kField, "null, or an object");
  return rotary;
}

} // namespace heddle
