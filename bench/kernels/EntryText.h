//===- EntryText.h - Modules around single layers ---------------*- C++ -*-===//
//
// A layer is compiled as an entry of a module: a function of its inputs whose
// parameters are weights. What is written here is the op alone; the types that
// follow it are those of the values that it names, in order.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_KERNELS_ENTRYTEXT_H
#define HEDDLE_BENCH_KERNELS_ENTRYTEXT_H

#include "test/kernels/EntryRunner.h"

#include <map>
#include <string>
#include <vector>

namespace heddle::bench {

/// A module's body and the values of its parameters.
struct Module {
  std::string text;
  test::Weights weights;
};

/// Sizes as they stand in a type, or names of dims: {"rows", "256"}.
using Sizes = std::vector<std::string>;

/// "tensor<?x64xf32>" of {"batch", "64"}.
std::string typeOf(const Sizes &sizes, const std::string &element);

/// One entry: what it takes, then what it yields, once.
class EntryText {
public:
  EntryText(Module &module, std::string name)
      : module(module), name(std::move(name)) {}

  EntryText &input(const std::string &value, const Sizes &sizes,
                   const std::string &element = "f32");
  EntryText &ids(const std::string &value, const Sizes &sizes);
  EntryText &state(const std::string &value, const Sizes &sizes);
  EntryText &weight(const std::string &value, const std::vector<int64_t> &sizes,
                    std::vector<float> values);
  /// A value, %mask by default, of an op such as "causal", which may name
  /// values that are there.
  EntryText &mask(const std::string &op, const std::string &value = "mask");

  /// Adds the entry to the module. Its result is "y", or the state behind
  /// `into`. Regions follow the op's attributes.
  void yields(const std::string &op, const Sizes &sizes,
              const std::string &regions = "");
  /// Adds an entry that returns what it was given.
  void yieldsInput(const std::string &value);

private:
  EntryText &argument(const std::string &value, const Sizes &sizes,
                      const std::string &element,
                      const std::string &attribute = "");
  void finish(const std::string &value, const std::string &type, bool isState);

  Module &module;
  std::string name, parameters, arguments, body;
  std::map<std::string, std::string> types;
};

} // namespace heddle::bench

#endif // HEDDLE_BENCH_KERNELS_ENTRYTEXT_H
