//===- CodeLoader.h - Compiled code becomes functions -----------*- C++ -*-===//
//
// A loader for the shared objects that heddle-compile links, which need little:
// segments, relocations of three kinds, a fixed table of imports. It maps text
// from the artifact itself, so that processes share its pages and nothing is
// unpacked, and needs no /proc and no folder for temporary files. Loading runs
// none of the code.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CODE_CODELOADER_H
#define HEDDLE_RUNTIME_CODE_CODELOADER_H

#include "runtime/Result.h"
#include "runtime/code/CodeImage.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {

/// A shared object, and where it lies in a file if it does.
struct CodeSource {
  std::string_view bytes;
  /// An open file that may be read, or -1: then segments are copied.
  int file = -1;
  /// Where `bytes` begin in it, a multiple of a page.
  uint64_t offset = 0;
  /// Whether code may call what the libraries of this process export, beside
  /// the imports of CodeImports.h.
  bool callsLibraries = false;
};

/// Owns the memory of one loaded object; what it was loaded from may go.
/// Move-only. Symbols may be looked up from several threads.
class LoadedCode {
public:
  /// Maps and relocates an object. No page is ever writable and executable.
  /// Text of a file system that forbids to run what is on it (noexec) is
  /// copied. Errors begin with a verb ("has a segment ...").
  static Result<LoadedCode> load(const CodeSource &source);

  LoadedCode(LoadedCode &&other) noexcept;
  LoadedCode &operator=(LoadedCode &&other) noexcept;
  ~LoadedCode();

  /// The function of that name, null if there is none.
  void *find(std::string_view symbol) const;

  /// Where address 0 of the object is.
  const char *base() const { return memory; }

private:
  LoadedCode(char *memory, CodeImage image)
      : memory(memory), image(std::move(image)) {}

  Status mapSegment(const CodeSource &source, const CodeSegment &segment);
  Status copySegment(const CodeSource &source, const CodeSegment &segment);
  Status relocate(bool callsLibraries);
  Status relocatePacked();
  Status relocateTable(const CodeTable &table, bool callsLibraries);
  Result<uint64_t> valueOf(uint32_t symbol, bool callsLibraries) const;
  Status store(uint64_t address, uint64_t value);
  Status protect();

  /// The `size` bytes at an address that is known to have them.
  template <typename T> T read(uint64_t address) const;
  std::string_view nameAt(uint32_t offset) const;

  char *memory;
  CodeImage image;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CODE_CODELOADER_H
