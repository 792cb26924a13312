//===- Model.h - A loaded model ---------------------------------*- C++ -*-===//
//
// An artifact that is ready to run: mapped, checked, its code loaded, its
// tokenizer built. A Session runs it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_MODEL_H
#define HEDDLE_RUNTIME_SESSION_MODEL_H

#include "runtime/Result.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Manifest.h"
#include "runtime/code/CodeLibrary.h"
#include "runtime/code/KernelAbi.h"
#include "runtime/cuda/CudaModel.h"
#include "runtime/search/Shortlist.h"
#include "runtime/session/Device.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// What a model runs on: Auto is a GPU if there is one that it has code for,
/// and the CPU otherwise.
enum class DeviceChoice { Cpu, Cuda, Auto };

struct LoadOptions {
  /// Check the whole file, as Artifact::verify does.
  bool verify = false;
  DeviceChoice device = DeviceChoice::Auto;
  /// Follows the weights on their way to a GPU; may be empty.
  UploadProgress progress = {};
};

/// An entry point: what it expects and the code behind it.
struct EntryPoint {
  const Entry *description;
  HeddleEntry run;
  HeddleArenaSize arenaSize;
};

/// Immutable; any number of threads and sessions may share it. A session
/// borrows its model: do not move or destroy a model that has sessions.
class Model {
public:
  /// Loads an artifact. Errors are sentences that name the file or the part of
  /// it at fault; a file made for another machine is refused before any of its
  /// code runs.
  static Result<Model> load(const std::string &path,
                            const LoadOptions &options = {});
  /// The same of an artifact that is open, as one in memory.
  static Result<Model> load(Artifact artifact, const LoadOptions &options = {});

  const Manifest &manifest() const { return *description; }
  const Artifact &artifact() const { return file; }
  /// The ISA level, or the architecture of a GPU, of the code that was loaded.
  const std::string &isa() const { return code.isa(); }
  bool isOnGpu() const { return gpu != nullptr; }
  /// Why that is not so if the choice was Auto's and the machine has a GPU;
  /// success otherwise.
  const Status &gpuFailure() const { return failedGpu; }
  /// The same model on the CPU, for use after the GPU fails. Loaded at the
  /// first call; null if the caller asked for a GPU (not Auto) or the file has
  /// no code for this CPU. Any thread may call this.
  const Model *onCpu() const;
  /// What a session runs on; borrows the model.
  std::unique_ptr<Device> makeDevice() const;
  /// Null if the artifact has none (kind "none").
  const Tokenizer *tokenizer() const { return textTokenizer.get(); }
  /// Null if the artifact has no shortlist, or no code that uses it.
  const Shortlist *shortlist() const;

  /// The entry of Manifest::entry; null if the artifact has none.
  const EntryPoint *entryPoint(Role role, bool hasCandidates = false) const;
  /// The form of a decoder that computes several positions of a sentence at
  /// once: Extend, or Chunk if the artifact has none.
  Role prefillRole() const {
    return manifest().entry(Role::Extend) ? Role::Extend : Role::Chunk;
  }
  /// Bytes of scratch memory that each thread of a call needs, as the code
  /// says, which loading does not run.
  int64_t scratchBytes() const { return scratchSize(); }
  /// The section `weights`, in the memory of the device; null if there is
  /// none.
  const void *weights() const;

  /// Whether the model has the task of that name; the error names the file.
  Status checkTask(std::string_view task) const;
  /// Whether `ids` can be encoded: not empty, in the vocabulary, not longer
  /// than the model's positions. The error begins with a verb ("has ...").
  Status checkSource(const std::vector<int32_t> &ids) const;
  /// Whether `ids` can be a whole target: its last token is not given to the
  /// decoder. May be empty.
  Status checkTarget(const std::vector<int32_t> &ids) const;
  /// The same of one of any length.
  Status checkTargetIds(const std::vector<int32_t> &ids) const;
  /// Whether something can follow `ids`, the last of them given to the decoder,
  /// too. May be empty.
  Status checkPrefix(const std::vector<int32_t> &ids) const;

private:
  Model(Artifact file, std::unique_ptr<Manifest> description, CodeLibrary code,
        std::unique_ptr<CudaModel> gpu)
      : file(std::move(file)), description(std::move(description)),
        code(std::move(code)), gpu(std::move(gpu)) {}

  Artifact file;
  /// On the heap: entry points refer to it when the model moves.
  std::unique_ptr<Manifest> description;
  CodeLibrary code;
  /// Null if the model runs on the CPU.
  std::unique_ptr<CudaModel> gpu;
  Status failedGpu = Status::success();
  /// What onCpu() has loaded, or has tried to; null if it has nothing to do.
  struct Spare {
    std::mutex mutex;
    bool isTried = false;
    std::unique_ptr<Model> model;
  };
  std::unique_ptr<Spare> spare;
  std::vector<EntryPoint> entryPoints;
  HeddleScratchSize scratchSize = nullptr;
  std::unique_ptr<Tokenizer> textTokenizer;
  std::optional<Shortlist> lexicon;
};

/// The manifest of an artifact, without loading its code: works on any machine.
Result<Manifest> readManifest(const Artifact &artifact);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_MODEL_H
