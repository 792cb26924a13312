//===- FakeDriverTest.h - The fake driver as a runtime sees it --*- C++ -*-===//

#ifndef HEDDLE_TEST_EMULATOR_DRIVER_FAKEDRIVERTEST_H
#define HEDDLE_TEST_EMULATOR_DRIVER_FAKEDRIVERTEST_H

#include "CudaAbi.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <string>
#include <vector>

namespace heddle::emulator {

/// The image that cuModuleLoadDataEx takes, of a module's text.
std::vector<char> moduleImage(const std::string &text);

/// A test with a context of its own. The environment is that of a test, too:
/// cuInit() reads it.
class FakeDriverTest : public ::testing::Test {
protected:
  FakeDriverTest();
  ~FakeDriverTest() override;

  /// Calls a function of the driver; arguments have to be of its types.
  template <typename... Arguments>
  static CUresult call(const char *name, Arguments... arguments) {
    void *function = dlsym(library(), name);
    EXPECT_TRUE(function) << name;
    return reinterpret_cast<CUresult (*)(Arguments...)>(function)(arguments...);
  }
  static void *library();

  /// Reads the environment and makes a new context.
  void start();
  /// Sets a variable for this test.
  void setenv(const char *name, const std::string &value);

  CUdeviceptr allocate(size_t bytes);
  /// Loads a module and finds a kernel.
  CUfunction load(const std::string &text, const char *kernel = "k");
  CUresult launch(CUfunction function, unsigned blocks, unsigned threads,
                  std::vector<void *> parameters);
  template <typename Number>
  CUresult upload(CUdeviceptr to, const std::vector<Number> &values) {
    return call("cuMemcpyHtoDAsync_v2", to,
                static_cast<const void *>(values.data()),
                values.size() * sizeof(Number), stream);
  }
  template <typename Number>
  CUresult download(std::vector<Number> &values, CUdeviceptr from) {
    return call("cuMemcpyDtoHAsync_v2", static_cast<void *>(values.data()),
                from, values.size() * sizeof(Number), stream);
  }
  CUresult synchronize() { return call("cuStreamSynchronize", stream); }
  /// What the driver wrote about kernels that failed.
  std::string log() const;

  CUcontext context = nullptr;
  CUstream stream = nullptr;

private:
  std::string logPath;
  std::vector<std::string> variables;
};

/// For tests that end a process.
using FakeDriverDeathTest = FakeDriverTest;

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_DRIVER_FAKEDRIVERTEST_H
