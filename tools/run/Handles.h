//===- Handles.h - What heddle.h gives out, with an owner -------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_RUN_HANDLES_H
#define HEDDLE_TOOLS_RUN_HANDLES_H

#include "runtime/Result.h"
#include "runtime/heddle.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace heddle {

/// Frees what heddle.h gave out.
struct HandleDeleter {
  void operator()(heddle_model *model) const { heddle_model_free(model); }
  void operator()(heddle_settings *settings) const {
    heddle_settings_free(settings);
  }
  void operator()(heddle_session *session) const {
    heddle_session_free(session);
  }
  void operator()(char *text) const { heddle_free(text); }
  void operator()(int32_t *ids) const { heddle_free(ids); }
};
template <typename T> using Handle = std::unique_ptr<T, HandleDeleter>;

/// What became of a call.
inline Status statusOf(heddle_status status) {
  return status == HEDDLE_OK ? Status::success()
                             : Status::error(heddle_error());
}

/// heddle_encode.
inline Result<std::vector<int32_t>> encodeText(const heddle_session &session,
                                               unsigned kind,
                                               std::string_view text,
                                               const std::string &name) {
  int32_t *ids = nullptr;
  size_t count = 0;
  Status status = statusOf(heddle_encode(
      &session, kind, text.data(), text.size(), name.c_str(), &ids, &count));
  Handle<int32_t> owner(ids);
  if (!status.ok())
    return status;
  return std::vector<int32_t>(ids, ids + count);
}

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_HANDLES_H
