//===- FakeDriverVariableTests.cpp - What the environment says ------------===//

#include "FakeDriverTest.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace heddle::emulator;

TEST_F(FakeDriverTest, FailsWhereTheEnvironmentSays) {
  setenv("HEDDLE_FAKE_CUDA_FAIL",
         "cuMemAlloc_v2:3=2,cuStreamSynchronize:1=700");
  start();
  CUdeviceptr pointer = 0;
  allocate(4);
  allocate(4);
  EXPECT_EQ(call("cuMemAlloc_v2", &pointer, size_t(4)),
            CUDA_ERROR_OUT_OF_MEMORY);
  allocate(4);
  EXPECT_EQ(synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(call("cuMemAlloc_v2", &pointer, size_t(4)),
            CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(FakeDriverTest, RefusesWrongVariables) {
  const std::pair<const char *, const char *> variables[] = {
      {"HEDDLE_FAKE_CUDA_FAIL", "cuInit"},
      {"HEDDLE_FAKE_CUDA_FAIL", "cuInit:1=999,cuMemAlloc_v2:x=2"},
      {"HEDDLE_FAKE_CUDA_CAPABILITY", "9"},
      {"HEDDLE_FAKE_CUDA_CAPABILITY", "9.0a"},
      {"HEDDLE_FAKE_CUDA_VERSION", "12.4"},
      {"HEDDLE_FAKE_CUDA_MEMORY", "1G"},
      {"HEDDLE_FAKE_CUDA_LOADS", "0"},
      {"HEDDLE_FAKE_CUDA_MULTIPROCESSORS", "-1"},
      {"HEDDLE_EMULATOR_CHECKS", "some"},
      {"HEDDLE_EMULATOR_THREADS", "0"},
      {"HEDDLE_EMULATOR_OMIT", "cp.async"},
      {"HEDDLE_EMULATOR_OMIT", "0:cp.async"},
      {"HEDDLE_EMULATOR_OMIT", "1:"}};
  for (auto [name, value] : variables) {
    setenv(name, value);
    EXPECT_EQ(call("cuInit", 0u), CUDA_ERROR_INVALID_VALUE) << name;
    ::unsetenv(name);
  }
  EXPECT_EQ(call("cuInit", 0u), CUDA_SUCCESS);
}

TEST_F(FakeDriverTest, IsTheDeviceOfTheEnvironment) {
  setenv("HEDDLE_FAKE_CUDA_CAPABILITY", "8.6");
  setenv("HEDDLE_FAKE_CUDA_VERSION", "11040");
  start();
  int major = 0, minor = 0, version = 0;
  call("cuDeviceGetAttribute", &major,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, CUdevice(0));
  call("cuDeviceGetAttribute", &minor,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, CUdevice(0));
  call("cuDriverGetVersion", &version);
  EXPECT_EQ(major, 8);
  EXPECT_EQ(minor, 6);
  EXPECT_EQ(version, 11040);
}

/// A process that calls a function twice and ends.
TEST_F(FakeDriverDeathTest, CountsCalls) {
  char path[] = "/tmp/heddle-counts-XXXXXX";
  close(mkstemp(path));
  EXPECT_EXIT(
      {
        ::setenv("HEDDLE_FAKE_CUDA_COUNT", path, 1);
        start();
        allocate(4);
        allocate(4);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find("\ncuMemAlloc_v2 2\n"), std::string::npos)
      << text.str();
  unlink(path);
}
