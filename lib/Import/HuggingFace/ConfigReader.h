//===- ConfigReader.h - Reads the fields of a JSON object -------*- C++ -*-===//
//
// Reads the fields of a configuration and knows which of them were read, so
// that what is left over can be named. Failures are sticky: the first is kept,
// later reads return defaults. Warnings are collected: a field that has no
// effect never fails.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_CONFIGREADER_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_CONFIGREADER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace heddle {

class ConfigReader {
public:
  /// `path` names the file in sentences.
  ConfigReader(llvm::json::Object object, llvm::StringRef path)
      : object(std::move(object)), path(path) {}

  llvm::StringRef getPath() const { return path; }

  /// The value of a field, marked as read; null if the field is absent.
  const llvm::json::Value *read(llvm::StringRef field);
  /// As `read`, but an explicit null counts as absent.
  const llvm::json::Value *readNonNull(llvm::StringRef field);

  /// A number as Python has it: true is 1 and false 0.
  static std::optional<double> numberOf(const llvm::json::Value &value);

  /// Values of one type; an absent or null field has the default.
  bool boolean(llvm::StringRef field, bool byDefault);
  int64_t integer(llvm::StringRef field, int64_t byDefault, int64_t min,
                  int64_t max);
  /// As `integer`, but null is a failure: a size that the library cannot do
  /// without.
  int64_t size(llvm::StringRef field, int64_t byDefault, int64_t min,
               int64_t max);
  double number(llvm::StringRef field, double byDefault, double min,
                double max);
  /// What Python takes for true: null, 0 and what is empty are false.
  bool truth(llvm::StringRef field, bool byDefault);
  std::string text(llvm::StringRef field, llvm::StringRef byDefault);
  /// An id below `vocabulary`. Absent has the default, null has none.
  std::optional<int64_t> id(llvm::StringRef field,
                            std::optional<int64_t> byDefault,
                            int64_t vocabulary);
  /// A list of ids, or one id; absent or null is empty.
  std::vector<int32_t> ids(llvm::StringRef field, int64_t vocabulary);
  /// As `ids`, but numbers beyond the vocabulary, which no model can generate,
  /// are left out with a warning.
  std::vector<int32_t> knownIds(llvm::StringRef field, int64_t vocabulary);

  /// Gives a field that is absent a value.
  void setDefault(llvm::StringRef field, const llvm::json::Value &value);
  /// Gives fields that are null here the values that they have in another file.
  void fillNulls(const ConfigReader &other);
  /// Gives a field the value of another field, which is there.
  void substitute(llvm::StringRef field, llvm::StringRef other);

  /// Accepts a field only with one of these values; null counts as absent.
  void require(llvm::StringRef field,
               llvm::ArrayRef<llvm::json::Value> supported);
  /// Accepts fields with any value.
  template <typename Fields> void ignore(const Fields &fields) {
    for (llvm::StringRef field : fields)
      seen.insert(field);
  }
  /// The fields that nobody read, in alphabetical order.
  std::vector<llvm::StringRef> getUnread() const;

  /// Keeps the first failure: the field, its value or that it has none, and
  /// what is supported.
  void fail(llvm::StringRef field, const llvm::Twine &supported);
  /// Keeps the first failure, of a value that nothing stands for: `why` follows
  /// the field and its value.
  void refuse(llvm::StringRef field, const llvm::Twine &why);
  llvm::Error takeError() const;
  /// Warns that the field's value has no effect, or another than meant: `why`
  /// continues "'FILE' has 'FIELD' with the value VALUE, " or "'FILE' has no
  /// 'FIELD', ".
  void warn(llvm::StringRef field, const llvm::Twine &why);
  /// Warns that a field counts that transformers 4.57.6 ignores.
  void warnOfRead(llvm::StringRef field);
  llvm::ArrayRef<std::string> getWarnings() const { return warnings; }

private:
  bool toId(const llvm::json::Value &value, int64_t vocabulary,
            int32_t &id) const;
  /// "'FILE' has 'FIELD' with the value VALUE", or that it has none.
  std::string describe(llvm::StringRef field) const;
  /// The elements of a list, or the one value that stands in its place.
  llvm::ArrayRef<llvm::json::Value> elementsOf(llvm::StringRef field);

  llvm::json::Object object;
  std::string path;
  llvm::StringSet<> seen;
  std::string failure;
  std::vector<std::string> warnings;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_CONFIGREADER_H
