//===- MatrixOperations.cpp - ldmatrix, stmatrix, mma ---------------------===//
//
// Fragments as the PTX ISA draws them. With g = lane / 4, t = lane % 4 and p
// elements in a register, register r of A holds row g + 8 (r % 2), columns
// t p + i + 4 p (r / 2); register r of B rows t p + i + 4 p r, column g;
// elements of C and D are those of A with p = 2.
//
//===----------------------------------------------------------------------===//

#include "MatrixNumbers.h"
#include "test/emulator/Operations.h"
#include "test/emulator/Worker.h"

#include <cstring>

using namespace heddle::emulator;

static constexpr uint32_t kFullMask = 0xffffffff;

static void requireWholeWarp(Context &context, const Operation &operation) {
  unsigned first = context.linearThread / 32 * 32;
  if (context.worker->numThreads - first < 32)
    fail(context, kIllegalInstruction,
         operation.name + " in a warp of less than 32 threads");
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix: detail is the number of matrices, transposition
//===----------------------------------------------------------------------===//

/// An element of the row that a matrix's lane gives.
static std::byte *elementAt(const WarpMeeting &meeting, int matrix, int row,
                            int column) {
  int lane = matrix * 8 + row;
  const SharedMemory &shared = meeting.threads[lane]->home->shared;
  return shared.at(shared.address(meeting.operands[lane][0])) + 2 * column;
}

static void checkRows(WarpMeeting &meeting, bool writes) {
  for (int lane = 0; lane < 8 * meeting.operation->detail[0]; ++lane) {
    Context &context = *meeting.threads[lane];
    SharedMemory &shared = blockOf(context).shared;
    uint64_t address = shared.address(meeting.operands[lane][0]);
    if (!context.worker->grid->checks)
      continue;
    shared.checkBounds(context, address, 16, 16,
                       meeting.operation->name.c_str());
    if (writes)
      shared.write(context, address, 16);
    else
      shared.read(context, address, 16);
  }
}

static void loadAll(WarpMeeting &meeting) {
  checkRows(meeting, /*writes=*/false);
  bool isTransposed = meeting.operation->detail[1];
  for (int lane = 0; lane < 32; ++lane)
    for (int matrix = 0; matrix < meeting.operation->detail[0]; ++matrix) {
      uint16_t pair[2];
      for (int i = 0; i < 2; ++i) {
        int row = isTransposed ? lane % 4 * 2 + i : lane / 4;
        int column = isTransposed ? lane / 4 : lane % 4 * 2 + i;
        std::memcpy(&pair[i], elementAt(meeting, matrix, row, column), 2);
      }
      meeting.results[lane][matrix] = pair[0] | uint32_t(pair[1]) << 16;
    }
}

void heddle::emulator::loadMatrix(Context &context, const Operation &operation,
                                  const uint64_t *operands, uint64_t *results) {
  requireWholeWarp(context, operation);
  blockOf(context).meetings.meet(context, operation, kFullMask,
                                 /*orders=*/false, operands, results, loadAll);
}

static void storeAll(WarpMeeting &meeting) {
  checkRows(meeting, /*writes=*/true);
  bool isTransposed = meeting.operation->detail[1];
  for (int lane = 0; lane < 32; ++lane)
    for (int matrix = 0; matrix < meeting.operation->detail[0]; ++matrix)
      for (int i = 0; i < 2; ++i) {
        int row = isTransposed ? lane % 4 * 2 + i : lane / 4;
        int column = isTransposed ? lane / 4 : lane % 4 * 2 + i;
        auto half =
            static_cast<uint16_t>(meeting.operands[lane][1 + matrix] >> 16 * i);
        std::memcpy(elementAt(meeting, matrix, row, column), &half, 2);
      }
}

void heddle::emulator::storeMatrix(Context &context, const Operation &operation,
                                   const uint64_t *operands,
                                   uint64_t *results) {
  requireWholeWarp(context, operation);
  blockOf(context).meetings.meet(context, operation, kFullMask,
                                 /*orders=*/false, operands, results, storeAll);
}

//===----------------------------------------------------------------------===//
// mma.sync: detail is k, kinds of A and B, width of C and D in bits, whether
// sums saturate. m is 16, n is 8.
//===----------------------------------------------------------------------===//

namespace {

/// Number: double for floats, whose products and sums of few are exact;
/// int64_t.
template <typename Number> struct Tiles {
  Number a[16][32], b[32][8], c[16][8];
};

} // namespace

template <typename Number>
static void readTiles(const WarpMeeting &meeting, Tiles<Number> &tiles) {
  const Operation &operation = *meeting.operation;
  int k = operation.detail[0];
  auto kindA = static_cast<NumberKind>(operation.detail[1]);
  auto kindB = static_cast<NumberKind>(operation.detail[2]);
  int each = elementsPerWord(kindA);
  int numA = 16 * k / each / 32, numB = numA / 2;
  for (int lane = 0; lane < 32; ++lane) {
    const uint64_t *operands = meeting.operands[lane];
    int g = lane / 4, t = lane % 4;
    for (int r = 0; r < numA; ++r)
      for (int i = 0; i < each; ++i)
        tiles.a[g + 8 * (r % 2)][t * each + i + 4 * each * (r / 2)] =
            element<Number>(kindA, operands[r], i);
    for (int r = 0; r < numB; ++r)
      for (int i = 0; i < each; ++i)
        tiles.b[t * each + i + 4 * each * r][g] =
            element<Number>(kindB, operands[numA + r], i);
    const uint64_t *sums = operands + numA + numB;
    for (int i = 0; i < 4; ++i) {
      Number &c = tiles.c[g + 8 * (i / 2)][t * 2 + i % 2];
      if constexpr (std::is_same_v<Number, int64_t>)
        c = static_cast<int32_t>(sums[i]);
      else if (operation.detail[3] == 32)
        c = bitsAs<float>(static_cast<uint32_t>(sums[i]));
      else
        c = fromHalf(static_cast<uint16_t>(sums[i / 2] >> 16 * (i % 2)));
    }
  }
}

// The order of additions is that of k, on any processor; products are exact.
template <typename Number>
__attribute__((always_inline)) static inline void
multiplyInOrder(Tiles<Number> &tiles, int numK) {
  for (int m = 0; m < 16; ++m)
    for (int k = 0; k < numK; ++k)
      for (int n = 0; n < 8; ++n)
        tiles.c[m][n] += tiles.a[m][k] * tiles.b[k][n];
}

__attribute__((target_clones("avx2", "default"))) static void
multiplyFloats(Tiles<double> &tiles, int numK) {
  multiplyInOrder(tiles, numK);
}

static void multiply(Tiles<double> &tiles, int numK) {
  multiplyFloats(tiles, numK);
}
static void multiply(Tiles<int64_t> &tiles, int numK) {
  multiplyInOrder(tiles, numK);
}

template <typename Number> static void multiplyAll(WarpMeeting &meeting) {
  Tiles<Number> tiles;
  readTiles(meeting, tiles);
  const Operation &operation = *meeting.operation;
  multiply(tiles, operation.detail[0]);
  for (int lane = 0; lane < 32; ++lane) {
    uint64_t *results = meeting.results[lane];
    uint32_t words[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; ++i) {
      Number sum = tiles.c[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + i % 2];
      if constexpr (std::is_same_v<Number, int64_t>) {
        if (operation.detail[4])
          sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
        words[i] = static_cast<uint32_t>(sum);
      } else if (operation.detail[5] == 32) {
        words[i] = bitsAs<uint32_t>(static_cast<float>(sum));
      } else {
        words[i / 2] |= uint32_t(toHalf(static_cast<float>(sum)))
                        << 16 * (i % 2);
      }
    }
    bool isHalf = operation.detail[5] == 16;
    for (int i = 0; i < (isHalf ? 2 : 4); ++i)
      results[i] = words[i];
  }
}

void heddle::emulator::multiplyMatrices(Context &context,
                                        const Operation &operation,
                                        const uint64_t *operands,
                                        uint64_t *results) {
  requireWholeWarp(context, operation);
  auto kind = static_cast<NumberKind>(operation.detail[1]);
  bool isInteger = kind == kS8 || kind == kU8;
  blockOf(context).meetings.meet(
      context, operation, kFullMask, /*orders=*/false, operands, results,
      isInteger ? multiplyAll<int64_t> : multiplyAll<double>);
}
