//===- WeightSource.cpp - The checkpoint behind a module ------------------===//
//
// See the header. A folder's index is as untrusted as its files: it may name
// files of its own folder only, and every tensor has to be where it says.
//
//===----------------------------------------------------------------------===//

#include "lib/Weights/WeightSource.h"
#include "lib/Support/Error.h"
#include "lib/Weights/DerivedTensor.h"
#include "lib/Weights/Json.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>

using namespace llvm;

namespace heddle {

Error WeightSource::add(TensorFile file) {
  for (const TensorFile &other : files)
    if (other.getName() == file.getName())
      return makeError("'" + file.getPath() + "' and '" + other.getPath() +
                       "' have the same name");
  for (const TensorInfo &tensor : file.getTensors())
    if (std::optional<Entry> other = find(tensor.name))
      return makeError("tensor '" + tensor.name + "' is both in '" +
                       other->file + "' and in '" + file.getPath() + "'");
  files.push_back(std::move(file));
  return Error::success();
}

/// The files of an index, whose names end in `extension`, and the tensors that
/// it expects in each.
static Expected<std::map<std::string, std::set<std::string>>>
readIndex(StringRef path, StringRef extension) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  Expected<json::Object> index = parseJsonObject((*buffer)->getBuffer(), path);
  if (!index)
    return index.takeError();
  const json::Object *map = index->getObject("weight_map");
  if (!map)
    return makeError("'" + path + "' has no object \"weight_map\"");
  std::map<std::string, std::set<std::string>> files;
  for (const auto &[tensor, value] : *map) {
    std::optional<StringRef> file = value.getAsString();
    if (!file || *file != sys::path::filename(*file) ||
        !file->ends_with(extension))
      return makeError("'" + path + "' puts tensor '" + StringRef(tensor) +
                       "' into " + formatJson(value) + " (expected a file *" +
                       extension + " of the same folder)");
    files[file->str()].insert(StringRef(tensor).str());
  }
  return files;
}

Error WeightSource::addShard(StringRef path, StringRef prefix) {
  auto addFile = [&](TensorFile file) {
    file.addPrefix(prefix);
    return add(std::move(file));
  };
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  if (path.ends_with(".safetensors")) {
    Expected<TensorFile> file = readSafetensorsFile(std::move(*buffer));
    return file ? addFile(std::move(*file)) : file.takeError();
  }
  auto tables = readTorchFile(std::move(*buffer));
  if (!tables)
    return tables.takeError();
  for (TensorFile &file : *tables)
    if (Error error = addFile(std::move(file)))
      return error;
  return Error::success();
}

Error WeightSource::addHuggingFaceFolder(StringRef folder, StringRef prefix) {
  auto inFolder = [&](const Twine &name) {
    SmallString<128> path = folder;
    sys::path::append(path, name);
    return path;
  };
  for (StringRef whole : {"model.safetensors", "pytorch_model.bin"}) {
    SmallString<128> path = inFolder(whole),
                     index = inFolder(whole + ".index.json");
    if (sys::fs::exists(path))
      return addShard(path, prefix);
    if (!sys::fs::exists(index))
      continue;
    auto expected = readIndex(index, sys::path::extension(whole));
    if (!expected)
      return expected.takeError();
    for (const auto &[name, tensors] : *expected) {
      SmallString<128> shard = inFolder(name);
      if (Error error = addShard(shard, prefix))
        return error;
      for (const std::string &tensor : tensors)
        if (std::optional<Entry> entry = find(prefix.str() + tensor);
            !entry || !entry->file.starts_with(prefix.str() + name))
          return makeError("'" + shard + "' has no tensor '" + tensor +
                           "', which '" + index + "' puts there");
    }
    return Error::success();
  }
  return makeError("'" + folder +
                   "' has no weights: neither model.safetensors "
                   "nor pytorch_model.bin, whole or in parts with an index");
}

std::optional<WeightSource::Entry> WeightSource::find(StringRef name) const {
  for (const TensorFile &file : files)
    if (const TensorInfo *tensor = file.find(name))
      return Entry{file.getName(), tensor};
  return std::nullopt;
}

Error WeightSource::prepare(const Entry &entry) const {
  for (const TensorFile &file : files)
    if (file.getName() == entry.file)
      return file.prepare(entry.tensor->offset);
  return Error::success();
}

Expected<std::optional<float>> WeightSource::readScalar(StringRef name) const {
  for (const TensorFile &file : files) {
    const TensorInfo *tensor = file.find(name);
    if (!tensor)
      continue;
    if (!tensor->encoding || countElements(tensor->shape) != 1)
      return makeError("tensor '" + name + "' of '" + file.getPath() +
                       "' is no number");
    auto stored = StoredTensor::create(name, tensor->shape, *tensor->encoding,
                                       /*transposed=*/false, file,
                                       tensor->offset, tensor->multipliers);
    if (!stored)
      return stored.takeError();
    float value;
    stored->decodeRows(0, 1, value);
    return value;
  }
  return std::nullopt;
}

Expected<StoredTensor> WeightSource::openStored(ParameterOp parameter) const {
  StringRef name = parameter.getSymName();
  std::optional<SourceAttr> source = parameter.getSource();
  if (!source)
    return makeError("parameter '" + name + "' has no source");
  for (const TensorFile &file : files) {
    if (file.getName() != source->getFile())
      continue;
    Expected<StoredTensor> stored = StoredTensor::create(
        name, parameter.getLogicalShape(), source->getEncoding(),
        parameter.getTransposed(), file, source->getOffset(),
        source->getMultipliers());
    if (stored && parameter.isStoredAsIntegers())
      return stored->asIntegers();
    return stored;
  }
  return makeError("parameter '" + name + "' is in '" + source->getFile() +
                   "', which is no file of the model");
}

Expected<StoredTensor> WeightSource::open(ParameterOp parameter) const {
  auto scale = [&](StoredTensor tensor) {
    std::optional<APFloat> factor = parameter.getFactor();
    return factor ? tensor.scaledBy(factor->convertToFloat()) : tensor;
  };
  if (parameter.getZeros())
    return scale(StoredTensor::zeros(parameter.getLogicalShape()));
  if (parameter.isStored()) {
    Expected<StoredTensor> stored = openStored(parameter);
    return stored ? scale(std::move(*stored)) : std::move(stored);
  }
  std::vector<StoredTensor> parts;
  for (ParameterOp part : parameter.getPartOps()) {
    Expected<StoredTensor> opened = open(part);
    if (!opened)
      return opened.takeError();
    parts.push_back(std::move(*opened));
  }
  return scale(deriveTensor(parameter, std::move(parts)));
}

} // namespace heddle
