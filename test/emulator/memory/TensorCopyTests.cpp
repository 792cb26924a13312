//===- TensorCopyTests.cpp - Boxes of tensors through TMA -----------------===//
//
// Boxes of a tensor, loaded with every swizzle and stored again, where they lie
// in it and across its edges.
//
//===----------------------------------------------------------------------===//

#include "TensorMap.h"
#include "test/emulator/KernelTest.h"

#include <array>

using namespace heddle::emulator;

namespace {

/// A tensor of u16 with up to four dimensions, innermost first, whose element
/// at (a, b, c, d) is a + 100 b + 1000 c + 10000 d + 1.
struct Tensor {
  explicit Tensor(std::array<int, 4> dims);

  uint16_t at(std::array<int, 4> index) const {
    return static_cast<uint16_t>(index[0] + 100 * index[1] + 1000 * index[2] +
                                 10000 * index[3] + 1);
  }
  bool holds(std::array<int, 4> index) const {
    for (int d = 0; d < 4; ++d)
      if (index[d] < 0 || index[d] >= dims[d])
        return false;
    return true;
  }
  /// What cuTensorMapEncodeTiled makes of it.
  TensorMap map(int rank, std::array<int, 4> box, int swizzleBytes) const;

  std::array<int, 4> dims;
  std::vector<uint16_t> storage;
  uint16_t *elements;
};

Tensor::Tensor(std::array<int, 4> dims) : dims(dims) {
  int count = dims[0] * dims[1] * dims[2] * dims[3];
  storage.resize(count + 8);
  elements = storage.data();
  while (reinterpret_cast<uintptr_t>(elements) % 16)
    ++elements;
  for (int i = 0; i < count; ++i)
    elements[i] =
        at({i % dims[0], i / dims[0] % dims[1], i / dims[0] / dims[1] % dims[2],
            i / dims[0] / dims[1] / dims[2]});
}

TensorMap Tensor::map(int rank, std::array<int, 4> box,
                      int swizzleBytes) const {
  TensorMap map;
  map.rank = static_cast<uint8_t>(rank);
  map.elementBytes = 2;
  map.swizzleBytes = static_cast<uint8_t>(swizzleBytes);
  map.address = reinterpret_cast<uint64_t>(elements);
  uint64_t stride = 2;
  for (int d = 0; d < rank; ++d) {
    map.lastIndex[d] = static_cast<uint32_t>(dims[d] - 1);
    map.box[d] = static_cast<uint16_t>(box[d]);
    map.elementStrides[d] = 1;
    if (d)
      map.strides[d - 1] = stride;
    stride *= dims[d];
  }
  return map;
}

class TensorCopyTest : public KernelTest {
protected:
  /// Loads a box and copies its bytes as they stand to `result`.
  std::string load(const Tensor &tensor, const TensorMap &map,
                   std::array<int, 4> start, std::vector<uint16_t> &result);
};

std::string TensorCopyTest::load(const Tensor &tensor, const TensorMap &map,
                                 std::array<int, 4> start,
                                 std::vector<uint16_t> &result) {
  std::string words = std::to_string(map.boxBytes() / 4);
  std::string copy = "@llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile." +
                     std::to_string(map.rank) + "d";
  std::string coordinates, types;
  for (int d = 0; d < map.rank; ++d) {
    coordinates += ", i32 " + std::to_string(start[d]);
    types += ", i32";
  }
  std::string text =
      "@tile = internal addrspace(3) global [" + words +
      " x i32] undef, align 1024\n"
      "@full = internal addrspace(3) global i64 undef, align 8\n"
      "define ptx_kernel void @k(ptr byval([128 x i8]) align 128 %map, ptr "
      "addrspace(1) %out) {\n"
      "  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @full, i32 "
      "1)\n"
      "  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()\n"
      "  %s = call i64 "
      "@llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr "
      "addrspace(3) @full, i32 " +
      std::to_string(map.boxBytes()) + ")\n  call void " + copy +
      "(ptr addrspace(3) @tile, ptr addrspace(3) @full, ptr %map" +
      coordinates +
      ", i64 0, i1 false)\n"
      "  br label %wait\n"
      "wait:\n"
      "  %done = call i1 "
      "@llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr "
      "addrspace(3) @full, i32 0)\n"
      "  br i1 %done, label %copy, label %wait\n"
      "copy:\n"
      "  %i = phi i32 [0, %wait], [%next, %copy]\n"
      "  %p = getelementptr i32, ptr addrspace(3) @tile, i32 %i\n"
      "  %v = load i32, ptr addrspace(3) %p, align 4\n"
      "  %q = getelementptr i32, ptr addrspace(1) %out, i32 %i\n"
      "  store i32 %v, ptr addrspace(1) %q, align 4\n"
      "  %next = add i32 %i, 1\n"
      "  %more = icmp ult i32 %next, " +
      words +
      "\n"
      "  br i1 %more, label %copy, label %end\n"
      "end:\n"
      "  ret void\n}\n"
      "declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)\n"
      "declare void @llvm.nvvm.fence.mbarrier_init.release.cluster()\n"
      "declare i64 "
      "@llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr "
      "addrspace(3), i32)\n"
      "declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr "
      "addrspace(3), i32)\n"
      "declare void " +
      copy + "(ptr addrspace(3), ptr addrspace(3), ptr" + types +
      ", i64, i1)\n";
  if (!KernelTest::load(text))
    return problem;
  result.assign(map.boxBytes() / 2, 0xffff);
  memory.add(tensor.elements, map.extent());
  memory.add(result.data(), 2 * result.size());
  uint64_t address = reinterpret_cast<uint64_t>(result.data());
  launch.parameters = {&map, &address};
  std::optional<Failure> failure =
      machine.run(*program->kernel("k", problem), launch, memory);
  return failure ? failure->sentence : "";
}

/// Where the PTX ISA draws a byte of a box: chunks of 16 bytes change places by
/// rows of 128 bytes.
int swizzledByte(int byte, int swizzleBytes) {
  if (!swizzleBytes)
    return byte;
  int chunk = byte / 16 % 8;
  int moved = chunk ^ (byte / 128 % 8 & (swizzleBytes / 16 - 1));
  return byte + 16 * (moved - chunk);
}

TEST_F(TensorCopyTest, LoadsBoxesWithEverySwizzle) {
  Tensor tensor({72, 20, 1, 1});
  for (int swizzleBytes : {0, 32, 64, 128}) {
    int columns = swizzleBytes ? swizzleBytes / 2 : 16, rows = 16;
    TensorMap map = tensor.map(2, {columns, rows, 1, 1}, swizzleBytes);
    // Inside of the tensor, and over its edges.
    for (auto [column, row] : {std::pair(0, 0), std::pair(8, 3),
                               std::pair(64, 10), std::pair(-8, -2)}) {
      std::vector<uint16_t> tile;
      ASSERT_EQ(load(tensor, map, {column, row, 0, 0}, tile), "");
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) {
          int place = swizzledByte((r * columns + c) * 2, swizzleBytes) / 2;
          std::array<int, 4> index = {column + c, row + r, 0, 0};
          EXPECT_EQ(tile[place], tensor.holds(index) ? tensor.at(index) : 0)
              << swizzleBytes << " " << r << " " << c;
        }
    }
  }
}

TEST_F(TensorCopyTest, LoadsBoxesOfThreeAndFourDimensions) {
  Tensor tensor({16, 5, 4, 3});
  for (int rank : {3, 4}) {
    std::array<int, 4> box = {16, 3, 2, rank == 4 ? 2 : 1};
    TensorMap map = tensor.map(rank, box, 32);
    std::array<int, 4> start = {0, 3, -1, rank == 4 ? 2 : 0};
    std::vector<uint16_t> tile;
    ASSERT_EQ(load(tensor, map, start, tile), "");
    for (int i = 0; i < static_cast<int>(tile.size()); ++i) {
      std::array<int, 4> index = {start[0] + i % 16, start[1] + i / 16 % 3,
                                  start[2] + i / 48 % 2, start[3] + i / 96};
      EXPECT_EQ(tile[swizzledByte(2 * i, 32) / 2],
                tensor.holds(index) ? tensor.at(index) : 0)
          << rank << " " << i;
    }
  }
}

TEST_F(TensorCopyTest, FailsWithRowsThatAreNotTheSwizzles) {
  Tensor tensor({72, 20, 1, 1});
  std::vector<uint16_t> tile;
  std::string sentence =
      load(tensor, tensor.map(2, {32, 4, 1, 1}, 128), {0, 0, 0, 0}, tile);
  EXPECT_NE(sentence.find("with rows of 64 bytes and a swizzle of 128"),
            std::string::npos)
      << sentence;
}

} // namespace
