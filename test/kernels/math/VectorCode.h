//===- VectorCode.h - Run what emitters build -------------------*- C++ -*-===//
//
// A function of MLIR, compiled for an ISA level as kernels are and loaded into
// the process: for tests of single emitters, without an artifact.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_KERNELS_MATH_VECTORCODE_H
#define HEDDLE_TEST_KERNELS_MATH_VECTORCODE_H

#include "lib/CodeGen/Machine/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace heddle::test {

/// A memref as C functions take it.
template <size_t rank> struct MemRef {
  void *allocated, *aligned;
  int64_t offset = 0, sizes[rank], strides[rank];
};

/// Dense and row-major.
template <typename Element, typename... Sizes>
MemRef<sizeof...(Sizes)> memRefOf(const Element *elements, Sizes... sizes) {
  constexpr size_t rank = sizeof...(Sizes);
  auto *data = const_cast<Element *>(elements);
  MemRef<rank> memRef{data, data, 0, {int64_t(sizes)...}, {}};
  int64_t stride = 1;
  for (size_t axis = rank; axis-- > 0; stride *= memRef.sizes[axis])
    memRef.strides[axis] = stride;
  return memRef;
}

class VectorCode {
public:
  /// Compiles a function of these memrefs and no results, whose body `build`
  /// writes. Code that calls anything outside of it is a failure of the test.
  VectorCode(
      const IsaLevel &isa,
      llvm::function_ref<llvm::SmallVector<mlir::Type>(mlir::OpBuilder &)>
          arguments,
      llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange)> build);
  VectorCode(const VectorCode &) = delete;
  ~VectorCode();

  /// Runs it in the float environment of kernels.
  template <size_t... ranks>
  void operator()(const MemRef<ranks> &...memRefs) const {
    using Function = void (*)(const MemRef<ranks> *...);
    run([&] { reinterpret_cast<Function>(function)(&memRefs...); });
  }

private:
  void load(llvm::ArrayRef<char> object);
  void run(llvm::function_ref<void()> call) const;

  void *library = nullptr;
  void *function = nullptr;
};

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_MATH_VECTORCODE_H
