//===- IsaLevels.cpp - The ISA levels that a machine may have -------------===//
//
// One table; a level is a row. What code is generated for each stands in
// lib/CodeGen/Machine/Target.cpp, by the same names.
//
//===----------------------------------------------------------------------===//

#include "runtime/code/IsaLevels.h"

#include <algorithm>
#include <asm/prctl.h>
#include <cpuid.h>
#include <iterator>
#include <sys/syscall.h>
#include <unistd.h>

// Absent from the headers of Linux before 5.16.
#ifndef ARCH_REQ_XCOMP_PERM
#define ARCH_REQ_XCOMP_PERM 0x1023
#endif

using namespace heddle;

namespace {
struct IsaRow {
  std::string_view name;
  bool hasAvx512, hasVnni, hasBf16, hasTiles;
  /// cpuid; also whether the operating system saves the wide registers.
  bool (*isThere)();
};
} // namespace

static bool hasAvxVnni() {
  return __builtin_cpu_supports("x86-64-v3") &&
         __builtin_cpu_supports("avxvnni");
}

static bool hasAvx512Vnni() {
  return __builtin_cpu_supports("x86-64-v4") &&
         __builtin_cpu_supports("avx512vnni");
}

static bool hasAvx512Bf16() {
  return hasAvx512Vnni() && __builtin_cpu_supports("avx512bf16");
}

/// Tiles, of bytes and of bf16. Their 8 KB are part of what is saved for a
/// thread only once its process has asked for them; an operating system that
/// does not know of them, or a hypervisor that hides them, refuses.
static bool hasTiles() {
  unsigned eax, ebx, ecx, edx;
  constexpr unsigned bits = bit_AMXTILE | bit_AMXINT8 | bit_AMXBF16;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || (edx & bits) != bits)
    return false;
  constexpr long tileData = 18; // The number of that part.
  static const bool isPermitted =
      syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, tileData) == 0;
  return isPermitted;
}

/// Lowest first: the last one that a machine has is its best.
static constexpr IsaRow kRows[] = {
    {"x86-64-v3", /*hasAvx512=*/false, /*hasVnni=*/false, /*hasBf16=*/false,
     /*hasTiles=*/false,
     [] { return __builtin_cpu_supports("x86-64-v3") != 0; }},
    {"avx-vnni", /*hasAvx512=*/false, /*hasVnni=*/true, /*hasBf16=*/false,
     /*hasTiles=*/false, hasAvxVnni},
    {"x86-64-v4", /*hasAvx512=*/true, /*hasVnni=*/false, /*hasBf16=*/false,
     /*hasTiles=*/false,
     [] { return __builtin_cpu_supports("x86-64-v4") != 0; }},
    {"avx512-vnni", /*hasAvx512=*/true, /*hasVnni=*/true, /*hasBf16=*/false,
     /*hasTiles=*/false, hasAvx512Vnni},
    {"avx512-bf16", /*hasAvx512=*/true, /*hasVnni=*/true, /*hasBf16=*/true,
     /*hasTiles=*/false, hasAvx512Bf16},
    {"amx", /*hasAvx512=*/true, /*hasVnni=*/true, /*hasBf16=*/true,
     /*hasTiles=*/true, [] { return hasAvx512Bf16() && hasTiles(); }},
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

bool heddle::isaHasBf16(std::string_view name) {
  const IsaRow *row = find(name);
  return row != std::end(kRows) && row->hasBf16;
}

bool heddle::isaHasTiles(std::string_view name) {
  const IsaRow *row = find(name);
  return row != std::end(kRows) && row->hasTiles;
}
