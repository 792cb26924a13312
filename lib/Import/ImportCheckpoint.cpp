//===- ImportCheckpoint.cpp - Checkpoints of PyTorch's trainers -----------===//
//
// Which trainer wrote a file shows in the keys of its dictionary.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/ImportCheckpoint.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

static constexpr StringLiteral kExtension = ".pt";

/// Of several checkpoints of a folder these count, the first that is there.
static constexpr StringLiteral kUsualNames[] = {"checkpoint_best.pt",
                                                "model.pt"};

/// The names of the checkpoints of a folder, in alphabetical order.
static std::vector<std::string> listCheckpoints(StringRef folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (sys::fs::directory_iterator file(folder, error), end;
       file != end && !error; file.increment(error))
    if (StringRef name = sys::path::filename(file->path());
        name.ends_with(kExtension))
      names.push_back(name.str());
  llvm::sort(names);
  return names;
}

bool isCheckpoint(StringRef path) {
  return sys::fs::is_directory(path) ? !listCheckpoints(path).empty()
                                     : path.ends_with(kExtension);
}

static Expected<std::string> chooseCheckpoint(StringRef path) {
  if (!sys::fs::is_directory(path))
    return path.str();
  std::vector<std::string> names = listCheckpoints(path);
  auto chosen = find_if(
      kUsualNames, [&](StringRef usual) { return is_contained(names, usual); });
  if (names.size() > 1 && chosen == std::end(kUsualNames))
    return makeError("'" + path + "' has " + Twine(names.size()) +
                     " checkpoints, '" + names.front() + "' and others, " +
                     "expected the path of one of them");
  SmallString<128> file = path;
  sys::path::append(file, names.size() == 1 ? StringRef(names.front())
                                            : StringRef(*chosen));
  return std::string(file);
}

/// The keys of a dictionary that are texts, as far as a sentence shows them.
static std::string listKeys(const PickleValue &dictionary) {
  constexpr size_t most = 8, longest = 32;
  SmallVector<std::string> keys;
  for (size_t i = 0; i + 1 < dictionary.items.size() && keys.size() < most;
       i += 2)
    if (const PickleValue &key = *dictionary.items[i]; key.isText()) {
      std::string printable;
      raw_string_ostream stream(printable);
      printEscapedString(StringRef(key.text).take_front(longest), stream);
      keys.push_back(printable);
    }
  return keys.empty() ? "no keys" : "the keys " + join(keys, ", ");
}

Expected<ImportedModel> importCheckpoint(StringRef path, MLIRContext &context,
                                         const ImportOptions &options) {
  Expected<std::string> file = chooseCheckpoint(path);
  if (!file)
    return file.takeError();
  auto buffer = mapFile(*file);
  if (!buffer)
    return buffer.takeError();
  Expected<TorchCheckpoint> checkpoint =
      TorchCheckpoint::read(std::move(*buffer));
  if (!checkpoint)
    return checkpoint.takeError();
  const PickleValue &root = checkpoint->getRoot();
  if (root.kind != PickleValue::Kind::Dictionary)
    return makeError("'" + *file + "' holds a " + getTypeName(root) +
                     " (expected the dictionary of a checkpoint)");
  std::string folder = sys::path::parent_path(*file).str();
  if (folder.empty())
    folder = ".";
  if (root.find("model") && (root.find("args") || root.find("cfg")))
    return importFairseq(*checkpoint, folder, context, options);
  if (root.find("vocab") && root.find("opt"))
    return importOpenNMT(*checkpoint, folder, context, options);
  return makeError("'" + *file +
                   "' is no checkpoint of fairseq or OpenNMT-py: it has " +
                   listKeys(root));
}

} // namespace heddle
