//===- Parts.h - Names taken apart at their dots ----------------*- C++ -*-===//

#ifndef HEDDLE_TEST_EMULATOR_ASSEMBLY_PARTS_H
#define HEDDLE_TEST_EMULATOR_ASSEMBLY_PARTS_H

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::emulator {

class Parts {
public:
  explicit Parts(std::string_view name) : name(name) {
    while (true) {
      size_t dot = name.find('.');
      parts.push_back(name.substr(0, dot));
      if (dot == std::string_view::npos)
        return;
      name.remove_prefix(dot + 1);
    }
  }

  std::string_view whole() const { return name; }
  size_t size() const { return parts.size(); }
  /// Empty behind the last one.
  std::string_view operator[](size_t i) const {
    return i < parts.size() ? parts[i] : std::string_view();
  }
  std::string_view back() const { return parts.back(); }
  bool has(std::string_view part) const {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  }
  /// Whether the first parts are those of another name.
  bool startsWith(std::string_view prefix) const {
    return name.substr(0, prefix.size()) == prefix &&
           (name.size() == prefix.size() || name[prefix.size()] == '.');
  }
  void dropBack() {
    name = name.substr(0, name.size() - parts.back().size() - 1);
    parts.pop_back();
  }

private:
  std::string_view name;
  std::vector<std::string_view> parts;
};

/// mMnNkK; zeros where it is none.
struct MatrixShape {
  int m = 0, n = 0, k = 0;
};

inline MatrixShape readMatrixShape(std::string_view text) {
  MatrixShape shape;
  std::string copy(text);
  size_t n = copy.find('n'), k = copy.find('k');
  if (copy.empty() || copy[0] != 'm' || n == std::string::npos ||
      k == std::string::npos)
    return shape;
  shape.m = std::atoi(copy.c_str() + 1);
  shape.n = std::atoi(copy.c_str() + n + 1);
  shape.k = std::atoi(copy.c_str() + k + 1);
  return shape;
}

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_ASSEMBLY_PARTS_H
