//===- RandomWeights.h - Numbers in place of trained weights ----*- C++ -*-===//
//
// Element i (from 0, in row-major order of the file's shape) of a tensor is a
// function of the seed, the tensor's name and i alone, so that anybody can make
// the same numbers:
//
//   h            64-bit FNV-1a of the name's bytes
//   x0 ... x3    Philox 4x32-10 (Salmon et al., SC 2011) with the key
//                (seed, seed >> 32) and the counter (b, b >> 32, h, h >> 32)
//                for b = i / 4, each modulo 2^32
//   u, v         (x + 1/2) / 2^32 of x0, x1 for i mod 4 below 2, else x2, x3
//   z            sqrt(-2 ln u) times cos(2 pi v) for even i, sin for odd ones
//                (Box and Muller), all in double precision
//   element      the f32 next to deviation z
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_RANDOMWEIGHTS_H
#define HEDDLE_LIB_WEIGHTS_RANDOMWEIGHTS_H

#include "lib/Weights/TensorFile.h"

namespace heddle {

/// A tensor whose elements are drawn with this standard deviation, or all one
/// value; one row, counted by the first dimension, may be zero.
struct RandomTensor {
  std::string name;
  llvm::SmallVector<int64_t, 2> shape;
  double deviation = 0.0;
  float constant = 0.0f;
  std::optional<int64_t> zeroRow = std::nullopt;
};

/// The first elements of a tensor, as the formula above has them.
void drawNormal(uint64_t seed, llvm::StringRef name, double deviation,
                llvm::MutableArrayRef<float> elements);

/// A safetensors file in memory with these tensors in f32, `name` its path.
/// Fails if there is no room for it. No two tensors have one name.
llvm::Expected<TensorFile> makeRandomFile(llvm::ArrayRef<RandomTensor> tensors,
                                          uint64_t seed, llvm::StringRef name);

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_RANDOMWEIGHTS_H
