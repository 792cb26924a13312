//===- LinearKernel.cpp - Kernels of linear for f32 vectors ---------------===//
//
// A tile of y, some rows by some vectors of columns, stays in registers while k
// runs: per k one load a vector of W, one broadcast a row of x, and one fused
// multiply-add an element. Twice as many accumulators as the latency of an FMA
// times its throughput keep the units busy, so few rows take many columns: one
// row at a time, as in a decode step, takes eight vectors. The panel of W that
// a tile of columns reads stays in cache while all rows pass.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/LinearKernel.h"
#include "lib/CodeGen/Loops.h"
#include "lib/Kernels/VectorTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;

namespace {
class LinearKernelBuilder {
public:
  LinearKernelBuilder(OpBuilder &builder, func::FuncOp kernel,
                      const LinearShape &shape, const IsaLevel &isa)
      : loops(builder, kernel.getLoc()), shape(shape), isa(isa),
        input(kernel.getArgument(0)), weight(kernel.getArgument(1)),
        bias(shape.hasBias ? kernel.getArgument(2) : Value()),
        output(kernel.getArguments().back()) {}

  void build();

private:
  /// The most rows of a tile, and the vectors of columns that go with `rows`.
  int64_t mostRows() const { return isa.registers == 32 ? 8 : 6; }
  int64_t vectorsFor(int64_t rows) const;
  void columnTiles(int64_t rows, Value firstRow, Value endRow);
  void rowLoop(int64_t rows, Value firstRow, Value endRow, Value column,
               ArrayRef<int64_t> widths);
  void tile(int64_t rows, Value row, Value column, ArrayRef<int64_t> widths);

  Loops loops;
  LinearShape shape;
  IsaLevel isa;
  Value input, weight, bias, output;
};
} // namespace

int64_t LinearKernelBuilder::vectorsFor(int64_t rows) const {
  // Accumulators, one register a vector of W, one for the broadcast.
  int64_t accumulators = isa.registers == 32 ? 16 : 12;
  return std::min<int64_t>(8, accumulators / rows);
}

/// y[row + r, column + c] for r < rows and c < the sum of `widths`.
void LinearKernelBuilder::tile(int64_t rows, Value row, Value column,
                               ArrayRef<int64_t> widths) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Type f32 = builder.getF32Type();
  SmallVector<Value> rowIndices, columnIndices;
  for (int64_t r = 0; r < rows; ++r)
    rowIndices.push_back(
        builder.createOrFold<arith::AddIOp>(loc, row, loops.index(r)));
  int64_t offset = 0;
  for (int64_t width : widths) {
    columnIndices.push_back(
        builder.createOrFold<arith::AddIOp>(loc, column, loops.index(offset)));
    offset += width;
  }
  SmallVector<Value> zeros;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t width : widths)
      zeros.push_back(arith::ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(VectorType::get(width, f32), 0.0f)));
  auto sums = scf::ForOp::create(
      builder, loc, loops.index(0), loops.index(shape.depth), loops.index(1),
      zeros, [&](OpBuilder &, Location, Value k, ValueRange carried) {
        SmallVector<Value> next, columns;
        for (auto [width, index] : llvm::zip(widths, columnIndices))
          columns.push_back(
              vector::LoadOp::create(builder, loc, VectorType::get(width, f32),
                                     weight, ValueRange{k, index}));
        for (int64_t r = 0; r < rows; ++r) {
          Value x = loops.load(input, {rowIndices[r], k});
          for (auto [v, w] : llvm::enumerate(columns)) {
            Value lanes =
                vector::BroadcastOp::create(builder, loc, w.getType(), x);
            next.push_back(vector::FMAOp::create(
                builder, loc, lanes, w, carried[r * widths.size() + v]));
          }
        }
        scf::YieldOp::create(builder, loc, next);
      });
  for (int64_t r = 0; r < rows; ++r)
    for (auto [v, index] : llvm::enumerate(columnIndices)) {
      Value y = sums.getResult(r * widths.size() + v);
      if (bias)
        y = loops.add(y, vector::LoadOp::create(builder, loc,
                                                cast<VectorType>(y.getType()),
                                                bias, ValueRange{index}));
      vector::StoreOp::create(builder, loc, y, output,
                              ValueRange{rowIndices[r], index});
    }
}

void LinearKernelBuilder::rowLoop(int64_t rows, Value firstRow, Value endRow,
                                  Value column, ArrayRef<int64_t> widths) {
  scf::ForOp::create(loops.builder, loops.loc, firstRow, endRow,
                     loops.index(rows), ValueRange(),
                     [&](OpBuilder &, Location, Value row, ValueRange) {
                       tile(rows, row, column, widths);
                       scf::YieldOp::create(loops.builder, loops.loc);
                     });
}

/// All columns of the rows [firstRow, endRow), a multiple of `rows` of them.
void LinearKernelBuilder::columnTiles(int64_t rows, Value firstRow,
                                      Value endRow) {
  OpBuilder &builder = loops.builder;
  SmallVector<int64_t> widths(vectorsFor(rows), isa.lanes);
  int64_t step = widths.size() * isa.lanes;
  int64_t whole = shape.columns / step * step;
  if (whole > 0)
    scf::ForOp::create(builder, loops.loc, loops.index(0), loops.index(whole),
                       loops.index(step), ValueRange(),
                       [&](OpBuilder &, Location, Value column, ValueRange) {
                         rowLoop(rows, firstRow, endRow, column, widths);
                         scf::YieldOp::create(builder, loops.loc);
                       });
  if (whole < shape.columns)
    rowLoop(rows, firstRow, endRow, loops.index(whole),
            vectorWidths(shape.columns - whole, isa.lanes));
}

void LinearKernelBuilder::build() {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Value count = loops.size(input, 0), most = loops.index(mostRows());
  Value left = arith::RemUIOp::create(builder, loc, count, most);
  Value whole = arith::SubIOp::create(builder, loc, count, left);
  columnTiles(mostRows(), loops.index(0), whole);
  // What is left over is one tile high, so that W is read once for it.
  SmallVector<int64_t> cases;
  for (int64_t rows = 1; rows < mostRows(); ++rows)
    cases.push_back(rows);
  auto tails = scf::IndexSwitchOp::create(builder, loc, TypeRange(), left,
                                          cases, cases.size());
  auto fill = [&](Region &region, int64_t rows) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&region);
    if (rows > 0)
      columnTiles(rows, whole, count);
    scf::YieldOp::create(builder, loc);
  };
  fill(tails.getDefaultRegion(), 0);
  for (auto [region, rows] : llvm::zip(tails.getCaseRegions(), cases))
    fill(region, rows);
}

std::string heddle::nameOfLinearKernel(const LinearShape &shape) {
  return "linear_" + std::to_string(shape.depth) + "x" +
         std::to_string(shape.columns) + (shape.hasBias ? "_bias" : "");
}

func::FuncOp heddle::buildLinearKernel(OpBuilder &builder, Location loc,
                                       const LinearShape &shape,
                                       const IsaLevel &isa) {
  auto matrix = [&](int64_t rows, int64_t columns) {
    return MemRefType::get({rows, columns}, builder.getF32Type());
  };
  SmallVector<Type> types = {matrix(ShapedType::kDynamic, shape.depth),
                             matrix(shape.depth, shape.columns)};
  if (shape.hasBias)
    types.push_back(MemRefType::get(shape.columns, builder.getF32Type()));
  types.push_back(matrix(ShapedType::kDynamic, shape.columns));
  auto kernel =
      func::FuncOp::create(builder, loc, nameOfLinearKernel(shape),
                           builder.getFunctionType(types, TypeRange()));
  kernel.setPrivate();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(kernel.addEntryBlock());
  LinearKernelBuilder(builder, kernel, shape, isa).build();
  func::ReturnOp::create(builder, loc);
  return kernel;
}
