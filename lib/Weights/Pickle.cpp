//===- Pickle.cpp - Reads pickled data and runs nothing -------------------===//
//
// A machine with a stack, marks in it, and a memo of values by number, as
// Python's pickletools describes it. Instructions that checkpoints have no use
// for are unknown here. Each makes at most one value. Bounds on the
// number of values, and on that of the items that values copy from each other
// (a call has those of its tuple), keep a small file from asking for much
// memory.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/Pickle.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace heddle {

using Kind = PickleValue::Kind;

/// A tensor of a state dictionary takes about thirty values, and copies ten.
static constexpr size_t kMostValues = 1 << 22, kMostCopies = 1 << 22;

/// What a sentence shows of a name.
static constexpr size_t kLongestName = 64;

StringRef getTypeName(const PickleValue &value) {
  switch (value.kind) {
  case Kind::None:
    return "None";
  case Kind::Boolean:
    return "bool";
  case Kind::Integer:
    return "int";
  case Kind::Number:
    return "float";
  case Kind::Text:
    return "str";
  case Kind::Tuple:
    return "tuple";
  case Kind::List:
    return "list";
  case Kind::Dictionary:
    return "dict";
  case Kind::Global:
    return "function";
  case Kind::Persistent:
    return "storage";
  case Kind::Call:
    return "object";
  }
  llvm_unreachable("all kinds have a name");
}

const PickleValue *PickleValue::find(StringRef key) const {
  if (kind != Kind::Dictionary)
    return nullptr;
  for (size_t i = items.size(); i >= 2; i -= 2)
    if (items[i - 2]->isText() && items[i - 2]->text == key)
      return items[i - 1];
  return nullptr;
}

class Unpickler {
public:
  Unpickler(Pickle &pickle, ByteReader &reader, ArrayRef<StringRef> globals,
            StringRef path, uint64_t origin)
      : pickle(pickle), reader(reader), globals(globals), path(path),
        origin(origin) {}

  Error run();

private:
  /// Runs one instruction; false if the file is damaged, with or without a
  /// failure that says how.
  bool step(unsigned char opcode);
  /// The groups of instructions; nothing for one of another group.
  std::optional<bool> stepConstant(unsigned char opcode);
  std::optional<bool> stepText(unsigned char opcode);
  std::optional<bool> stepContainer(unsigned char opcode);
  std::optional<bool> stepMemo(unsigned char opcode);
  std::optional<bool> stepObject(unsigned char opcode);

  PickleValue *push(Kind kind);
  bool pushInteger(int64_t integer, Kind kind = Kind::Integer);
  bool pushText(uint64_t size);
  /// An integer of `Stored`'s size as a number of bytes.
  template <typename Stored> bool pushTextOf();
  template <typename Stored> bool pushIntegerOf();
  bool pushLong();
  bool pushGlobal(StringRef name);
  /// Replaces the uppermost values by a tuple of them.
  bool pushTuple(size_t count);

  bool pop(PickleValue *&value);
  /// The values above the uppermost mark, which go with it.
  bool popMark(std::vector<PickleValue *> &values);
  /// Appends the values to the list or dictionary that is uppermost then.
  bool extend(Kind kind, ArrayRef<PickleValue *> values);
  /// Appends items of another value.
  bool copyItems(PickleValue *to, const PickleValue &from);
  bool pushOrdered(const PickleValue &arguments);
  bool pushCounter(const PickleValue &arguments);
  bool call();
  bool isKnown(StringRef name) const;

  bool remember(uint32_t index);
  bool recall(uint32_t index);
  template <typename Stored> bool withIndex(bool (Unpickler::*use)(uint32_t)) {
    Stored index;
    return reader.read(index) && (this->*use)(index);
  }

  bool fail(const Twine &sentence) {
    failure = sentence.str();
    return false;
  }

  Pickle &pickle;
  ByteReader &reader;
  ArrayRef<StringRef> globals;
  StringRef path;
  uint64_t origin;
  /// Null for a mark.
  std::vector<PickleValue *> stack;
  DenseMap<uint32_t, PickleValue *> memo;
  /// Items that values have from other values.
  size_t copies = 0;
  /// Where the instruction stands in the file.
  uint64_t offset = 0;
  std::string failure;
};

PickleValue *Unpickler::push(Kind kind) {
  pickle.values.emplace_back().kind = kind;
  stack.push_back(&pickle.values.back());
  return stack.back();
}

bool Unpickler::pushInteger(int64_t integer, Kind kind) {
  push(kind)->integer = integer;
  return true;
}

bool Unpickler::pushText(uint64_t size) {
  StringRef bytes;
  if (!reader.take(size, bytes))
    return false;
  push(Kind::Text)->text = bytes.str();
  return true;
}

template <typename Stored> bool Unpickler::pushTextOf() {
  Stored size;
  return reader.read(size) && pushText(size);
}

template <typename Stored> bool Unpickler::pushIntegerOf() {
  Stored integer;
  return reader.read(integer) && pushInteger(integer);
}

/// Little-endian two's complement of as many bytes as the first says.
bool Unpickler::pushLong() {
  uint8_t size;
  StringRef bytes;
  if (!reader.read(size) || size > sizeof(int64_t) || !reader.take(size, bytes))
    return false;
  uint64_t integer = size && bytes.back() & 0x80 ? ~uint64_t(0) : 0;
  for (unsigned char byte : reverse(bytes))
    integer = integer << 8 | byte;
  return pushInteger(int64_t(integer));
}

bool Unpickler::isKnown(StringRef name) const {
  return any_of(globals, [&](StringRef known) {
    return known.ends_with(".") ? name.starts_with(known) : name == known;
  });
}

bool Unpickler::pushGlobal(StringRef name) {
  if (!isKnown(name)) {
    std::string printable;
    raw_string_ostream stream(printable);
    printEscapedString(name.take_front(kLongestName), stream);
    return fail("'" + path + "' asks for '" + printable + "' at byte " +
                Twine(offset) + ", which weights do not need and which " +
                "was not run");
  }
  push(Kind::Global)->text = name.str();
  return true;
}

bool Unpickler::pop(PickleValue *&value) {
  if (stack.empty() || !stack.back())
    return false;
  value = stack.back();
  stack.pop_back();
  return true;
}

bool Unpickler::popMark(std::vector<PickleValue *> &values) {
  auto mark = llvm::find(reverse(stack), nullptr);
  if (mark == stack.rend())
    return false;
  values.assign(mark.base(), stack.end());
  stack.erase(mark.base() - 1, stack.end());
  return true;
}

bool Unpickler::pushTuple(size_t count) {
  std::vector<const PickleValue *> items(count);
  for (const PickleValue *&item : reverse(items)) {
    PickleValue *value;
    if (!pop(value))
      return false;
    item = value;
  }
  push(Kind::Tuple)->items = std::move(items);
  return true;
}

bool Unpickler::extend(Kind kind, ArrayRef<PickleValue *> values) {
  if (stack.empty() || !stack.back() ||
      (kind == Kind::Dictionary && values.size() % 2 != 0))
    return false;
  // An object of a class that is one of these: nobody asks for its items.
  if (stack.back()->kind == Kind::Call)
    return true;
  if (stack.back()->kind != kind)
    return false;
  append_range(stack.back()->items, values);
  return true;
}

bool Unpickler::copyItems(PickleValue *to, const PickleValue &from) {
  copies += from.items.size();
  if (copies > kMostCopies)
    return fail("'" + path + "' has a pickle that copies more than " +
                Twine(kMostCopies) + " items");
  append_range(to->items, from.items);
  return true;
}

/// An OrderedDict is a container: empty, as Python 3 writes it, or Python 2's
/// list of pairs.
bool Unpickler::pushOrdered(const PickleValue &arguments) {
  PickleValue *dictionary = push(Kind::Dictionary);
  if (arguments.items.empty())
    return true;
  if (arguments.items.size() != 1 ||
      arguments.items.front()->kind != Kind::List)
    return false;
  return all_of(arguments.items.front()->items, [&](const PickleValue *pair) {
    return pair->items.size() == 2 && copyItems(dictionary, *pair);
  });
}

/// A Counter is a dictionary, too, of the items of another one.
bool Unpickler::pushCounter(const PickleValue &arguments) {
  PickleValue *dictionary = push(Kind::Dictionary);
  return arguments.items.empty() ||
         (arguments.items.front()->kind == Kind::Dictionary &&
          copyItems(dictionary, *arguments.items.front()));
}

/// The call of a global with a tuple.
bool Unpickler::call() {
  PickleValue *arguments, *function;
  if (!pop(arguments) || !pop(function) || arguments->kind != Kind::Tuple ||
      function->kind != Kind::Global)
    return false;
  if (function->text == "collections.OrderedDict")
    return pushOrdered(*arguments);
  if (function->text == "collections.Counter")
    return pushCounter(*arguments);
  // What it calls for keys that it lacks does not count.
  if (function->text == "collections.defaultdict")
    return push(Kind::Dictionary);
  PickleValue *result = push(Kind::Call);
  result->items.push_back(function);
  return copyItems(result, *arguments);
}

bool Unpickler::remember(uint32_t index) {
  // The two greatest numbers are the map's own.
  if (stack.empty() || !stack.back() || index >= kMostValues)
    return false;
  memo[index] = stack.back();
  return true;
}

bool Unpickler::recall(uint32_t index) {
  auto found = index < kMostValues ? memo.find(index) : memo.end();
  if (found == memo.end())
    return false;
  stack.push_back(found->second);
  return true;
}

std::optional<bool> Unpickler::stepConstant(unsigned char opcode) {
  switch (opcode) {
  case 'N':
    return push(Kind::None) != nullptr;
  case 0x88: // NEWTRUE
  case 0x89: // NEWFALSE
    return pushInteger(opcode == 0x88, Kind::Boolean);
  case 'K': // BININT1
    return pushIntegerOf<uint8_t>();
  case 'M': // BININT2
    return pushIntegerOf<uint16_t>();
  case 'J': // BININT
    return pushIntegerOf<int32_t>();
  case 0x8a: // LONG1
    return pushLong();
  case 'G': { // BINFLOAT, the only number with its highest byte in front
    StringRef bytes;
    if (!reader.take(sizeof(double), bytes))
      return false;
    push(Kind::Number)->number =
        support::endian::read<double, endianness::big>(bytes.data());
    return true;
  }
  default:
    return std::nullopt;
  }
}

std::optional<bool> Unpickler::stepText(unsigned char opcode) {
  switch (opcode) {
  case 'U':  // SHORT_BINSTRING, of Python 2
  case 'C':  // SHORT_BINBYTES
  case 0x8c: // SHORT_BINUNICODE
    return pushTextOf<uint8_t>();
  case 'T': // BINSTRING
  case 'B': // BINBYTES
  case 'X': // BINUNICODE
    return pushTextOf<uint32_t>();
  case 0x8d: // BINUNICODE8
    return pushTextOf<uint64_t>();
  default:
    return std::nullopt;
  }
}

std::optional<bool> Unpickler::stepContainer(unsigned char opcode) {
  std::vector<PickleValue *> values;
  PickleValue *value, *key;
  switch (opcode) {
  case '(':
    stack.push_back(nullptr);
    return true;
  case ')':
    return pushTuple(0);
  case 0x85: // TUPLE1
  case 0x86: // TUPLE2
  case 0x87: // TUPLE3
    return pushTuple(opcode - 0x84);
  case 't': {
    if (!popMark(values))
      return false;
    PickleValue *tuple = push(Kind::Tuple);
    append_range(tuple->items, values);
    return true;
  }
  case ']':
  case 0x8f: // EMPTY_SET
    return push(Kind::List) != nullptr;
  case 0x91: { // FROZENSET
    if (!popMark(values))
      return false;
    PickleValue *set = push(Kind::List);
    append_range(set->items, values);
    return true;
  }
  case '}':
    return push(Kind::Dictionary) != nullptr;
  case 'a': // APPEND
    return pop(value) && extend(Kind::List, value);
  case 'e':  // APPENDS
  case 0x90: // ADDITEMS, of a set
    return popMark(values) && extend(Kind::List, values);
  case 's': // SETITEM
    return pop(value) && pop(key) && extend(Kind::Dictionary, {key, value});
  case 'u': // SETITEMS
    return popMark(values) && extend(Kind::Dictionary, values);
  default:
    return std::nullopt;
  }
}

std::optional<bool> Unpickler::stepMemo(unsigned char opcode) {
  switch (opcode) {
  case 'q': // BINPUT
    return withIndex<uint8_t>(&Unpickler::remember);
  case 'r': // LONG_BINPUT
    return withIndex<uint32_t>(&Unpickler::remember);
  case 0x94: // MEMOIZE
    return remember(memo.size());
  case 'h': // BINGET
    return withIndex<uint8_t>(&Unpickler::recall);
  case 'j': // LONG_BINGET
    return withIndex<uint32_t>(&Unpickler::recall);
  default:
    return std::nullopt;
  }
}

std::optional<bool> Unpickler::stepObject(unsigned char opcode) {
  StringRef module, name;
  PickleValue *value, *other;
  switch (opcode) {
  case 'c': // GLOBAL
    return reader.takeUntil('\n', module) && reader.takeUntil('\n', name) &&
           pushGlobal((module + "." + name).str());
  case 0x93: // STACK_GLOBAL
    return pop(value) && pop(other) && value->isText() && other->isText() &&
           pushGlobal(other->text + "." + value->text);
  case 'R':  // REDUCE
  case 0x81: // NEWOBJ: the class takes the place of a function
    return call();
  case 'b': // BUILD: attributes, such as the _metadata of a state dictionary
    if (!pop(value) || stack.empty() || !stack.back())
      return false;
    stack.back()->state = value;
    return true;
  case 'Q': // BINPERSID
    if (!pop(value))
      return false;
    push(Kind::Persistent)->items = {value};
    return true;
  default:
    return std::nullopt;
  }
}

bool Unpickler::step(unsigned char opcode) {
  if (opcode == 0x95) { // FRAME: how many bytes follow, which shows anyhow
    uint64_t size;
    return reader.read(size);
  }
  for (auto group : {&Unpickler::stepConstant, &Unpickler::stepText,
                     &Unpickler::stepContainer, &Unpickler::stepMemo,
                     &Unpickler::stepObject})
    if (std::optional<bool> done = (this->*group)(opcode))
      return *done;
  return fail("'" + path + "' has the unknown pickle instruction 0x" +
              utohexstr(opcode, /*LowerCase=*/true) + " at byte " +
              Twine(offset));
}

Error Unpickler::run() {
  uint8_t opcode, protocol;
  uint64_t begin = origin + reader.offset();
  if (!reader.read(opcode) || !reader.read(protocol) || opcode != 0x80 ||
      protocol < 2 || protocol > 5)
    return makeError("'" + path + "' has no pickle of protocols 2 to 5 at " +
                     "byte " + Twine(begin));
  while (true) {
    offset = origin + reader.offset();
    if (!reader.read(opcode))
      return makeError("'" + path + "' ends within a pickle");
    if (opcode == '.')
      break;
    // Of what is recalled nothing is new, but the stack grows by it, too.
    if (pickle.values.size() >= kMostValues || stack.size() >= kMostValues)
      return makeError("'" + path + "' has a pickle of more than " +
                       Twine(kMostValues) + " values");
    if (step(opcode))
      continue;
    if (!failure.empty())
      return makeError(failure);
    return makeError("'" + path + "' has a damaged pickle: instruction 0x" +
                     utohexstr(opcode, /*LowerCase=*/true) + " at byte " +
                     Twine(offset) + " lacks what it needs");
  }
  if (stack.size() != 1 || !stack.front())
    return makeError("'" + path + "' has a pickle that ends with " +
                     Twine(stack.size()) + " values at byte " + Twine(offset));
  pickle.root = stack.front();
  return Error::success();
}

Expected<Pickle> Pickle::read(ByteReader &reader, ArrayRef<StringRef> globals,
                              StringRef path, uint64_t origin) {
  Pickle pickle;
  if (Error error = Unpickler(pickle, reader, globals, path, origin).run())
    return std::move(error);
  return pickle;
}

} // namespace heddle
