//===- CompileLevelsTests.cpp - Levels and units among threads ------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/CodeUnits.h"
#include "lib/CodeGen/Machine/CompileLevels.h"
#include "lib/CodeGen/Machine/JobQueue.h"
#include "lib/CodeGen/Machine/LargeStack.h"
#include "lib/Support/Error.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Object/ELFObjectFile.h"
#include <atomic>
#include <gtest/gtest.h>

using namespace heddle;
using namespace mlir;

static DialectRegistry getRegistry() {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                  memref::MemRefDialect, TransformerDialect>();
  return registry;
}

static SmallVector<std::string> namesIn(ModuleOp unit) {
  SmallVector<std::string> names;
  for (Operation &op : *unit.getBody())
    names.push_back(SymbolTable::getSymbolName(&op).str() +
                    (op.getNumRegions() && op.getRegion(0).empty() ? "?" : ""));
  return names;
}

TEST(CodeUnits, AKernelStandsWithWhatItAloneReaches) {
  MLIRContext context(getRegistry());
  auto module = parseSourceString<ModuleOp>(R"(
    transformer.parameter @weight : tensor<8xf32>
    memref.global "private" constant @table : memref<2xf32> = dense<1.0>
    func.func @heddle.encode() { call @outer() : () -> () return }
    func.func @heddle.encode.arena() { return }
    func.func private @outer() attributes {transformer.kernel} {
      call @outer.task() : () -> ()
      call @inner() : () -> ()
      return
    }
    func.func private @outer.task() attributes {
        llvm.linkage = #llvm.linkage<internal>} {
      %t = memref.get_global @table : memref<2xf32>
      return
    }
    func.func private @inner() attributes {
        transformer.kernel, transformer.work = @inner.work} {
      %t = memref.get_global @table : memref<2xf32>
      call @library() : () -> ()
      return
    }
    func.func private @inner.work() attributes {
        transformer.kernel, llvm.linkage = #llvm.linkage<internal>} {
      return
    }
    func.func private @library()
  )",
                                            &context);
  ASSERT_TRUE(module);
  auto units = splitIntoUnits(*module);
  // Behind a "?" nothing is defined.
  using Names = SmallVector<std::string>;
  ASSERT_EQ(units.size(), 3u);
  EXPECT_EQ(namesIn(*units[0]),
            Names({"heddle.encode", "heddle.encode.arena", "outer?"}));
  EXPECT_EQ(namesIn(*units[1]),
            Names({"outer", "outer.task", "inner?", "table"}));
  EXPECT_EQ(namesIn(*units[2]),
            Names({"inner", "inner.work", "table", "library?"}));
  for (auto &unit : units)
    EXPECT_TRUE(succeeded(unit->verify()));
}

TEST(JobQueue, RunsWhatJobsAddOnceEach) {
  JobQueue<int> queue;
  queue.add(/*cost=*/1, 6);
  std::atomic<int> ran = 0;
  runOnLargeStacks(3, [&] {
    queue.work([&](int &depth) {
      ++ran;
      for (int i = 0; i < 2 && depth > 0; ++i)
        queue.add(/*cost=*/depth, depth - 1);
    });
  });
  EXPECT_EQ(ran, 127);
}

TEST(JobQueue, ExpensiveJobsGoFirst) {
  JobQueue<int> queue;
  for (int cost : {2, 9, 4})
    queue.add(cost, cost);
  std::vector<int> order;
  queue.work([&](int &cost) { order.push_back(cost); });
  EXPECT_EQ(order, std::vector<int>({9, 4, 2}));
}

//===----------------------------------------------------------------------===//
// compileLevels
//===----------------------------------------------------------------------===//

namespace {
/// Fails on functions of these names.
struct Refuse : PassWrapper<Refuse, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Refuse)
  explicit Refuse(std::vector<StringRef> names) : names(std::move(names)) {}

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() &&
          llvm::is_contained(names, function.getSymName())) {
        function.emitError(function.getSymName()) << " is refused";
        signalPassFailure();
      }
  }

  std::vector<StringRef> names;
};

/// An entry point that calls six kernels.
class CompileLevelsTest : public testing::Test {
protected:
  CompileLevelsTest() : context(getRegistry()) {
    std::string calls, kernels;
    for (int i = 0; i < 6; ++i) {
      std::string name = "@kernel" + std::to_string(i);
      calls += "call " + name + "() : () -> ()\n";
      kernels += "func.func private " + name +
                 "() attributes {transformer.kernel} { call " + name +
                 ".task() : () -> () return }\n" + "func.func private " + name +
                 ".task() attributes {llvm.linkage = #llvm.linkage<internal>} "
                 "{ return }\n";
    }
    module = parseSourceString<ModuleOp>("func.func @heddle.encode() {" +
                                             calls + "return }" + kernels,
                                         &context);
    steps.buildCode = [](OpPassManager &, const Backend &) {};
    steps.buildLLVM = [](OpPassManager &manager) {
      manager.addPass(createConvertFuncToLLVMPass());
    };
    steps.describe = [](ModuleOp) { return std::string("manifest"); };
  }

  llvm::Expected<std::vector<CompiledLevel>> compile(unsigned jobs) {
    return compileLevels(*module,
                         llvm::cantFail(getBackends("portable", ShortTypes())),
                         steps, jobs);
  }
  std::string failure(unsigned jobs) {
    auto compiled = compile(jobs);
    return compiled ? "none" : llvm::toString(compiled.takeError());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  LevelSteps steps;
};
} // namespace

TEST_F(CompileLevelsTest, BytesAreTheSameForAnyNumberOfJobs) {
  auto alone = llvm::cantFail(compile(1));
  ASSERT_EQ(alone.size(), 2u);
  for (unsigned jobs : {2, 5, 40}) {
    auto shared = llvm::cantFail(compile(jobs));
    ASSERT_EQ(shared.size(), 2u);
    for (int level : {0, 1}) {
      EXPECT_EQ(shared[level].manifest, "manifest");
      EXPECT_EQ(shared[level].code, alone[level].code) << jobs;
    }
  }
}

TEST_F(CompileLevelsTest, OnlyEntryPointsAreSeenFromOutside) {
  auto levels = llvm::cantFail(compile(2));
  auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(levels[0].code, "code")));
  SmallVector<std::string> names;
  auto *elf = cast<llvm::object::ELFObjectFileBase>(file.get());
  for (const llvm::object::SymbolRef &symbol : elf->getDynamicSymbolIterators())
    names.push_back(llvm::cantFail(symbol.getName()).str());
  EXPECT_EQ(names, SmallVector<std::string>({"heddle.encode"}));
}

TEST_F(CompileLevelsTest, TheErrorIsThatOfTheFirstLevelAndUnit) {
  steps.buildLLVM = [](OpPassManager &manager) {
    manager.addPass(
        std::make_unique<Refuse>(std::vector<StringRef>{"kernel4", "kernel2"}));
    manager.addPass(createConvertFuncToLLVMPass());
  };
  steps.buildCode = [](OpPassManager &manager, const Backend &backend) {
    if (backend.name() == "x86-64-v4")
      manager.addPass(
          std::make_unique<Refuse>(std::vector<StringRef>{"heddle.encode"}));
  };
  for (unsigned jobs : {1, 2, 5})
    EXPECT_NE(failure(jobs).find("kernel2 is refused"), std::string::npos)
        << failure(jobs);
}

TEST_F(CompileLevelsTest, WhatCannotBeDescribedIsAnError) {
  steps.describe = [](ModuleOp) -> llvm::Expected<std::string> {
    return makeError("no entry");
  };
  for (unsigned jobs : {1, 2, 5})
    EXPECT_EQ(failure(jobs), "no entry");
}
