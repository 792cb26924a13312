//===- EmulateTiles.cpp - Make loops of tiles, for tests ------------------===//
//
// Tiles become memrefs, loops that carry them carry those (the structural type
// conversion of scf), and each op its loops, which are written out once a type:
// a product unrolled into vectors would take LLVM seconds each.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/Loops.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_EMULATETILESPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static MemRefType memoryOf(amx::TileType tile) {
  return MemRefType::get(tile.getShape(), tile.getElementType());
}

/// Memory for the tile that an op makes, on the stack of its function.
static Value memoryFor(Operation *op, amx::TileType tile, OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  auto function = op->getParentOfType<func::FuncOp>();
  builder.setInsertionPointToStart(&function.front());
  return memref::AllocaOp::create(builder, op->getLoc(), memoryOf(tile));
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// Where the element of a tile stands in memory; a stride that the op names
/// counts elements behind its indices.
template <typename Op>
static SmallVector<Value> placeOf(Op op, ValueRange element, Loops &loops) {
  OpBuilder &builder = loops.builder;
  auto add = [&](Value a, Value b) -> Value {
    return arith::AddIOp::create(builder, loops.loc, a, b);
  };
  SmallVector<Value> place(op.getIndices());
  if (Value stride = op.getStride())
    place.back() = add(place.back(), arith::MulIOp::create(builder, loops.loc,
                                                           element[0], stride));
  else
    place.end()[-2] = add(place.end()[-2], element[0]);
  place.back() = add(place.back(), element[1]);
  return place;
}

namespace {
struct EmulateZero : OpConversionPattern<amx::TileZeroOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(amx::TileZeroOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Loops loops(rewriter, op.getLoc());
    Value memory = memoryFor(op, op.getTileType(), rewriter);
    Type element = op.getTileType().getElementType();
    Value zero = arith::ConstantOp::create(rewriter, op.getLoc(),
                                           rewriter.getZeroAttr(element));
    loops.nest(memory, 2,
               [&](ValueRange at) { loops.store(zero, memory, at); });
    rewriter.replaceOp(op, memory);
    return success();
  }
};

struct EmulateLoad : OpConversionPattern<amx::TileLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(amx::TileLoadOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Loops loops(rewriter, op.getLoc());
    Value memory = memoryFor(op, op.getTileType(), rewriter);
    loops.nest(memory, 2, [&](ValueRange at) {
      loops.store(loops.load(op.getBase(), placeOf(op, at, loops)), memory, at);
    });
    rewriter.replaceOp(op, memory);
    return success();
  }
};

struct EmulateStore : OpConversionPattern<amx::TileStoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(amx::TileStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Loops loops(rewriter, op.getLoc());
    loops.nest(adaptor.getVal(), 2, [&](ValueRange at) {
      loops.store(loops.load(adaptor.getVal(), at), op.getBase(),
                  placeOf(op, at, loops));
    });
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// The loops of one element of a product: rows of x by groups of columns of w.
struct Product {
  Loops loops;
  Value x, w, row, column;
  /// Elements of a group.
  int64_t group;

  /// Element `part` of group k of a row of x, and of w.
  Value ofX(Value k, int64_t part) {
    return loops.load(x, {row, loops.add(loops.mul(k, group), part)});
  }
  Value ofW(Value k, int64_t part) {
    return loops.load(w, {k, loops.add(loops.mul(column, group), part)});
  }
  Value groups() { return loops.size(w, 0); }
};
} // namespace

/// sum + the products of bytes, exact in 32 bits.
static Value addBytes(amx::TileMulIOp op, Product product, Value sum) {
  OpBuilder &builder = product.loops.builder;
  Location loc = product.loops.loc;
  auto widen = [&](Value byte, bool isUnsigned) -> Value {
    if (isUnsigned)
      return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), byte);
    return arith::ExtSIOp::create(builder, loc, builder.getI32Type(), byte);
  };
  return product.loops.fold(
      product.loops.index(0), product.groups(), sum, [&](Value k, Value added) {
        for (int64_t part = 0; part < product.group; ++part)
          added = product.loops.add(
              added, product.loops.mul(
                         widen(product.ofX(k, part), op.getIsZextLhs()),
                         widen(product.ofW(k, part), op.getIsZextRhs())));
        return added;
      });
}

/// sum + (products of even inputs + products of odd ones).
static Value addPairs(amx::TileMulFOp, Product product, Value sum) {
  OpBuilder &builder = product.loops.builder;
  Location loc = product.loops.loc;
  auto widen = [&](Value half) -> Value {
    return arith::ExtFOp::create(builder, loc, builder.getF32Type(), half);
  };
  Value sums[2];
  for (int64_t part : {0, 1})
    sums[part] = product.loops.fold(
        product.loops.index(0), product.groups(), product.loops.f32(0),
        [&](Value k, Value added) -> Value {
          return product.loops.fma(widen(product.ofX(k, part)),
                                   widen(product.ofW(k, part)), added);
        });
  return product.loops.add(sum, product.loops.add(sums[0], sums[1]));
}

namespace {
/// A function (x, w, sums, result) for each type of product; the last two may
/// be the same memory.
template <typename Op> struct EmulateProduct : OpConversionPattern<Op> {
  using AddProducts = Value (*)(Op, Product, Value);
  EmulateProduct(const TypeConverter &types, MLIRContext *context,
                 AddProducts addProducts)
      : OpConversionPattern<Op>(types, context), addProducts(addProducts) {}

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value result = memoryFor(op, op.getTileType(), rewriter);
    func::CallOp::create(rewriter, op.getLoc(), findFunction(op, rewriter),
                         ValueRange{adaptor.getLhs(), adaptor.getRhs(),
                                    adaptor.getAcc(), result});
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  func::FuncOp findFunction(Op op, ConversionPatternRewriter &rewriter) const;

  AddProducts addProducts;
};
} // namespace

/// tile_muli_u8i8_16x4: what an op multiplies, rows of x and groups.
static std::string nameOf(amx::TileMulIOp op) {
  amx::TileType w = op.getRhsTileType();
  return (Twine("heddle.tile_muli_") + (op.getIsZextLhs() ? "u8" : "i8") +
          (op.getIsZextRhs() ? "u8_" : "i8_") +
          Twine(op.getTileType().getDimSize(0)) + "x" + Twine(w.getDimSize(0)))
      .str();
}
static std::string nameOf(amx::TileMulFOp op) {
  return (Twine("heddle.tile_mulf_") + Twine(op.getTileType().getDimSize(0)) +
          "x" + Twine(op.getRhsTileType().getDimSize(0)))
      .str();
}

template <typename Op>
func::FuncOp
EmulateProduct<Op>::findFunction(Op op,
                                 ConversionPatternRewriter &rewriter) const {
  auto module = op->template getParentOfType<ModuleOp>();
  std::string name = nameOf(op);
  if (auto function = module.template lookupSymbol<func::FuncOp>(name))
    return function;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(module.getBody());
  MemRefType sums = memoryOf(op.getTileType());
  auto function = func::FuncOp::create(
      rewriter, op.getLoc(), name,
      rewriter.getFunctionType({memoryOf(op.getLhsTileType()),
                                memoryOf(op.getRhsTileType()), sums, sums},
                               {}));
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(rewriter.getContext(), LLVM::Linkage::Internal));
  Block *body = function.addEntryBlock();
  rewriter.setInsertionPointToStart(body);
  Loops loops(rewriter, op.getLoc());
  Value x = body->getArgument(0), w = body->getArgument(1);
  Value added = body->getArgument(2), result = body->getArgument(3);
  int64_t group =
      32 / op.getLhsTileType().getElementType().getIntOrFloatBitWidth();
  loops.nest(result, 2, [&](ValueRange at) {
    loops.store(addProducts(op, {loops, x, w, at[0], at[1], group},
                            loops.load(added, at)),
                result, at);
  });
  func::ReturnOp::create(rewriter, op.getLoc());
  return function;
}

namespace {
struct EmulateTiles : heddle::impl::EmulateTilesPassBase<EmulateTiles> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    TypeConverter types;
    types.addConversion([](Type type) { return type; });
    types.addConversion([](amx::TileType tile) { return memoryOf(tile); });
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalDialect<amx::AMXDialect>();
    RewritePatternSet patterns(context);
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns,
                                                         target);
    patterns.add<EmulateZero, EmulateLoad, EmulateStore>(types, context);
    patterns.add<EmulateProduct<amx::TileMulIOp>>(types, context, addBytes);
    patterns.add<EmulateProduct<amx::TileMulFOp>>(types, context, addPairs);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
