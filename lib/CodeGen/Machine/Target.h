//===- Target.h - ISA levels that code is generated for ---------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_TARGET_H
#define HEDDLE_LIB_CODEGEN_MACHINE_TARGET_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace heddle {

/// How bytes are multiplied and summed in lanes of 32 bits: in two
/// instructions, or by vpdpbusd, of u8 by i8.
enum class Int8Dot { TwoSteps, Vnni };

/// Types shorter than f32 that a model multiplies.
struct ShortTypes {
  bool int8 = false, bf16 = false;
};

/// The types of which a level's code differs from that of the level before it:
/// any, one shorter than f32, or int8.
enum class ServedTypes { Any, Short, Int8 };

/// An ISA level: its name, what makes a machine have it, and what emitters ask
/// about it. Emitters ask for what they need, never for the name.
struct IsaLevel {
  /// In manifests and options.
  llvm::StringRef name;
  /// LLVM's name of a CPU that code is tuned for and may use all of.
  llvm::StringRef cpu;
  /// Comma-separated LLVM features that code requires beyond those of `cpu`.
  llvm::StringRef features;

  /// f32 lanes of the widest vector.
  int64_t lanes;
  /// Vector registers that accumulators, operands and scratch share.
  int64_t vectorRegisters;
  /// Whether there are vreduceps and vscalefps, for vectors of 4 lanes and
  /// more.
  bool hasReduceAndScale;
  Int8Dot int8Dot;
  /// Whether pairs of bf16 are multiplied and summed in one instruction, and
  /// f32 rounded to bf16 in another; otherwise bf16 are emulated.
  bool hasBf16;
  /// Whether there are tiles of 16 rows by 64 bytes, of bytes and of bf16,
  /// which one instruction multiplies.
  bool hasTiles;
  ServedTypes serves = ServedTypes::Any;
  /// Whether loops stand in for tiles, which machines of the level lack.
  bool emulatesTiles = false;

  /// What `getIsaLevel` finds it by.
  std::string option() const;
};

/// The names that getTarget knows, with commas between.
std::string targetNames();

/// The level of that name; an error lists the supported ones. Behind a name
/// `+tiles` may stand, for tests: code of that level with tiles, which
/// emulate-tiles makes loops.
llvm::Expected<IsaLevel> getIsaLevel(llvm::StringRef name);

/// The levels of a `--target`: `native` is the best one that this machine has,
/// `portable` all of them, lowest first, anything else one level. Of the first
/// two those that serve a model of such types.
llvm::Expected<llvm::SmallVector<IsaLevel>> getTarget(llvm::StringRef target,
                                                      const ShortTypes &types);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_TARGET_H
