//===- IsaLevels.cpp - The ISA levels that a machine may have -------------===//
//
// One table; a level is a row. What code is generated for each stands in
// lib/CodeGen/Target.cpp, by the same names.
//
//===----------------------------------------------------------------------===//

#include "runtime/IsaLevels.h"

#include <algorithm>
#include <iterator>

using namespace heddle;

namespace {
struct IsaRow {
  std::string_view name;
  bool hasAvx512, hasVnni;
  /// cpuid; also whether the operating system saves the wide registers.
  bool (*isThere)();
};
} // namespace

/// Lowest first.
static constexpr IsaRow kRows[] = {
    {"x86-64-v3", /*hasAvx512=*/false, /*hasVnni=*/false,
     [] { return __builtin_cpu_supports("x86-64-v3") != 0; }},
    {"x86-64-v4", /*hasAvx512=*/true, /*hasVnni=*/false,
     [] { return __builtin_cpu_supports("x86-64-v4") != 0; }},
    {"avx512-bf16", /*hasAvx512=*/true, /*hasVnni=*/true,
     [] {
       return __builtin_cpu_supports("x86-64-v4") &&
              __builtin_cpu_supports("avx512vnni") &&
              __builtin_cpu_supports("avx512bf16");
     }},
};

static const IsaRow *find(std::string_view name) {
  return std::find_if(std::begin(kRows), std::end(kRows),
                      [&](const IsaRow &row) { return row.name == name; });
}

int heddle::rankOfIsa(std::string_view name) {
  __builtin_cpu_init();
  const IsaRow *row = find(name);
  if (row == std::end(kRows) || !row->isThere())
    return 0;
  return static_cast<int>(row - std::begin(kRows)) + 1;
}

bool heddle::isaHasAvx512(std::string_view name) {
  const IsaRow *row = find(name);
  return row != std::end(kRows) && row->hasAvx512;
}

bool heddle::isaHasVnni(std::string_view name) {
  const IsaRow *row = find(name);
  return row != std::end(kRows) && row->hasVnni;
}
