//===- SessionEnsemble.cpp - A session whose model has companions ---------===//
//
// The session of an ensemble has one for each other member. They begin the same
// batch with the sources that their tokenizers read, take each step with the
// same ids, and keep the same rows. Then the members' logits become
// log-probabilities in the place of the first one's.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Session.h"

#include <algorithm>

using namespace heddle;

void Session::makeOthers(SessionOptions options) {
  if (!companions)
    return;
  options.ensemble = nullptr;
  options.profile = nullptr;
  for (const Model *other : companions->others)
    others.push_back(std::make_unique<Session>(*other, options));
}

/// Whether other members do what is asked for, too: the encoder and alignments
/// are the first one's.
bool Session::takeOthers(const DecoderRequest &request) const {
  return !others.empty() && request.form != DecoderForm::None &&
         request.form != DecoderForm::Align;
}

std::vector<TokenIds> Session::sourcesOf(size_t other,
                                         const std::vector<TokenIds> &sources,
                                         const SourceFeatures &features) const {
  std::vector<TokenIds> own;
  for (size_t i = 0; i < sources.size(); ++i)
    own.push_back(features.others.empty() || features.others[i].empty()
                      ? sources[i]
                      : features.others[i][other]);
  return own;
}

Result<int64_t> Session::bytesForOthers(const std::vector<TokenIds> &sources,
                                        const DecoderRequest &request,
                                        const SourceFeatures &features) {
  int64_t bytes = 0;
  for (size_t i = 0; takeOthers(request) && i < others.size(); ++i) {
    std::vector<TokenIds> own = sourcesOf(i, sources, features);
    // Whoever asks for a length alone knows the first model's bound.
    if (auto most = others[i]->model.manifest().sourcePositions)
      for (TokenIds &source : own)
        source.resize(std::min(source.size(), size_t(*most)));
    Result<int64_t> more = others[i]->bytesFor(own, request);
    if (!more.ok())
      return more;
    bytes += *more;
  }
  return bytes;
}

Status Session::beginOthers(const std::vector<TokenIds> &sources,
                            const DecoderRequest &request,
                            const SourceFeatures &features) {
  for (size_t i = 0; takeOthers(request) && i < others.size(); ++i)
    if (Status status =
            others[i]->begin(sourcesOf(i, sources, features), request);
        !status.ok())
      return status;
  return Status::success();
}

Status Session::prefillOthers(const std::vector<TokenIds> &inputs) {
  for (size_t i = 0; i < others.size(); ++i) {
    std::vector<TokenIds> own = inputs;
    for (TokenIds &input : own)
      if (!input.empty())
        input.front() = companions->starts[i];
    if (Status status = others[i]->runPrefill(own); !status.ok())
      return status;
  }
  return Status::success();
}

/// Runs the others over the ids of the first one, but for the start token of
/// each; `width` ids stand together.
Status Session::runOthers(int64_t rows, int64_t width, bool isStep) {
  for (size_t i = 0; i < others.size(); ++i) {
    Session &other = *others[i];
    std::copy_n(ids(), rows * width, other.ids());
    for (int64_t row = 0; row < rows; ++row)
      if (!isStep || other.position(row) == 0)
        other.ids()[row * width] = companions->starts[i];
    if (Status status = isStep ? other.runStep() : other.runFull();
        !status.ok())
      return status;
  }
  int64_t vocabulary = model.manifest().targetVocabulary;
  for (int64_t row = 0; row < rows * width; ++row) {
    float *mixed = logits() + row * vocabulary;
    bool begins = true;
    for (size_t i = 0; i <= others.size(); ++i) {
      float weight = companions->weights[i];
      if (weight == 0)
        continue;
      const float *own =
          i == 0 ? mixed : others[i - 1]->logits() + row * vocabulary;
      mixMember(own, vocabulary, weight, companions->mean, begins, mixed);
      begins = false;
    }
  }
  return Status::success();
}
