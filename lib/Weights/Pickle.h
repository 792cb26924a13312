//===- Pickle.h - Reads pickled data and runs nothing -----------*- C++ -*-===//
//
// Python's pickles are programs: an instruction names any function, another
// calls it. Here a name has to be on a list, and a call is a value that says
// what would have been called with what, and which attributes the object would
// have got. Values live in one arena and refer to each other by pointers, so
// that neither nesting nor cycles cost a stack.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_WEIGHTS_PICKLE_H
#define HEDDLE_LIB_WEIGHTS_PICKLE_H

#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <deque>
#include <vector>

namespace heddle {

/// A value of a pickle.
struct PickleValue {
  enum class Kind {
    None,
    Boolean,
    Integer,
    Number,
    Text,
    Tuple,
    /// A set, too.
    List,
    /// Keys and values in turn.
    Dictionary,
    /// The text is "module.name".
    Global,
    /// What stands outside of the pickle: the only item says what.
    Persistent,
    /// A global, then its arguments.
    Call
  };
  Kind kind = Kind::None;
  /// Of integers and booleans.
  int64_t integer = 0;
  /// Of numbers.
  double number = 0;
  std::string text;
  std::vector<const PickleValue *> items;
  /// The attributes of an object; null for none.
  const PickleValue *state = nullptr;

  bool isText() const { return kind == Kind::Text; }
  bool isInteger() const { return kind == Kind::Integer; }
  /// A global of this name, or a call of it.
  bool isGlobal(llvm::StringRef name) const {
    return kind == Kind::Global && text == name;
  }
  bool isCallOf(llvm::StringRef name) const {
    return kind == Kind::Call && items.front()->isGlobal(name);
  }
  /// The last value that a dictionary has under a text; null for none.
  const PickleValue *find(llvm::StringRef key) const;
};

/// What Python says of a value's type: "int", "tuple", ...
llvm::StringRef getTypeName(const PickleValue &value);

/// A pickle of protocols 2 to 5. Owns its values.
class Pickle {
public:
  /// Reads one pickle and leaves `reader` behind it. A global is refused by its
  /// name unless `globals` has it, or a module that it is of ("argparse.").
  /// `path` names the file in sentences, in which `origin` is where the
  /// reader's bytes begin.
  static llvm::Expected<Pickle> read(ByteReader &reader,
                                     llvm::ArrayRef<llvm::StringRef> globals,
                                     llvm::StringRef path, uint64_t origin);

  const PickleValue &getRoot() const { return *root; }
  /// All values, in the order in which they were made.
  const std::deque<PickleValue> &getValues() const { return values; }

private:
  friend class Unpickler;

  std::deque<PickleValue> values;
  const PickleValue *root = nullptr;
};

} // namespace heddle

#endif // HEDDLE_LIB_WEIGHTS_PICKLE_H
