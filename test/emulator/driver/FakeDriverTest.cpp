//===- FakeDriverTest.cpp - The fake driver as a runtime sees it ----------===//

#include "FakeDriverTest.h"
#include "test/emulator/KernelTest.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace heddle::emulator;

std::vector<char> heddle::emulator::moduleImage(const std::string &text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module =
      llvm::parseIR(*llvm::MemoryBuffer::getMemBufferCopy(nvptxModule(text)),
                    diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  if (module)
    llvm::WriteBitcodeToFile(*module, stream);
  std::vector<char> image(16);
  std::memcpy(image.data(), "HEDDLEBC", 8);
  uint64_t length = bitcode.size();
  std::memcpy(image.data() + 8, &length, sizeof(length));
  image.insert(image.end(), bitcode.begin(), bitcode.end());
  return image;
}

void *FakeDriverTest::library() {
  static void *handle = dlopen(HEDDLE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  EXPECT_TRUE(handle) << dlerror();
  return handle;
}

FakeDriverTest::FakeDriverTest() {
  char path[] = "/tmp/heddle-driver-XXXXXX";
  close(mkstemp(path));
  logPath = path;
  setenv("HEDDLE_EMULATOR_LOG", path);
  start();
}

FakeDriverTest::~FakeDriverTest() {
  for (const std::string &name : variables)
    unsetenv(name.c_str());
  call("cuInit", 0u);
  while (call("cuDevicePrimaryCtxRelease_v2", CUdevice(0)) == CUDA_SUCCESS)
    ;
  unlink(logPath.c_str());
}

void FakeDriverTest::setenv(const char *name, const std::string &value) {
  ::setenv(name, value.c_str(), 1);
  variables.push_back(name);
}

void FakeDriverTest::start() {
  ASSERT_EQ(call("cuInit", 0u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuDevicePrimaryCtxReset_v2", CUdevice(0)), CUDA_SUCCESS);
  ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context, CUdevice(0)),
            CUDA_SUCCESS);
  ASSERT_EQ(call("cuCtxSetCurrent", context), CUDA_SUCCESS);
  ASSERT_EQ(call("cuStreamCreate", &stream, 1u), CUDA_SUCCESS);
}

CUdeviceptr FakeDriverTest::allocate(size_t bytes) {
  CUdeviceptr pointer = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &pointer, bytes), CUDA_SUCCESS);
  return pointer;
}

CUfunction FakeDriverTest::load(const std::string &text, const char *kernel) {
  std::vector<char> image = moduleImage(text);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_EQ(call("cuModuleLoadDataEx", &module,
                 static_cast<const void *>(image.data()), 0u,
                 static_cast<CUjit_option *>(nullptr),
                 static_cast<void **>(nullptr)),
            CUDA_SUCCESS)
      << log();
  EXPECT_EQ(call("cuModuleGetFunction", &function, module, kernel),
            CUDA_SUCCESS)
      << log();
  return function;
}

CUresult FakeDriverTest::launch(CUfunction function, unsigned blocks,
                                unsigned threads,
                                std::vector<void *> parameters) {
  return call("cuLaunchKernel", function, blocks, 1u, 1u, threads, 1u, 1u, 0u,
              stream, parameters.data(), static_cast<void **>(nullptr));
}

std::string FakeDriverTest::log() const {
  std::ifstream file(logPath);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
