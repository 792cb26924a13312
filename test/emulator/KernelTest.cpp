//===- KernelTest.cpp - Kernels written in the tests ----------------------===//

#include "KernelTest.h"

#include <cstring>

using namespace heddle::emulator;

std::string heddle::emulator::nvptxModule(const std::string &text) {
  return "target datalayout = \"e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-i64:64-"
         "i128:128-i256:256-v16:16-v32:32-n16:32:64\"\n"
         "target triple = \"nvptx64-nvidia-cuda\"\n" +
         text;
}

bool KernelTest::load(const std::string &text) {
  problem.clear();
  memory = MemoryMap();
  words.clear();
  program = Program::load(nvptxModule(text), problem);
  return program && program->kernel("k", problem);
}

void KernelTest::pass(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  passWord(bits);
}

std::string KernelTest::run() {
  const Kernel *kernel = program->kernel("k", problem);
  launch.parameters.clear();
  for (uint64_t &word : words)
    launch.parameters.push_back(&word);
  std::optional<Failure> failure = machine.run(*kernel, launch, memory);
  code = failure ? failure->code : 0;
  return failure ? failure->sentence : "";
}
