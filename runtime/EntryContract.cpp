//===- EntryContract.cpp - Entries of an encoder-decoder ------------------===//
//
// The contract as a table: for each entry its dims, what is at hand when it is
// called, and its logits. The outputs of encode are at hand for all later
// entries, the outputs of a prepare for its step.
//
//===----------------------------------------------------------------------===//

#include "runtime/EntryContract.h"

#include <algorithm>

using namespace heddle;

static Extent named(Dim dim) { return Extent{Extent::kUnbounded, dim}; }

static Argument input(const char *name, std::initializer_list<Dim> dims) {
  Argument argument{name, ArgumentKind::Input, ElementType::I32, {}};
  for (Dim dim : dims)
    argument.shape.push_back(named(dim));
  return argument;
}

static const Argument *find(const std::vector<Argument> &arguments,
                            const Argument &wanted) {
  for (const Argument &argument : arguments)
    if (argument.name == wanted.name && argument.kind == wanted.kind)
      return &argument;
  return nullptr;
}

/// The outputs of an entry, as arguments of a later one.
static std::vector<Argument> outputsAs(ArgumentKind kind, const Entry *entry) {
  std::vector<Argument> result;
  if (!entry)
    return result;
  for (Argument argument : entry->arguments)
    if (argument.kind == ArgumentKind::Output) {
      argument.kind = kind;
      result.push_back(argument);
    }
  return result;
}

namespace {

/// What the runtime promises to one entry and expects of it.
struct Rule {
  const char *entry;
  std::vector<Dim> dims;
  std::vector<Argument> atHand;
  /// The shape of the one output `logits`; empty where outputs are others.
  std::vector<Extent> logits;
  /// Whether outputs are the largest logits of ranges; otherwise, without
  /// logits, they are free.
  bool hasLargest = false;
};

} // namespace

/// "manifest: entry 'decode.step' has ...".
template <typename... Parts>
static Status error(const Entry &entry, const Parts &...parts) {
  return Status::error("manifest: entry '", entry.name, "' ", parts...);
}

static Status checkArguments(const Entry &entry, const Rule &rule) {
  for (const Argument &argument : entry.arguments) {
    std::string label =
        std::string(nameOf(argument.kind)) + " '" + argument.name + "'";
    switch (argument.kind) {
    case ArgumentKind::Input:
    case ArgumentKind::Prepared: {
      const Argument *known = find(rule.atHand, argument);
      if (!known)
        return error(entry, "has the ", label,
                     ", which the runtime does not have at that point");
      if (argument.type != known->type || argument.shape != known->shape)
        return error(entry, "has the ", label, " as ", describe(argument),
                     ", expected ", describe(*known));
      break;
    }
    case ArgumentKind::State:
      // A row of a state is moved as a whole, while the number of rows shrinks.
      if (argument.shape.empty() || !(argument.shape[0] == named(Dim::Rows)) ||
          std::count(argument.shape.begin(), argument.shape.end(),
                     named(Dim::Rows)) != 1)
        return error(entry, "has the ", label, " as ", describe(argument),
                     ", expected 'rows' as its first dimension only");
      break;
    case ArgumentKind::Output:
      break;
    }
  }
  return Status::success();
}

/// The largest logits of as many ranges as the entry likes, and their ids.
static Status checkLargest(const Entry &entry,
                           const std::vector<Argument> &outputs) {
  Argument values{"values",
                  ArgumentKind::Output,
                  ElementType::F32,
                  {named(Dim::Rows), Extent{}}};
  Argument largest{"largest",
                   ArgumentKind::Output,
                   ElementType::I32,
                   {named(Dim::Rows), Extent{}}};
  if (outputs.size() != 2 || !find(outputs, values) || !find(outputs, largest))
    return error(entry, "has ", outputs.size(),
                 " outputs, expected 'values' and 'largest'");
  const Argument &found = *find(outputs, values);
  if (found.shape.size() == 2 && !found.shape[1].dim)
    values.shape[1] = largest.shape[1] = found.shape[1];
  for (const Argument &wanted : {values, largest})
    if (const Argument &output = *find(outputs, wanted);
        output.type != wanted.type || output.shape != wanted.shape)
      return error(entry, "has the output '", wanted.name, "' as ",
                   describe(output), ", expected ", describe(wanted));
  return Status::success();
}

static Status checkEntry(const Entry &entry, const Rule &rule) {
  for (const Extent &dim : entry.dims)
    if (!std::count(rule.dims.begin(), rule.dims.end(), *dim.dim))
      return error(entry, "has the dim '", nameOf(dim),
                   "', which has no value at that point");
  if (Status status = checkArguments(entry, rule); !status.ok())
    return status;
  std::vector<Argument> outputs = outputsAs(ArgumentKind::Output, &entry);
  if (rule.hasLargest)
    return checkLargest(entry, outputs);
  if (rule.logits.empty()) {
    // An output is later an input: it must not hide one of the runtime's own.
    for (const Argument &output : outputs)
      for (const char *taken : {"ids", "lengths", "positions", "sentences",
                                "candidates", "counts", "forbidden", "global"})
        if (output.name == taken)
          return error(entry, "has an output of the name '", taken,
                       "', which is an input");
    return Status::success();
  }
  Argument logits{"logits", ArgumentKind::Output, ElementType::F32,
                  rule.logits};
  if (outputs.size() != 1 || outputs[0].name != "logits")
    return error(entry, "has ", outputs.size(),
                 " outputs, expected the one output 'logits'");
  if (outputs[0].type != logits.type || outputs[0].shape != logits.shape)
    return error(entry, "has logits as ", describe(outputs[0]), ", expected ",
                 describe(logits));
  return Status::success();
}

Status heddle::checkEntries(const Manifest &manifest) {
  if (!manifest.entry("encode"))
    return Status::error("manifest: it has no entry 'encode'");
  const char *decoders[] = {"decode", "decode.step", "shortlist.step"};
  if (std::none_of(std::begin(decoders), std::end(decoders),
                   [&](const char *name) { return manifest.entry(name); }))
    return Status::error("manifest: it has no entry 'decode', 'decode.step' or "
                         "'shortlist.step'");
  Argument lengths = input("lengths", {Dim::Batch});
  std::vector<Argument> memory =
      outputsAs(ArgumentKind::Input, manifest.entry("encode"));
  auto atHand = [&](std::vector<Argument> inputs, const char *prepare) {
    inputs.push_back(lengths);
    inputs.insert(inputs.end(), memory.begin(), memory.end());
    if (prepare) {
      std::vector<Argument> prepared =
          outputsAs(ArgumentKind::Prepared, manifest.entry(prepare));
      inputs.insert(inputs.end(), prepared.begin(), prepared.end());
    }
    return inputs;
  };
  Argument rowIds = input("ids", {Dim::Rows});
  Argument positions = input("positions", {Dim::Rows});
  Argument sentences = input("sentences", {Dim::Rows});
  Argument candidates = input("candidates", {Dim::Batch, Dim::Shortlist});
  Argument counts = input("counts", {Dim::Batch});
  Argument forbidden = input("forbidden", {Dim::Rows, Dim::Forbidden});
  Extent vocabulary{manifest.targetVocabulary, std::nullopt};

  const Rule rules[] = {
      {"encode",
       {Dim::Batch, Dim::Source, Dim::Globals},
       {input("ids", {Dim::Batch, Dim::Source}), lengths,
        input("global", {Dim::Batch, Dim::Globals})},
       {}},
      {"decode",
       {Dim::Batch, Dim::Source, Dim::Target},
       atHand({input("ids", {Dim::Batch, Dim::Target})}, nullptr),
       {named(Dim::Batch), named(Dim::Target), vocabulary}},
      {"decode.prepare", {Dim::Batch, Dim::Source}, atHand({}, nullptr), {}},
      {"decode.step",
       {Dim::Rows, Dim::Batch, Dim::Source, Dim::Capacity},
       atHand({rowIds, positions, sentences}, "decode.prepare"),
       {named(Dim::Rows), vocabulary}},
      {"decode.greedy",
       {Dim::Rows, Dim::Batch, Dim::Source, Dim::Capacity, Dim::Forbidden},
       atHand({rowIds, positions, sentences, forbidden}, "decode.prepare"),
       {},
       /*hasLargest=*/true},
      {"shortlist.prepare",
       {Dim::Batch, Dim::Source, Dim::Shortlist},
       atHand({candidates, counts}, nullptr),
       {}},
      {"shortlist.step",
       {Dim::Rows, Dim::Batch, Dim::Source, Dim::Capacity, Dim::Shortlist},
       atHand({rowIds, positions, sentences, candidates, counts},
              "shortlist.prepare"),
       {named(Dim::Rows), named(Dim::Shortlist)}}};
  for (const Rule &rule : rules)
    if (const Entry *entry = manifest.entry(rule.entry))
      if (Status status = checkEntry(*entry, rule); !status.ok())
        return status;
  return Status::success();
}
