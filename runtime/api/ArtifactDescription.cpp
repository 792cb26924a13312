//===- ArtifactDescription.cpp - What a file holds, for people ------------===//
//
// Plain columns, one part of the artifact after the other.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/ArtifactDescription.h"
#include "runtime/api/DecodingMemory.h"
#include "runtime/session/Session.h"

#include <cstdio>

using namespace heddle;

static std::string padded(std::string_view text, size_t width) {
  std::string result(text);
  result.resize(std::max(result.size(), width), ' ');
  return result;
}

static std::string number(double value, const char *format) {
  char text[32];
  snprintf(text, sizeof(text), format, value);
  return text;
}

static std::string row(std::string_view label, const std::string &value) {
  return padded(label, 12) + value + "\n";
}

template <typename List> static std::string joined(const List &list) {
  std::string text;
  for (const auto &element : list) {
    text += text.empty() ? "" : ", ";
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(element)>>)
      text += std::to_string(element);
    else
      text += element;
  }
  return text;
}

static std::string describeGeneration(const Manifest &manifest) {
  const Generation &generation = manifest.generation;
  std::vector<std::string> parts;
  auto add = [&](const char *label, const auto &value) {
    if (value)
      parts.push_back(label + std::to_string(*value));
  };
  add("start ", generation.start);
  parts.push_back(generation.eos.empty() ? "no end"
                                         : "end " + joined(generation.eos));
  add("forced first ", generation.forcedBos);
  add("forced last ", generation.forcedEos);
  if (generation.lengthFactor)
    parts.push_back("at most " + number(*generation.lengthFactor, "%g") +
                    " n tokens");
  add("at most ", generation.maxLength);
  add("source at most ", generation.maxSourceLength);
  if (generation.cropsSources)
    parts.push_back("longer ones cut");
  if (manifest.promptsTarget) {
    add("positions ", generation.maxTarget);
    add("beams ", std::optional<int64_t>(generation.beams));
    return joined(parts);
  }
  add("source positions ", manifest.sourcePositions);
  add("target positions ", generation.maxTarget);
  return joined(parts);
}

/// What a task says of a text, and which texts it reads.
static std::string describeTask(const Manifest &manifest, Role role) {
  std::vector<std::string> parts;
  auto addLabels = [&](const LabelTask &task) {
    parts.push_back(std::to_string(task.labels.size()) +
                    (task.labels.size() == 1 ? " label" : " labels"));
    parts.insert(parts.end(), task.labels.begin(), task.labels.end());
  };
  if (role == Role::Embed) {
    for (const Argument &argument : manifest.entry(role)->arguments)
      if (argument.kind == ArgumentKind::Output)
        parts.push_back(nameOf(argument.shape.back()) +
                        (manifest.embed->logarithms > 0 ? " weights of words"
                                                        : " numbers"));
  } else if (role == Role::Classify) {
    addLabels(*manifest.classify);
    parts.push_back(
        "scores " +
        std::string(kLabelScoresNames[size_t(manifest.classify->scores)]));
  } else if (role == Role::Tag) {
    addLabels(*manifest.tag);
  } else if (role == Role::Answer) {
    parts.push_back("questions and texts");
  } else {
    parts.push_back("token " + std::to_string(manifest.fill->mask));
  }
  std::optional<int64_t> most = manifest.textTask(role)->maxTokens;
  if (most && manifest.sourcePositions)
    most = std::min<int64_t>(*most, *manifest.sourcePositions);
  if (most && role == Role::Answer)
    parts.push_back("windows of " + std::to_string(*most) + " tokens");
  else if (most)
    parts.push_back("texts of at most " + std::to_string(*most) + " tokens");
  // The library has names without a text in all folders.
  if (role == Role::Embed)
    for (const Prompt &prompt : manifest.embed->prompts)
      if (!prompt.text.empty())
        parts.push_back(
            "prompt " + prompt.name +
            (manifest.embed->prompt == prompt.name ? " (default)" : ""));
  return joined(parts);
}

static std::string describeEntry(const Entry &entry) {
  std::vector<std::string> dims;
  for (const Extent &dim : entry.dims)
    dims.push_back(nameOf(dim));
  std::string text = "  " + entry.name + " (" + joined(dims) + ")\n";
  auto isLike = [](const Argument &a, const Argument &b) {
    return a.kind == b.kind && describe(a) == describe(b);
  };
  // The caches of all layers are alike.
  for (size_t i = 0, end = 0; i < entry.arguments.size(); i = end) {
    const Argument &first = entry.arguments[i];
    for (end = i + 1; end < entry.arguments.size() &&
                      first.kind == ArgumentKind::State &&
                      isLike(first, entry.arguments[end]);)
      ++end;
    std::string name = first.name;
    if (end > i + 1)
      name += " to " + entry.arguments[end - 1].name;
    text += "    " + padded(nameOf(first.kind), 10) + padded(name, 24) + " " +
            describe(first) + "\n";
  }
  return text;
}

std::string heddle::describeArtifact(const Artifact &artifact,
                                     const Manifest &manifest,
                                     std::optional<int64_t> positions) {
  std::string text =
      row("model", manifest.modelName + " (" + manifest.family + ")");
  text += row("file", artifact.path() + ", " + readableSize(artifact.size()));
  text += row("compiler", "heddle " + manifest.compilerVersion);
  text += row("isas", joined(manifest.isas));
  if (!manifest.gpus.empty())
    text += row("gpus", joined(manifest.gpus));
  if (!manifest.libraries.empty())
    text += row("libraries", joined(manifest.libraries));
  std::string sizes = std::to_string(manifest.sourceVocabulary);
  if (!manifest.promptsTarget)
    sizes += " source";
  if (manifest.generates && !manifest.promptsTarget)
    sizes += ", " + std::to_string(manifest.targetVocabulary) + " target";
  text += row("vocabulary", sizes);
  const std::string &reason = manifest.tokenizer.reason;
  text += row("tokenizer",
              manifest.tokenizer.kind + (reason.empty() ? "" : ": " + reason));
  if (!manifest.tokenizer.languages.empty()) {
    std::vector<std::string> names;
    for (const Language &language : manifest.tokenizer.languages)
      names.push_back(language.name);
    text += row("languages", joined(names));
  }
  if (manifest.generates)
    text += row("generation", describeGeneration(manifest));
  else if (manifest.sourcePositions)
    text += row("positions", std::to_string(*manifest.sourcePositions));
  for (Role role : kTaskRoles)
    if (manifest.textTask(role))
      text += row(role == Role::Embed ? "vectors" : nameOf(role),
                  describeTask(manifest, role));
  const Entry *encode = manifest.entry(Role::Encode);
  for (const Argument &argument :
       encode ? encode->arguments : std::vector<Argument>())
    if (const SourceInput *input = argument.kind == ArgumentKind::Input
                                       ? sourceInput(argument.name)
                                       : nullptr;
        input && !input->describe(manifest).empty())
      text += row(argument.name, input->describe(manifest));
  if (!manifest.options.empty())
    text += "options\n";
  for (const auto &[name, value] : manifest.options)
    text += "  " + padded(name, 24) + " " + value + "\n";
  if (manifest.generates)
    text += describeDecodingMemory(manifest, positions);
  text += "sections\n";
  for (const Artifact::Section &section : artifact.sections())
    text += "  " + padded(section.name, 24) + " " +
            readableSize(section.bytes.size()) + "\n";
  text += "entries\n";
  for (const Entry &entry : manifest.entries)
    text += describeEntry(entry);
  return text;
}
