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
  /// `field` is where it stands: "normalizer.normalizers[1]".
  Component(const llvm::json::Value &value, std::string field)
      : value(value), field(std::move(field)) {}

  /// Empty if it has none.
  llvm::StringRef type() const;

  // Fields: `byDefault` if absent or null; an error that `finish` reports if
  // it is of another kind.
  bool boolean(llvm::StringRef name, bool byDefault);
  std::string text(llvm::StringRef name, llvm::StringRef byDefault);
  int64_t number(llvm::StringRef name, int64_t byDefault);
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

private:
  const llvm::json::Value &value;
  std::string field;
  llvm::StringSet<> known;
  /// The first field of the wrong kind, and what it should be.
  std::optional<std::pair<std::string, std::string>> wrong;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_COMPONENT_H
