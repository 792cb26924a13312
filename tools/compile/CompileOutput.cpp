#include "tools/compile/CompileOutput.h"
#include "tools/RuntimeErrors.h"
#include "tools/SignalCleanup.h"
#include "tools/WholeFile.h"
#include "tools/compile/CompileProgress.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace heddle;

/// What a stream could not write; a stream with an error unread ends the
/// process.
static std::error_code takeError(llvm::raw_fd_ostream &stream) {
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error();
  return error;
}

llvm::Error heddle::printText(llvm::StringRef text) {
  showProgress("");
  llvm::raw_fd_ostream stream(STDOUT_FILENO, /*shouldClose=*/false);
  stream << text;
  if (std::error_code error = takeError(stream))
    return makeError("cannot write standard output: " + error.message());
  return llvm::Error::success();
}

/// Calls `write` with the stream of a file that is there whole or not at all.
static llvm::Error
writeFile(const std::string &path, WholeFile::Kind kind, mode_t mode,
          llvm::function_ref<void(llvm::raw_fd_ostream &)> write) {
  SignalCleanup cleanup;
  Result<WholeFile> file = WholeFile::create(path, kind, mode);
  if (!file.ok())
    return toError(file.status());
  cleanup.watch(file->temporaryPath());
  llvm::raw_fd_ostream stream(file->descriptor(), /*shouldClose=*/false);
  write(stream);
  if (std::error_code error = takeError(stream))
    return toError(file->failure(error.value()));
  return toError(file->keep());
}

llvm::Error heddle::writeText(llvm::StringRef path, llvm::StringRef text) {
  if (path == "-")
    return printText(text);
  return writeFile(path.str(), WholeFile::Kind::Text, 0666,
                   [&](llvm::raw_fd_ostream &stream) { stream << text; });
}

llvm::Expected<std::vector<LostWeights>>
heddle::writeArtifact(const CompileOptions &options,
                      const ArtifactContents &contents) {
  std::vector<LostWeights> lost;
  mode_t mode = contents.runner.empty() ? 0666 : 0777;
  if (llvm::Error error = writeFile(options.output, WholeFile::Kind::Binary,
                                    mode, [&](llvm::raw_fd_ostream &stream) {
                                      lost = writeArtifact(stream, contents);
                                    }))
    return std::move(error);
  return lost;
}

/// The files that are read.
static std::vector<std::string> listInputs(const CompileOptions &options) {
  std::vector<std::string> inputs = options.dialectPlugins;
  inputs.push_back(options.model);
  for (const std::string &path :
       {options.weights, options.tokenizer, options.calibrate})
    if (!path.empty())
      inputs.push_back(path);
  std::error_code end;
  llvm::sys::fs::directory_iterator folder(options.model, end), none;
  for (; !end && folder != none; folder.increment(end)) {
    // Artifacts and their code may stand in the folder, to be replaced.
    llvm::StringRef extension = llvm::sys::path::extension(folder->path());
    if (llvm::is_contained(
            {".bin", ".json", ".safetensors", ".spm", ".txt", ".yml"},
            extension))
      inputs.push_back(folder->path());
  }
  return inputs;
}

/// An error if the file `path` is an input.
static llvm::Error checkOutput(const CompileOptions &options,
                               const std::string &written) {
  llvm::sys::fs::UniqueID output, input;
  if (llvm::sys::fs::getUniqueID(written, output))
    return llvm::Error::success();
  for (const std::string &path : listInputs(options))
    if (!llvm::sys::fs::getUniqueID(path, input) && input == output &&
        !llvm::sys::fs::is_directory(path))
      return makeError("cannot write '" + written + "': it is the input '" +
                       path + "'");
  return llvm::Error::success();
}

/// The file that a path names through links, which need not be there yet: its
/// folder, without links, and its name.
static std::string placeOf(llvm::StringRef name) {
  std::string path = followLinks(name.str());
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  llvm::SmallString<256> place;
  if (path.empty() ||
      llvm::sys::fs::real_path(folder.empty() ? "." : folder, place))
    return path;
  llvm::sys::path::append(place, llvm::sys::path::filename(path));
  return place.str().str();
}

/// An error if two outputs are one file, by whatever names.
static llvm::Error checkDifferent(const std::string &one,
                                  const std::string &other) {
  llvm::sys::fs::file_status status;
  bool isShared = !llvm::sys::fs::status(one, status) &&
                  !llvm::sys::fs::is_regular_file(status);
  if (one.empty() || isShared || placeOf(one) != placeOf(other))
    return llvm::Error::success();
  return makeError("'" + one + "' and '" + other +
                   "' are the same file, expected one for each output");
}

llvm::Error heddle::checkOutput(const CompileOptions &options) {
  for (auto [one, other] : {std::pair(options.output, options.explore),
                            {options.output, options.writeWeights},
                            {options.explore, options.writeWeights}})
    if (llvm::Error error = checkDifferent(one, other))
      return error;
  for (const std::string &path :
       {options.output, options.explore, options.writeWeights})
    if (llvm::Error error = ::checkOutput(options, path))
      return error;
  constexpr auto text = WholeFile::Kind::Text, binary = WholeFile::Kind::Binary;
  for (auto [path, kind] :
       {std::pair(options.output, options.makesArtifact() ? binary : text),
        {options.explore, text},
        {options.writeWeights, binary}})
    if (!path.empty() && (path != "-" || kind == binary))
      if (llvm::Error error = toError(checkWritable(path, kind)))
        return error;
  return llvm::Error::success();
}

std::string heddle::toOneLine(std::string sentence) {
  for (char &c : sentence)
    if (static_cast<unsigned char>(c) < ' ' || c == 127)
      c = '?';
  return sentence;
}

/// How many of what a warning is about are named in it.
static constexpr size_t kMostNamed = 3;

void heddle::warn(std::string sentence) {
  showProgress("");
  llvm::errs() << "heddle-compile: warning: " << toOneLine(std::move(sentence))
               << "\n";
}

void heddle::warnOfUnread(llvm::StringRef model,
                          llvm::ArrayRef<std::string> tensors) {
  if (tensors.empty())
    return;
  std::string sentence;
  llvm::raw_string_ostream stream(sentence);
  stream << tensors.size()
         << (tensors.size() == 1 ? " tensor of '" : " tensors of '") << model
         << (tensors.size() == 1 ? "' is" : "' are") << " not used: ";
  llvm::interleaveComma(
      tensors.take_front(kMostNamed), stream,
      [&](const std::string &tensor) { stream << "'" << tensor << "'"; });
  if (tensors.size() > kMostNamed)
    stream << " and " << tensors.size() - kMostNamed << " more";
  warn(std::move(sentence));
}

void heddle::warnOfTokenizer(llvm::StringRef model, llvm::StringRef problem) {
  if (!problem.empty())
    warn(("'" + model +
          "' has a tokenizer that is not supported, so that texts are token "
          "ids (--ids): " +
          problem)
             .str());
}

void heddle::warnOfPage(llvm::StringRef shown, llvm::StringRef best) {
  warn(("--explore shows the code of " + shown + ", not that of " + best +
        ", which --emit=asm writes")
           .str());
}

namespace {
/// Of a tensor, how many weights a warning is about.
struct CountedWeights {
  const LostWeights &tensor;
  uint64_t count;
};
} // namespace

/// How many of which tensors are what `kind` says, for one of them at least.
static std::string listWeights(llvm::ArrayRef<CountedWeights> weights,
                               llvm::StringRef kind) {
  uint64_t count = 0;
  for (const CountedWeights &each : weights)
    count += each.count;
  std::string sentence;
  llvm::raw_string_ostream stream(sentence);
  stream << count << (count == 1 ? " weight is " : " weights are ") << kind
         << ": ";
  llvm::interleaveComma(
      weights.take_front(kMostNamed), stream, [&](const CountedWeights &each) {
        stream << each.count << " of '"
               << llvm::join(each.tensor.sources, "' and '") << "'";
      });
  if (weights.size() > kMostNamed)
    stream << " and others of " << weights.size() - kMostNamed
           << " more tensors";
  return sentence;
}

/// Of weights that are finite in the checkpoint, but not in a short type.
static void warnOfOverflow(llvm::ArrayRef<LostWeights> tensors,
                           PlacedElement element, llvm::StringRef type,
                           llvm::StringRef end, llvm::StringRef wider) {
  llvm::SmallVector<CountedWeights> found;
  float largest = 0;
  for (const LostWeights &tensor : tensors)
    if (tensor.element == element && tensor.overflowed != 0) {
      found.push_back({tensor, tensor.overflowed});
      largest = std::max(largest, tensor.largest);
    }
  if (found.empty())
    return;
  std::string kind = ("infinite as " + type + ", which ends at " + end).str();
  std::string sentence = listWeights(found, kind);
  llvm::raw_string_ostream(sentence)
      << ", up to " << llvm::format("%g", largest) << "; --keep '" << wider
      << ":" << found.front().tensor.sources.front() << "' keeps their range";
  warn(std::move(sentence));
}

void heddle::warnOfLost(llvm::ArrayRef<LostWeights> tensors) {
  llvm::SmallVector<CountedWeights> stored;
  for (const LostWeights &tensor : tensors)
    if (tensor.stored != 0)
      stored.push_back({tensor, tensor.stored});
  if (!stored.empty())
    warn(listWeights(stored, "NaN or infinite"));
  warnOfOverflow(tensors, PlacedElement::F16, "f16", "65,504", "bf16");
  llvm::SmallVector<CountedWeights> vanished;
  for (const LostWeights &tensor : tensors)
    if (tensor.vanished != 0)
      vanished.push_back({tensor, tensor.vanished});
  if (!vanished.empty())
    warn(listWeights(vanished, "0 as f16, which begins at 5.96e-8") +
         "; --keep 'bf16:" + vanished.front().tensor.sources.front() +
         "' keeps their range");
  warnOfOverflow(tensors, PlacedElement::BF16, "bf16", "3.39e38", "f32");
}
