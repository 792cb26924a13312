//===- Component.h - An object of tokenizer.json ----------------*- C++ -*-===//
//
// tokenizer.json is made of components: objects with a type and fields. What a
// component's reader does not ask for is refused, since it may change ids.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_COMPONENT_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_COMPONENT_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

namespace heddle {

class Component {
public:
  static constexpr llvm::StringLiteral kWholeFile = "tokenizer.json";

  /// `field` is where it stands: "normalizer.normalizers[1]"; `file` is the
  /// name of the file that it was made of, for errors.
  Component(const llvm::json::Value &value, std::string field,
            std::string file = kWholeFile.str())
      : value(value), field(std::move(field)), file(std::move(file)) {}

  /// Empty if it has none.
  llvm::StringRef type() const;

  // Fields: `byDefault` if absent or null; an error that `finish` reports if
  // it is of another kind, or if it is absent and has no default.
  bool boolean(llvm::StringRef name,
               std::optional<bool> byDefault = std::nullopt);
  std::string text(llvm::StringRef name,
                   std::optional<llvm::StringRef> byDefault = std::nullopt);
  int64_t number(llvm::StringRef name,
                 std::optional<int64_t> byDefault = std::nullopt);
  /// Null if it is absent or null.
  const llvm::json::Value *any(llvm::StringRef name);

  /// How many components a list has; 0 if there is none.
  size_t count(llvm::StringRef list);
  /// read(part) for each component of the list with that name.
  llvm::Error forEach(llvm::StringRef list,
                      llvm::function_ref<llvm::Error(Component)> read);

  /// Fails if a field was of the wrong kind, or none asked for it.
  llvm::Error finish();

  /// "'tokenizer.json' has 'normalizer' with the value ... (supported: ...)".
  llvm::Error refuse(const llvm::Twine &supported) const;
  /// The same of a field of it.
  llvm::Error refuse(llvm::StringRef name, const llvm::Twine &supported) const;
  /// The same of its type, or of a value that has none.
  llvm::Error refuseType(const llvm::Twine &supported) const;
  /// Says that the piece which the field names is missing.
  llvm::Error refusePiece(llvm::StringRef name, llvm::StringRef piece) const;

private:
  const llvm::json::Value &value;
  std::string field, file;
  llvm::StringSet<> known;
  /// The first field of the wrong kind, and what it should be.
  std::optional<std::pair<std::string, std::string>> wrong;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_COMPONENT_H
