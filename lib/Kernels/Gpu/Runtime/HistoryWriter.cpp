//===- HistoryWriter.cpp - Which cache has a position ---------------------===//
//
// Beams share the caches of their past: history[r, j] is the cache in which row
// r finds position j. Before a step this kernel sets history[r, positions[r]] =
// caches[r], one thread a row. With this list no cache is ever copied.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/CallLayout.h"
#include "lib/Kernels/Gpu/Runtime/RuntimeKernel.h"

using namespace mlir;
using namespace heddle;

void heddle::buildHistoryWriter(ModuleOp module, int64_t number) {
  RuntimeKernel kernel(
      module, {HEDDLE_WRITE_HISTORY, number, HEDDLE_HISTORY_THREADS, 3, 2});
  BlockCode &code = kernel.code();
  auto pointerTo = [&](HistoryField field) {
    return kernel.pointerTo(int32_t(field));
  };
  Value history = pointerTo(HistoryField::History);
  Value positions = pointerTo(HistoryField::Positions);
  Value caches = pointerTo(HistoryField::Caches);
  Value capacity = kernel.load(int32_t(HistoryField::Capacity));
  Value row = kernel.threadOfGrid();
  code.ifThen(code.uless(row, kernel.load(int32_t(HistoryField::Rows))), [&] {
    Type i32 = code.builder.getI32Type();
    auto ofRow = [&](Value numbers) {
      return code.loadOne(i32, code.at(numbers, code.mul(row, 4)));
    };
    Value past = code.at(history, code.rowOffset(row, code.mul(capacity, 4)));
    code.storeOne(ofRow(caches), code.at(past, code.mul(ofRow(positions), 4)));
  });
}
