//===- MarianFolder.cpp - Which files make a Marian model -----------------===//
//
// What the options of a decoder say beside files is MarianDecoder's.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Marian/MarianFolder.h"
#include "lib/Import/Marian/Yaml.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heddle {

static std::string join(StringRef folder, StringRef name) {
  SmallString<128> path = folder;
  sys::path::append(path, name);
  return path.str().str();
}

/// The files `<prefix>*<suffix>` of a folder, sorted.
static std::vector<std::string> findFiles(StringRef folder, StringRef prefix,
                                          StringRef suffix) {
  std::vector<std::string> names;
  std::error_code error;
  for (sys::fs::directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    StringRef name = sys::path::filename(entry->path());
    if (name.starts_with(prefix) && name.ends_with(suffix))
      names.push_back(name.str());
  }
  llvm::sort(names);
  return names;
}

/// The one file `<prefix>*<suffix>`; "" for none.
static Expected<std::string> findOnlyFile(StringRef folder, StringRef prefix,
                                          StringRef suffix) {
  std::vector<std::string> names = findFiles(folder, prefix, suffix);
  if (names.size() > 1)
    return makeError("'" + folder + "' has more than one " + prefix + "*" +
                     suffix + ": " + llvm::join(names, ", "));
  return names.empty() ? std::string() : join(folder, names.front());
}

/// The paths of the files that an option of the decoder names, which stand in
/// the same folder; none if it is absent.
static Expected<SmallVector<std::string>>
readFileOption(const YamlMapping &config, StringRef path, StringRef option,
               size_t most) {
  SmallVector<std::string> paths;
  auto entry = config.find(option.str());
  if (entry == config.end())
    return paths;
  ArrayRef<std::string> names = entry->second.values;
  // An empty list names nothing, as no option does.
  if (names.empty() || names.front().empty())
    return paths;
  // What follows the name of a shortlist are its parameters.
  if (option == "shortlist")
    names = names.take_front();
  for (StringRef name : names)
    if (name = sys::path::remove_leading_dotslash(name);
        name == sys::path::filename(name) && !name.empty())
      paths.push_back(join(sys::path::parent_path(path), name));
  if (paths.size() != names.size() || names.empty() || names.size() > most)
    return makeError(
        "'" + path + "' has the option '" + option + "' with the value '" +
        entry->second.format() + "' (supported: " +
        (most == 1 ? "one file" : "one or two files") + " of the same folder)");
  return paths;
}

/// Reads the network's file; several of them are an ensemble.
static Error readModels(const YamlMapping &config, StringRef path,
                        MarianFolder &files) {
  auto models = config.find("models");
  if (models != config.end() && models->second.values.size() > 1)
    return makeError("'" + path + "' has the option 'models' with the value '" +
                     models->second.format() +
                     "' (supported: one model, no ensemble)");
  auto paths = readFileOption(config, path, "models", /*most=*/1);
  if (!paths)
    return paths.takeError();
  if (!paths->empty())
    files.model = paths->front();
  return Error::success();
}

/// Reads the options of the decoder into `files`.
static Error readConfig(StringRef path, MarianFolder &files) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  Expected<YamlMapping> config = parseYaml((*buffer)->getBuffer(), path);
  if (!config)
    return config.takeError();
  Expected<MarianDecoder> decoder = readMarianDecoder(*config, path);
  if (!decoder)
    return decoder.takeError();
  files.decoder = std::move(*decoder);
  if (Error error = readModels(*config, path, files))
    return error;
  auto vocabularies = readFileOption(*config, path, "vocabs", /*most=*/2);
  if (!vocabularies)
    return vocabularies.takeError();
  if (!vocabularies->empty()) {
    files.sourceVocabulary = vocabularies->front();
    files.targetVocabulary = vocabularies->back();
  }
  auto shortlist = readFileOption(*config, path, "shortlist", /*most=*/1);
  if (!shortlist)
    return shortlist.takeError();
  if (!shortlist->empty())
    files.shortlist = shortlist->front();
  return Error::success();
}

/// The options of a decoder that the folder has; "" for none.
static std::string findConfig(StringRef folder) {
  for (StringRef name : {"config.yml", "decoder.yml"})
    if (std::string path = join(folder, name); sys::fs::exists(path))
      return path;
  return "";
}

bool isMarianFolder(StringRef folder) {
  return !findConfig(folder).empty() ||
         !findFiles(folder, "model", ".bin").empty() ||
         !findFiles(folder, "model", ".npz").empty();
}

/// Fills in a path that no option gave, with the only file that has one of
/// these names.
static Error findFile(StringRef folder, StringRef prefix,
                      std::initializer_list<StringRef> suffixes,
                      std::string &path) {
  for (StringRef suffix : suffixes) {
    if (!path.empty())
      return Error::success();
    Expected<std::string> found = findOnlyFile(folder, prefix, suffix);
    if (!found)
      return found.takeError();
    path = *found;
  }
  return Error::success();
}

static Error findVocabularies(StringRef folder, MarianFolder &files) {
  if (!files.sourceVocabulary.empty())
    return Error::success();
  if (Error error = findFile(folder, "vocab", {".spm"}, files.sourceVocabulary))
    return error;
  files.targetVocabulary = files.sourceVocabulary;
  if (!files.sourceVocabulary.empty())
    return Error::success();
  if (Error error =
          findFile(folder, "srcvocab", {".spm"}, files.sourceVocabulary))
    return error;
  return findFile(folder, "trgvocab", {".spm"}, files.targetVocabulary);
}

Expected<MarianFolder> readMarianFolder(StringRef folder) {
  MarianFolder files;
  std::string config = findConfig(folder);
  if (!config.empty())
    if (Error error = readConfig(config, files))
      return std::move(error);
  if (Error error = findFile(folder, "model", {".bin", ".npz"}, files.model))
    return std::move(error);
  if (files.model.empty())
    return makeError("'" + folder + "' has no model*.bin and no model*.npz");
  if (Error error = findVocabularies(folder, files))
    return std::move(error);
  if (files.sourceVocabulary.empty() || files.targetVocabulary.empty())
    return makeError(
        "'" + folder +
        "' has no vocab*.spm, nor srcvocab*.spm and trgvocab*.spm");
  // A decoder takes no shortlist that its options do not name.
  if (config.empty())
    if (Error error = findFile(folder, "lex", {".bin"}, files.shortlist))
      return std::move(error);
  return files;
}

} // namespace heddle
