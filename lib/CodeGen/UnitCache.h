//===- UnitCache.h - Objects of units that are compiled already -*- C++ -*-===//
//
// Compilations of one model in several types share most of their kernels: what
// was compiled once for a level is not compiled again. A unit's bytecode says
// all of it, and with the level decides each byte of its object.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_UNITCACHE_H
#define HEDDLE_LIB_CODEGEN_UNITCACHE_H

#include "lib/CodeGen/ObjectCode.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <mutex>
#include <optional>

namespace heddle {

/// Any number of threads at the same time.
class UnitCache {
public:
  std::optional<ObjectBytes> find(llvm::StringRef level,
                                  llvm::StringRef bytecode) const {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = objects.find(keyOf(level, bytecode));
    if (found == objects.end())
      return std::nullopt;
    return found->second;
  }
  void add(llvm::StringRef level, llvm::StringRef bytecode,
           const ObjectBytes &object) {
    std::lock_guard<std::mutex> lock(mutex);
    objects.try_emplace(keyOf(level, bytecode), object);
  }

private:
  /// No name of a level has a zero in it.
  static std::string keyOf(llvm::StringRef level, llvm::StringRef bytecode) {
    return (level + llvm::StringRef("\0", 1) + bytecode).str();
  }

  mutable std::mutex mutex;
  llvm::StringMap<ObjectBytes> objects;
};

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_UNITCACHE_H
