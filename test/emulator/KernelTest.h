//===- KernelTest.h - Kernels written in the tests --------------*- C++ -*-===//
//
// A kernel is LLVM's text without its target; what it needs is declared behind.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_KERNELTEST_H
#define HEDDLE_TEST_EMULATOR_KERNELTEST_H

#include "Emulator.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heddle::emulator {

/// The text as a module for nvptx64.
std::string nvptxModule(const std::string &text);

class KernelTest : public ::testing::Test {
protected:
  /// Loads and compiles a module, and forgets all parameters; the sentence is
  /// in `problem` if that fails.
  bool load(const std::string &text);

  /// A parameter: the address of a vector's elements, whose bytes the kernel
  /// may touch, or a number.
  template <typename Number> void pass(std::vector<Number> &values) {
    memory.add(values.data(), values.size() * sizeof(Number));
    passWord(reinterpret_cast<uint64_t>(values.data()));
  }
  void pass(int value) { passWord(static_cast<uint32_t>(value)); }
  void pass(float value);
  void passWord(uint64_t word) { words.push_back(word); }

  /// Runs the kernel "k"; the sentence of its failure, or "".
  std::string run();
  /// Loads, and runs with one vector.
  template <typename Number>
  std::string run(const std::string &text, std::vector<Number> &values) {
    if (!load(text))
      return problem;
    pass(values);
    return run();
  }

  Launch launch;
  MemoryMap memory;
  std::string problem;
  int code = 0;
  std::unique_ptr<Program> program;
  Machine machine;

private:
  std::vector<uint64_t> words;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_KERNELTEST_H
