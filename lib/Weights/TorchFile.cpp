//===- TorchFile.cpp - Reads what torch.save writes -----------------------===//
//
// A pickled dictionary of tensors, each a view of a storage: torch.FloatStorage
// and its kin, known by a key. Since torch 1.6 the file is a zip archive with
// NAME/data.pkl and NAME/data/KEY; before, four pickles (a magic number, the
// version, the machine, the dictionary) and a fifth with the keys in order of
// the storages behind it, each an i64 count and its elements.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/Error.h"
#include "lib/Weights/MappedFile.h"
#include "lib/Weights/Pickle.h"
#include "lib/Weights/TensorFile.h"
#include "lib/Weights/ZipDirectory.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace heddle {

static constexpr StringLiteral kTensor = "torch._utils._rebuild_tensor_v2",
                               kOldTensor = "torch._utils._rebuild_tensor",
                               kParameter = "torch._utils._rebuild_parameter";

/// The pickle of the number 0x1950a86a20f9469cfc6c, behind its protocol and,
/// from 4 on, the length of its frame.
static constexpr StringLiteral kOldMagic =
    "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
static constexpr char kProtocol = '\x80', kFrame = '\x95';

/// The bytes of a file that stand before those of the magic number; nothing
/// where it does not begin with that.
static std::optional<size_t> findOldMagic(StringRef bytes) {
  StringRef rest = bytes;
  if (!rest.consume_front(StringRef(&kProtocol, 1)) || rest.empty())
    return std::nullopt;
  rest = rest.drop_front();
  if (rest.consume_front(StringRef(&kFrame, 1)))
    rest = rest.substr(sizeof(uint64_t));
  if (!rest.starts_with(kOldMagic))
    return std::nullopt;
  return bytes.size() - rest.size();
}

namespace {
/// The element types of storages.
struct ElementType {
  StringLiteral name;
  uint64_t size;
  std::optional<Encoding> encoding = std::nullopt;
};

/// Elements of a storage, as the pickle or the file has them.
struct Storage {
  const ElementType *type;
  std::string key;
  uint64_t count;
};

/// A tensor as a view of a storage; shape and strides are equally long.
struct View {
  Storage storage;
  uint64_t first;
  SmallVector<int64_t, 4> shape, strides;
};
} // namespace

static constexpr ElementType kElementTypes[] = {
    {"torch.FloatStorage", 4, Encoding::F32},
    {"torch.HalfStorage", 2, Encoding::F16},
    {"torch.BFloat16Storage", 2, Encoding::BF16},
    {"torch.DoubleStorage", 8},
    {"torch.LongStorage", 8},
    {"torch.IntStorage", 4},
    {"torch.ShortStorage", 2},
    {"torch.CharStorage", 1},
    {"torch.ByteStorage", 1},
    {"torch.BoolStorage", 1}};

/// All that the pickles of weights may name.
static std::vector<StringRef> listGlobals() {
  std::vector<StringRef> globals = {kTensor, kOldTensor, kParameter,
                                    "collections.OrderedDict"};
  for (const ElementType &type : kElementTypes)
    globals.push_back(type.name);
  return globals;
}

/// Keys and names go into sentences.
static bool isPrintable(StringRef text) {
  return none_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

/// ('storage', type, key, device, count), in old files perhaps with a sixth
/// value, a view of the storage, which torch 0.4 was the last to write.
static std::optional<Storage> readStorage(const PickleValue &value) {
  if (value.kind != PickleValue::Kind::Persistent)
    return std::nullopt;
  ArrayRef<const PickleValue *> parts = value.items.front()->items;
  if (parts.size() < 5 || parts.size() > 6 || !parts[0]->isText() ||
      parts[0]->text != "storage" || !parts[2]->isText() ||
      !isPrintable(parts[2]->text) || !parts[4]->isInteger() ||
      parts[4]->integer < 0 ||
      (parts.size() == 6 && parts[5]->kind != PickleValue::Kind::None))
    return std::nullopt;
  auto type = find_if(kElementTypes, [&](const ElementType &known) {
    return parts[1]->isGlobal(known.name);
  });
  if (type == std::end(kElementTypes))
    return std::nullopt;
  return Storage{type, parts[2]->text, uint64_t(parts[4]->integer)};
}

/// Reads a tuple of numbers that are not negative.
static bool readNumbers(const PickleValue &value,
                        SmallVectorImpl<int64_t> &numbers) {
  for (const PickleValue *item : value.items) {
    if (!item->isInteger() || item->integer < 0)
      return false;
    numbers.push_back(item->integer);
  }
  return value.kind == PickleValue::Kind::Tuple;
}

/// A parameter is a tensor.
static const PickleValue *getTensor(const PickleValue *value) {
  bool isParameter = value->isCallOf(kParameter) && value->items.size() > 1;
  return isParameter ? value->items[1] : value;
}

/// Whether torch says more of a tensor, such as that its numbers are those of
/// the storage negated: a dictionary behind what gradients need.
static bool hasMetadata(const PickleValue *value) {
  value = getTensor(value);
  return value->isCallOf(kTensor) && value->items.size() > 7 &&
         !value->items[7]->items.empty();
}

/// A tensor: (storage, first element, shape, strides, and what gradients need).
static std::optional<View> readView(const PickleValue *value) {
  value = getTensor(value);
  if (!(value->isCallOf(kTensor) || value->isCallOf(kOldTensor)) ||
      value->items.size() < 5)
    return std::nullopt;
  ArrayRef<const PickleValue *> parts = ArrayRef(value->items).drop_front();
  std::optional<Storage> storage = readStorage(*parts[0]);
  View view;
  if (!storage || !parts[1]->isInteger() || parts[1]->integer < 0 ||
      !readNumbers(*parts[2], view.shape) ||
      !readNumbers(*parts[3], view.strides) ||
      view.shape.size() != view.strides.size())
    return std::nullopt;
  view.storage = std::move(*storage);
  view.first = uint64_t(parts[1]->integer);
  return view;
}

/// Whether the elements stand one behind the other, in the order of the shape.
static bool isDense(const View &view) {
  int64_t expected = 1;
  for (auto [extent, stride] : reverse(zip(view.shape, view.strides))) {
    if (extent != 1 && stride != expected)
      return false;
    expected *= extent;
  }
  return true;
}

/// Whether all elements are among those of the storage.
static bool fitsStorage(const View &view) {
  uint64_t last = view.first, count = view.storage.count;
  for (auto [extent, stride] : zip_equal(view.shape, view.strides)) {
    if (last >= count ||
        (extent > 1 && uint64_t(stride) > count / (extent - 1)))
      return false;
    last += uint64_t(extent - 1) * stride;
  }
  return last < count;
}

namespace {
/// Makes the tables of a file and of copies of its tensors.
class TorchReader {
public:
  explicit TorchReader(std::unique_ptr<MemoryBuffer> buffer)
      : buffer(std::move(buffer)), bytes(this->buffer->getBuffer()),
        path(this->buffer->getBufferIdentifier()), globals(listGlobals()) {}

  Expected<std::vector<TensorFile>> read();

private:
  /// Both find the dictionary and all storages.
  Expected<Pickle> readArchive();
  Expected<Pickle> readSequence();

  Error addTensors(const PickleValue &dictionary);
  Error addTensor(StringRef name, const View &view);
  /// Appends the elements of a view in the order of its shape.
  void pack(const View &view, uint64_t storageOffset);

  Error fail(const Twine &what) { return makeError("'" + path + "' " + what); }

  std::unique_ptr<MemoryBuffer> buffer;
  StringRef bytes;
  std::string path;
  std::vector<StringRef> globals;
  /// The bytes of storages, by key.
  StringMap<ZipEntry> storages;
  std::vector<TensorInfo> tensors, packedTensors;
  std::string packed;
};
} // namespace

Expected<Pickle> TorchReader::readArchive() {
  auto entries = readZipDirectory(bytes, path);
  if (!entries)
    return entries.takeError();
  for (const ZipEntry &entry : *entries)
    if (Error error = expectStored(entry, path))
      return std::move(error);
  auto pickled = find_if(*entries, [](const ZipEntry &entry) {
    return StringRef(entry.name).ends_with("/data.pkl");
  });
  if (pickled == entries->end())
    return fail("is a zip archive without 'data.pkl', which torch writes");
  StringRef folder = StringRef(pickled->name).drop_back(strlen("data.pkl"));
  for (const ZipEntry &entry : *entries) {
    StringRef name = entry.name;
    if (!name.consume_front(folder))
      continue;
    if (name == "byteorder" &&
        bytes.substr(entry.offset, entry.size) != "little")
      return fail("was written on a machine of another byte order");
    if (name.consume_front("data/"))
      storages[name] = entry;
  }
  ByteReader reader(bytes.substr(pickled->offset, pickled->size));
  return Pickle::read(reader, globals, path, pickled->offset);
}

Expected<Pickle> TorchReader::readSequence() {
  ByteReader reader(bytes);
  StringRef magic;
  reader.take(*findOldMagic(bytes) + kOldMagic.size(), magic);
  auto next = [&] { return Pickle::read(reader, globals, path, 0); };
  Expected<Pickle> version = next();
  if (!version)
    return version;
  Expected<Pickle> machine = next();
  if (!machine)
    return machine;
  Expected<Pickle> dictionary = next();
  if (!dictionary)
    return dictionary;
  Expected<Pickle> keys = next();
  if (!keys)
    return keys;

  // Element sizes are those of the first tensor that names the storage.
  StringMap<uint64_t> elementSizes;
  for (const PickleValue *value : dictionary->getRoot().items)
    if (std::optional<View> view = readView(value))
      elementSizes[view->storage.key] = view->storage.type->size;
  for (const PickleValue *key : keys->getRoot().items) {
    uint64_t count;
    StringRef elements;
    auto size =
        key->isText() ? elementSizes.find(key->text) : elementSizes.end();
    if (size == elementSizes.end())
      return fail("has a storage that no tensor names");
    if (!reader.read(count) || count > reader.remaining() / size->second)
      return fail("ends within the storage '" + key->text + "'");
    uint64_t begin = reader.offset();
    reader.take(count * size->second, elements);
    storages[key->text] = {key->text, begin, elements.size()};
  }
  return dictionary;
}

void TorchReader::pack(const View &view, uint64_t storageOffset) {
  uint64_t size = view.storage.type->size;
  SmallVector<int64_t, 4> index(view.shape.size());
  uint64_t element = view.first;
  while (true) {
    packed += bytes.substr(storageOffset + element * size, size);
    size_t dim = index.size();
    // Counts the last dimension up, and those before where one is through.
    while (dim > 0) {
      --dim;
      element += view.strides[dim];
      if (++index[dim] < view.shape[dim])
        break;
      element -= view.shape[dim] * view.strides[dim];
      index[dim] = 0;
      if (dim == 0)
        return;
    }
    if (index.empty())
      return;
  }
}

Error TorchReader::addTensor(StringRef name, const View &view) {
  std::string subject = ("tensor '" + name + "' of '" + path + "'").str();
  auto storage = storages.find(view.storage.key);
  if (storage == storages.end())
    return makeError(subject + " needs the storage '" + view.storage.key +
                     "', which is not there");
  const ElementType &type = *view.storage.type;
  std::optional<uint64_t> count = countElements(view.shape);
  if (!count)
    return makeError(subject + " has the impossible shape " +
                     formatShape(view.shape));
  if (view.storage.count > storage->second.size / type.size ||
      !fitsStorage(view))
    return makeError(subject + " with shape " + formatShape(view.shape) +
                     " ends behind its storage of " +
                     Twine(storage->second.size) + " bytes");
  TensorInfo tensor{name.str(),
                    view.shape,
                    type.encoding,
                    type.name.str(),
                    storage->second.offset + view.first * type.size,
                    *count * type.size};
  if (isDense(view)) {
    tensors.push_back(std::move(tensor));
    return Error::success();
  }
  if (!type.encoding) {
    // Nobody reads it.
    tensor.size = 0;
    tensors.push_back(std::move(tensor));
    return Error::success();
  }
  // No copy is larger than what it was copied from.
  if (*count > view.storage.count)
    return makeError(subject + " with shape " + formatShape(view.shape) +
                     " repeats elements of its storage");
  tensor.offset = packed.size();
  pack(view, storage->second.offset);
  packedTensors.push_back(std::move(tensor));
  return Error::success();
}

Error TorchReader::addTensors(const PickleValue &dictionary) {
  if (dictionary.kind != PickleValue::Kind::Dictionary)
    return fail("holds a " + getTypeName(dictionary) +
                " (expected a dictionary of tensors)");
  for (size_t i = 0; i < dictionary.items.size(); i += 2) {
    const PickleValue &key = *dictionary.items[i],
                      &value = *dictionary.items[i + 1];
    if (!key.isText() || !isPrintable(key.text))
      return fail("has a key that is a " + getTypeName(key) +
                  " (expected a tensor's name)");
    if (hasMetadata(&value))
      return fail("has a negated or conjugate view under the key '" + key.text +
                  "' (expected a tensor)");
    std::optional<View> view = readView(&value);
    if (!view)
      return fail("has a " + getTypeName(value) + " under the key '" +
                  key.text + "' (expected a tensor)");
    if (Error error = addTensor(key.text, *view))
      return error;
  }
  return Error::success();
}

Expected<std::vector<TensorFile>> TorchReader::read() {
  bool isArchive = isZipArchive(bytes);
  if (!isArchive && !findOldMagic(bytes)) {
    // A pickle that would run something is refused for that.
    if (bytes.starts_with(StringRef(&kProtocol, 1))) {
      ByteReader reader(bytes);
      if (Expected<Pickle> foreign = Pickle::read(reader, globals, path, 0);
          !foreign)
        return foreign.takeError();
    }
    return fail("is no file of torch.save: neither a zip archive nor a "
                "sequence of pickles");
  }
  Expected<Pickle> dictionary = isArchive ? readArchive() : readSequence();
  if (!dictionary)
    return dictionary.takeError();
  if (Error error = addTensors(dictionary->getRoot()))
    return std::move(error);

  std::vector<TensorFile> files;
  auto add = [&](std::unique_ptr<MemoryBuffer> content,
                 std::vector<TensorInfo> table) -> Error {
    auto file = TensorFile::create(std::move(content), std::move(table));
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
    return Error::success();
  };
  if (Error error = add(std::move(buffer), std::move(tensors)))
    return std::move(error);
  if (!packedTensors.empty())
    if (Error error =
            add(MemoryBuffer::getMemBufferCopy(packed, path + " (packed)"),
                std::move(packedTensors)))
      return std::move(error);
  return files;
}

Expected<std::vector<TensorFile>>
readTorchFile(std::unique_ptr<MemoryBuffer> buffer) {
  return TorchReader(std::move(buffer)).read();
}

} // namespace heddle
