//===- AssemblyArithmetic.cpp - What one thread computes in assembly ------===//
//
// Arithmetic instructions of inline assembly, on words: those that LLVM has no
// intrinsic for, and what stands around them. `.ftz` flushes, an approximation
// is as exact as libm.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "Numbers.h"
#include "test/emulator/Operations.h"

#include <cmath>

using namespace heddle::emulator;

namespace {

enum Type { kF32, kF16x2, kBf16x2, kF16One, kBf16One, kU32, kS32, kU64, kPred };

enum Function {
  kMove,
  kAdd,
  kSub,
  kMul,
  kFma,
  kMin,
  kMax,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kExp2,
  kLog2,
  kRcp,
  kRsqrt,
  kSqrt,
  kSin,
  kCos,
  kTanh,
  kNeg,
  kAbs,
};

enum Comparison { kEq, kNe, kLt, kLe, kGt, kGe };

} // namespace

static float flush(float value) {
  return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
}

static float computeFloat(Function function, float a, float b, float c) {
  switch (function) {
  case kAdd:
    return a + b;
  case kSub:
    return a - b;
  case kMul:
    return a * b;
  case kFma:
    return std::fma(a, b, c);
  case kMin:
    return std::fmin(a, b);
  case kMax:
    return std::fmax(a, b);
  case kExp2:
    return std::exp2(a);
  case kLog2:
    return std::log2(a);
  case kRcp:
    return 1 / a;
  case kRsqrt:
    return 1 / std::sqrt(a);
  case kSqrt:
    return std::sqrt(a);
  case kSin:
    return std::sin(a);
  case kCos:
    return std::cos(a);
  case kTanh:
    return std::tanh(a);
  case kNeg:
    return -a;
  case kAbs:
    return std::fabs(a);
  default:
    return a;
  }
}

static uint64_t computeInteger(Function function, Type type, uint64_t a,
                               uint64_t b, uint64_t c) {
  bool isWide = type == kU64;
  auto isLess = [&] {
    return type == kS32 ? static_cast<int32_t>(a) < static_cast<int32_t>(b)
                        : a < b;
  };
  uint64_t result = a;
  switch (function) {
  case kAdd:
    result = a + b;
    break;
  case kSub:
    result = a - b;
    break;
  case kMul:
    result = a * b;
    break;
  case kFma:
    result = a * b + c;
    break;
  case kMin:
    result = isLess() ? a : b;
    break;
  case kMax:
    result = isLess() ? b : a;
    break;
  case kAnd:
    result = a & b;
    break;
  case kOr:
    result = a | b;
    break;
  case kXor:
    result = a ^ b;
    break;
  case kShiftLeft:
    result = b < 64 ? a << b : 0;
    break;
  case kShiftRight:
    result = type == kS32 ? static_cast<int32_t>(a) >> (b < 31 ? b : 31)
             : b < 64     ? a >> b
                          : 0;
    break;
  case kNeg:
    result = -a;
    break;
  default:
    break;
  }
  return isWide ? result : static_cast<uint32_t>(result);
}

/// detail is function, type, whether it flushes.
static void compute(Context &, const Operation &operation,
                    const uint64_t *operands, uint64_t *results) {
  auto function = static_cast<Function>(operation.detail[0]);
  auto type = static_cast<Type>(operation.detail[1]);
  int numOperands = operation.detail[3];
  auto word = [&](int i) { return i < numOperands ? operands[i] : 0; };
  if (type == kU64 || function == kMove) {
    results[0] = computeInteger(function, kU64, word(0), word(1), word(2));
    return;
  }
  if (type == kU32 || type == kS32 || type == kPred) {
    auto low = [&](int i) { return static_cast<uint32_t>(word(i)); };
    results[0] = computeInteger(function, type, low(0), low(1), low(2));
    return;
  }
  bool flushes = operation.detail[2];
  if (type == kF32) {
    float values[3];
    for (int i = 0; i < 3; ++i) {
      values[i] = bitsAs<float>(static_cast<uint32_t>(word(i)));
      if (flushes)
        values[i] = flush(values[i]);
    }
    float result = computeFloat(function, values[0], values[1], values[2]);
    results[0] = bitsAs<uint32_t>(flushes ? flush(result) : result);
    return;
  }
  bool isBf16 = type == kBf16x2 || type == kBf16One;
  uint64_t result = 0;
  for (int half = 0; half < (type == kF16x2 || type == kBf16x2 ? 2 : 1);
       ++half) {
    float values[3];
    for (int i = 0; i < 3; ++i) {
      auto bits = static_cast<uint16_t>(word(i) >> 16 * half);
      values[i] = isBf16 ? fromBf16(bits) : fromHalf(bits);
    }
    float value = computeFloat(function, values[0], values[1], values[2]);
    result |= uint64_t(isBf16 ? toBf16(value) : toHalf(value)) << 16 * half;
  }
  results[0] = result;
}

/// detail is comparison, type.
static void compare(Context &, const Operation &operation,
                    const uint64_t *operands, uint64_t *results) {
  auto decide = [&](auto a, auto b) {
    switch (operation.detail[0]) {
    case kEq:
      return a == b;
    case kNe:
      return a != b;
    case kLt:
      return a < b;
    case kLe:
      return a <= b;
    case kGt:
      return a > b;
    default:
      return a >= b;
    }
  };
  auto low = [&](int i) { return static_cast<uint32_t>(operands[i]); };
  switch (operation.detail[1]) {
  case kF32:
    results[0] = decide(bitsAs<float>(low(0)), bitsAs<float>(low(1)));
    break;
  case kS32:
    results[0] =
        decide(static_cast<int32_t>(low(0)), static_cast<int32_t>(low(1)));
    break;
  case kU64:
    results[0] = decide(operands[0], operands[1]);
    break;
  default:
    results[0] = decide(low(0), low(1));
  }
}

static void select(Context &, const Operation &, const uint64_t *operands,
                   uint64_t *results) {
  results[0] = operands[2] & 1 ? operands[0] : operands[1];
}

/// cvt.rn.bf16x2.f32 d, a, b: a is the upper half. detail is the kind, whether
/// negative numbers become zeros, operands.
static void convertToHalves(Context &, const Operation &operation,
                            const uint64_t *operands, uint64_t *results) {
  int count = operation.detail[2];
  uint64_t result = 0;
  for (int i = 0; i < count; ++i) {
    float value = bitsAs<float>(static_cast<uint32_t>(operands[i]));
    if (operation.detail[1])
      value = std::fmax(value, 0.0f);
    uint64_t half =
        operation.detail[0] == kBf16 ? toBf16(value) : toHalf(value);
    result = result << 16 | half;
  }
  results[0] = result;
}

/// detail[0]: to the nearest even rather than away from zero.
static void convertToTf32(Context &, const Operation &operation,
                          const uint64_t *operands, uint64_t *results) {
  auto bits = static_cast<uint32_t>(operands[0]);
  if ((bits & 0x7fffffff) < 0x7f800000)
    bits += operation.detail[0] ? 0xfff + (bits >> 13 & 1) : 0x1000;
  results[0] = bits & 0xffffe000;
}

static void convertFromHalf(Context &, const Operation &operation,
                            const uint64_t *operands, uint64_t *results) {
  auto half = static_cast<uint16_t>(operands[0]);
  results[0] = bitsAs<uint32_t>(operation.detail[0] == kBf16 ? fromBf16(half)
                                                             : fromHalf(half));
}

static bool typeOf(std::string_view name, Type &type) {
  static const std::map<std::string_view, Type> types = {
      {"f32", kF32},    {"f16x2", kF16x2},  {"bf16x2", kBf16x2},
      {"f16", kF16One}, {"bf16", kBf16One}, {"u32", kU32},
      {"b32", kU32},    {"s32", kS32},      {"u64", kU64},
      {"b64", kU64},    {"s64", kU64},      {"pred", kPred}};
  auto found = types.find(name);
  if (found == types.end())
    return false;
  type = found->second;
  return true;
}

static std::unique_ptr<Operation> make(Handler handler,
                                       std::array<int, 6> detail) {
  auto operation = std::make_unique<Operation>();
  operation->handler = handler;
  std::copy(detail.begin(), detail.end(), operation->detail);
  return operation;
}

static std::unique_ptr<Operation> makeConversion(const Parts &parts) {
  std::string_view name = parts.whole();
  if (name == "cvt.rna.tf32.f32")
    return make(convertToTf32, {0});
  if (name == "cvt.rn.tf32.f32")
    return make(convertToTf32, {1});
  if (name == "cvt.f32.f16" || name == "cvt.f32.bf16")
    return make(convertFromHalf, {parts.back() == "bf16" ? kBf16 : kF16});
  // cvt.rn[.relu].TYPE.f32
  if (parts[1] != "rn" || parts.back() != "f32" || parts.has("satfinite"))
    return nullptr;
  std::string_view to = parts[parts.size() - 2];
  bool isPair = to == "bf16x2" || to == "f16x2";
  if (!isPair && to != "bf16" && to != "f16")
    return nullptr;
  return make(convertToHalves, {to.substr(0, 4) == "bf16" ? kBf16 : kF16,
                                parts.has("relu"), isPair ? 2 : 1});
}

std::unique_ptr<Operation>
heddle::emulator::makeArithmetic(std::string_view name) {
  struct Entry {
    Function function;
    int operands;
  };
  static const std::map<std::string_view, Entry> functions = {
      {"mov", {kMove, 1}}, {"add", {kAdd, 2}},        {"sub", {kSub, 2}},
      {"mul", {kMul, 2}},  {"fma", {kFma, 3}},        {"mad", {kFma, 3}},
      {"min", {kMin, 2}},  {"max", {kMax, 2}},        {"and", {kAnd, 2}},
      {"or", {kOr, 2}},    {"xor", {kXor, 2}},        {"shl", {kShiftLeft, 2}},
      {"ex2", {kExp2, 1}}, {"shr", {kShiftRight, 2}}, {"lg2", {kLog2, 1}},
      {"rcp", {kRcp, 1}},  {"rsqrt", {kRsqrt, 1}},    {"sqrt", {kSqrt, 1}},
      {"sin", {kSin, 1}},  {"cos", {kCos, 1}},        {"tanh", {kTanh, 1}},
      {"neg", {kNeg, 1}},  {"abs", {kAbs, 1}}};
  static const std::map<std::string_view, Comparison> comparisons = {
      {"eq", kEq}, {"ne", kNe}, {"lt", kLt},
      {"le", kLe}, {"gt", kGt}, {"ge", kGe}};
  Parts parts(name);
  Type type;
  if (parts[0] == "cvt")
    return makeConversion(parts);
  if (!typeOf(parts.back(), type))
    return nullptr;
  if (parts[0] == "setp" && parts.size() == 3) {
    auto comparison = comparisons.find(parts[1]);
    return comparison == comparisons.end()
               ? nullptr
               : make(compare, {comparison->second, type});
  }
  if (parts[0] == "selp")
    return make(select, {});
  auto found = functions.find(parts[0]);
  // Other roundings, saturation and parts of wide products are not here.
  bool isPlain = !parts.has("hi") && !parts.has("wide") && !parts.has("sat") &&
                 !parts.has("rz") && !parts.has("rm") && !parts.has("rp") &&
                 !parts.has("NaN") && !parts.has("xorsign") &&
                 !parts.has("relu") && !parts.has("cc");
  if (found == functions.end() || !isPlain)
    return nullptr;
  return make(compute, {found->second.function, type, parts.has("ftz"),
                        found->second.operands});
}
