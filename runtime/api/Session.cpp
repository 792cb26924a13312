//===- Session.cpp - The sessions of heddle.h -----------------------------===//
//
// A signal handler may call heddle_cancel, which does nothing but raise a flag.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Session.h"

#include "runtime/api/Arguments.h"
#include "runtime/api/Model.h"
#include "runtime/api/ProfileReport.h"
#include "runtime/tokenizer/Utf8.h"

#include <utility>

using namespace heddle;

static_assert(std::atomic<bool>::is_always_lock_free,
              "a signal handler raises it");

/// What is asked of the workers of a session.
static WorkerOptions workerOptions(const SettingValues &values) {
  WorkerOptions options;
  options.threads = values.threads.value_or(1);
  options.workers = values.allWorkers ? workersForAllCores(options.threads)
                                      : values.workers.value_or(1);
  options.profiles = values.profile;
  options.inputs = values.inputs;
  return options;
}

static bool isSame(const WorkerOptions &a, const WorkerOptions &b) {
  return a.workers == b.workers && a.threads == b.threads &&
         a.profiles == b.profiles && a.inputs == b.inputs;
}

/// A setting of an input that the model does not have says nothing.
static Status checkInputSettings(const Model &model, const Settings &settings) {
  const Entry *encode = model.manifest().entry(Role::Encode);
  for (const auto &[role, values] : settings.values().inputs)
    if (!encode || !encode->argument(role, ArgumentKind::Input))
      return Status::error(settings.nameOf(role), " is given, but '",
                           model.artifact().path(), "' has no input '", role,
                           "'");
  return Status::success();
}

/// Kernels of a GPU run behind the back of who would count them.
static Status checkProfile(const Model &model, const Settings &settings) {
  if (settings.values().profile && model.isOnGpu())
    return Status::error(
        settings.nameOf("profile"), " counts kernels of the CPU, but '",
        model.artifact().path(), "' runs on a GPU: expected the device cpu");
  return Status::success();
}

/// Whether a setting of texts, vectors or labels says something to a model.
static bool isReadBy(const Manifest &manifest, const heddle_setting &setting) {
  std::string_view name = setting.name, group = setting.group;
  bool hasLabels =
      manifest.classify || manifest.tag || manifest.answer || manifest.fill;
  if (name == "aggregate")
    return manifest.tag.has_value();
  if (name == "max-answer" || name == "unanswerable")
    return manifest.answer.has_value();
  if (name == "stride")
    return manifest.tag || manifest.answer || manifest.promptsTarget;
  if (name == "no-truncate")
    return manifest.embed || hasLabels;
  return group == kVectorGroup  ? manifest.embed.has_value()
         : group == kLabelGroup ? hasLabels
                                : true;
}

/// Spans of windows that overlap can be put together, labels of tokens cannot.
static Status checkStride(const Model &model, const Settings &settings) {
  std::optional<Aggregation> aggregation = settings.values().label.aggregation;
  bool findsSpans = aggregation && *aggregation != Aggregation::None;
  const Manifest &manifest = model.manifest();
  if (manifest.promptsTarget && settings.values().stride == 0)
    return Status::error(settings.nameOf("stride"),
                         " has the value 0, expected 1 or more: a window "
                         "begins with a token of the one before");
  if (!settings.has("stride") || manifest.answer || manifest.promptsTarget ||
      findsSpans)
    return Status::success();
  return Status::error(
      settings.nameOf("stride"), " is given without spans of labels, expected ",
      settings.nameOf("aggregate"), " simple, first, average or max");
}

static Status checkTextTasks(const Model &model, const Settings &settings) {
  const Manifest &manifest = model.manifest();
  for (const heddle_setting &setting : settingsList())
    if (settings.has(setting.name) && !isReadBy(manifest, setting))
      return Status::error(settings.nameOf(setting.name), " is given, but '",
                           model.artifact().path(), "' ",
                           manifest.describeTasks());
  if (Status status = checkStride(model, settings); !status.ok())
    return status;
  if (settings.values().split && manifest.promptsTarget)
    return Status::error(settings.nameOf("split"),
                         " joins translations of sentences, but '",
                         model.artifact().path(), "' continues texts");
  return manifest.embed ? checkEmbedOptions(model, settings.values().embed,
                                            settings.nameOf(""))
                        : Status::success();
}

/// Of a model whose sources have the target's language, that one stands where
/// others have the source's.
static Result<RequestLanguages> placeLanguages(const Model &model,
                                               const RequestLanguages &named,
                                               const Settings &settings) {
  if (model.manifest().tokenizer.targetLanguage != TargetLanguage::Source)
    return named;
  std::string target = settings.nameOf("target-language");
  if (named.source)
    return Status::error(settings.nameOf("source-language"), " is given, but '",
                         model.artifact().path(),
                         "' reads texts of any language: expected ", target,
                         " alone");
  if (named.target && settings.values().ids)
    return Status::error(target, " is for texts, but ", settings.nameOf("ids"),
                         " gives ids, which already include their language");
  return RequestLanguages{named.target, std::nullopt};
}

/// The tokens of the languages that settings name.
static Result<RequestLanguages> findLanguages(const Model &model,
                                              const Settings &settings) {
  SettingValues values = settings.values();
  RequestLanguages languages;
  using Names = std::optional<std::string> SettingValues::*;
  struct Place {
    const char *setting;
    Names name;
    std::optional<int32_t> *token;
  };
  for (auto [setting, name, token] :
       {Place{"source-language", &SettingValues::sourceLanguage,
              &languages.source},
        Place{"target-language", &SettingValues::targetLanguage,
              &languages.target}}) {
    if (!(values.*name))
      continue;
    Result<int32_t> found =
        findLanguage(model.manifest().tokenizer, *(values.*name));
    if (!found.ok())
      return Status::error(settings.nameOf(setting), " ",
                           found.status().message());
    *token = *found;
  }
  return placeLanguages(model, languages, settings);
}

/// What settings say of an ensemble of as many other models, or of one model.
static Status checkEnsemble(const Model &first, size_t others,
                            const Settings &settings) {
  const std::string &file = first.artifact().path();
  size_t weights = settings.values().ensembleWeights.size();
  if (others == 0) {
    for (const char *name : {"ensemble-weights", "ensemble-mean"})
      if (settings.has(name))
        return Status::error(settings.nameOf(name),
                             " is for an ensemble, but '", file,
                             "' is one model");
    return Status::success();
  }
  if (weights != 0 && weights != others + 1)
    return Status::error(settings.nameOf("ensemble-weights"), " has ", weights,
                         " numbers, expected one for each of ", others + 1,
                         " models");
  return settings.values().profile
             ? Status::error(settings.nameOf("profile"),
                             " counts the kernels of one model, but '", file,
                             "' is the first of an ensemble of ", others + 1)
             : Status::success();
}

Status heddle_session::configure(const Settings &wanted) {
  SettingValues wantedValues = wanted.values();
  if (Status status = checkProfile(*model, wanted); !status.ok())
    return status;
  if (Status status = checkInputSettings(*model, wanted); !status.ok())
    return status;
  if (Status status = checkTextTasks(*model, wanted); !status.ok())
    return status;
  if (Status status = checkEnsemble(*model, others.size(), wanted);
      !status.ok())
    return status;
  Result<RequestLanguages> found = findLanguages(*model, wanted);
  if (!found.ok())
    return found.status();
  std::vector<RequestLanguages> ofOthers;
  for (const auto &other : others) {
    Result<RequestLanguages> own = findLanguages(*other, wanted);
    if (!own.ok())
      return Status::error(own.message(), " in '", other->artifact().path(),
                           "'");
    ofOthers.push_back(*own);
  }
  WorkerOptions options = workerOptions(wantedValues);
  if (!workers || !isSame(options, workerOptions(values))) {
    options.cancelled = &cancelled;
    ensemble.others.clear();
    for (const auto &other : others)
      ensemble.others.push_back(other.get());
    options.ensemble = others.empty() ? nullptr : &ensemble;
    Result<Workers> equipped = Workers::create(*model, options);
    if (!equipped.ok())
      return equipped.status();
    workers.emplace(std::move(*equipped));
  }
  settings = wanted;
  values = std::move(wantedValues);
  languages = *found;
  otherLanguages = std::move(ofOthers);
  ensemble.mean = values.ensembleMean;
  ensemble.setWeights(values.ensembleWeights);
  ensemble.starts.clear();
  for (const LineTokens &other : otherTokens())
    ensemble.starts.push_back(*other.generation().start);
  return Status::success();
}

std::vector<LineTokens> heddle_session::otherTokens() const {
  std::vector<LineTokens> all;
  for (size_t i = 0; i < others.size(); ++i)
    all.emplace_back(*others[i], values.ids, values.maxSource,
                     settings.nameOf(""), otherLanguages[i]);
  return all;
}

LineRunOptions heddle_session::runOptions() const {
  LineRunOptions options;
  options.batch = values.batch;
  options.mayHaveFewerWorkers = values.allWorkers;
  options.textsOfAnswer = values.search.nBest.value_or(1);
  if (values.maxMemory)
    options.maxMemory = *values.maxMemory << 20;
  options.settingPrefix = settings.nameOf("");
  options.onError = onError();
  return options;
}

heddle_status heddle_session::finish(const Status &status) {
  // Each wish is that of one call, whatever else became of it: one that comes
  // later is for the next.
  if (cancelled.exchange(false))
    return report(Status::error("the call was cancelled"), HEDDLE_CANCELLED);
  return report(status);
}

const heddle_setting *heddle_settings_list(size_t *count) {
  if (count)
    *count = settingsList().size();
  return settingsList().data();
}

heddle_status heddle_settings_create(const char *prefix,
                                     heddle_settings **settings) {
  if (Status status = checkPointers({{"settings", settings}}); !status.ok())
    return reportMisuse(status);
  *settings = new heddle_settings{Settings(prefix ? prefix : "")};
  return HEDDLE_OK;
}

void heddle_settings_free(heddle_settings *settings) { delete settings; }

heddle_status heddle_settings_set(heddle_settings *settings, const char *name,
                                  const char *value) {
  Status status = checkPointers({{"settings", settings}, {"name", name}});
  return reportMisuse(status.ok() ? settings->set.set(name, value) : status);
}

/// A copy of a text that is added to settings.
static Result<std::string> addedText(const heddle_settings *settings,
                                     const char *text, size_t size) {
  Status status = checkPointers({{"settings", settings}});
  if (status.ok())
    status = checkArrays({{"text", text, "size", size}});
  if (!status.ok())
    return status;
  return text ? std::string(text, size) : std::string();
}

heddle_status heddle_settings_add_bad_words(heddle_settings *settings,
                                            const char *text, size_t size) {
  Result<std::string> added = addedText(settings, text, size);
  if (added.ok())
    settings->set.addBadWords(std::move(*added));
  return reportMisuse(added.status());
}

heddle_status heddle_settings_add_allowed(heddle_settings *settings,
                                          const char *text, size_t size) {
  Result<std::string> added = addedText(settings, text, size);
  if (added.ok())
    settings->set.addAllowed(std::move(*added));
  return reportMisuse(added.status());
}

heddle_status heddle_settings_add_stop(heddle_settings *settings,
                                       const char *text, size_t size) {
  Result<std::string> added = addedText(settings, text, size);
  if (added.ok() && added->empty())
    added = Status::error("the stop string is empty, expected a text");
  else if (added.ok() && !isUtf8(*added))
    added = Status::error("the stop string is no UTF-8");
  if (added.ok())
    settings->set.addStop(std::move(*added));
  return reportMisuse(added.status());
}

heddle_status heddle_settings_check(const heddle_settings *settings) {
  Status status = checkPointers({{"settings", settings}});
  return reportMisuse(status.ok() ? settings->set.check() : status);
}

heddle_status heddle_session_create(const heddle_model *model,
                                    const heddle_settings *settings,
                                    heddle_session **session) {
  if (session)
    *session = nullptr;
  if (Status status = checkPointers({{"model", model}, {"session", session}});
      !status.ok())
    return reportMisuse(status);
  auto created = std::make_unique<heddle_session>();
  created->model = model->loaded;
  created->others = model->others;
  heddle_status status = heddle_session_configure(created.get(), settings);
  if (status == HEDDLE_OK)
    *session = created.release();
  return status;
}

void heddle_session_free(heddle_session *session) { delete session; }

heddle_status heddle_session_configure(heddle_session *session,
                                       const heddle_settings *settings) {
  if (Status status = checkPointers({{"session", session}}); !status.ok())
    return reportMisuse(status);
  SessionCall call(*session);
  if (Status status = call.check(); !status.ok())
    return reportMisuse(status);
  if (!settings)
    return report(session->configure(Settings()));
  heddle_status status = heddle_settings_check(settings);
  return status == HEDDLE_OK ? report(session->configure(settings->set))
                             : status;
}

int heddle_session_uses_gpu(const heddle_session *session) {
  return session && session->workers->useGpu();
}

const char *heddle_session_gpu_failure(const heddle_session *session) {
  const Status *failure = session ? session->workers->gpuFailure() : nullptr;
  return failure ? failure->message().c_str() : nullptr;
}

const char *heddle_session_on_error(const heddle_session *session) {
  return session ? nameOf(session->onError()) : nullptr;
}

void heddle_cancel(heddle_session *session) {
  if (session)
    session->cancelled.store(true, std::memory_order_relaxed);
}

heddle_status heddle_session_on_token(heddle_session *session,
                                      heddle_token_callback callback,
                                      void *context) {
  if (Status status = checkPointers({{"session", session}}); !status.ok())
    return reportMisuse(status);
  SessionCall call(*session);
  if (Status status = call.check(); !status.ok())
    return reportMisuse(status);
  session->onToken = callback;
  session->onTokenContext = context;
  return HEDDLE_OK;
}

heddle_status heddle_session_profile(heddle_session *session,
                                     heddle_profile_form form, char **text) {
  if (text)
    *text = nullptr;
  if (Status status = checkPointers({{"session", session}, {"text", text}});
      !status.ok())
    return reportMisuse(status);
  SessionCall call(*session);
  if (Status status = call.check(); !status.ok())
    return reportMisuse(status);
  if (form != HEDDLE_PROFILE_TABLE && form != HEDDLE_PROFILE_JSON)
    return reportMisuse(Status::error("the form of the profile is ", int(form),
                                      ", expected 0 or 1"));
  if (!session->values.profile)
    return reportMisuse(
        Status::error("nothing was counted, expected the setting ",
                      session->settings.nameOf("profile")));
  Result<ProfileReport> profile =
      reportProfile(*session->model, session->workers->profiles(),
                    session->values.threads.value_or(1), session->peaks);
  if (!profile.ok())
    return report(profile.status());
  return giveText(form == HEDDLE_PROFILE_JSON ? profile->json : profile->table,
                  text);
}
