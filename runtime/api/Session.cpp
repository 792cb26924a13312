//===- Session.cpp - The sessions of heddle.h -----------------------------===//
//
// A signal handler may call heddle_cancel, which does nothing but raise a flag.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Session.h"

#include "runtime/api/Model.h"
#include "runtime/api/ProfileReport.h"

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
  if (values.globalTokens)
    options.globalTokens = *values.globalTokens;
  return options;
}

static bool isSame(const WorkerOptions &a, const WorkerOptions &b) {
  return a.workers == b.workers && a.threads == b.threads &&
         a.profiles == b.profiles && a.globalTokens == b.globalTokens;
}

static Status checkGlobalTokens(const Model &model, const Settings &settings) {
  const Entry &encode = *model.manifest().entry("encode");
  if (settings.has("global") && !encode.argument("global", ArgumentKind::Input))
    return Status::error(settings.nameOf("global"), " is given, but '",
                         model.artifact().path(), "' knows no global tokens");
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
  return languages;
}

Status heddle_session::configure(const Settings &wanted) {
  SettingValues wantedValues = wanted.values();
  if (Status status = checkProfile(*model, wanted); !status.ok())
    return status;
  if (Status status = checkGlobalTokens(*model, wanted); !status.ok())
    return status;
  Result<RequestLanguages> found = findLanguages(*model, wanted);
  if (!found.ok())
    return found.status();
  WorkerOptions options = workerOptions(wantedValues);
  if (!workers || !isSame(options, workerOptions(values))) {
    options.cancelled = &cancelled;
    Result<Workers> equipped = Workers::create(*model, options);
    if (!equipped.ok())
      return equipped.status();
    workers.emplace(std::move(*equipped));
  }
  settings = wanted;
  values = std::move(wantedValues);
  languages = *found;
  return Status::success();
}

LineRunOptions heddle_session::runOptions() const {
  LineRunOptions options;
  options.batch = values.batch;
  options.mayHaveFewerWorkers = values.allWorkers;
  options.textsOfAnswer = values.nBest.value_or(1);
  if (values.maxMemory)
    options.maxMemory = *values.maxMemory << 20;
  options.settingPrefix = settings.nameOf("");
  return options;
}

heddle_status heddle_session::finish(const Status &status) {
  if (status.ok())
    return HEDDLE_OK;
  // A wish that comes when all is done is one for the next call.
  bool wasCancelled = cancelled.exchange(false);
  return report(status, wasCancelled ? HEDDLE_CANCELLED : HEDDLE_FAILED);
}

const heddle_setting *heddle_settings_list(size_t *count) {
  *count = settingsList().size();
  return settingsList().data();
}

heddle_status heddle_settings_create(const char *prefix,
                                     heddle_settings **settings) {
  *settings = new heddle_settings{Settings(prefix ? prefix : "")};
  return HEDDLE_OK;
}

void heddle_settings_free(heddle_settings *settings) { delete settings; }

heddle_status heddle_settings_set(heddle_settings *settings, const char *name,
                                  const char *value) {
  return report(settings->set.set(name, value), HEDDLE_MISUSED);
}

heddle_status heddle_settings_add_bad_words(heddle_settings *settings,
                                            const char *text, size_t size) {
  settings->set.addBadWords({text, size});
  return HEDDLE_OK;
}

heddle_status heddle_settings_add_allowed(heddle_settings *settings,
                                          const char *text, size_t size) {
  settings->set.addAllowed({text, size});
  return HEDDLE_OK;
}

heddle_status heddle_settings_check(const heddle_settings *settings) {
  return report(settings->set.check(), HEDDLE_MISUSED);
}

heddle_status heddle_session_create(const heddle_model *model,
                                    const heddle_settings *settings,
                                    heddle_session **session) {
  auto created = std::make_unique<heddle_session>();
  created->model = model->loaded;
  *session = nullptr;
  heddle_status status = heddle_session_configure(created.get(), settings);
  if (status == HEDDLE_OK)
    *session = created.release();
  return status;
}

void heddle_session_free(heddle_session *session) { delete session; }

heddle_status heddle_session_configure(heddle_session *session,
                                       const heddle_settings *settings) {
  if (!settings)
    return report(session->configure(Settings()));
  heddle_status status = heddle_settings_check(settings);
  return status == HEDDLE_OK ? report(session->configure(settings->set))
                             : status;
}

int heddle_session_uses_gpu(const heddle_session *session) {
  return session->workers->useGpu();
}

const char *heddle_session_gpu_failure(const heddle_session *session) {
  const Status *failure = session->workers->gpuFailure();
  return failure ? failure->message().c_str() : nullptr;
}

void heddle_cancel(heddle_session *session) {
  session->cancelled.store(true, std::memory_order_relaxed);
}

heddle_status heddle_session_on_token(heddle_session *session,
                                      heddle_token_callback callback,
                                      void *context) {
  session->onToken = callback;
  session->onTokenContext = context;
  return HEDDLE_OK;
}

heddle_status heddle_session_profile(heddle_session *session,
                                     heddle_profile_form form, char **text) {
  *text = nullptr;
  if (form != HEDDLE_PROFILE_TABLE && form != HEDDLE_PROFILE_JSON)
    return report(Status::error("there is no profile of the form ", int(form)),
                  HEDDLE_MISUSED);
  if (!session->values.profile)
    return report(Status::error("nothing was counted, expected the setting ",
                                session->settings.nameOf("profile")),
                  HEDDLE_MISUSED);
  Result<ProfileReport> profile =
      reportProfile(*session->model, session->workers->profiles(),
                    session->values.threads.value_or(1), session->peaks);
  if (profile.ok())
    *text = copyForCaller(form == HEDDLE_PROFILE_JSON ? profile->json
                                                      : profile->table);
  return report(profile.status());
}
