#include "lib/Kernels/Gpu/RowMover.h"
#include "lib/CodeGen/CallLayout.h"
#include "lib/Kernels/Gpu/BlockCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace heddle;

/// HeddleRowMove.
static LLVM::LLVMStructType parameterType(OpBuilder &builder) {
  SmallVector<Type> fields(4, builder.getI64Type());
  fields.append(4, builder.getI32Type());
  return LLVM::LLVMStructType::getLiteral(builder.getContext(), fields);
}

void heddle::buildRowMover(ModuleOp module, int64_t number) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = NameLoc::get(builder.getStringAttr(HEDDLE_MOVE_ROWS));
  LLVM::LLVMStructType type = parameterType(builder);
  DeviceKernel kernel = createDeviceKernel(builder, loc, HEDDLE_MOVE_ROWS, type,
                                           {number, {HEDDLE_MOVE_THREADS}});
  Block *entry = kernel.function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  auto load = [&](MoveField field) -> Value {
    Value place = LLVM::GEPOp::create(
        builder, loc, entry->getArgument(0).getType(), type,
        entry->getArgument(0), ArrayRef<LLVM::GEPArg>{0, int32_t(field)});
    return LLVM::LoadOp::create(builder, loc, type.getBody()[int32_t(field)],
                                place);
  };
  auto pointerTo = [&](MoveField field) -> Value {
    return LLVM::IntToPtrOp::create(
        builder, loc,
        LLVM::LLVMPointerType::get(builder.getContext(),
                                   unsigned(NVVM::NVVMMemorySpace::Global)),
        load(field));
  };
  BlockCode code(builder, loc, HEDDLE_MOVE_THREADS);
  Type i32 = builder.getI32Type();
  Value from = pointerTo(MoveField::From), to = pointerTo(MoveField::To);
  Value parents = pointerTo(MoveField::Parents);
  Value pitch = load(MoveField::RowBytes);
  Value rows = load(MoveField::Rows), words = load(MoveField::Words);
  Value ofThread = load(MoveField::RowsOfThread);
  Value gathers = code.isDifferent(load(MoveField::Gathers), code.i32(0));

  // A thread has one word of some rows, which it moves in their order.
  Value block = NVVM::BlockIdXOp::create(builder, loc, i32);
  Value place =
      code.plus(code.times(block, HEDDLE_MOVE_THREADS), code.thread());
  Value column = code.times(code.remainder(place, words), 4);
  Value first = code.times(code.dividedBy(place, words), ofThread);
  Value end = code.least(code.plus(first, ofThread), rows);
  auto at = [&](Value base, Value row) {
    Value wide =
        arith::ExtUIOp::create(builder, loc, builder.getI64Type(), row);
    Value offset = arith::MulIOp::create(builder, loc, wide, pitch);
    return code.at(code.at(base, offset), column);
  };
  code.when(code.isLess(first, rows), [&] {
    scf::ForOp::create(
        builder, loc, first, end, code.i32(1), ValueRange(),
        [&](OpBuilder &, Location, Value row, ValueRange) {
          Value parent =
              code.loadOne(i32, code.at(parents, code.times(row, 4)));
          code.when(code.isDifferent(parent, row), [&] {
            Value source = code.choose(gathers, parent, row);
            code.storeOne(code.loadOne(i32, at(from, source)), at(to, row));
          });
          scf::YieldOp::create(builder, loc);
        });
  });
  func::ReturnOp::create(builder, loc);
}
