//===- MarianOptionReader.h - The values of Marian's options ----*- C++ -*-===//
//
// Marian has the same YAML for the options of a model, inside its file, and for
// those of its decoder, beside it. Values mean here what they mean to yaml-cpp,
// which reads them there; what it would not read is refused.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_MARIAN_MARIANOPTIONREADER_H
#define HEDDLE_LIB_IMPORT_MARIAN_MARIANOPTIONREADER_H

#include "lib/Import/Marian/Yaml.h"
#include "llvm/ADT/SmallVector.h"

namespace heddle {

/// Reads options and remembers the first failure. Borrows both.
class MarianOptionReader {
public:
  MarianOptionReader(const YamlMapping &options, llvm::StringRef file)
      : options(options), file(file) {}

  /// The text of a scalar option.
  std::string text(llvm::StringRef name, llvm::StringRef byDefault);
  int64_t integer(llvm::StringRef name, int64_t byDefault, int64_t min,
                  int64_t max);
  /// A finite number that is one in f32, too.
  double number(llvm::StringRef name, double byDefault);
  /// One that is false if it is absent.
  bool boolean(llvm::StringRef name);
  /// A string of the letters `allowed`.
  std::string letters(llvm::StringRef name, llvm::StringRef byDefault,
                      llvm::StringRef allowed);
  llvm::SmallVector<int64_t> integers(llvm::StringRef name, int64_t min,
                                      int64_t max);

  void fail(llvm::StringRef name, const llvm::Twine &value,
            const llvm::Twine &supported);
  llvm::Error takeError() const;
  /// The failure of an option that nobody knows, with the nearest of `known`.
  llvm::Error refuseUnknown(llvm::StringRef name, const YamlValue &value,
                            llvm::ArrayRef<llvm::StringRef> known) const;

private:
  const YamlMapping &options;
  llvm::StringRef file;
  std::string failure;
};

/// The truth that a text is to yaml-cpp; none for another text.
std::optional<bool> parseYamlBoolean(llvm::StringRef text);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_MARIAN_MARIANOPTIONREADER_H
