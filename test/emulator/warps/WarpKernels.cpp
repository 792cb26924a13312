//===- WarpKernels.cpp - Kernels of one operation -------------------------===//

#include "WarpKernels.h"

using namespace heddle::emulator;

std::string heddle::emulator::wordKernel(int numInputs, int numOutputs,
                                         const std::string &body,
                                         const std::string &declarations) {
  std::string text = "define ptx_kernel void @k(ptr addrspace(1) %in, "
                     "ptr addrspace(1) %out) {\n"
                     "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n";
  auto at = [&](const std::string &name, const std::string &base, int count,
                int i) {
    std::string word = std::to_string(i);
    text += "  %" + name + "m" + word + " = mul i32 %t, " +
            std::to_string(count) + "\n  %" + name + "a" + word +
            " = add i32 %" + name + "m" + word + ", " + word + "\n  %" + name +
            "p" + word + " = getelementptr i32, ptr addrspace(1) %" + base +
            ", i32 %" + name + "a" + word + "\n";
    return "ptr addrspace(1) %" + name + "p" + word + ", align 4\n";
  };
  for (int i = 0; i < numInputs; ++i) {
    std::string place = at("i", "in", numInputs, i);
    text += "  %i" + std::to_string(i) + " = load i32, " + place;
  }
  text += body;
  for (int i = 0; i < numOutputs; ++i) {
    std::string place = at("o", "out", numOutputs, i);
    text += "  store i32 %o" + std::to_string(i) + ", " + place;
  }
  return text +
         "  ret void\n}\ndeclare i32 "
         "@llvm.nvvm.read.ptx.sreg.tid.x()\n" +
         declarations;
}

std::vector<std::string> heddle::emulator::times(int count,
                                                 const std::string &type) {
  return std::vector<std::string>(count, type);
}

std::vector<std::string>
heddle::emulator::operator+(std::vector<std::string> a,
                            const std::vector<std::string> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

static std::string join(const std::vector<std::string> &parts,
                        const std::string &separator = ", ") {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : separator) + part;
  return text;
}

static std::string resultType(const std::vector<std::string> &outputs) {
  if (outputs.empty())
    return "void";
  return outputs.size() == 1 ? outputs[0] : "{ " + join(outputs) + " }";
}

/// Casts, a call of `callee`, casts.
static std::string callBody(const std::string &callee,
                            const std::vector<std::string> &inputs,
                            const std::vector<std::string> &outputs) {
  std::string text;
  std::vector<std::string> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string number = std::to_string(i);
    std::string cast = inputs[i] == "i1" ? "trunc" : "bitcast";
    if (inputs[i] == "ptr addrspace(3)")
      cast = "inttoptr";
    text += "  %c" + number + " = " + cast + " i32 %i" + number + " to " +
            inputs[i] + "\n";
    arguments.push_back(inputs[i] + " %c" + number);
  }
  std::string type = resultType(outputs);
  text += "  ";
  if (!outputs.empty())
    text += "%r = ";
  text += "call " + type + " " + callee + "(" + join(arguments) + ")\n";
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string number = std::to_string(i), part = "%r";
    if (outputs.size() > 1) {
      part = "%e" + number;
      text += "  " + part + " = extractvalue " + type + " %r, " + number + "\n";
    }
    text += "  %o" + number + " = " +
            (outputs[i] == "i1" ? "zext " : "bitcast ") + outputs[i] + " " +
            part + " to i32\n";
  }
  return text;
}

std::string
heddle::emulator::intrinsicKernel(const std::string &name,
                                  const std::vector<std::string> &inputs,
                                  const std::vector<std::string> &outputs) {
  return wordKernel(inputs.size(), outputs.size(),
                    callBody("@" + name, inputs, outputs),
                    "declare " + resultType(outputs) + " @" + name + "(" +
                        join(inputs) + ")\n");
}

std::string
heddle::emulator::assemblyKernel(const std::string &text,
                                 const std::vector<std::string> &inputs,
                                 const std::vector<std::string> &outputs) {
  auto constraint = [](const std::string &type) {
    return type == "float" ? "f" : "r";
  };
  std::vector<std::string> constraints;
  for (const std::string &output : outputs)
    constraints.push_back(std::string("=") + constraint(output));
  for (const std::string &input : inputs)
    constraints.push_back(constraint(input));
  return wordKernel(inputs.size(), outputs.size(),
                    callBody("asm sideeffect \"" + text + "\", \"" +
                                 join(constraints, ",") + "\"",
                             inputs, outputs),
                    "");
}
