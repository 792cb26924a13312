//===- Activations.cpp - transformers' names of activations ---------------===//
//
// Several names are one function: they differ in how the library computes it.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Activations.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace heddle {

std::optional<ActivationKind>
readActivation(ConfigReader &config, StringRef field, StringRef byDefault) {
  const json::Value *value = config.read(field);
  return findActivation(
      config, field,
      value && value->getAsNull() ? "" : config.text(field, byDefault));
}

std::optional<ActivationKind> findActivation(ConfigReader &config,
                                             StringRef field, StringRef name) {
  if (name == "linear")
    return std::nullopt;
  auto kind = StringSwitch<std::optional<ActivationKind>>(name)
                  .Case("relu", ActivationKind::Relu)
                  .Cases({"gelu", "gelu_python"}, ActivationKind::Gelu)
                  .Cases({"gelu_new", "gelu_fast", "gelu_accurate",
                          "gelu_pytorch_tanh", "gelu_python_tanh"},
                         ActivationKind::GeluTanh)
                  .Case("quick_gelu", ActivationKind::QuickGelu)
                  .Cases({"silu", "swish"}, ActivationKind::Silu)
                  .Case("tanh", ActivationKind::Tanh)
                  .Case("sigmoid", ActivationKind::Sigmoid)
                  .Default(std::nullopt);
  if (!kind)
    config.fail(field,
                "relu, gelu, gelu_python, gelu_new, gelu_fast, gelu_accurate, "
                "gelu_pytorch_tanh, gelu_python_tanh, quick_gelu, silu, swish, "
                "tanh, sigmoid, linear");
  return kind;
}

} // namespace heddle
