//===- TorchFile.cpp - Reads what torch.save writes -----------------------===//
//
// A pickled dictionary of tensors, each a view of a storage: torch.FloatStorage
// and its kin, known by a key. Since torch 1.6 the file is a zip archive with
// NAME/data.pkl and NAME/data/KEY; before, four pickles (a magic number, the
// version, the machine, the dictionary) and a fifth with the keys in order of
// the storages behind it, each an i64 count and its elements. A tensor whose
// elements do not stand one behind the other is copied when somebody reads it.
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Error.h"
#include "lib/Weights/ArchiveBytes.h"
#include "lib/Weights/MappedFile.h"
#include "lib/Weights/TorchCheckpoint.h"
#include "lib/Weights/TorchView.h"
#include "lib/Weights/ZipDirectory.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <mutex>

using namespace llvm;
using namespace heddle::torch;

namespace heddle {

/// The pickle of the number 0x1950a86a20f9469cfc6c, behind its protocol and,
/// from 4 on, the length of its frame.
static constexpr StringLiteral kOldMagic =
    "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
static constexpr char kProtocol = '\x80', kFrame = '\x95';

/// What checkpoints of trainers may name beside tensors: all of a module, or of
/// Python's own names one.
static constexpr StringLiteral kTrainerModules[] = {
    "_codecs.",   "argparse.", "collections.", "copy_reg.",
    "copyreg.",   "datetime.", "enum.",        "fairseq.",
    "functools.", "numpy.",    "onmt.",        "omegaconf.",
    "pathlib.",   "torch.",    "torchtext.",   "typing."};
static constexpr StringLiteral kPythonNames[] = {
    "bool",      "bytearray", "bytes", "complex", "dict",    "float",
    "frozenset", "int",       "list",  "long",    "object",  "range",
    "set",       "slice",     "str",   "tuple",   "unicode", "xrange"};

static std::vector<std::string> listTrainerGlobals() {
  std::vector<std::string> globals;
  for (StringRef module : kTrainerModules)
    globals.push_back(module.str());
  for (StringRef module : {"builtins.", "__builtin__."})
    for (StringRef name : kPythonNames)
      globals.push_back((module + name).str());
  return globals;
}

/// The bytes of a file that stand before those of the magic number; nothing
/// if it does not begin with that.
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
/// Makes the copies of views that are not dense, each when it is asked for. The
/// buffers of both tables must outlive it.
class Copies {
public:
  struct Copy {
    View view;
    /// Of the view's storage in the file, and of the copy in its own table.
    uint64_t storageOffset, offset, size;
    bool isReady = false;
  };

  Copies(std::vector<Copy> copies, StringRef bytes, TensorFile::Prepare prepare,
         MutableArrayRef<char> target)
      : copies(std::move(copies)), bytes(bytes), prepareStorage(prepare),
        target(target) {}

  Error prepare(uint64_t offset) {
    auto after = partition_point(
        copies, [&](const Copy &copy) { return copy.offset <= offset; });
    Copy &copy = *std::prev(after);
    std::lock_guard<std::mutex> lock(mutex);
    if (copy.isReady)
      return Error::success();
    if (prepareStorage)
      if (Error error = prepareStorage(copy.storageOffset))
        return error;
    copyElements(copy.view, bytes.substr(copy.storageOffset),
                 target.slice(copy.offset, copy.size));
    copy.isReady = true;
    return Error::success();
  }

private:
  /// By their offsets, the first of which is 0.
  std::vector<Copy> copies;
  StringRef bytes;
  TensorFile::Prepare prepareStorage;
  MutableArrayRef<char> target;
  std::mutex mutex;
};
} // namespace

/// Makes the tables of a file and of copies of its tensors.
class TorchReader {
public:
  explicit TorchReader(std::unique_ptr<MemoryBuffer> buffer)
      : buffer(std::move(buffer)), bytes(this->buffer->getBuffer()),
        path(this->buffer->getBufferIdentifier()), globals(listGlobals()) {}

  StringRef getPath() const { return path; }
  /// Lets the pickle name what trainers have.
  void allow(ArrayRef<std::string> more) { append_range(globals, more); }

  /// The pickle of the file; finds all storages.
  Expected<Pickle> readPickle();
  /// Adds the tensors of a dictionary.
  Error addTensors(const PickleValue &dictionary, StringRef prefix = "");
  /// What was added. To be called once, at the end.
  Expected<std::vector<TensorFile>> takeTables();

private:
  /// Both find the dictionary and all storages.
  Expected<Pickle> readArchive();
  Expected<Pickle> readSequence();

  Error addTensor(StringRef name, const View &view);
  Expected<TensorFile> makeCopies(TensorFile::Prepare prepare);

  Error fail(const Twine &what) { return makeError("'" + path + "' " + what); }

  std::unique_ptr<MemoryBuffer> buffer;
  StringRef bytes;
  std::string path;
  std::vector<StringRef> globals;
  /// The bytes of storages, by key.
  StringMap<ZipEntry> storages;
  /// Of an archive.
  std::shared_ptr<ArchiveBytes> files;
  std::vector<TensorInfo> tensors, copiedTensors;
  std::vector<Copies::Copy> copies;
  uint64_t copiedSize = 0;
};

Expected<Pickle> TorchReader::readArchive() {
  auto entries = readZipDirectory(bytes, path);
  if (!entries)
    return entries.takeError();
  auto pickled = find_if(*entries, [](const ZipEntry &entry) {
    return StringRef(entry.name).ends_with("/data.pkl");
  });
  if (pickled == entries->end())
    return fail("is a zip archive without 'data.pkl', which torch writes");
  ZipEntry dictionary = *pickled;
  StringRef folder = StringRef(dictionary.name).drop_back(strlen("data.pkl"));
  auto expectReadable = [&](const ZipEntry &entry) -> Error {
    if (Error error = expectStored(entry, path))
      return error;
    return checkStored(entry, bytes, Checksums::UnlessZero, path);
  };
  if (Error error = expectReadable(dictionary))
    return std::move(error);
  for (const ZipEntry &entry : *entries) {
    StringRef name = entry.name;
    if (!name.consume_front(folder))
      continue;
    if (name == "byteorder") {
      if (Error error = expectReadable(entry))
        return std::move(error);
      if (bytes.substr(entry.offset, entry.size) != "little")
        return fail("was written on a machine of another byte order");
    }
    if (name.consume_front("data/"))
      storages[name] = entry;
  }
  files = std::make_shared<ArchiveBytes>(bytes, std::move(*entries),
                                         Checksums::UnlessZero, path);
  ByteReader reader(bytes.substr(dictionary.offset, dictionary.size));
  return Pickle::read(reader, globals, path, dictionary.offset);
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

  StringMap<uint64_t> elementSizes;
  for (const PickleValue &value : dictionary->getValues())
    if (std::optional<Storage> storage = readStorage(value))
      elementSizes[storage->key] = storage->type->size;
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

Error TorchReader::addTensor(StringRef name, const View &view) {
  std::string subject = ("tensor '" + name + "' of '" + path + "'").str();
  auto storage = storages.find(view.storage.key);
  if (storage == storages.end())
    return makeError(subject + " needs the storage '" + view.storage.key +
                     "', which is not there");
  if (Error error = expectStored(storage->second, path))
    return error;
  const ElementType &type = *view.storage.type;
  std::optional<uint64_t> count = countElements(view.shape);
  if (!count)
    return makeError(subject + " has the impossible shape " +
                     formatShape(view.shape));
  if (view.storage.count > storage->second.size / type.size ||
      (*count > 0 && !fitsStorage(view)))
    return makeError(subject + " with shape " + formatShape(view.shape) +
                     " ends past its storage of " +
                     Twine(storage->second.size) + " bytes");
  TensorInfo tensor{name.str(),
                    view.shape,
                    type.encoding,
                    type.name.str(),
                    storage->second.offset + view.first * type.size,
                    *count * type.size};
  if (*count == 0)
    tensor.offset = storage->second.offset;
  if (*count == 0 || isDense(view)) {
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
  tensor.offset = copiedSize;
  copies.push_back({view, storage->second.offset, tensor.offset, tensor.size});
  copiedSize += tensor.size;
  copiedTensors.push_back(std::move(tensor));
  return Error::success();
}

Error TorchReader::addTensors(const PickleValue &dictionary, StringRef prefix) {
  if (dictionary.kind != PickleValue::Kind::Dictionary)
    return fail("holds a " + getTypeName(dictionary) +
                " (expected a dictionary of tensors)");
  // A pickle may name one tensor any number of times.
  StringSet<> names;
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
    if (!names.insert(key.text).second)
      return fail("has the tensor '" + key.text + "' twice");
    if (Error error = addTensor((prefix + key.text).str(), *view))
      return error;
  }
  return Error::success();
}

Expected<TensorFile> TorchReader::makeCopies(TensorFile::Prepare prepare) {
  // Pages that nobody touches take no memory.
  auto target = WritableMemoryBuffer::getNewUninitMemBuffer(copiedSize,
                                                            path + " (packed)");
  if (!target)
    return fail("needs " + Twine(copiedSize) + " bytes of memory");
  auto made = std::make_shared<Copies>(std::move(copies), bytes,
                                       std::move(prepare), target->getBuffer());
  return TensorFile::create(
      std::move(target), std::move(copiedTensors),
      [made](uint64_t offset) { return made->prepare(offset); });
}

Expected<Pickle> TorchReader::readPickle() {
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
  return isArchive ? readArchive() : readSequence();
}

Expected<std::vector<TensorFile>> TorchReader::takeTables() {
  TensorFile::Prepare prepare;
  if (files)
    prepare = [files = files](uint64_t offset) {
      return files->prepare(offset);
    };
  auto file =
      TensorFile::create(std::move(buffer), std::move(tensors), prepare);
  if (!file)
    return file.takeError();
  std::vector<TensorFile> tables;
  tables.push_back(std::move(*file));
  if (copiedTensors.empty())
    return tables;
  Expected<TensorFile> copied = makeCopies(std::move(prepare));
  if (!copied)
    return copied.takeError();
  tables.push_back(std::move(*copied));
  return tables;
}

Expected<std::vector<TensorFile>>
readTorchFile(std::unique_ptr<MemoryBuffer> buffer) {
  TorchReader reader(std::move(buffer));
  Expected<Pickle> dictionary = reader.readPickle();
  if (!dictionary)
    return dictionary.takeError();
  if (Error error = reader.addTensors(dictionary->getRoot()))
    return std::move(error);
  return reader.takeTables();
}

bool looksLikeTorch(StringRef bytes) {
  return isZipArchive(bytes) || findOldMagic(bytes);
}

TorchCheckpoint::TorchCheckpoint(std::unique_ptr<TorchReader> reader)
    : reader(std::move(reader)) {}
TorchCheckpoint::TorchCheckpoint(TorchCheckpoint &&) = default;
TorchCheckpoint::~TorchCheckpoint() = default;

StringRef TorchCheckpoint::getPath() const { return reader->getPath(); }

const PickleValue &TorchCheckpoint::getRoot() const {
  return pickle->getRoot();
}

Expected<TorchCheckpoint>
TorchCheckpoint::read(std::unique_ptr<MemoryBuffer> buffer) {
  // The names must outlive what reads them.
  static const std::vector<std::string> globals = listTrainerGlobals();
  TorchCheckpoint checkpoint(std::make_unique<TorchReader>(std::move(buffer)));
  checkpoint.reader->allow(globals);
  Expected<Pickle> pickle = checkpoint.reader->readPickle();
  if (!pickle)
    return pickle.takeError();
  checkpoint.pickle = std::make_unique<Pickle>(std::move(*pickle));
  return checkpoint;
}

Expected<std::vector<TensorFile>>
TorchCheckpoint::takeTensors(ArrayRef<Tensors> dictionaries) {
  for (const Tensors &tensors : dictionaries)
    if (Error error = reader->addTensors(*tensors.dictionary, tensors.prefix))
      return std::move(error);
  return reader->takeTables();
}

} // namespace heddle
