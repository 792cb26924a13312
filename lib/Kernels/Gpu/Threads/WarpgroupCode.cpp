//===- WarpgroupCode.cpp - What threads of sm_90a do besides --------------===//
//
// Ops of the NVVM dialect build what they can; wgmma and waits for mbarriers
// are assembly. wgmma writes its sums after the instruction has been issued. So
// each product takes the sums as operands and returns them, and waitForSums
// passes all of them through the wait: LLVM can move no use of a sum in front
// of it.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Threads/WarpgroupCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace heddle;

/// Bytes of a word, of a piece that swizzling moves, of the columns that it
/// looks at, and of these together.
static constexpr int64_t kWordBytes = 4, kPieceBytes = 16, kColumnBytes = 128,
                         kAtomBytes = 8 * kColumnBytes;

/// Assembly that stays where it is; null of type void.
static Value assemble(BlockCode &code, Type result, ValueRange operands,
                      StringRef text, StringRef constraints) {
  auto op = LLVM::InlineAsmOp::create(
      code.builder, code.loc, result ? TypeRange(result) : TypeRange(),
      operands, text, constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  return result ? op->getResult(0) : Value();
}

Value WarpgroupCode::uniformWarp() { return fromLane(warp(), i32(0)); }

void WarpgroupCode::giveUpRegisters(int64_t registers) {
  NVVM::SetMaxRegisterOp::create(builder, loc, uint32_t(registers),
                                 NVVM::SetMaxRegisterAction::decrease);
}
void WarpgroupCode::takeRegisters(int64_t registers) {
  NVVM::SetMaxRegisterOp::create(builder, loc, uint32_t(registers),
                                 NVVM::SetMaxRegisterAction::increase);
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

static Type clusterPointer(BlockCode &code) {
  return LLVM::LLVMPointerType::get(
      code.builder.getContext(),
      unsigned(NVVM::NVVMMemorySpace::SharedCluster));
}

Value WarpgroupCode::rankInCluster() {
  return NVVM::ClusterId::create(builder, loc, builder.getI32Type());
}
Value WarpgroupCode::clusters() {
  return NVVM::ClusterDimXOp::create(builder, loc, builder.getI32Type());
}
void WarpgroupCode::clusterBarrier() {
  NVVM::ClusterArriveOp::create(builder, loc, /*aligned=*/UnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, /*aligned=*/UnitAttr());
}
void WarpgroupCode::arriveAt(Value barrier, Value rank) {
  Value there =
      NVVM::MapaOp::create(builder, loc, clusterPointer(*this), barrier, rank);
  // The scope of the cluster would have each arrival wait for a barrier of
  // memory of the whole GPU.
  NVVM::MBarrierArriveOp::create(builder, loc, /*res=*/Type(), there,
                                 /*count=*/Value(), NVVM::MemScopeKind::CTA);
}

//===----------------------------------------------------------------------===//
// Named barriers
//===----------------------------------------------------------------------===//

void WarpgroupCode::waitAt(Value barrier, int64_t threads) {
  NVVM::BarrierOp::create(builder, loc, TypeRange(), barrier, i32(threads),
                          NVVM::BarrierReductionAttr(), Value());
}
void WarpgroupCode::passAt(Value barrier, int64_t threads) {
  // The op of the dialect is assembly.
  LLVM::CallIntrinsicOp::create(
      builder, loc,
      builder.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
      ValueRange{barrier, i32(threads)});
}

//===----------------------------------------------------------------------===//
// mbarriers and copies
//===----------------------------------------------------------------------===//

void WarpgroupCode::makeBarrier(Value barrier, Value arrivals) {
  NVVM::MBarrierInitOp::create(builder, loc, barrier, arrivals,
                               /*predicate=*/Value());
}
void WarpgroupCode::publishBarriers() {
  NVVM::FenceMbarrierInitOp::create(builder, loc);
}
void WarpgroupCode::arrive(Value barrier) {
  NVVM::MBarrierArriveOp::create(builder, loc, builder.getI64Type(), barrier,
                                 /*count=*/Value());
}
void WarpgroupCode::arriveBefore(Value barrier, Value bytes) {
  NVVM::MBarrierArriveExpectTxOp::create(
      builder, loc, builder.getI64Type(), barrier, bytes,
      NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
}

/// An address of shared memory as instructions take it.
static Value addressOf(BlockCode &code, Value pointer) {
  return LLVM::PtrToIntOp::create(code.builder, code.loc,
                                  code.builder.getI32Type(), pointer);
}

void WarpgroupCode::waitForPhase(Value barrier, Value parity) {
  assemble(*this, Type(), {addressOf(*this, barrier), parity},
           "{\n"
           ".reg .pred ended;\n"
           "again:\n"
           "mbarrier.try_wait.parity.shared::cta.b64 ended, [$0], $1;\n"
           "@!ended bra again;\n"
           "}",
           "r,r,~{memory}");
}

void WarpgroupCode::copyBulk(Value to, Value from, Value bytes, Value barrier,
                             Value blocks) {
  // PTX before 8.6 knows copies to a cluster alone: a block is one, too.
  Value cluster =
      LLVM::AddrSpaceCastOp::create(builder, loc, clusterPointer(*this), to);
  Value mask;
  if (blocks)
    mask = arith::TruncIOp::create(builder, loc, builder.getI16Type(), blocks);
  NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(builder, loc, cluster, from,
                                                   barrier, bytes, mask,
                                                   /*l2CacheHint=*/Value());
}

void WarpgroupCode::fenceForProducts() {
  NVVM::FenceProxyOp::create(
      builder, loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(builder.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

//===----------------------------------------------------------------------===//
// Products (PTX ISA, "Asynchronous warpgroup-level matrix instructions")
//===----------------------------------------------------------------------===//

/// Swizzled atoms, one behind the other, and across that so many bytes apart.
static Value describe(WarpgroupCode &code, Value pointer, int64_t bytes) {
  // Addresses and distances without their lowest four bits: 14 of the address,
  // from bit 16 on what is between atoms across, from bit 32 on what is between
  // those in a line, and the swizzle of 128 bytes.
  uint64_t form = uint64_t(1) << 62 | uint64_t(kAtomBytes / kPieceBytes) << 32 |
                  uint64_t(bytes / kPieceBytes) << 16;
  Value address = code.shiftRight(
      code.bitAnd(addressOf(code, pointer), code.i32(0x3ffff)), 4);
  Value wide = arith::ExtUIOp::create(code.builder, code.loc,
                                      code.builder.getI64Type(), address);
  Value rest = arith::ConstantIntOp::create(code.builder, code.loc,
                                            static_cast<int64_t>(form), 64);
  return code.bitOr(wide, rest);
}

Value WarpgroupCode::describeColumns(Value pointer) {
  // Depth ends with the 128 bytes of an atom: there is nothing across.
  return describe(*this, pointer, kPieceBytes);
}
Value WarpgroupCode::describeDepth(Value pointer, int64_t bytes) {
  return describe(*this, pointer, bytes);
}
Value WarpgroupCode::atWords(Value description, int64_t words) {
  if (words == 0)
    return description;
  return add(description, words * kWordBytes / kPieceBytes);
}
Value WarpgroupCode::swizzledPiece(Value piece, Value column) {
  return bitXor(piece, urem(column, kAtomBytes / kColumnBytes));
}

void WarpgroupCode::beginProducts() {
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
}
void WarpgroupCode::endProducts() {
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
}
void WarpgroupCode::waitForProducts(int64_t groups) {
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, uint64_t(groups));
}

/// Assembly whose results are `values` after it; behind them stand `operands`.
static SmallVector<Value> assembleInPlace(BlockCode &code, ValueRange values,
                                          ValueRange operands, StringRef text,
                                          StringRef constraintsOfOperands) {
  Type type = values.front().getType();
  std::string constraints;
  for (size_t i = 0; i < values.size(); ++i)
    constraints += type.isF32() ? "=f," : "=r,";
  for (size_t i = 0; i < values.size(); ++i)
    constraints += llvm::utostr(i) + ",";
  constraints += constraintsOfOperands;
  StringRef all = constraints;
  all.consume_back(",");
  auto result = LLVM::LLVMStructType::getLiteral(
      code.builder.getContext(), SmallVector<Type>(values.size(), type));
  SmallVector<Value> inputs = llvm::to_vector(values);
  llvm::append_range(inputs, operands);
  Value changed = assemble(code, result, inputs, text, all);
  SmallVector<Value> results;
  for (size_t i = 0; i < values.size(); ++i)
    results.push_back(
        LLVM::ExtractValueOp::create(code.builder, code.loc, changed, i));
  return results;
}

namespace {
/// What a product takes: rows, in registers or described, columns, whether it
/// adds to the sums, and what assembly has behind that.
struct Factors {
  ArrayRef<Value> rows;
  Value columns;
  bool adds;
  StringRef rest;
};
} // namespace

static SmallVector<Value> addProduct(BlockCode &code, StringRef types,
                                     const Factors &factors, ValueRange sums) {
  auto registers = [](size_t first, size_t count) {
    SmallVector<std::string> names;
    for (size_t i = first; i < first + count; ++i)
      names.push_back("$" + llvm::utostr(i));
    return llvm::join(names, ", ");
  };
  size_t count = sums.size(), firstRow = 2 * count, rows = factors.rows.size();
  bool areDescribed = rows == 1;
  std::string text =
      ("{\n.reg .pred adds;\nsetp.ne.b32 adds, " + Twine(int(factors.adds)) +
       ", 0;\nwgmma.mma_async.sync.aligned.m64n" + Twine(2 * count) + types +
       " {" + registers(0, count) + "}, " + (areDescribed ? "" : "{") +
       registers(firstRow, rows) + (areDescribed ? "" : "}") + ", $" +
       Twine(firstRow + rows) + ", adds" + factors.rest + ";\n}")
          .str();
  SmallVector<Value> operands(factors.rows);
  operands.push_back(factors.columns);
  return assembleInPlace(code, sums, operands, text,
                         areDescribed ? "l,l" : "r,r,r,r,l");
}

/// The depth and the types of a product, as instructions name them.
static StringRef typesOf(Type element) {
  if (element.isInteger(8))
    return "k32.s32.s8.s8";
  return element.isF16() ? "k16.f32.f16.f16" : "k16.f32.bf16.bf16";
}

// Behind whether it adds, short floats have factors of 1 or -1 and whether
// depth is not what stands side by side, of columns and, where they are
// described, rows.

SmallVector<Value>
WarpgroupCode::multiplyColumns(Type element, const FourWords &rows,
                               Value columns, ValueRange sums, bool isFirst) {
  StringRef rest = element.isInteger(8) ? "" : ", 1, 1, 0";
  return addProduct(*this, typesOf(element),
                    {rows, columns, /*adds=*/!isFirst, rest}, sums);
}

SmallVector<Value> WarpgroupCode::multiplyDepth(Type element,
                                                const FourWords &rows,
                                                Value depth, ValueRange sums) {
  return addProduct(*this, typesOf(element),
                    {rows, depth, /*adds=*/true, ", 1, 1, 1"}, sums);
}

SmallVector<Value> WarpgroupCode::multiplyRows(Type element, Value rows,
                                               Value columns, ValueRange sums,
                                               bool isFirst) {
  return addProduct(*this, typesOf(element),
                    {rows, columns, /*adds=*/!isFirst, ", 1, 1, 0, 0"}, sums);
}

SmallVector<Value> WarpgroupCode::waitForSums(ValueRange sums, int64_t groups) {
  return assembleInPlace(
      *this, sums, {},
      "wgmma.wait_group.sync.aligned " + llvm::utostr(groups) + ";", "");
}

SmallVector<Value> WarpgroupCode::computeHere(ValueRange values) {
  return assembleInPlace(*this, values, {}, "", "");
}

void WarpgroupCode::computeBeforeWaits(ValueRange sums) {
  Value all = sums.front();
  for (Value sum : sums.drop_front())
    all = add(all, sum);
  // A negative denormal, which no sum is where denormals are zeros.
  Value never = equal(bitcastToI32(all), i32(int32_t(0x80000001)));
  ifThen(never, [&] { LLVM::Trap::create(builder, loc); });
}
