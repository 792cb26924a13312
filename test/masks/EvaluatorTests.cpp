//===- EvaluatorTests.cpp - Code runs as its ops are defined --------------===//

#include "lib/Masks/Evaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace heddle;

namespace {
/// A function of which the first result is asked for.
class EvaluatorTest : public testing::Test {
protected:
  EvaluatorTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        memref::MemRefDialect, scf::SCFDialect,
                        tensor::TensorDialect>();
  }

  void parse(llvm::StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    body = &(*module->getOps<func::FuncOp>().begin()).front();
  }

  Attribute number(int64_t value) {
    return IntegerAttr::get(IntegerType::get(&context, 32), value);
  }

  /// Null where it is unknown.
  std::optional<int64_t> run(llvm::ArrayRef<int64_t> arguments) {
    llvm::SmallVector<Attribute> constants;
    for (int64_t argument : arguments)
      constants.push_back(number(argument));
    evaluator.enter(*body, constants);
    Attribute result = evaluator.evaluate(body->getTerminator()->getOperand(0));
    if (!result)
      return std::nullopt;
    return cast<IntegerAttr>(result).getInt();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Block *body = nullptr;
  Evaluator evaluator;
};
} // namespace

TEST_F(EvaluatorTest, LoopsCarryTheirValues) {
  // The sum of the even numbers below n.
  parse(R"(
    func.func @f(%n: i32) -> i32 {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> i32 : i32 {
        %rest = arith.remsi %i, %c2 : i32
        %isEven = arith.cmpi eq, %rest, %c0 : i32
        %next = scf.if %isEven -> i32 {
          %more = arith.addi %s, %i : i32
          scf.yield %more : i32
        } else {
          scf.yield %s : i32
        }
        scf.yield %next : i32
      }
      return %sum : i32
    })");
  EXPECT_EQ(run({7}), 12);
  EXPECT_EQ(run({0}), 0);
  EXPECT_EQ(run({-3}), 0);
  EXPECT_EQ(run({9}), 20);
}

TEST_F(EvaluatorTest, SearchesAList) {
  // The first place whose number is at least x, by halves.
  parse(R"(
    func.func @f(%x: i32) -> i32 {
      %list = arith.constant dense<[2, 3, 3, 8, 13]> : tensor<5xi32>
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c5 = arith.constant 5 : i32
      %place:2 = scf.while (%low = %c0, %high = %c5) : (i32, i32) -> (i32, i32) {
        %isLeft = arith.cmpi slt, %low, %high : i32
        scf.condition(%isLeft) %low, %high : i32, i32
      } do {
      ^bb0(%low: i32, %high: i32):
        %both = arith.addi %low, %high : i32
        %middle = arith.shrui %both, %c1 : i32
        %at = arith.index_cast %middle : i32 to index
        %here = tensor.extract %list[%at] : tensor<5xi32>
        %isBefore = arith.cmpi slt, %here, %x : i32
        %behind = arith.addi %middle, %c1 : i32
        %nextLow = arith.select %isBefore, %behind, %low : i32
        %nextHigh = arith.select %isBefore, %high, %middle : i32
        scf.yield %nextLow, %nextHigh : i32, i32
      }
      return %place#0 : i32
    })");
  int64_t expected[] = {0, 0, 0, 1, 3, 3, 3, 3, 3, 4};
  for (int64_t x = 0; x < 10; ++x)
    EXPECT_EQ(run({x}), expected[x]) << x;
  EXPECT_EQ(run({14}), 5);
}

TEST_F(EvaluatorTest, ReadsWhatIsBound) {
  parse(R"(
    func.func @f(%table: memref<?xi32>, %i: i32) -> i32 {
      %at = arith.index_cast %i : i32 to index
      %y = memref.load %table[%at] : memref<?xi32>
      return %y : i32
    })");
  auto type = RankedTensorType::get({3}, IntegerType::get(&context, 32));
  auto read = [&](int64_t at) {
    auto table =
        DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>{5, -6, 7});
    evaluator.enter(*body, {table, number(at)});
    return evaluator.evaluate(body->getTerminator()->getOperand(0));
  };
  EXPECT_EQ(read(1), number(-6));
  EXPECT_EQ(read(2), number(7));
  // Outside of the table nothing is known.
  EXPECT_FALSE(read(3));
  EXPECT_FALSE(read(-1));
}

TEST_F(EvaluatorTest, SaysWhatIsUnknown) {
  parse(R"(
    func.func @f(%x: i32) -> i32 {
      %c0 = arith.constant 0 : i32
      %none = arith.divsi %x, %c0 : i32
      %y = arith.addi %none, %x : i32
      return %y : i32
    })");
  EXPECT_EQ(run({1}), std::nullopt);
  EXPECT_TRUE(evaluator.getUnknown().getDefiningOp<arith::DivSIOp>());
  Value argument = body->getArgument(0);
  EXPECT_FALSE(Evaluator().evaluate(argument));
  evaluator.bind(argument, number(4));
  EXPECT_EQ(evaluator.evaluate(argument), number(4));
}
