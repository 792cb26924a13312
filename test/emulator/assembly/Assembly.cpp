//===- Assembly.cpp - Inline assembly, read and run -----------------------===//

#include "Assembly.h"
#include "test/emulator/Operations.h"
#include "test/emulator/RuntimeCalls.h"
#include "test/emulator/Worker.h"

#include <algorithm>
#include <cctype>
#include <cstring>

using namespace heddle::emulator;

namespace {

/// A whole text. Registers: results, other operands, then names.
struct AssemblyProgram : Operation {
  std::vector<AssemblyInstruction> instructions;
  int numResults = 0, numOperands = 0, numRegisters = 0;
  /// Of the largest instruction.
  size_t numInputs = 0, numOutputs = 0;
  /// By operand of the call: the register that it is put in.
  std::vector<int> operandRegisters;
};

class AssemblyReader {
public:
  AssemblyReader(std::string_view text, AssemblyProgram &program)
      : text(text), program(program) {}

  bool readConstraints(std::string_view constraints);
  /// False with what is unknown in `problem`.
  bool read(std::string &problem);

private:
  bool readStatement(std::string statement, std::string &problem);
  bool readOperands(std::string_view text,
                    std::vector<AssemblyOperand> &operands);
  bool readValue(std::string_view text, AssemblyValue &value);
  int namedRegister(std::string_view name);

  std::string_view text;
  AssemblyProgram &program;
  std::map<std::string, int, std::less<>> names;
  std::map<std::string, int> labels;
};

} // namespace

static std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text[0])))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

/// "=f,=r,0,l,n,~{memory}": results, tied operands, others, what is clobbered.
bool AssemblyReader::readConstraints(std::string_view constraints) {
  std::vector<std::string_view> parts;
  for (size_t start = 0; start <= constraints.size();) {
    size_t comma = std::min(constraints.find(',', start), constraints.size());
    if (comma > start)
      parts.push_back(constraints.substr(start, comma - start));
    start = comma + 1;
  }
  for (std::string_view part : parts)
    if (part[0] == '=')
      ++program.numResults;
  program.numOperands = program.numResults;
  for (std::string_view part : parts) {
    if (part[0] == '=' || part[0] == '~')
      continue;
    if (part.find('*') != std::string_view::npos)
      return false;
    int reg = program.numOperands++;
    bool isTied = std::isdigit(static_cast<unsigned char>(part[0]));
    program.operandRegisters.push_back(
        isTied ? std::atoi(std::string(part).c_str()) : reg);
  }
  program.numRegisters = program.numOperands;
  return true;
}

int AssemblyReader::namedRegister(std::string_view name) {
  auto [found, isNew] =
      names.try_emplace(std::string(name), program.numRegisters);
  if (isNew)
    ++program.numRegisters;
  return found->second;
}

static bool isName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%';
}

bool AssemblyReader::readValue(std::string_view text, AssemblyValue &value) {
  text = trim(text);
  if (text.empty())
    return false;
  // An address with a constant behind it.
  size_t plus = text.find('+');
  if (plus != std::string_view::npos && plus > 0) {
    AssemblyValue offset;
    if (!readValue(text.substr(0, plus), value) ||
        !readValue(text.substr(plus + 1), offset) || offset.reg >= 0)
      return false;
    value.constant += offset.constant;
    return true;
  }
  if (text[0] == '$') {
    std::string digits(text.substr(text[1] == '{' ? 2 : 1));
    value.reg = std::atoi(digits.c_str());
    return value.reg < program.numOperands;
  }
  if (text.substr(0, 2) == "0f" || text.substr(0, 2) == "0F") {
    value.constant =
        std::strtoull(std::string(text.substr(2)).c_str(), nullptr, 16);
    return text.size() == 10;
  }
  if (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-') {
    value.constant = static_cast<uint64_t>(
        std::strtoll(std::string(text).c_str(), nullptr, 0));
    return true;
  }
  for (char c : text)
    if (!isName(c))
      return false;
  value.reg = namedRegister(text);
  return true;
}

bool AssemblyReader::readOperands(std::string_view text,
                                  std::vector<AssemblyOperand> &operands) {
  // Commas outside of brackets stand between operands, others between values.
  AssemblyOperand operand;
  std::string value;
  int depth = 0;
  auto endValue = [&] {
    std::string_view trimmed = trim(value);
    bool isGood = true;
    if (!trimmed.empty()) {
      operand.values.emplace_back();
      isGood = readValue(trimmed, operand.values.back());
    }
    value.clear();
    return isGood;
  };
  for (char c : text) {
    if (c == '{' || c == '[') {
      ++depth;
      operand.isAddress |= c == '[';
    } else if (c == '}' || c == ']') {
      --depth;
      if (!endValue())
        return false;
    } else if (c == ',' || c == '|') {
      if (!endValue())
        return false;
      if (c == ',' && depth == 0) {
        operands.push_back(std::move(operand));
        operand = {};
      }
    } else {
      value += c;
    }
  }
  if (!endValue())
    return false;
  if (!operand.values.empty() || !operands.empty())
    operands.push_back(std::move(operand));
  return true;
}

bool AssemblyReader::readStatement(std::string statement,
                                   std::string &problem) {
  std::string_view rest = trim(statement);
  // Labels stand before what they name.
  for (size_t colon; (colon = rest.find(':')) != std::string_view::npos &&
                     rest.substr(colon, 2) != "::";) {
    labels[std::string(trim(rest.substr(0, colon)))] =
        static_cast<int>(program.instructions.size());
    rest = trim(rest.substr(colon + 1));
  }
  if (rest.empty())
    return true;
  if (rest.substr(0, 4) == ".reg") {
    size_t space = rest.find_first_of(" \t", 5);
    std::vector<AssemblyOperand> declared;
    return space == std::string_view::npos ||
           readOperands(rest.substr(space), declared);
  }
  AssemblyInstruction instruction;
  if (rest[0] == '@') {
    size_t space = rest.find_first_of(" \t");
    std::string_view name = rest.substr(1, space - 1);
    instruction.isNegated = name[0] == '!';
    AssemblyValue value;
    if (!readValue(name.substr(instruction.isNegated), value))
      return false;
    instruction.predicate = value.reg;
    rest = trim(rest.substr(space));
  }
  size_t space = std::min(rest.find_first_of(" \t\n"), rest.size());
  std::string_view name = rest.substr(0, space);
  if (name == "bra" || name == "bra.uni") {
    instruction.label = trim(rest.substr(space));
    program.instructions.push_back(std::move(instruction));
    return true;
  }
  std::vector<AssemblyOperand> operands;
  if (!readOperands(rest.substr(space), operands) ||
      !makeInstruction(name, operands, program.numResults, instruction)) {
    problem = "unknown assembly '" + std::string(rest) + "'";
    return false;
  }
  instruction.operation->name = name;
  program.waits |= instruction.operation->waits;
  program.instructions.push_back(std::move(instruction));
  return true;
}

bool AssemblyReader::read(std::string &problem) {
  // Braces of blocks stand alone; those of lists stand in an instruction.
  std::string statement;
  bool isComment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '/')
      isComment = true;
    if (c == '\n')
      isComment = false;
    if (isComment)
      continue;
    bool isAlone = trim(statement).empty();
    bool isLabel = !isAlone && trim(statement).back() == ':';
    if ((c == '{' || c == '}') && (isAlone || isLabel)) {
      if (isLabel && !readStatement(statement, problem))
        return false;
      statement.clear();
    } else if (c == ';') {
      if (!readStatement(statement, problem))
        return false;
      statement.clear();
    } else {
      statement += c;
    }
  }
  if (!readStatement(statement, problem))
    return false;
  for (AssemblyInstruction &instruction : program.instructions) {
    if (instruction.label.empty())
      continue;
    auto label = labels.find(instruction.label);
    if (label == labels.end()) {
      problem = "unknown label '" + instruction.label + "' in assembly";
      return false;
    }
    instruction.target = label->second;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Running it
//===----------------------------------------------------------------------===//

static uint64_t valueOf(const AssemblyValue &value, const uint64_t *registers) {
  return (value.reg >= 0 ? registers[value.reg] : 0) + value.constant;
}

static void runAssembly(Context &context, const Operation &operation,
                        const uint64_t *operands, uint64_t *results) {
  const auto &program = static_cast<const AssemblyProgram &>(operation);
  auto *registers = static_cast<uint64_t *>(
      __builtin_alloca(sizeof(uint64_t) * program.numRegisters));
  std::memset(registers, 0, sizeof(uint64_t) * program.numRegisters);
  // A tied operand is its result's first value, and has a number itself.
  std::copy_n(operands, program.operandRegisters.size(),
              registers + program.numResults);
  for (size_t i = 0; i < program.operandRegisters.size(); ++i) {
    registers[program.operandRegisters[i]] = operands[i];
  }
  auto *inputs = static_cast<uint64_t *>(
      __builtin_alloca(sizeof(uint64_t) * program.numInputs));
  auto *outputs = static_cast<uint64_t *>(
      __builtin_alloca(sizeof(uint64_t) * program.numOutputs));
  for (size_t at = 0; at < program.instructions.size();) {
    const AssemblyInstruction &instruction = program.instructions[at++];
    if (instruction.predicate >= 0 &&
        bool(registers[instruction.predicate] & 1) == instruction.isNegated)
      continue;
    if (instruction.target >= 0) {
      at = instruction.target;
      continue;
    }
    if (size_t count = instruction.inputsInRow)
      std::copy_n(registers + instruction.inputs[0].reg, count, inputs);
    for (size_t i = instruction.inputsInRow; i < instruction.inputs.size(); ++i)
      inputs[i] = valueOf(instruction.inputs[i], registers);
    instruction.operation->handler(context, *instruction.operation, inputs,
                                   outputs);
    if (size_t count = instruction.outputsInRow)
      std::copy_n(outputs, count, registers + instruction.outputs[0]);
    for (size_t i = instruction.outputsInRow; i < instruction.outputs.size();
         ++i)
      if (instruction.outputs[i] >= 0)
        registers[instruction.outputs[i]] = outputs[i];
  }
  std::memcpy(results, registers, sizeof(uint64_t) * program.numResults);
}

/// Products have a hundred registers, which are best moved at once.
static void countRows(AssemblyInstruction &instruction) {
  const std::vector<AssemblyValue> &inputs = instruction.inputs;
  size_t &numInputs = instruction.inputsInRow;
  while (numInputs < inputs.size() && inputs[numInputs].reg >= 0 &&
         inputs[numInputs].constant == 0 &&
         inputs[numInputs].reg == inputs[0].reg + static_cast<int>(numInputs))
    ++numInputs;
  const std::vector<int> &outputs = instruction.outputs;
  size_t &numOutputs = instruction.outputsInRow;
  while (numOutputs < outputs.size() && outputs[numOutputs] >= 0 &&
         outputs[numOutputs] == outputs[0] + static_cast<int>(numOutputs))
    ++numOutputs;
}

std::unique_ptr<Operation> heddle::emulator::makeAssembly(
    std::string_view text, std::string_view constraints, std::string &problem) {
  auto program = std::make_unique<AssemblyProgram>();
  program->name = "inline assembly";
  AssemblyReader reader(text, *program);
  if (!reader.readConstraints(constraints)) {
    problem =
        "unknown constraints '" + std::string(constraints) + "' of assembly";
    return nullptr;
  }
  if (!reader.read(problem))
    return nullptr;
  if (program->instructions.empty() && program->numResults) {
    // Nothing but registers that pass.
    AssemblyInstruction pass;
    pass.operation = std::make_unique<Operation>();
    pass.operation->handler = passRegisters;
    pass.operation->name = "inline assembly";
    pass.operation->detail[0] = program->numResults;
    for (int i = 0; i < program->numResults; ++i) {
      pass.inputs.push_back({i, 0});
      pass.outputs.push_back(i);
    }
    program->waits = true;
    program->instructions.push_back(std::move(pass));
  }
  for (AssemblyInstruction &instruction : program->instructions) {
    countRows(instruction);
    // Handlers may look at an operand or give a result that is not there.
    program->numInputs =
        std::max(program->numInputs, instruction.inputs.size() + 2);
    program->numOutputs =
        std::max(program->numOutputs, instruction.outputs.size() + 2);
  }
  program->handler = runAssembly;
  return program;
}
