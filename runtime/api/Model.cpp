//===- Model.cpp - The models of heddle.h ---------------------------------===//
//
// `model` is NULL whenever a call that loads fails. Sessions share what is
// loaded, so that a caller may free a model before them. heddle_describe loads
// no code: it describes files for other machines, too.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Model.h"

#include "runtime/api/Arguments.h"
#include "runtime/api/ArtifactDescription.h"
#include "runtime/api/Failure.h"
#include "runtime/search/Ensemble.h"
#include "runtime/session/HiddenStates.h"

#include <memory>
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

/// What is wrong with a call that loads; `model` is NULL then.
static Status beginLoad(std::initializer_list<Pointer> pointers, unsigned flags,
                        heddle_model **model) {
  if (model)
    *model = nullptr;
  Status status = checkPointers({{"model", model}});
  if (status.ok())
    status = checkPointers(pointers);
  return status.ok() ? checkFlags(flags) : status;
}

static heddle_status load(const char *path, unsigned flags,
                          const UploadProgress &progress,
                          heddle_model **model) {
  if (Status status = beginLoad({{"path", path}}, flags, model); !status.ok())
    return reportMisuse(status);
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
  if (Status status = beginLoad({{"callback", callback}}, flags, model);
      !status.ok())
    return reportMisuse(status);
  return load(
      path, flags,
      [=](uint64_t done, uint64_t all) { callback(context, done, all); },
      model);
}

heddle_status heddle_model_load_memory(const void *bytes, size_t size,
                                       const char *name, unsigned flags,
                                       heddle_model **model) {
  Status status = beginLoad({{"bytes", bytes}, {"name", name}}, flags, model);
  auto *first = static_cast<const char *>(bytes);
  if (status.ok())
    status = checkArrays({{"bytes", first, "size", size}});
  if (!status.ok())
    return reportMisuse(status);
  auto artifact = Artifact::fromMemory(name, {first, size});
  if (!artifact.ok())
    return share(artifact.status(), model);
  return share(Model::load(std::move(*artifact), optionsOf(flags)), model);
}

heddle_status heddle_ensemble_create(const heddle_model *const *members,
                                     size_t count, heddle_model **ensemble) {
  if (ensemble)
    *ensemble = nullptr;
  Status status = checkPointers({{"ensemble", ensemble}});
  if (status.ok())
    status = checkArrays({{"members", members, "count", count}});
  if (status.ok() && count == 0)
    status = Status::error("an ensemble has no member, expected 1 or more");
  if (!status.ok())
    return reportMisuse(status);
  auto created = std::make_unique<heddle_model>();
  for (size_t i = 0; i < count; ++i) {
    status = checkPointers({{"member", members[i]}});
    if (status.ok() && !members[i]->others.empty())
      status = Status::error("a member of an ensemble is an ensemble itself");
    if (!status.ok())
      return reportMisuse(status);
    status = checkMember(*members[0]->loaded, *members[i]->loaded);
    if (!status.ok())
      return report(status);
    if (i == 0)
      created->loaded = members[i]->loaded;
    else
      created->others.push_back(members[i]->loaded);
  }
  *ensemble = created.release();
  return HEDDLE_OK;
}

void heddle_model_free(heddle_model *model) { delete model; }

int heddle_model_has_tokenizer(const heddle_model *model) {
  return model && model->loaded->tokenizer() != nullptr;
}

const char *heddle_model_tokenizer_problem(const heddle_model *model) {
  return model ? model->loaded->manifest().tokenizer.reason.c_str() : nullptr;
}

int heddle_model_has_task(const heddle_model *model, const char *task) {
  return model && task && model->loaded->manifest().hasTask(task);
}

int heddle_model_continues_texts(const heddle_model *model) {
  return model && model->loaded->manifest().promptsTarget;
}

int heddle_model_has_prompt(const heddle_model *model, const char *name) {
  if (!model || !name)
    return 0;
  const std::optional<EmbedTask> &embed = model->loaded->manifest().embed;
  return embed && embed->findPrompt(name);
}

int32_t heddle_model_source_vocabulary(const heddle_model *model) {
  return model ? model->loaded->manifest().sourceVocabulary : 0;
}

int32_t heddle_model_target_vocabulary(const heddle_model *model) {
  return model ? model->loaded->manifest().targetVocabulary : 0;
}

heddle_status heddle_hidden_width(const heddle_model *model, size_t *width) {
  if (width)
    *width = 0;
  if (Status status = checkPointers({{"model", model}, {"width", width}});
      !status.ok())
    return reportMisuse(status);
  Result<HiddenOutput> hidden = findHiddenOutput(*model->loaded);
  if (hidden.ok())
    *width = size_t(hidden->width);
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
  if (text)
    *text = nullptr;
  Status asked = checkPointers({{"path", path}, {"text", text}});
  if (asked.ok())
    asked = checkFlags(flags);
  if (asked.ok() && positions < 0)
    asked =
        Status::error("the positions are ", positions, ", expected 0 or more");
  if (!asked.ok())
    return reportMisuse(asked);
  Result<std::string> description = describe(path, flags, positions);
  return description.ok() ? giveText(*description, text)
                          : report(description.status());
}
