//===- CTranslate2Variables.cpp - What a network's file says --------------===//
//
// Aliases are names of one variable, also where two are equal by chance: so
// what was read is told by names, not by bytes.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/CTranslate2/CTranslate2Variables.h"
#include "dialect/Transformer.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace heddle {

namespace {
/// A part of networks that is not here, by what its variables are called.
struct Feature {
  StringLiteral part, words;
};
} // namespace

static constexpr Feature kFeatures[] = {
    {"embeddings_1", "factors of source tokens"},
    {"embeddings_2", "factors of source tokens"},
    {"relative_position_keys", "relative positions of Shaw et al."},
    {"relative_position_values", "relative positions of Shaw et al."},
    {"relative_asymmetric_position_keys", "asymmetric relative positions"},
    {"q_norm", "a norm of queries"},
    {"k_norm", "a norm of keys"},
    {"v_norm", "a norm of values"},
    {"weight_zero", "quantization with zero points (AWQ)"},
    {"memory_kv", "attention to source and target at once"},
    {"layer_scalar", "a factor of a layer"},
    {"external_post_encoder_attention_layer_norm", "norms around attention"},
    {"external_pre_encoder_attention_layer_norm", "norms around attention"},
    {"original_max_position_embeddings", "rotary positions of two lengths"}};

static std::string formatNumber(double number) {
  bool isWhole = std::fmod(number, 1.0) == 0 && std::abs(number) < 1e15;
  return isWhole ? std::to_string(int64_t(number))
                 : formatv("{0}", number).str();
}

CTranslate2Variables::CTranslate2Variables(const TensorFile &file)
    : file(file) {
  for (const TensorInfo &variable : file.getTensors())
    names.try_emplace(variable.offset, variable.name);
}

bool CTranslate2Variables::hasAny(StringRef prefix) const {
  return any_of(file.getTensors(), [&](const TensorInfo &variable) {
    return StringRef(variable.name).starts_with(prefix);
  });
}

void CTranslate2Variables::fail(const Twine &sentence) {
  if (failure.empty())
    failure = sentence.str();
}

std::pair<int64_t, int64_t> CTranslate2Variables::matrix(StringRef name) {
  const TensorInfo *variable = file.find(name);
  if (!variable) {
    fail("the model has no tensor '" + name + "'");
    return {1, 1};
  }
  ArrayRef<int64_t> shape = variable->shape;
  constexpr int64_t most = int64_t(1) << 31;
  if (shape.size() == 2 &&
      all_of(shape, [](int64_t extent) { return extent > 0 && extent < most; }))
    return {shape[0], shape[1]};
  fail("tensor '" + name + "' of '" + file.getName() + "' has shape " +
       formatShape(shape) + ", expected a matrix");
  return {1, 1};
}

double CTranslate2Variables::number(StringRef name, double byDefault) {
  read.insert(name);
  const TensorInfo *variable = file.find(name);
  if (!variable)
    return byDefault;
  std::optional<double> value = readNumber(file, *variable);
  if (value && std::isfinite(*value))
    return *value;
  fail("variable '" + name + "' of '" + file.getName() + "' is " +
       (value ? formatNumber(*value)
              : "of shape " + formatShape(variable->shape)) +
       ", expected a number");
  return byDefault;
}

int64_t CTranslate2Variables::integer(StringRef name, int64_t byDefault,
                                      int64_t min, int64_t max) {
  double value = number(name, double(byDefault));
  if (value >= double(min) && value <= double(max) &&
      std::fmod(value, 1.0) == 0)
    return int64_t(value);
  fail("variable '" + name + "' of '" + file.getName() + "' is " +
       formatNumber(value) + " (supported: " + Twine(min) + " to " +
       Twine(max) + ")");
  return min;
}

bool CTranslate2Variables::flag(StringRef name, bool byDefault) {
  return number(name, byDefault ? 1 : 0) != 0;
}

void CTranslate2Variables::require(StringRef name, double supported,
                                   StringRef feature) {
  double value = number(name, supported);
  if (value != supported)
    fail("variable '" + name + "' of '" + file.getName() + "' is " +
         formatNumber(value) + " (supported: " + formatNumber(supported) +
         "): " + feature);
}

std::string CTranslate2Variables::first(StringRef name) {
  read.insert(name);
  const TensorInfo *variable = file.find(name);
  if (!variable)
    return name.str();
  StringRef first = names.lookup(variable->offset);
  // Without elements, two variables begin at one byte.
  return file.find(first)->shape == variable->shape ? first.str() : name.str();
}

Error CTranslate2Variables::finish(ModuleOp module) {
  if (!failure.empty())
    return makeError(failure);
  module.walk([&](Operation *op) {
    if (isa<WeightOp, ParameterOp>(op))
      if (auto name = dyn_cast<NameLoc>(op->getLoc()))
        read.insert(name.getName());
  });
  for (const TensorInfo &variable : file.getTensors()) {
    StringRef name = variable.name;
    if (read.contains(name) ||
        (name.ends_with("_scale") && read.contains(name.drop_back(6))))
      continue;
    auto feature = find_if(kFeatures, [&](const Feature &known) {
      return is_contained(split(name, '/'), known.part);
    });
    return makeError(
        "variable '" + name + "' of '" + file.getPath() + "' is not supported" +
        (feature == std::end(kFeatures) ? "" : ": " + feature->words));
  }
  return Error::success();
}

} // namespace heddle
