//===- ScalarIntrinsics.cpp - Arithmetic of one thread --------------------===//
//
// NVPTX intrinsics that are arithmetic become instructions of LLVM, or calls of
// its own intrinsics. Approximations are computed as exactly as the host does,
// `.ftz` flushes subnormal operands and results. What only advises the hardware
// becomes nothing.
//
//===----------------------------------------------------------------------===//

#include "test/emulator/host/HostCode.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

#include <optional>

using namespace heddle::emulator;
using namespace llvm;

namespace {

enum class Kind {
  Nothing,
  Exp2,
  Log2,
  Sin,
  Cos,
  Tanh,
  Sqrt,
  Rsqrt,
  Rcp,
  Div,
  Add,
  Mul,
  Fma,
  Abs,
  Neg,
  Min,
  Max,
  Floor,
  Ceil,
  Trunc,
  Round,
  Saturate,
  MulHighSigned,
  MulHighUnsigned,
  Mul24Signed,
  Mul24Unsigned,
  Prmt,
  Dp4a,
  PackFloats,
  RoundFloat,
  RoundTf32,
  FloatToSigned,
  FloatToUnsigned,
  SignedToFloat,
  UnsignedToFloat,
  NarrowFloat,
  SadSigned,
  SadUnsigned,
  Identity,
};

/// What the parts of a name say.
struct Scalar {
  Kind kind;
  bool flushes = false, saturates = false, clampsToZero = false;
  bool keepsNan = false;
  /// n, a, z, m or p: to the nearest even, away, to zero, down or up.
  char rounding = 'n';
  bool isSignedA = false, isSignedB = false;
};

} // namespace

static std::optional<Scalar> classify(StringRef name) {
  SmallVector<StringRef, 8> parts;
  name.split(parts, '.');
  StringRef head = parts[0];
  auto has = [&](StringRef part) { return is_contained(parts, part); };
  Scalar scalar{Kind::Nothing};
  scalar.flushes = has("ftz");
  scalar.saturates = has("sat");
  scalar.clampsToZero = has("relu");
  scalar.keepsNan = has("nan");
  for (StringRef part : parts)
    if (part.size() == 2 && part[0] == 'r' &&
        StringRef("nzmp").contains(part[1]))
      scalar.rounding = part[1];
    else if (part == "rna")
      scalar.rounding = 'a';
  auto is = [&](Kind kind) -> std::optional<Scalar> {
    scalar.kind = kind;
    return scalar;
  };
  bool roundsToNearest = scalar.rounding == 'n';

  if (has("xorsign") || has("satfinite") || has("rs"))
    return std::nullopt;
  if (head == "prefetch" || head == "prefetchu" || head == "membar" ||
      head == "setmaxnreg" || head == "griddepcontrol" || head == "nanosleep" ||
      head == "discard" || head == "applypriority" ||
      name.starts_with("cp.async.bulk.prefetch") ||
      name.starts_with("cp.async.bulk.tensor.prefetch"))
    return is(Kind::Nothing);
  if (head == "ex2")
    return is(Kind::Exp2);
  if (head == "lg2")
    return is(Kind::Log2);
  if (head == "sin")
    return is(Kind::Sin);
  if (head == "cos")
    return is(Kind::Cos);
  if (head == "tanh")
    return is(Kind::Tanh);
  if (head == "sqrt" && roundsToNearest)
    return is(Kind::Sqrt);
  if (head == "rsqrt")
    return is(Kind::Rsqrt);
  if (head == "rcp" && roundsToNearest)
    return is(Kind::Rcp);
  if (head == "div" && roundsToNearest)
    return is(Kind::Div);
  if (head == "add" && roundsToNearest)
    return is(Kind::Add);
  if (head == "mul" && roundsToNearest)
    return is(Kind::Mul);
  if (head == "fma" && roundsToNearest)
    return is(Kind::Fma);
  if (head == "fabs")
    return is(Kind::Abs);
  if (head == "neg")
    return is(Kind::Neg);
  if (head == "fmin")
    return is(Kind::Min);
  if (head == "fmax")
    return is(Kind::Max);
  if (head == "floor")
    return is(Kind::Floor);
  if (head == "ceil")
    return is(Kind::Ceil);
  if (head == "trunc")
    return is(Kind::Trunc);
  if (head == "round")
    return is(Kind::Round);
  if (head == "saturate")
    return is(Kind::Saturate);
  if (head == "mulhi")
    return is(parts[1].starts_with("u") ? Kind::MulHighUnsigned
                                        : Kind::MulHighSigned);
  if (head == "mul24")
    return is(parts[1].starts_with("u") ? Kind::Mul24Unsigned
                                        : Kind::Mul24Signed);
  if (head == "sad")
    return is(parts[1].starts_with("u") ? Kind::SadUnsigned : Kind::SadSigned);
  if (name == "prmt")
    return is(Kind::Prmt);
  if (head == "idp4a" && parts.size() == 3) {
    scalar.isSignedA = parts[1] == "s";
    scalar.isSignedB = parts[2] == "s";
    return is(Kind::Dp4a);
  }
  if (name == "ff2bf16x2.rn" || name == "ff2f16x2.rn" ||
      name == "ff2bf16x2.rn.relu" || name == "ff2f16x2.rn.relu")
    return is(Kind::PackFloats);
  if ((head == "f2bf16" || head == "f2f16") && roundsToNearest)
    return is(Kind::RoundFloat);
  if (head == "f2tf32" && scalar.rounding != 'm' && scalar.rounding != 'p')
    return is(Kind::RoundTf32);
  if (head == "f2i" || head == "f2ll" || head == "d2i" || head == "d2ll") {
    if (parts.size() > 1 && (parts[1] == "lo" || parts[1] == "hi"))
      return std::nullopt;
    return is(Kind::FloatToSigned);
  }
  if (head == "f2ui" || head == "f2ull" || head == "d2ui" || head == "d2ull")
    return is(Kind::FloatToUnsigned);
  if ((head == "i2f" || head == "ll2f" || head == "i2d" || head == "ll2d") &&
      roundsToNearest)
    return is(Kind::SignedToFloat);
  if ((head == "ui2f" || head == "ull2f" || head == "ui2d" ||
       head == "ull2d") &&
      roundsToNearest)
    return is(Kind::UnsignedToFloat);
  if (head == "d2f" && roundsToNearest)
    return is(Kind::NarrowFloat);
  if (head == "move")
    return is(Kind::Identity);
  return std::nullopt;
}

bool heddle::emulator::isScalarIntrinsic(StringRef name) {
  return classify(name).has_value();
}

/// Subnormal numbers as zeros of their sign.
static Value *flush(IRBuilder<> &builder, Value *value) {
  Type *type = value->getType();
  if (!type->getScalarType()->isFloatTy())
    return value;
  Value *magnitude = builder.CreateUnaryIntrinsic(Intrinsic::fabs, value);
  Value *isSmall =
      builder.CreateFCmpOLT(magnitude, ConstantFP::get(type, 0x1p-126));
  Value *zero = builder.CreateBinaryIntrinsic(
      Intrinsic::copysign, ConstantFP::get(type, 0.0), value);
  return builder.CreateSelect(isSmall, zero, value);
}

static Value *clamp(IRBuilder<> &builder, Value *value, bool hasUpper) {
  Type *type = value->getType();
  // A NaN becomes zero.
  value = builder.CreateBinaryIntrinsic(Intrinsic::maxnum, value,
                                        ConstantFP::get(type, 0.0));
  if (hasUpper)
    value = builder.CreateBinaryIntrinsic(Intrinsic::minnum, value,
                                          ConstantFP::get(type, 1.0));
  return value;
}

/// f32 with 10 bits of mantissa, in a word.
static Value *roundTf32(IRBuilder<> &builder, Value *value, char rounding) {
  Value *bits = builder.CreateBitCast(value, builder.getInt32Ty());
  Value *isFinite = builder.CreateICmpULT(builder.CreateAnd(bits, 0x7fffffff),
                                          builder.getInt32(0x7f800000));
  Value *rounded = bits;
  if (rounding == 'a') {
    rounded = builder.CreateAdd(bits, builder.getInt32(0x1000));
  } else if (rounding == 'n') {
    Value *odd = builder.CreateAnd(builder.CreateLShr(bits, 13), 1);
    rounded = builder.CreateAdd(builder.CreateAdd(bits, odd),
                                builder.getInt32(0xfff));
  }
  bits = builder.CreateSelect(isFinite, rounded, bits);
  return builder.CreateAnd(bits, builder.getInt32(0xffffe000));
}

static Value *permuteBytes(IRBuilder<> &builder, Value *low, Value *high,
                           Value *selector) {
  Type *i64 = builder.getInt64Ty();
  Value *bytes =
      builder.CreateOr(builder.CreateZExt(low, i64),
                       builder.CreateShl(builder.CreateZExt(high, i64), 32));
  Value *result = builder.getInt32(0);
  for (unsigned i = 0; i < 4; ++i) {
    Value *nibble = builder.CreateAnd(builder.CreateLShr(selector, 4 * i), 15);
    Value *shift = builder.CreateZExt(
        builder.CreateShl(builder.CreateAnd(nibble, 7), 3), i64);
    Value *byte = builder.CreateTrunc(builder.CreateLShr(bytes, shift),
                                      builder.getInt8Ty());
    Value *sign = builder.CreateAShr(byte, 7);
    byte = builder.CreateSelect(
        builder.CreateICmpNE(builder.CreateAnd(nibble, 8), builder.getInt32(0)),
        sign, byte);
    result = builder.CreateOr(
        result, builder.CreateShl(
                    builder.CreateZExt(byte, builder.getInt32Ty()), 8 * i));
  }
  return result;
}

static Value *dotBytes(IRBuilder<> &builder, const CallInst &call,
                       const Scalar &scalar) {
  Type *i32 = builder.getInt32Ty();
  Type *bytes = FixedVectorType::get(builder.getInt8Ty(), 4);
  Value *sum = call.getArgOperand(2);
  auto element = [&](unsigned operand, unsigned i, bool isSigned) {
    Value *byte = builder.CreateExtractElement(
        builder.CreateBitCast(call.getArgOperand(operand), bytes), i);
    return isSigned ? builder.CreateSExt(byte, i32)
                    : builder.CreateZExt(byte, i32);
  };
  for (unsigned i = 0; i < 4; ++i)
    sum = builder.CreateAdd(sum,
                            builder.CreateMul(element(0, i, scalar.isSignedA),
                                              element(1, i, scalar.isSignedB)));
  return sum;
}

static Value *convertToInteger(IRBuilder<> &builder, Value *value, Type *type,
                               const Scalar &scalar) {
  Intrinsic::ID rounding = Intrinsic::trunc;
  if (scalar.rounding == 'n')
    rounding = Intrinsic::roundeven;
  else if (scalar.rounding == 'm')
    rounding = Intrinsic::floor;
  else if (scalar.rounding == 'p')
    rounding = Intrinsic::ceil;
  value = builder.CreateUnaryIntrinsic(rounding, value);
  return builder.CreateIntrinsic(scalar.kind == Kind::FloatToSigned
                                     ? Intrinsic::fptosi_sat
                                     : Intrinsic::fptoui_sat,
                                 {type, value->getType()}, {value});
}

static Value *multiplyHigh(IRBuilder<> &builder, Value *a, Value *b,
                           bool isSigned) {
  unsigned bits = a->getType()->getIntegerBitWidth();
  Type *wide = builder.getIntNTy(2 * bits);
  auto widen = [&](Value *value) {
    return isSigned ? builder.CreateSExt(value, wide)
                    : builder.CreateZExt(value, wide);
  };
  return builder.CreateTrunc(
      builder.CreateLShr(builder.CreateMul(widen(a), widen(b)), bits),
      a->getType());
}

static Value *expand(IRBuilder<> &builder, const CallInst &call,
                     const Scalar &scalar) {
  Type *type = call.getType();
  SmallVector<Value *, 4> operands;
  for (Value *operand : call.args())
    operands.push_back(scalar.flushes ? flush(builder, operand) : operand);
  Value *a = !operands.empty() ? operands[0] : nullptr;
  Value *b = operands.size() > 1 ? operands[1] : nullptr;
  auto unary = [&](Intrinsic::ID id) {
    return builder.CreateUnaryIntrinsic(id, a);
  };
  auto one = [&] { return ConstantFP::get(type, 1.0); };
  switch (scalar.kind) {
  case Kind::Nothing:
    return nullptr;
  case Kind::Exp2:
    return unary(Intrinsic::exp2);
  case Kind::Log2:
    return unary(Intrinsic::log2);
  case Kind::Sin:
    return unary(Intrinsic::sin);
  case Kind::Cos:
    return unary(Intrinsic::cos);
  case Kind::Tanh:
    return unary(Intrinsic::tanh);
  case Kind::Sqrt:
    return unary(Intrinsic::sqrt);
  case Kind::Rsqrt:
    return builder.CreateFDiv(one(), unary(Intrinsic::sqrt));
  case Kind::Rcp:
    return builder.CreateFDiv(one(), a);
  case Kind::Div:
    return builder.CreateFDiv(a, b);
  case Kind::Add:
    return builder.CreateFAdd(a, b);
  case Kind::Mul:
    return builder.CreateFMul(a, b);
  case Kind::Fma:
    return builder.CreateIntrinsic(Intrinsic::fma, {type}, {a, b, operands[2]});
  case Kind::Abs:
    return unary(Intrinsic::fabs);
  case Kind::Neg:
    if (!type->getScalarType()->isFloatingPointTy()) {
      // Two bf16 in a word.
      uint64_t signs = type->isIntegerTy(16) ? 0x8000 : 0x80008000;
      return builder.CreateXor(a, ConstantInt::get(type, signs));
    }
    return builder.CreateFNeg(a);
  case Kind::Min:
    return builder.CreateBinaryIntrinsic(
        scalar.keepsNan ? Intrinsic::minimum : Intrinsic::minnum, a, b);
  case Kind::Max:
    return builder.CreateBinaryIntrinsic(
        scalar.keepsNan ? Intrinsic::maximum : Intrinsic::maxnum, a, b);
  case Kind::Floor:
    return unary(Intrinsic::floor);
  case Kind::Ceil:
    return unary(Intrinsic::ceil);
  case Kind::Trunc:
    return unary(Intrinsic::trunc);
  case Kind::Round:
    // PTX: cvt.rni.
    return unary(Intrinsic::roundeven);
  case Kind::Saturate:
    return clamp(builder, a, /*hasUpper=*/true);
  case Kind::MulHighSigned:
  case Kind::MulHighUnsigned:
    return multiplyHigh(builder, a, b, scalar.kind == Kind::MulHighSigned);
  case Kind::Mul24Signed:
  case Kind::Mul24Unsigned: {
    auto low = [&](Value *value) {
      value = builder.CreateShl(value, 8);
      return scalar.kind == Kind::Mul24Signed ? builder.CreateAShr(value, 8)
                                              : builder.CreateLShr(value, 8);
    };
    return builder.CreateMul(low(a), low(b));
  }
  case Kind::SadSigned:
  case Kind::SadUnsigned: {
    Value *isLess = scalar.kind == Kind::SadSigned
                        ? builder.CreateICmpSLT(a, b)
                        : builder.CreateICmpULT(a, b);
    return builder.CreateAdd(
        operands[2], builder.CreateSelect(isLess, builder.CreateSub(b, a),
                                          builder.CreateSub(a, b)));
  }
  case Kind::Prmt:
    return permuteBytes(builder, a, b, operands[2]);
  case Kind::Dp4a:
    return dotBytes(builder, call, scalar);
  case Kind::PackFloats: {
    // The first operand is the upper half.
    Type *half = cast<FixedVectorType>(type)->getElementType();
    Value *pair = PoisonValue::get(type);
    for (unsigned i = 0; i < 2; ++i) {
      Value *operand = scalar.clampsToZero
                           ? clamp(builder, operands[i], /*hasUpper=*/false)
                           : operands[i];
      pair = builder.CreateInsertElement(
          pair, builder.CreateFPTrunc(operand, half), 1 - i);
    }
    return pair;
  }
  case Kind::RoundFloat:
    if (scalar.clampsToZero)
      a = clamp(builder, a, /*hasUpper=*/false);
    return builder.CreateFPTrunc(a, type);
  case Kind::RoundTf32:
    if (scalar.clampsToZero)
      a = clamp(builder, a, /*hasUpper=*/false);
    return roundTf32(builder, a, scalar.rounding);
  case Kind::FloatToSigned:
  case Kind::FloatToUnsigned:
    return convertToInteger(builder, a, type, scalar);
  case Kind::SignedToFloat:
    return builder.CreateSIToFP(a, type);
  case Kind::UnsignedToFloat:
    return builder.CreateUIToFP(a, type);
  case Kind::NarrowFloat:
    return builder.CreateFPTrunc(a, type);
  case Kind::Identity:
    return a;
  }
  return nullptr;
}

bool heddle::emulator::expandScalarIntrinsic(CallInst &call) {
  StringRef name = call.getCalledFunction()->getName();
  name.consume_front("llvm.nvvm.");
  std::optional<Scalar> scalar = classify(name);
  if (!scalar)
    return false;
  IRBuilder<> builder(&call);
  Value *result = expand(builder, call, *scalar);
  if (result) {
    bool isArithmetic = scalar->kind != Kind::RoundFloat &&
                        scalar->kind != Kind::PackFloats &&
                        scalar->kind != Kind::RoundTf32;
    if (scalar->clampsToZero && isArithmetic)
      result = clamp(builder, result, /*hasUpper=*/false);
    if (scalar->saturates)
      result = clamp(builder, result, /*hasUpper=*/true);
    if (scalar->flushes)
      result = flush(builder, result);
    call.replaceAllUsesWith(result);
  }
  call.eraseFromParent();
  return true;
}
