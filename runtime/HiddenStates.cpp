//===- HiddenStates.cpp - What the encoder makes of a line ----------------===//
//
// A batch is padded to its longest sentence; a sentence's states are the first
// rows of its part.
//
//===----------------------------------------------------------------------===//

#include "runtime/HiddenStates.h"

#include <algorithm>

using namespace heddle;

static bool isPerToken(const Argument &argument) {
  auto isDim = [&](size_t i, Dim dim) {
    return argument.shape[i] == Extent{Extent::kUnbounded, dim};
  };
  return argument.kind == ArgumentKind::Output &&
         argument.type == ElementType::F32 && argument.shape.size() == 3 &&
         isDim(0, Dim::Batch) && isDim(1, Dim::Source) &&
         !argument.shape[2].dim;
}

Result<HiddenOutput> heddle::findHiddenOutput(const Model &model) {
  // EntryContract.h has made sure that there is one.
  const std::vector<Argument> &arguments =
      model.manifest().entry("encode")->arguments;
  int64_t count = std::count_if(arguments.begin(), arguments.end(), isPerToken);
  if (count != 1)
    return Status::error("'", model.artifact().path(), "' has ", count,
                         " outputs f32 [batch, source, width] in the entry "
                         "'encode', expected one");
  auto found = std::find_if(arguments.begin(), arguments.end(), isPerToken);
  return HiddenOutput{size_t(found - arguments.begin()), found->shape[2].size};
}

Status heddle::encodeSources(Session &session, const HiddenOutput &output,
                             const std::vector<TokenIds> &sources,
                             const HiddenSink &sink) {
  if (Status status = session.begin(sources, DecoderRequest()); !status.ok())
    return status;
  size_t longest = 0;
  for (const TokenIds &source : sources)
    longest = std::max(longest, source.size());
  auto *states =
      static_cast<const float *>(session.encoderOutput(output.index));
  for (size_t i = 0; i < sources.size(); ++i)
    if (Status status = sink(int64_t(i), int64_t(sources[i].size()),
                             states + i * longest * size_t(output.width));
        !status.ok())
      return status;
  return Status::success();
}
