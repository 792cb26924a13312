//===- Model.cpp - The models of heddle.h ---------------------------------===//

#include "runtime/api/Model.h"

#include "runtime/HiddenStates.h"
#include "runtime/api/ArtifactDescription.h"
#include "runtime/api/Failure.h"

#include <utility>

using namespace heddle;

static heddle_status share(Result<Model> loaded, heddle_model **model) {
  if (!loaded.ok())
    return report(loaded.status());
  *model = new heddle_model{std::make_shared<Model>(std::move(*loaded))};
  return HEDDLE_OK;
}

static LoadOptions optionsOf(unsigned flags) {
  LoadOptions options;
  options.verify = flags & HEDDLE_VERIFY;
  if (flags & HEDDLE_CPU)
    options.device = DeviceChoice::Cpu;
  if (flags & HEDDLE_CUDA)
    options.device = DeviceChoice::Cuda;
  return options;
}

static Status checkFlags(unsigned flags) {
  if (flags & ~(HEDDLE_VERIFY | HEDDLE_CPU | HEDDLE_CUDA))
    return Status::error("the flags of loading are ", flags,
                         ", expected those of HEDDLE_VERIFY, HEDDLE_CPU and "
                         "HEDDLE_CUDA");
  if ((flags & HEDDLE_CPU) && (flags & HEDDLE_CUDA))
    return Status::error("the flags of loading name two devices");
  return Status::success();
}

static heddle_status load(const char *path, unsigned flags,
                          const UploadProgress &progress,
                          heddle_model **model) {
  *model = nullptr;
  if (Status status = checkFlags(flags); !status.ok())
    return report(status, HEDDLE_MISUSED);
  LoadOptions options = optionsOf(flags);
  options.progress = progress;
  return share(Model::load(path, options), model);
}

heddle_status heddle_model_load(const char *path, unsigned flags,
                                heddle_model **model) {
  return load(path, flags, /*progress=*/{}, model);
}

heddle_status heddle_model_load_with_progress(const char *path, unsigned flags,
                                              heddle_progress_callback callback,
                                              void *context,
                                              heddle_model **model) {
  return load(
      path, flags,
      [=](uint64_t done, uint64_t all) { callback(context, done, all); },
      model);
}

heddle_status heddle_model_load_memory(const void *bytes, size_t size,
                                       const char *name, unsigned flags,
                                       heddle_model **model) {
  *model = nullptr;
  if (Status status = checkFlags(flags); !status.ok())
    return report(status, HEDDLE_MISUSED);
  auto artifact =
      Artifact::fromMemory(name, {static_cast<const char *>(bytes), size});
  if (!artifact.ok())
    return share(artifact.status(), model);
  return share(Model::load(std::move(*artifact), optionsOf(flags)), model);
}

void heddle_model_free(heddle_model *model) { delete model; }

int heddle_model_has_tokenizer(const heddle_model *model) {
  return model->loaded->tokenizer() != nullptr;
}

const char *heddle_model_tokenizer_problem(const heddle_model *model) {
  return model->loaded->manifest().tokenizer.reason.c_str();
}

int32_t heddle_model_source_vocabulary(const heddle_model *model) {
  return model->loaded->manifest().sourceVocabulary;
}

int32_t heddle_model_target_vocabulary(const heddle_model *model) {
  return model->loaded->manifest().targetVocabulary;
}

heddle_status heddle_hidden_width(const heddle_model *model, size_t *width) {
  Result<HiddenOutput> hidden = findHiddenOutput(*model->loaded);
  *width = hidden.ok() ? size_t(hidden->width) : 0;
  return report(hidden.status());
}

static Result<std::string> describe(const char *path, unsigned flags,
                                    int64_t positions) {
  Result<Artifact> artifact = Artifact::open(path);
  if (!artifact.ok())
    return artifact.status();
  Result<Manifest> manifest = readManifest(*artifact);
  if (!manifest.ok())
    return manifest.status();
  if (flags & HEDDLE_VERIFY)
    if (Status status = artifact->verify(); !status.ok())
      return status;
  return describeArtifact(*artifact, *manifest,
                          positions > 0 ? std::optional(positions)
                                        : std::nullopt);
}

heddle_status heddle_describe(const char *path, unsigned flags,
                              int64_t positions, char **text) {
  *text = nullptr;
  Status asked = checkFlags(flags);
  if (asked.ok() && positions < 0)
    asked =
        Status::error("the positions are ", positions, ", expected 0 or more");
  if (!asked.ok())
    return report(asked, HEDDLE_MISUSED);
  Result<std::string> description = describe(path, flags, positions);
  if (description.ok())
    *text = copyForCaller(*description);
  return report(description.status());
}
