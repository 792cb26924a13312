//===- ToyTokenizer.h - A tokenizer without a compiler ----------*- C++ -*-===//

#ifndef HEDDLE_TEST_RUNTIME_TOYTOKENIZER_H
#define HEDDLE_TEST_RUNTIME_TOYTOKENIZER_H

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::test {

/// A stage of the section `tokenizer`, see runtime/tokenizer/TokenizerFormat.h.
struct ToyStage {
  uint32_t kind, uses;
  std::string table;
};
std::string buildToyStages(const std::vector<ToyStage> &stages);

/// The special tokens around a source, in front of it and behind it, which of
/// all items is its language, and of which type those behind it are.
struct ToyTemplate {
  std::vector<int32_t> before, after;
  int32_t language = -1;
  uint32_t typeBehind = 0;
};

/// Each character is a piece, and its index its id: the stages that cut sources
/// into those of one string, targets into those of another, and join them, but
/// for `unknown` and the ids below `firstText`. Characters are of ASCII.
std::string buildToyTokenizer(const std::string &source,
                              const std::string &target, uint32_t unknown,
                              uint32_t firstText = 0,
                              const ToyTemplate &around = {});

} // namespace heddle::test

#endif // HEDDLE_TEST_RUNTIME_TOYTOKENIZER_H
