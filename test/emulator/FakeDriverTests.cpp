//===- FakeDriverTests.cpp - Streams, memory and errors of the driver -----===//

#include "FakeDriverTest.h"

#include <numeric>

using namespace heddle::emulator;

namespace {

/// values[thread] += step, for whole blocks.
const char kAdd[] = R"(
define ptx_kernel void @k(ptr addrspace(1) %values, i32 %step) {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %base = mul i32 %b, %n
  %i = add i32 %base, %x
  %p = getelementptr i32, ptr addrspace(1) %values, i32 %i
  %v = load i32, ptr addrspace(1) %p, align 4
  %w = add i32 %v, %step
  store i32 %w, ptr addrspace(1) %p, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
)";

std::vector<int> oneTo(int count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST_F(FakeDriverTest, CopiesAndLaunches) {
  CUfunction add = load(kAdd);
  CUdeviceptr values = allocate(400);
  int step = 10;
  EXPECT_EQ(upload(values, oneTo(100)), CUDA_SUCCESS);
  EXPECT_EQ(launch(add, 4, 25, {&values, &step}), CUDA_SUCCESS);
  std::vector<int> result(100);
  EXPECT_EQ(download(result, values), CUDA_SUCCESS);
  EXPECT_EQ(synchronize(), CUDA_SUCCESS);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(result[i], i + 11);
}

} // namespace
