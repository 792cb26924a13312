//===- BlockCode.cpp - What a thread of a block does ----------------------===//
//
// Pointers carry their address space, and each load or store the alignment of
// all that it moves, so that 16 bytes are one instruction. A product of f32
// splits each operand into a number of tf32 and the rest, and adds three
// products, the small ones first: rest by upper, upper by rest, upper by upper.
// Rest by rest is left out.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Threads/BlockCode.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;

MemRefType heddle::typeOf(Value memref) {
  return cast<MemRefType>(memref.getType());
}
int64_t heddle::elementBytes(Value memref) {
  return typeOf(memref).getElementTypeBitWidth() / 8;
}
bool heddle::areDense(ValueRange memrefs) {
  return llvm::all_of(memrefs, [](Value memref) {
    return !memref || typeOf(memref).getLayout().isIdentity();
  });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Value callIntrinsic(BlockCode &code, Type result, StringRef name,
                           ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(
             code.builder, code.loc, result,
             code.builder.getStringAttr("llvm.nvvm." + name), operands)
      .getResults();
}
Value BlockCode::roundTwo(Type element, Value lower, Value upper) {
  Value pair = callIntrinsic(*this, VectorType::get(2, element),
                             element.isF16() ? "ff2f16x2.rn" : "ff2bf16x2.rn",
                             {upper, lower});
  return LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), pair);
}
/// Two f16 as an operand of instructions.
static Value pairOf(BlockCode &code, Value word) {
  return LLVM::BitcastOp::create(code.builder, code.loc,
                                 VectorType::get(2, code.builder.getF16Type()),
                                 word);
}
std::array<Value, 2> BlockCode::widenTwo(Type element, Value word) {
  if (element.isF16()) {
    Value pair = widen(builder, loc, pairOf(*this, word));
    auto half = [&](int64_t number) -> Value {
      return vector::ExtractOp::create(builder, loc, pair, number);
    };
    return {half(0), half(1)};
  }
  return {bitcastToF32(shiftLeft(word, 16)),
          bitcastToF32(bitAnd(word, i32(~0xffff)))};
}
Value BlockCode::exp2(Value x) {
  return callIntrinsic(*this, builder.getF32Type(), "ex2.approx.ftz.f32", x);
}

SmallVector<Value>
BlockCode::foldAll(Value end, ValueRange initial,
                   function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop =
      scf::ForOp::create(builder, loc, i32(0), end, i32(1), initial,
                         [&](OpBuilder &, Location, Value i, ValueRange now) {
                           scf::YieldOp::create(builder, loc, body(i, now));
                         });
  return SmallVector<Value>(loop.getResults());
}

Value BlockCode::thread() {
  return NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
}

void BlockCode::eachPiece(int64_t count, function_ref<void(Value)> body) {
  for (int64_t first = 0; first < count; first += threads) {
    Value piece = add(thread(), first);
    if (first + threads <= count)
      body(piece);
    else
      ifThen(uless(piece, i32(count)), [&] { body(piece); });
  }
}

BlockCode::Place BlockCode::placeInRows(Value block, Value width) {
  // Threads of `width` blocks make `threads` rows.
  Value before = mul(udiv(block, width), threads);
  Value here = add(mul(urem(block, width), threads), thread());
  return {add(before, udiv(here, width)), urem(here, width)};
}

void BlockCode::barrier() { NVVM::Barrier0Op::create(builder, loc); }
void BlockCode::barrierOf(int64_t count) {
  // Number 0 is that of all.
  NVVM::BarrierOp::create(builder, loc, TypeRange(), i32(1), i32(count),
                          NVVM::BarrierReductionAttr(), Value());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static LLVM::LLVMPointerType pointerType(OpBuilder &builder,
                                         NVVM::NVVMMemorySpace space) {
  return LLVM::LLVMPointerType::get(builder.getContext(), unsigned(space));
}

Value BlockCode::global(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(
      builder, loc, metadata.getBaseBuffer());
  Value first = mul(metadata.getOffset(), bytes);
  Value address = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                             add(base, first));
  Value generic = LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
  return LLVM::AddrSpaceCastOp::create(
      builder, loc, pointerType(builder, NVVM::NVVMMemorySpace::Global),
      generic);
}

Value BlockCode::shared(Value offset) {
  Value base = LLVM::AddressOfOp::create(
      builder, loc, pointerType(builder, NVVM::NVVMMemorySpace::Shared),
      kSharedMemory);
  return at(base, offset);
}

Value BlockCode::at(Value pointer, Value offset) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(),
                             builder.getI8Type(), pointer, offset);
}
Value BlockCode::at(Value pointer, int64_t offset) {
  if (offset == 0)
    return pointer;
  return LLVM::GEPOp::create(
      builder, loc, pointer.getType(), builder.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

Value BlockCode::rowOffset(Value row, Value pitch) {
  auto widen = [&](Value value) -> Value {
    return builder.createOrFold<arith::ExtUIOp>(loc, builder.getI64Type(),
                                                value);
  };
  return mul(widen(row), widen(pitch));
}

static int64_t bytesOf(Type type) { return type.getIntOrFloatBitWidth() / 8; }

Value BlockCode::loadOne(Type type, Value pointer) {
  return LLVM::LoadOp::create(builder, loc, type, pointer,
                              unsigned(bytesOf(type)));
}
void BlockCode::storeOne(Value value, Value pointer) {
  LLVM::StoreOp::create(builder, loc, value, pointer,
                        unsigned(bytesOf(value.getType())));
}

Value BlockCode::loadWord(Value memref, Value i) {
  return loadOne(typeOf(memref).getElementType(),
                 at(global(memref), rowOffset(i, i32(4))));
}

FourWords BlockCode::loadFour(Type type, Value pointer) {
  FourWords words;
  llvm::copy(loadMany(type, words.size(), pointer), words.begin());
  return words;
}
void BlockCode::storeFour(const FourWords &values, Value pointer) {
  storeMany(values, pointer);
}

SmallVector<Value> BlockCode::loadMany(Type type, int64_t count,
                                       Value pointer) {
  if (count == 1)
    return {loadOne(type, pointer)};
  Value vector =
      LLVM::LoadOp::create(builder, loc, VectorType::get(count, type), pointer,
                           unsigned(count * bytesOf(type)));
  SmallVector<Value> values;
  for (int64_t number = 0; number < count; ++number)
    values.push_back(
        LLVM::ExtractElementOp::create(builder, loc, vector, i32(number)));
  return values;
}

void BlockCode::storeMany(ValueRange values, Value pointer) {
  if (values.size() == 1)
    return storeOne(values[0], pointer);
  int64_t count = values.size();
  Type element = values[0].getType();
  Value vector =
      LLVM::PoisonOp::create(builder, loc, VectorType::get(count, element));
  for (auto [number, value] : llvm::enumerate(values))
    vector =
        LLVM::InsertElementOp::create(builder, loc, vector, value, i32(number));
  LLVM::StoreOp::create(builder, loc, vector, pointer,
                        unsigned(count * bytesOf(element)));
}

void BlockCode::copy(Value to, Value from, int64_t bytes, Value read) {
  NVVM::CpAsyncOp::create(builder, loc, to, from, uint32_t(bytes),
                          bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                                      : NVVM::LoadCacheModifierKind::CA,
                          read);
}
void BlockCode::endGroup() { NVVM::CpAsyncCommitGroupOp::create(builder, loc); }
void BlockCode::waitForGroups(int64_t groups) {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, uint32_t(groups));
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// Of a warp's lanes: all of them, and the last one.
static constexpr int64_t kAllLanes = -1, kLastLane = kWarpThreads - 1;

static Value shuffle(BlockCode &code, Value value, Value offset, int64_t clamp,
                     NVVM::ShflKind kind) {
  return NVVM::ShflOp::create(
      code.builder, code.loc, value.getType(), code.i32(kAllLanes), value,
      offset, code.i32(clamp),
      NVVM::ShflKindAttr::get(code.builder.getContext(), kind),
      /*return_value_and_is_valid=*/UnitAttr());
}

Value BlockCode::exchange(Value value, int64_t bits) {
  return shuffle(*this, value, i32(bits), kLastLane, NVVM::ShflKind::bfly);
}
Value BlockCode::fromLane(Value value, Value lane) {
  return shuffle(*this, value, lane, kLastLane, NVVM::ShflKind::idx);
}
Value BlockCode::fromLaneBefore(Value value) {
  return shuffle(*this, value, i32(1), 0, NVVM::ShflKind::up);
}

Value BlockCode::vote(Value condition) {
  return NVVM::VoteSyncOp::create(
      builder, loc, builder.getI32Type(), i32(kAllLanes), condition,
      NVVM::VoteSyncKindAttr::get(builder.getContext(),
                                  NVVM::VoteSyncKind::ballot));
}

SmallVector<Value>
BlockCode::whileVoted(ValueRange carried,
                      function_ref<SmallVector<Value>(ValueRange)> body) {
  auto loop = scf::WhileOp::create(
      builder, loc, carried.getTypes(), carried,
      [&](OpBuilder &, Location, ValueRange now) {
        scf::ConditionOp::create(builder, loc, notEqual(now[0], i32(0)), now);
      },
      [&](OpBuilder &, Location, ValueRange now) {
        scf::YieldOp::create(builder, loc, body(now));
      });
  return SmallVector<Value>(loop.getResults().drop_front());
}

Value BlockCode::reduceMax(Value value) {
  if (value.getType().isF32())
    return combineLanes(value, [&](ValueRange mine, ValueRange other) {
      return SmallVector<Value>{maxNumber(mine[0], other[0])};
    })[0];
  return NVVM::ReduxOp::create(builder, loc, value.getType(), value,
                               NVVM::ReduxKind::UMAX, i32(kAllLanes));
}
Value BlockCode::reduceMin(Value word) {
  return NVVM::ReduxOp::create(builder, loc, word.getType(), word,
                               NVVM::ReduxKind::UMIN, i32(kAllLanes));
}
Value BlockCode::reduceAdd(Value number) {
  return combineLanes(number, [&](ValueRange mine, ValueRange other) {
    return SmallVector<Value>{add(mine[0], other[0])};
  })[0];
}

void BlockCode::warpBarrier() {
  NVVM::SyncWarpOp::create(builder, loc, i32(kAllLanes));
}

SmallVector<Value> BlockCode::combineLanes(
    ValueRange values,
    function_ref<SmallVector<Value>(ValueRange, ValueRange)> combine) {
  SmallVector<Value> result = llvm::to_vector(values);
  for (int64_t bits = kWarpThreads / 2; bits > 0; bits /= 2)
    result = combine(result, llvm::map_to_vector(result, [&](Value value) {
                       return exchange(value, bits);
                     }));
  return result;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A result of four values of a type.
static LLVM::LLVMStructType fourOf(Type type) {
  return LLVM::LLVMStructType::getLiteral(type.getContext(),
                                          SmallVector<Type>(4, type));
}
static FourWords unpack(Value four, OpBuilder &builder, Location loc) {
  FourWords words;
  for (auto [number, word] : llvm::enumerate(words))
    word = LLVM::ExtractValueOp::create(builder, loc, four, number);
  return words;
}

FourWords BlockCode::loadFragments(Value pointer, bool isTransposed) {
  Value fragments = NVVM::LdMatrixOp::create(
      builder, loc, fourOf(builder.getI32Type()), pointer, /*num=*/4,
      isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
  return unpack(fragments, builder, loc);
}

static SmallVector<Value> pairsOf(BlockCode &code, ValueRange words) {
  return llvm::map_to_vector(words,
                             [&](Value word) { return pairOf(code, word); });
}

/// A product of mma.sync with operands of one type, words or pairs of f16, and
/// f32 or i32.
static FourWords multiplyWords(BlockCode &code, NVVM::MMATypes type,
                               ValueRange a, ValueRange b, const FourWords &d) {
  OpBuilder &builder = code.builder;
  bool isOfBytes = type == NVVM::MMATypes::s8;
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (isOfBytes)
    overflow = NVVM::MMAIntOverflow::wrapped;
  int64_t depth = isOfBytes ? 32 : type == NVVM::MMATypes::tf32 ? 8 : 16;
  Value sums = NVVM::MmaOp::create(
      builder, code.loc, fourOf(d[0].getType()), a, b, d, {16, 8, depth},
      /*b1Op=*/std::nullopt, overflow,
      std::array<NVVM::MMATypes, 2>{type, type},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  return unpack(sums, builder, code.loc);
}

/// The words of f32 as numbers of tf32, which have the upper 19 bits, and what
/// is left of each, of which tensor cores leave out bits, too.
static std::pair<SmallVector<Value>, SmallVector<Value>>
splitWords(BlockCode &code, ValueRange words) {
  constexpr int64_t kBits = ~0x1fff;
  SmallVector<Value> upper, rest;
  for (Value word : words) {
    upper.push_back(code.bitAnd(word, code.i32(kBits)));
    rest.push_back(code.bitcastToI32(
        code.sub(code.bitcastToF32(word), code.bitcastToF32(upper.back()))));
  }
  return {upper, rest};
}

/// The words of f32 as tf32, each of two nearest the one away from zero.
static SmallVector<Value> roundWords(BlockCode &code, ValueRange words) {
  return llvm::map_to_vector(words, [&](Value word) -> Value {
    return NVVM::ConvertFloatToTF32Op::create(
        code.builder, code.loc, code.builder.getI32Type(),
        code.bitcastToF32(word), NVVM::FPRoundingMode::RNA);
  });
}

FourWords BlockCode::multiply(Type element, const FourWords &a, Value b0,
                              Value b1, const FourWords &d) {
  if (element.isF16())
    return multiplyWords(*this, NVVM::MMATypes::f16, pairsOf(*this, a),
                         pairsOf(*this, {b0, b1}), d);
  if (!element.isF32())
    return multiplyWords(
        *this, element.isInteger(8) ? NVVM::MMATypes::s8 : NVVM::MMATypes::bf16,
        a, {b0, b1}, d);
  if (multipliesTf32)
    return multiplyWords(*this, NVVM::MMATypes::tf32, roundWords(*this, a),
                         roundWords(*this, {b0, b1}), d);
  auto [upperA, restA] = splitWords(*this, a);
  auto [upperB, restB] = splitWords(*this, {b0, b1});
  FourWords sums = multiplyWords(*this, NVVM::MMATypes::tf32, restA, upperB, d);
  sums = multiplyWords(*this, NVVM::MMATypes::tf32, upperA, restB, sums);
  return multiplyWords(*this, NVVM::MMATypes::tf32, upperA, upperB, sums);
}

void BlockCode::multiplyInto(Type element, const FourWords &a, Value b0,
                             Value b1, Value *sums) {
  FourWords d;
  std::copy_n(sums, d.size(), d.begin());
  d = multiply(element, a, b0, b1, d);
  llvm::copy(d, sums);
}

void heddle::createGrid(OpBuilder &builder, Location loc, Value blocks,
                        const BlockShape &shape,
                        function_ref<void(BlockCode &, Value)> body) {
  BlockCode code(builder, loc, shape.threads);
  auto grid = scf::ParallelOp::create(
      builder, loc, code.index(0), blocks, code.index(1),
      [&](OpBuilder &, Location, ValueRange block) {
        body(code, code.toI32(block.front()));
      });
  setBlockShape(grid, shape);
}

void heddle::createIfElse(OpBuilder &builder, Location loc, Value condition,
                          function_ref<void()> then,
                          function_ref<void()> otherwise) {
  auto body = [&](function_ref<void()> build) {
    return [&builder, build](OpBuilder &, Location at) {
      build();
      scf::YieldOp::create(builder, at);
    };
  };
  scf::IfOp::create(builder, loc, condition, body(then), body(otherwise));
}
