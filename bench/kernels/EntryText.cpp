#include "bench/kernels/EntryText.h"

#include <cctype>

namespace heddle::bench {

static bool isNumber(const std::string &size) {
  return std::isdigit(static_cast<unsigned char>(size.front()));
}

std::string typeOf(const Sizes &sizes, const std::string &element) {
  std::string text = "tensor<";
  for (const std::string &size : sizes)
    text += (isNumber(size) ? size : "?") + "x";
  return text + element + ">";
}

EntryText &EntryText::argument(const std::string &value, const Sizes &sizes,
                               const std::string &element,
                               const std::string &attribute) {
  std::string dims;
  for (const std::string &size : sizes)
    if (!isNumber(size))
      dims += (dims.empty() ? "\"" : ", \"") + size + "\"";
  types[value] = typeOf(sizes, element);
  arguments += (arguments.empty() ? "%" : ", %") + value + ": " + types[value] +
               " {transformer.name = \"" + value + "\"" + attribute +
               (dims.empty() ? "" : ", transformer.dims = [" + dims + "]") +
               "}";
  return *this;
}

EntryText &EntryText::input(const std::string &value, const Sizes &sizes,
                            const std::string &element) {
  return argument(value, sizes, element);
}
EntryText &EntryText::ids(const std::string &value, const Sizes &sizes) {
  return argument(value, sizes, "i32");
}
EntryText &EntryText::state(const std::string &value, const Sizes &sizes) {
  return argument(value, sizes, "f32", ", transformer.state");
}

EntryText &EntryText::weight(const std::string &value,
                             const std::vector<int64_t> &sizes,
                             std::vector<float> values) {
  Sizes words;
  for (int64_t size : sizes)
    words.push_back(std::to_string(size));
  std::string parameter = value + "_" + name;
  types[value] = typeOf(words, "f32");
  parameters +=
      "transformer.parameter @" + parameter + " : " + types[value] + "\n";
  body += "  %" + value + " = transformer.weight @" + parameter + " : " +
          types[value] + "\n";
  module.weights[parameter] = {sizes, std::move(values)};
  return *this;
}

EntryText &EntryText::mask(const std::string &op, const std::string &value) {
  types[value] = "!transformer.mask";
  body += "  %" + value + " = transformer.mask." + op + "\n";
  return *this;
}

void EntryText::yields(const std::string &op, const Sizes &sizes,
                       const std::string &regions) {
  std::string result = typeOf(sizes, "f32"), operands;
  for (size_t at = 0; (at = op.find('%', at)) != std::string::npos;) {
    size_t begin = ++at;
    while (at < op.size() && std::isalnum(static_cast<unsigned char>(op[at])))
      ++at;
    operands +=
        (operands.empty() ? "" : ", ") + types.at(op.substr(begin, at - begin));
  }
  body += "  %y = transformer." + op + regions + " : (" + operands + ") -> " +
          result + "\n";
  finish("y", result, op.find(" into ") != std::string::npos);
}

void EntryText::yieldsInput(const std::string &value) {
  finish(value, types.at(value), /*isState=*/false);
}

void EntryText::finish(const std::string &value, const std::string &type,
                       bool isState) {
  module.text += parameters + "func.func @" + name + "(" + arguments +
                 ") -> (" + type +
                 (isState ? "" : " {transformer.name = \"y\"}") + ") {\n" +
                 body + "  return %" + value + " : " + type + "\n}\n";
}

} // namespace heddle::bench
