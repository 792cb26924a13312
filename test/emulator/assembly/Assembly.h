//===- Assembly.h - Inline assembly, read and run ---------------*- C++ -*-===//
//
// A text is a list of instructions for a small machine with registers of 64
// bits: those of the call's constraints first, then those that the text
// declares. An instruction is an Operation with the registers or constants that
// it takes and the registers that it gives; branches go to another instruction.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_ASSEMBLY_ASSEMBLY_H
#define HEDDLE_TEST_EMULATOR_ASSEMBLY_ASSEMBLY_H

#include "Parts.h"
#include "test/emulator/Operation.h"

#include <map>
#include <string>
#include <vector>

namespace heddle::emulator {

/// A register, or a constant; an address may add to its register.
struct AssemblyValue {
  int reg = -1;
  uint64_t constant = 0;
};

/// What stands between two commas: `{a, b}` and `[a, {b, c}]` are lists, `a|b`
/// too.
struct AssemblyOperand {
  std::vector<AssemblyValue> values;
  bool isAddress = false;
};

struct AssemblyInstruction {
  std::unique_ptr<Operation> operation;
  std::vector<AssemblyValue> inputs;
  std::vector<int> outputs;
  /// How many of the first ones are registers in a row, without a constant.
  size_t inputsInRow = 0, outputsInRow = 0;
  /// The register that has to be true (or false) for it to run; -1 for always.
  int predicate = -1;
  bool isNegated = false;
  /// Of a branch: where it goes.
  std::string label;
  int target = -1;
};

/// What an instruction's name and operands make of it; see AssemblyForms.cpp.
/// `registers` are those of the call, results first. False if it is unknown.
bool makeInstruction(std::string_view name,
                     const std::vector<AssemblyOperand> &operands,
                     int numResults, AssemblyInstruction &instruction);

/// Arithmetic of one thread; see AssemblyArithmetic.cpp.
std::unique_ptr<Operation> makeArithmetic(std::string_view name);

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_ASSEMBLY_ASSEMBLY_H
