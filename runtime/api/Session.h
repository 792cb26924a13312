//===- Session.h - The sessions of heddle.h ---------------------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_API_SESSION_H
#define HEDDLE_RUNTIME_API_SESSION_H

#include "runtime/api/Failure.h"
#include "runtime/api/Settings.h"
#include "runtime/heddle.h"
#include "runtime/lines/Embedding.h"
#include "runtime/lines/LineRun.h"
#include "runtime/lines/LineTokens.h"
#include "runtime/lines/Workers.h"
#include "runtime/session/MachinePeaks.h"
#include "runtime/session/Model.h"

#include <atomic>
#include <map>
#include <memory>
#include <optional>

struct heddle_settings {
  heddle::Settings set;
};

struct heddle_session {
  std::shared_ptr<const heddle::Model> model;
  heddle::Settings settings;
  heddle::SettingValues values;
  heddle::RequestLanguages languages;
  /// Of an ensemble, whose first member `model` is: the others, what they make
  /// of the settings, and what sessions of the workers borrow.
  std::vector<std::shared_ptr<const heddle::Model>> others = {};
  std::vector<heddle::RequestLanguages> otherLanguages = {};
  heddle::Ensemble ensemble = {};
  /// Threads and memory, as `values` ask for them.
  std::optional<heddle::Workers> workers;
  /// By number of threads.
  std::map<int64_t, heddle::MachinePeaks> peaks;
  heddle_token_callback onToken = nullptr;
  void *onTokenContext = nullptr;
  /// Raised by whoever wants the call to end, and lowered by the call.
  std::atomic<bool> cancelled = false;
  /// Whether a call is under way; see SessionCall.
  std::atomic<bool> isCalled = false;

  /// Takes settings, which have been checked, and what they ask for. Fails with
  /// the session as it was.
  heddle::Status configure(const heddle::Settings &wanted);
  heddle::LineTokens tokens() const {
    return {*model, values.ids, values.maxSource, settings.nameOf(""),
            languages};
  }
  /// How the other members of an ensemble read texts.
  std::vector<heddle::LineTokens> otherTokens() const;
  heddle::LineRunOptions runOptions() const;
  heddle::TextOptions textOptions() const {
    return {values.maxSource, values.refusesLong, values.ids, values.stride};
  }
  /// The setting, or else what the model says; encoders read the beginning of
  /// a text.
  heddle::OnError onError() const {
    const heddle::Manifest &manifest = model->manifest();
    bool crops = manifest.generates ? manifest.generation.cropsSources
                                    : !values.refusesLong;
    return values.onError.value_or(crops ? heddle::OnError::Crop
                                         : heddle::OnError::Stop);
  }
  /// The end of a call: what its status is to the caller.
  heddle_status finish(const heddle::Status &status);
};

namespace heddle {

/// What a session asks of the task that embeds texts. Fails if its model does
/// not, or not so.
Result<EmbedOptions> embedOptionsOf(const heddle_session &session);

/// What a function of heddle.h holds while it uses a session: a second one, of
/// another thread or from a callback of the first, is misuse.
class SessionCall {
public:
  explicit SessionCall(heddle_session &session)
      : session(session), isFirst(!session.isCalled.exchange(true)) {}
  ~SessionCall() {
    if (isFirst)
      session.isCalled = false;
  }
  SessionCall(const SessionCall &) = delete;
  SessionCall &operator=(const SessionCall &) = delete;

  Status check() const {
    return isFirst ? Status::success()
                   : Status::error("the session is in a call, expected one "
                                   "call at a time");
  }

private:
  heddle_session &session;
  const bool isFirst;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_SESSION_H
