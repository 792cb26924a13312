//===- OutputFile.h - A file that is there whole or not at all --*- C++ -*-===//
//
// Bytes are written to a temporary file beside a path, in any order, and get
// its name when they are whole. Links are followed: the file that they lead to
// is replaced, and no link. What nothing may replace, a device, a pipe,
// standard output or another open file (/dev/fd/3), receives the bytes instead.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_ARTIFACT_OUTPUTFILE_H
#define HEDDLE_LIB_ARTIFACT_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace heddle {

/// Move-only. One that is not kept leaves nothing, nor does a signal.
class OutputFile {
public:
  enum class Kind { Text, Binary };

  /// "-" is standard output. `mode` is what a file may be used for, less what
  /// the umask takes away. A terminal shows text alone.
  static llvm::Expected<OutputFile> create(llvm::StringRef path, Kind kind,
                                           unsigned mode = 0666);

  OutputFile(OutputFile &&other);
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  /// Its beginning can be found again.
  int descriptor() const { return file; }
  /// Gives the file its name, or a pipe the bytes.
  llvm::Error keep();

private:
  OutputFile(std::string path, int file) : path(std::move(path)), file(file) {}

  llvm::Error copyTo(int stream) const;

  std::string path;
  /// Through links, the file that is replaced; empty for none.
  std::string target;
  std::string temporary;
  int file;
  /// What receives the bytes at the end, unless a file is replaced or `file`
  /// is a device: an open file, or else `path`.
  bool isStream = false;
  int open = -1;
};

/// The file that a path names through links, whether it is there or not.
std::string followLinks(llvm::StringRef path);

/// "cannot write 'x': no space", or "cannot write standard output: ...".
llvm::Error cannotWrite(llvm::StringRef path, const llvm::Twine &reason);

} // namespace heddle

#endif // HEDDLE_LIB_ARTIFACT_OUTPUTFILE_H
