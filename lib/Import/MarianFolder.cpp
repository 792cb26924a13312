//===- MarianFolder.cpp - Which files make a Marian model -----------------===//
//
// Options of a decoder that only steer its speed, its beam search or its log
// are listed as harmless; an option in no list is refused, since it may change
// the translation.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/MarianFolder.h"
#include "lib/Import/Yaml.h"
#include "lib/Weights/Error.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace llvm;

namespace heddle {

static constexpr StringLiteral kHarmlessOptions[] = {"alignment",
                                                     "beam-size",
                                                     "cpu-threads",
                                                     "gemm-precision",
                                                     "log",
                                                     "log-level",
                                                     "maxi-batch",
                                                     "maxi-batch-sort",
                                                     "mini-batch",
                                                     "mini-batch-words",
                                                     "normalize",
                                                     "num-threads",
                                                     "quiet",
                                                     "quiet-translation",
                                                     "relative-paths",
                                                     "skip-cost",
                                                     "ssplit-mode",
                                                     "version",
                                                     "word-penalty",
                                                     "workspace",
                                                     "max-length-break"};

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

/// The one file `<prefix>*<suffix>`, or "" where it is optional and absent.
static Expected<std::string> findOnlyFile(StringRef folder, StringRef prefix,
                                          StringRef suffix, bool isOptional) {
  std::vector<std::string> names = findFiles(folder, prefix, suffix);
  if (names.size() > 1)
    return makeError("'" + folder + "' has more than one " + prefix + "*" +
                     suffix + ": " + llvm::join(names, ", "));
  if (names.empty() && !isOptional)
    return makeError("'" + folder + "' has no " + prefix + "*" + suffix);
  return names.empty() ? std::string() : join(folder, names.front());
}

/// The one file that an option of config.yml names, once or once for each side;
/// what follows the name of a shortlist are its parameters.
static Error readFileOption(const YamlMapping &config, StringRef folder,
                            StringRef option, std::string &path) {
  auto entry = config.find(option.str());
  if (entry == config.end())
    return Error::success();
  ArrayRef<std::string> names = entry->second.values;
  if (option == "shortlist")
    names = names.take_front();
  if (names.empty() || !llvm::all_equal(names) ||
      names.front() != sys::path::filename(names.front()))
    return makeError("'" + join(folder, "config.yml") + "' has the option '" +
                     option + "' with the value '" + entry->second.format() +
                     "' (supported: one file of the same folder)");
  path = join(folder, names.front());
  return Error::success();
}

/// Reads config.yml into `files`.
static Error readConfig(StringRef folder, MarianFolder &files) {
  std::string path = join(folder, "config.yml");
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  Expected<YamlMapping> config = parseYaml((*buffer)->getBuffer(), path);
  if (!config)
    return config.takeError();
  for (const auto &[name, value] : *config)
    if (name != "models" && name != "vocabs" && name != "shortlist" &&
        name != "max-length-factor" && !is_contained(kHarmlessOptions, name))
      return makeError("'" + path + "' has the unknown option '" + name +
                       "' with the value '" + value.format() + "'");
  if (Error error = readFileOption(*config, folder, "models", files.model))
    return error;
  if (Error error = readFileOption(*config, folder, "vocabs", files.vocabulary))
    return error;
  if (Error error =
          readFileOption(*config, folder, "shortlist", files.shortlist))
    return error;
  if (auto factor = config->find("max-length-factor");
      factor != config->end() &&
      (!to_float(factor->second.format(), files.maxLengthFactor) ||
       !std::isfinite(files.maxLengthFactor) || files.maxLengthFactor <= 0))
    return makeError("'" + path + "' has the option 'max-length-factor' with " +
                     "the value '" + factor->second.format() +
                     "' (expected a positive number)");
  return Error::success();
}

bool isMarianFolder(StringRef folder) {
  return sys::fs::exists(join(folder, "config.yml")) ||
         !findFiles(folder, "model", ".bin").empty() ||
         !findFiles(folder, "model", ".npz").empty();
}

Expected<MarianFolder> readMarianFolder(StringRef folder) {
  MarianFolder files;
  if (sys::fs::exists(join(folder, "config.yml")))
    if (Error error = readConfig(folder, files))
      return std::move(error);
  if (files.model.empty() && findFiles(folder, "model", ".bin").empty())
    for (const std::string &name : findFiles(folder, "model", ".npz"))
      files.model = join(folder, name);
  if (StringRef(files.model).ends_with(".npz"))
    return makeError("'" + files.model + "' is in numpy's format (supported: " +
                     ".bin, which marian-conv writes)");

  struct {
    std::string *path;
    StringRef prefix, suffix;
    bool isOptional;
  } const expected[] = {{&files.model, "model", ".bin", false},
                        {&files.vocabulary, "vocab", ".spm", false},
                        {&files.shortlist, "lex", ".bin", true}};
  for (const auto &file : expected) {
    if (!file.path->empty())
      continue;
    Expected<std::string> path =
        findOnlyFile(folder, file.prefix, file.suffix, file.isOptional);
    if (!path)
      return path.takeError();
    *file.path = *path;
  }
  return files;
}

} // namespace heddle
