//===- HiddenStates.cpp - What the encoder makes of a line ----------------===//
//
// A batch is padded to the session's source tokens, of which a sentence's
// states are the first rows of its part, or sentences stand one behind the
// other.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/HiddenStates.h"

#include <algorithm>

using namespace heddle;

static bool isPerToken(const Argument &argument) {
  auto isDim = [&](size_t i, Dim dim) {
    return argument.shape[i] == Extent{Extent::kUnbounded, dim};
  };
  bool isPadded = argument.shape.size() == 3 && isDim(0, Dim::Batch) &&
                  isDim(1, Dim::Source);
  bool isRagged = argument.shape.size() == 2 && isDim(0, Dim::Tokens);
  return argument.kind == ArgumentKind::Output &&
         argument.type == ElementType::F32 && (isPadded || isRagged) &&
         !argument.shape.back().dim;
}

Result<HiddenOutput> heddle::findHiddenOutput(const Model &model) {
  const Entry *found = model.manifest().entry(Role::Encode);
  if (!found)
    return Status::error("'", model.artifact().path(), "' has no encoder");
  const Entry &encode = *found;
  const std::vector<Argument> &arguments = encode.arguments;
  int64_t count = std::count_if(arguments.begin(), arguments.end(), isPerToken);
  if (count != 1)
    return Status::error(
        "'", model.artifact().path(), "' has ", count, " outputs f32 ",
        model.manifest().isRagged() ? "[tokens" : "[batch, source",
        ", width] in the entry '", encode.name, "', expected one");
  auto output = std::find_if(arguments.begin(), arguments.end(), isPerToken);
  return HiddenOutput{size_t(output - arguments.begin()),
                      output->shape.size() == 2, output->shape.back().size};
}

Status heddle::encodeSources(Session &session, const HiddenOutput &output,
                             const std::vector<TokenIds> &sources,
                             const HiddenSink &sink) {
  if (Status status = session.begin(sources, DecoderRequest()); !status.ok())
    return status;
  auto *states =
      static_cast<const float *>(session.encoderOutput(output.index));
  for (size_t i = 0; i < sources.size(); ++i) {
    int64_t tokens = int64_t(sources[i].size());
    if (Status status = sink(int64_t(i), tokens, states); !status.ok())
      return status;
    states +=
        (output.isRagged ? tokens : session.sourceTokens()) * output.width;
  }
  return Status::success();
}
