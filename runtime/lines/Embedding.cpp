//===- Embedding.cpp - Text to vectors ------------------------------------===//
//
// Vectors are finished in double where they are summed, and given in float.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/Embedding.h"

#include "runtime/lines/VectorTypes.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace heddle;

Status heddle::checkEmbedOptions(const Model &model,
                                 const EmbedOptions &options,
                                 const std::string &settingPrefix) {
  const EmbedTask &task = *model.manifest().embed;
  const std::string &file = model.artifact().path();
  if (options.prompt && !options.prompt->empty() &&
      !task.findPrompt(*options.prompt)) {
    std::string names;
    for (const Prompt &prompt : task.prompts)
      names += (names.empty() ? "" : ", ") + prompt.name;
    return Status::error(settingPrefix, "prompt is '", *options.prompt,
                         "', but '", file, "' has ",
                         names.empty() ? "no prompts" : "the prompts " + names);
  }
  if (int64_t width = taskWidth(model, Role::Embed);
      options.dimensions && *options.dimensions > width)
    return Status::error(settingPrefix, "dimensions is ", *options.dimensions,
                         ", but the vectors of '", file, "' have ", width);
  return Status::success();
}

int64_t heddle::widthOf(const Model &model, const EmbedOptions &options) {
  return options.dimensions.value_or(taskWidth(model, Role::Embed));
}

/// What a word of a sparse vector weighs; of no number none.
static float weightOf(float logit, int logarithms) {
  double weight = std::isnan(logit) ? logit : std::max(logit, 0.0f);
  for (int i = 0; i < logarithms; ++i)
    weight = std::log1p(weight);
  return float(weight);
}

/// The vector that is given of one that a model computes.
static std::vector<float> finish(const float *vector, int64_t width,
                                 int logarithms, const EmbedOptions &options) {
  std::vector<float> result(vector,
                            vector + options.dimensions.value_or(width));
  if (logarithms > 0)
    for (float &x : result)
      x = weightOf(x, logarithms);
  if (!options.normalizes)
    return result;
  double length = lengthOf(result.data(), result.size());
  for (float &x : result)
    x = float(double(x) / length);
  return result;
}

static TextUse useOf(const EmbedTask &task, const EmbedOptions &options) {
  TextUse use;
  std::string name = options.prompt.value_or(task.prompt.value_or(""));
  if (const Prompt *found = task.findPrompt(name))
    use.prompt = found->text;
  use.isForVector = true;
  return use;
}

namespace {
class EmbedJob : public TextJob {
public:
  EmbedJob(const Model &model, const EmbedOptions &options,
           const LineSource &source)
      : TextJob(model, Role::Embed), options(options),
        width(taskWidth(model, Role::Embed)),
        reader(model, *model.manifest().embed, options, source,
               useOf(*model.manifest().embed, options)) {}

  Result<Sentence> encode(int64_t number, const Line &line) override {
    return reader.read(number, line);
  }
  Answer read(const Batch &, size_t, const float *vector) const override {
    return finish(vector, width, model.manifest().embed->logarithms, options);
  }

private:
  const EmbedOptions &options;
  const int64_t width;
  const TextReader reader;
};
} // namespace

std::unique_ptr<TextJob> heddle::makeEmbedJob(const Model &model,
                                              const EmbedOptions &options,
                                              const LineSource &source) {
  return std::make_unique<EmbedJob>(model, options, source);
}

Status heddle::embedLines(const Workers &workers, const LineRunOptions &options,
                          const EmbedOptions &embed, LineSource &source,
                          const VectorWriter &writer) {
  EmbedJob job(workers.model(), embed, source);
  return runLines(
      workers, options, source, job, [&](std::vector<LineAnswer> answers) {
        for (LineAnswer &line : answers)
          if (Status status =
                  writer.write(takeList<float>(line.answer), line.notice);
              !status.ok())
            return status;
        return writer.flush();
      });
}
