//===- FakeDriverTests.cpp - Streams, memory and errors of the driver -----===//

#include "FakeDriverTest.h"

#include <filesystem>
#include <numeric>
#include <thread>

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

//===----------------------------------------------------------------------===//
// Streams are lazy
//===----------------------------------------------------------------------===//

TEST_F(FakeDriverTest, ObjectsOfModulesAreKeptAndLoaded) {
  std::string folder = testing::TempDir() + "objects";
  std::filesystem::remove_all(folder);
  setenv("HEDDLE_EMULATOR_OBJECTS", folder);
  // Twice the same module, then one with another constant.
  std::string other = kAdd;
  other.replace(other.find("add i32 %v, %step"), 17, "sub i32 %v, %step");
  for (const auto &[text, sum] :
       {std::pair<std::string, int>(kAdd, 11), {kAdd, 11}, {other, -9}}) {
    CUdeviceptr values = allocate(400);
    int step = 10;
    ASSERT_EQ(upload(values, oneTo(100)), 0);
    ASSERT_EQ(launch(load(text), 4, 25, {&values, &step}), 0);
    std::vector<int> result(100);
    ASSERT_EQ(download(result, values), 0);
    ASSERT_EQ(synchronize(), 0);
    EXPECT_EQ(result.front(), sum);
  }
  auto files = std::filesystem::directory_iterator(folder);
  EXPECT_EQ(std::distance(begin(files), end(files)), 2);
  std::filesystem::remove_all(folder);
}

TEST_F(FakeDriverTest, NothingIsDoneBeforeSomebodyWaits) {
  CUfunction add = load(kAdd);
  CUdeviceptr values = allocate(16);
  int step = 1;
  std::vector<int> result(4, -1);
  upload(values, oneTo(4));
  launch(add, 1, 4, {&values, &step});
  download(result, values);
  EXPECT_EQ(result, std::vector<int>(4, -1));
  EXPECT_EQ(synchronize(), CUDA_SUCCESS);
  EXPECT_EQ(result, (std::vector<int>{2, 3, 4, 5}));
}

TEST_F(FakeDriverTest, ParametersAreThoseOfTheLaunch) {
  CUfunction add = load(kAdd);
  CUdeviceptr values = allocate(16);
  int step = 1;
  std::vector<int> result(4);
  upload(values, oneTo(4));
  launch(add, 1, 4, {&values, &step});
  step = 1000;
  download(result, values);
  synchronize();
  EXPECT_EQ(result[0], 2);
}

TEST_F(FakeDriverTest, PageableMemoryIsStagedAndPinnedIsNot) {
  CUdeviceptr values = allocate(16);
  std::vector<int> source = {1, 2, 3, 4}, result(4);
  upload(values, source);
  source[0] = 100;
  download(result, values);
  synchronize();
  EXPECT_EQ(result[0], 1);

  void *pinned = nullptr;
  ASSERT_EQ(call("cuMemHostAlloc", &pinned, size_t(16), 0u), CUDA_SUCCESS);
  auto *numbers = static_cast<int *>(pinned);
  numbers[0] = 7;
  call("cuMemcpyHtoDAsync_v2", values, static_cast<const void *>(pinned),
       size_t(16), stream);
  // Too early: the copy has not run.
  numbers[0] = 8;
  download(result, values);
  synchronize();
  EXPECT_EQ(result[0], 8);
  EXPECT_EQ(call("cuMemFreeHost", pinned), CUDA_SUCCESS);
}

TEST_F(FakeDriverTest, EventsOrderStreams) {
  CUstream other = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &other, 1u), CUDA_SUCCESS);
  ASSERT_EQ(call("cuEventCreate", &event, 0u), CUDA_SUCCESS);
  CUdeviceptr values = allocate(16);
  std::vector<int> result(4);
  upload(values, oneTo(4));
  EXPECT_EQ(call("cuEventRecord", event, stream), CUDA_SUCCESS);
  EXPECT_EQ(call("cuEventQuery", event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(call("cuStreamWaitEvent", other, event, 0u), CUDA_SUCCESS);
  call("cuMemcpyDtoHAsync_v2", static_cast<void *>(result.data()), values,
       size_t(16), other);
  EXPECT_EQ(call("cuStreamSynchronize", other), CUDA_SUCCESS);
  EXPECT_EQ(result, oneTo(4));
  EXPECT_EQ(call("cuEventQuery", event), CUDA_SUCCESS);
}

/// Without the event, the other stream runs first.
TEST_F(FakeDriverTest, StreamsAreNotInOrderByThemselves) {
  CUstream other = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &other, 1u), CUDA_SUCCESS);
  CUdeviceptr values = allocate(16);
  std::vector<int> result(4);
  upload(values, oneTo(4));
  call("cuMemcpyDtoHAsync_v2", static_cast<void *>(result.data()), values,
       size_t(16), other);
  EXPECT_EQ(call("cuStreamSynchronize", other), CUDA_SUCCESS);
  EXPECT_EQ(result, std::vector<int>(4, -1));
}

TEST_F(FakeDriverTest, QueriesBringAStreamToItsEnd) {
  CUdeviceptr values = allocate(16);
  std::vector<int> result(4);
  upload(values, oneTo(4));
  download(result, values);
  EXPECT_EQ(call("cuStreamQuery", stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(call("cuStreamQuery", stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(call("cuStreamQuery", stream), CUDA_SUCCESS);
  EXPECT_EQ(result, oneTo(4));
}

TEST_F(FakeDriverTest, GraphsReplayWhatWasCaptured) {
  CUfunction add = load(kAdd);
  CUdeviceptr values = allocate(16);
  upload(values, oneTo(4));
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  int step = 10;
  ASSERT_EQ(call("cuStreamBeginCapture_v2", stream, 0), CUDA_SUCCESS);
  launch(add, 1, 4, {&values, &step});
  launch(add, 1, 4, {&values, &step});
  EXPECT_EQ(synchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUdeviceptr more = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &more, size_t(4)),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  ASSERT_EQ(call("cuStreamEndCapture", stream, &graph), CUDA_SUCCESS);
  step = 1000;
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, 0ull),
            CUDA_SUCCESS);
  EXPECT_EQ(call("cuGraphDestroy", graph), CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(call("cuGraphLaunch", exec, stream), CUDA_SUCCESS);
  std::vector<int> result(4);
  download(result, values);
  EXPECT_EQ(synchronize(), CUDA_SUCCESS);
  EXPECT_EQ(result, (std::vector<int>{61, 62, 63, 64}));
  EXPECT_EQ(call("cuGraphExecDestroy", exec), CUDA_SUCCESS);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_F(FakeDriverDeathTest, TheHostCannotTouchDeviceMemory) {
  CUdeviceptr values = allocate(16);
  upload(values, oneTo(4));
  synchronize();
  EXPECT_DEATH(*reinterpret_cast<volatile int *>(values) = 1, "");
}

TEST_F(FakeDriverTest, MemoryStartsAsGarbage) {
  CUdeviceptr values = allocate(16);
  std::vector<int> result(4);
  download(result, values);
  synchronize();
  EXPECT_EQ(result, std::vector<int>(4, -1));
}

TEST_F(FakeDriverTest, MemoryHasAnEnd) {
  setenv("HEDDLE_FAKE_CUDA_MEMORY", "1000000");
  start();
  size_t free = 0, total = 0;
  CUdeviceptr first = allocate(600000), second = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &second, size_t(400001)),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(call("cuMemGetInfo_v2", &free, &total), CUDA_SUCCESS);
  EXPECT_EQ(free, 400000u);
  EXPECT_EQ(total, 1000000u);
  EXPECT_EQ(call("cuMemFree_v2", first), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemFree_v2", first), CUDA_ERROR_INVALID_VALUE);
  allocate(1000000);
}

TEST_F(FakeDriverTest, CopiesStayInTheirAllocation) {
  CUdeviceptr values = allocate(16);
  EXPECT_EQ(upload(values, oneTo(5)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemsetD32Async", values + 4, 9u, size_t(4), stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemsetD32Async", values, 9u, size_t(4), stream),
            CUDA_SUCCESS);
  std::vector<int> result(4);
  download(result, values);
  synchronize();
  EXPECT_EQ(result, std::vector<int>(4, 9));
}

TEST_F(FakeDriverTest, CopiesRowsOfAPitch) {
  CUdeviceptr from = allocate(64), to = allocate(16);
  std::vector<int> result(4);
  upload(from, oneTo(16));
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  copy.srcXInBytes = 4;
  copy.srcY = 1;
  copy.srcPitch = 16;
  copy.dstDevice = to;
  copy.dstPitch = 8;
  copy.WidthInBytes = 8;
  copy.Height = 2;
  EXPECT_EQ(call("cuMemcpy2DAsync_v2",
                 static_cast<const CUDA_MEMCPY2D *>(&copy), stream),
            CUDA_SUCCESS);
  download(result, to);
  synchronize();
  EXPECT_EQ(result, (std::vector<int>{6, 7, 10, 11}));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(FakeDriverTest, ErrorsOfKernelsComeWithTheNextWaitAndStay) {
  CUfunction add = load(kAdd);
  CUdeviceptr values = allocate(16);
  int step = 1;
  upload(values, oneTo(4));
  EXPECT_EQ(launch(add, 1, 5, {&values, &step}), CUDA_SUCCESS);
  EXPECT_EQ(synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(log().find("kernel 'k', block (0, 0, 0), thread (4, 0, 0): reads 4 "
                       "bytes at 0x"),
            0u)
      << log();
  EXPECT_EQ(synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr more = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &more, size_t(4)),
            CUDA_ERROR_ILLEGAL_ADDRESS);
  const char *name = nullptr;
  EXPECT_EQ(call("cuGetErrorName", CUDA_ERROR_ILLEGAL_ADDRESS, &name),
            CUDA_SUCCESS);
  EXPECT_STREQ(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_F(FakeDriverTest, EachThreadNeedsTheContext) {
  CUdeviceptr pointer = 0;
  CUresult without = CUDA_SUCCESS, with = CUDA_ERROR_UNKNOWN;
  std::thread([&] {
    without = call("cuMemAlloc_v2", &pointer, size_t(4));
    call("cuCtxSetCurrent", context);
    with = call("cuMemAlloc_v2", &pointer, size_t(4));
  }).join();
  EXPECT_EQ(without, CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(with, CUDA_SUCCESS);
}

TEST_F(FakeDriverTest, TheContextGoesWithItsLastUser) {
  CUdeviceptr pointer = allocate(4);
  ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context, CUdevice(0)),
            CUDA_SUCCESS);
  EXPECT_EQ(call("cuDevicePrimaryCtxRelease_v2", CUdevice(0)), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemFree_v2", pointer), CUDA_SUCCESS);
  EXPECT_EQ(call("cuDevicePrimaryCtxRelease_v2", CUdevice(0)), CUDA_SUCCESS);
  EXPECT_EQ(call("cuMemAlloc_v2", &pointer, size_t(4)),
            CUDA_ERROR_INVALID_CONTEXT);
}

/// Loads an image as it is; the text of the log.
class ImageTest : public FakeDriverTest {
protected:
  std::string refusal(const std::vector<char> &image) {
    char text[256] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {text, reinterpret_cast<void *>(sizeof(text))};
    CUmodule module = nullptr;
    EXPECT_EQ(call("cuModuleLoadDataEx", &module,
                   static_cast<const void *>(image.data()), 2u, +options,
                   +values),
              CUDA_ERROR_INVALID_PTX);
    return text;
  }
};

TEST_F(ImageTest, RefusesPtxWithASentence) {
  const std::string ptx = ".version 8.0\n.target sm_80\n";
  EXPECT_EQ(refusal({ptx.begin(), ptx.end()}),
            "the image is no bitcode for the emulator (expected HEDDLEBC, its "
            "length as a u64, and LLVM bitcode)");
}

TEST_F(ImageTest, NamesWhatAModuleCallsThatIsUnknown) {
  EXPECT_EQ(refusal(moduleImage("define ptx_kernel void @k() {\n"
                                "  call void @llvm.nvvm.exit()\n"
                                "  ret void\n}\n"
                                "declare void @llvm.nvvm.exit()\n")),
            "unknown intrinsic 'llvm.nvvm.exit' in 'k'");
  EXPECT_EQ(refusal(moduleImage(
                "define ptx_kernel void @k() {\n"
                "  call void asm sideeffect \"frobnicate.b32 $0;\", \"r\"(i32 "
                "1)\n  ret void\n}\n")),
            "unknown assembly 'frobnicate.b32 $0' in 'k'");
}

TEST_F(FakeDriverTest, TakesParametersInOneBuffer) {
  CUfunction add = load(kAdd);
  CUdeviceptr values = allocate(16);
  upload(values, oneTo(4));
  struct {
    CUdeviceptr values;
    int step;
  } buffer = {values, 5};
  size_t size = sizeof(buffer);
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer,
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  CUlaunchConfig config = {1, 1, 1, 4, 1, 1, 0, stream, nullptr, 0};
  EXPECT_EQ(call("cuLaunchKernelEx",
                 static_cast<const CUlaunchConfig *>(&config), add,
                 static_cast<void **>(nullptr), +extra),
            CUDA_SUCCESS);
  std::vector<int> result(4);
  download(result, values);
  EXPECT_EQ(synchronize(), CUDA_SUCCESS);
  EXPECT_EQ(result, (std::vector<int>{6, 7, 8, 9}));
}

TEST_F(FakeDriverTest, CountsClustersThatHaveRoom) {
  setenv("HEDDLE_FAKE_CUDA_MULTIPROCESSORS", "7");
  start();
  CUfunction add = load(kAdd);
  auto clustersOf = [&](unsigned threads, unsigned bytes) {
    int clusters = -1;
    CUlaunchConfig config = {1, 1, 1, threads, 1, 1, bytes, stream, nullptr, 0};
    EXPECT_EQ(call("cuOccupancyMaxActiveClusters", &clusters, add,
                   static_cast<const CUlaunchConfig *>(&config)),
              CUDA_SUCCESS);
    return clusters;
  };
  // By blocks, by threads, and by 228 KiB of shared memory.
  EXPECT_EQ(clustersOf(32, 0), 7 * 32);
  EXPECT_EQ(clustersOf(1024, 0), 7 * 2);
  EXPECT_EQ(clustersOf(32, 48 << 10), 7 * 4);
}

TEST_F(FakeDriverTest, SharedMemoryAbove48KiBHasToBeAskedFor) {
  CUfunction add = load(kAdd);
  CUdeviceptr values = allocate(16);
  int step = 1;
  void *parameters[] = {&values, &step};
  auto launchWith = [&](unsigned bytes) {
    return call("cuLaunchKernel", add, 1u, 1u, 1u, 4u, 1u, 1u, bytes, stream,
                +parameters, static_cast<void **>(nullptr));
  };
  EXPECT_EQ(launchWith(48 << 10), CUDA_SUCCESS);
  EXPECT_EQ(launchWith(100 << 10), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuFuncSetAttribute", add,
                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 228 << 10),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuFuncSetAttribute", add,
                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10),
            CUDA_SUCCESS);
  EXPECT_EQ(launchWith(100 << 10), CUDA_SUCCESS);
}

TEST_F(FakeDriverTest, FindsFunctionsAndVariablesByName) {
  void *function = nullptr;
  int status = 7;
  EXPECT_EQ(call("cuGetProcAddress_v2", "cuMemAlloc", &function, 13000,
                 uint64_t(0), &status),
            CUDA_SUCCESS);
  EXPECT_EQ(function, dlsym(library(), "cuMemAlloc_v2"));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(call("cuGetProcAddress_v2", "cuFrobnicate", &function, 13000,
                 uint64_t(0), &status),
            CUDA_ERROR_NOT_FOUND);

  std::vector<char> image =
      moduleImage("@table = addrspace(1) global [3 x i32] [i32 1, i32 2, i32 "
                  "3], align 4\n" +
                  std::string(kAdd));
  CUmodule module = nullptr;
  CUdeviceptr table = 0;
  size_t bytes = 0;
  ASSERT_EQ(call("cuModuleLoadDataEx", &module,
                 static_cast<const void *>(image.data()), 0u,
                 static_cast<CUjit_option *>(nullptr),
                 static_cast<void **>(nullptr)),
            CUDA_SUCCESS);
  CUfunction missing = nullptr;
  EXPECT_EQ(call("cuModuleGetFunction", &missing, module, "nobody"),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(call("cuModuleGetGlobal_v2", &table, &bytes, module, "table"),
            CUDA_SUCCESS);
  EXPECT_EQ(bytes, 12u);
  std::vector<int> result(3);
  download(result, table);
  synchronize();
  EXPECT_EQ(result, oneTo(3));
  EXPECT_EQ(call("cuModuleUnload", module), CUDA_SUCCESS);
}

TEST_F(FakeDriverTest, TensorMapsHaveLimits) {
  CUtensorMap map;
  CUdeviceptr values = allocate(1024);
  auto encode = [&](uint32_t boxColumns, uint64_t stride, int swizzle) {
    uint64_t dims[] = {64, 8}, strides[] = {stride};
    uint32_t box[] = {boxColumns, 8}, steps[] = {1, 1};
    return call("cuTensorMapEncodeTiled", &map, 9u, 2u,
                reinterpret_cast<void *>(values),
                static_cast<const uint64_t *>(dims),
                static_cast<const uint64_t *>(strides),
                static_cast<const uint32_t *>(box),
                static_cast<const uint32_t *>(steps), 0, swizzle, 0, 0);
  };
  EXPECT_EQ(encode(64, 128, 3), CUDA_SUCCESS);
  EXPECT_EQ(encode(64, 120, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(log(), "cuTensorMapEncodeTiled: stride 0 is 120, expected a "
                   "multiple of 16 below 2^40\n");
  EXPECT_EQ(encode(64, 128, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(encode(4, 128, 0), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
