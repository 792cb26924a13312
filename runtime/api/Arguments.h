//===- Arguments.h - What callers of heddle.h may get wrong -----*- C++ -*-===//
//
// Pointers and sizes that no call can be right with are refused before anything
// is done: a binding that hands on what it was given gets a sentence, and does
// not end its process.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_API_ARGUMENTS_H
#define HEDDLE_RUNTIME_API_ARGUMENTS_H

#include "runtime/Result.h"
#include "runtime/heddle.h"

#include <cstddef>
#include <initializer_list>

namespace heddle {

/// A pointer, to data or to a function, and what heddle.h calls it.
struct Pointer {
  template <typename T>
  Pointer(const char *name, T *pointer) : name(name), isNull(!pointer) {}

  const char *name;
  bool isNull;
};

/// Fails if one of them is NULL.
Status checkPointers(std::initializer_list<Pointer> pointers);

/// An array, and what heddle.h calls it and its size.
struct Array {
  template <typename T>
  Array(const char *name, const T *elements, const char *sizeName, size_t size)
      : name(name), sizeName(sizeName), isNull(!elements), size(size),
        most(kMostBytes / sizeof(T)) {}

  /// No process of x86-64 has addresses for more.
  static constexpr size_t kMostBytes = size_t(1) << 47;

  const char *name, *sizeName;
  bool isNull;
  size_t size, most;
};

/// Fails on elements at NULL, and on more than memory has.
Status checkArrays(std::initializer_list<Array> arrays);
/// Those of an input.
Status checkInput(const heddle_input &input);
/// An array of inputs, each of which a failure names.
Status checkInputs(const heddle_input *inputs, size_t count);

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_ARGUMENTS_H
