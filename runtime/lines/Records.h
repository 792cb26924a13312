//===- Records.h - Answers of the pipeline as lists -------------*- C++ -*-===//
//
// An answer of the pipeline is a string. These are lists in it, of types that
// bytes can be copied of; lists behind each other are one list.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_RECORDS_H
#define HEDDLE_RUNTIME_LINES_RECORDS_H

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle {

template <typename T> std::string writeRecords(const std::vector<T> &records) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char *>(records.data()),
          records.size() * sizeof(T)};
}

template <typename T> std::vector<T> readRecords(const std::string &bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> records(bytes.size() / sizeof(T));
  if (!records.empty())
    std::memcpy(static_cast<void *>(records.data()), bytes.data(),
                bytes.size());
  return records;
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_RECORDS_H
