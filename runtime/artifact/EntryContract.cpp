//===- EntryContract.cpp - What entries must look like --------------------===//
//
// The contract as a table: for each role its dims, what is at hand when it is
// called, and its logits. The outputs of encode are at hand for all later
// entries, the outputs of a prepare for the other forms of its decoder. Tasks
// have a function each.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/EntryContract.h"

#include "runtime/artifact/InputRoles.h"

#include <algorithm>
#include <tuple>

using namespace heddle;

static Extent named(Dim dim) { return Extent{Extent::kUnbounded, dim}; }

/// Inputs of these roles.
static std::vector<Argument>
inputsOf(const std::vector<InputRole> &roles,
         std::initializer_list<std::string_view> names) {
  std::vector<Argument> inputs;
  for (std::string_view name : names) {
    Argument &input = inputs.emplace_back(
        Argument{std::string(name), ArgumentKind::Input, ElementType::I32, {}});
    const InputRole &role = inputRole(roles, name);
    input.shape.push_back(named(role.rows));
    if (role.width)
      input.shape.push_back(named(*role.width));
  }
  return inputs;
}

/// An output [rows, any number, ...].
static Argument ofRanges(const char *name, ElementType type,
                         const std::vector<Extent> &last = {}) {
  Argument argument{
      name, ArgumentKind::Output, type, {named(Dim::Rows), Extent{}}};
  argument.shape.insert(argument.shape.end(), last.begin(), last.end());
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
  Role role;
  std::vector<Dim> dims;
  std::vector<Argument> atHand;
  /// The leading dim of states of constant size.
  Dim leading = Dim::Rows;
  /// The shape of the one output `logits`; empty if outputs are others.
  std::vector<Extent> logits;
  /// In place of logits what is kept of ranges, [rows, ranges, ...]; otherwise,
  /// without logits, outputs are free.
  std::vector<Argument> ofRanges = {};
};

} // namespace

/// "manifest: entry 'decode.step' has ...".
template <typename... Parts>
static Status error(const Entry &entry, const Parts &...parts) {
  return Status::error("manifest: entry '", entry.name, "' ", parts...);
}

/// A row of a state is moved as a whole, and a cache is one row's.
static bool isLedBy(const Argument &state, Dim dim) {
  return !state.shape.empty() && state.shape[0] == named(dim) &&
         std::count(state.shape.begin(), state.shape.end(), named(dim)) == 1;
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
      if (!isLedBy(argument, rule.leading) && !isLedBy(argument, Dim::Caches))
        return error(entry, "has the ", label, " as ", describe(argument),
                     ", expected '", nameOf(rule.leading),
                     rule.leading == Dim::Caches ? "'" : "' or 'caches'",
                     " as its first dimension only");
      break;
    case ArgumentKind::Output:
      break;
    }
  }
  return Status::success();
}

/// "'values', 'largest' and 'best'".
static std::string joinNames(const std::vector<Argument> &arguments) {
  std::string names;
  for (size_t i = 0; i < arguments.size(); ++i)
    names += (i == 0                     ? "'"
              : i + 1 < arguments.size() ? ", '"
                                         : " and '") +
             arguments[i].name + "'";
  return names;
}

/// What is kept of as many ranges as the entry likes.
static Status checkRanges(const Entry &entry,
                          const std::vector<Argument> &outputs,
                          std::vector<Argument> expected) {
  bool areThere = std::all_of(
      expected.begin(), expected.end(),
      [&](const Argument &wanted) { return find(outputs, wanted); });
  if (outputs.size() != expected.size() || !areThere)
    return error(entry, "has ", outputs.size(), " outputs, expected ",
                 joinNames(expected));
  const Argument &first = *find(outputs, expected.front());
  for (Argument &wanted : expected) {
    if (first.shape.size() == 2 && !first.shape[1].dim)
      wanted.shape[1] = first.shape[1];
    if (const Argument &output = *find(outputs, wanted);
        output.type != wanted.type || output.shape != wanted.shape)
      return error(entry, "has the output '", wanted.name, "' as ",
                   describe(output), ", expected ", describe(wanted));
  }
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
  if (!rule.ofRanges.empty())
    return checkRanges(entry, outputs, rule.ofRanges);
  if (rule.logits.empty()) {
    // An output is later an input: it must not hide one of the runtime's own.
    for (const Argument &output : outputs)
      if (isInputRole(output.name))
        return error(entry, "has an output of the name '", output.name,
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

/// A prefill, of either form, leaves behind what `step`, one of the forms that
/// go on from it, keeps.
static Status checkSameStates(const Entry &prefill, const Entry &step) {
  auto statesOf = [](const Entry &entry) {
    return std::count_if(entry.arguments.begin(), entry.arguments.end(),
                         [](const Argument &argument) {
                           return argument.kind == ArgumentKind::State;
                         });
  };
  for (Argument state : step.arguments) {
    if (state.kind != ArgumentKind::State)
      continue;
    if (isLedBy(state, Dim::Rows))
      state.shape[0] = named(Dim::Batch);
    const Argument *left = find(prefill.arguments, state);
    if (!left || left->type != state.type || left->shape != state.shape ||
        left->pinned != state.pinned)
      return error(prefill, "leaves no state '", state.name, "' as ",
                   describe(state), ", which entry '", step.name,
                   "' goes on from");
  }
  if (statesOf(prefill) != statesOf(step))
    return error(prefill, "leaves ", statesOf(prefill), " states, but entry '",
                 step.name, "' has ", statesOf(step));
  return Status::success();
}

/// The rules of the encoder, or of a decoder's forms.
static std::vector<Rule> rulesOf(const Manifest &manifest, bool hasCandidates) {
  const std::vector<InputRole> &ofSources = sourceRoles(),
                               &ofSteps = stepRoles();
  std::vector<Argument> memory =
      outputsAs(ArgumentKind::Input, manifest.entry(Role::Encode));
  auto add = [](std::vector<Argument> &inputs,
                const std::vector<Argument> &others) {
    inputs.insert(inputs.end(), others.begin(), others.end());
  };
  add(memory, inputsOf(ofSources, {"lengths"}));
  Extent width{manifest.targetVocabulary, std::nullopt};
  if (hasCandidates) {
    add(memory, inputsOf(ofSources, {"candidates", "counts"}));
    width = named(Dim::Shortlist);
  }
  std::vector<Argument> prepared = outputsAs(
      ArgumentKind::Prepared, manifest.entry(Role::Prepare, hasCandidates));
  add(prepared, memory);

  auto with = [&](std::vector<Argument> inputs,
                  const std::vector<Argument> &others) {
    add(inputs, others);
    return inputs;
  };
  auto dims = [&](std::vector<Dim> named) {
    named.insert(named.end(), {Dim::Batch, Dim::Source});
    if (hasCandidates)
      named.push_back(Dim::Shortlist);
    return named;
  };
  const std::vector<Argument> rows =
      inputsOf(ofSteps, {"ids", "positions", "sentences", "caches"});
  const std::vector<Argument> chunk =
      inputsOf(chunkRoles(), {"ids", "target_lengths", "wanted", "caches"});
  return {
      {Role::Full,
       dims({Dim::Target}),
       with(inputsOf(targetRoles(), {"ids"}), memory),
       Dim::Batch,
       {named(Dim::Batch), named(Dim::Target), width}},
      {Role::Align,
       dims({Dim::Target}),
       with(inputsOf(targetRoles(), {"ids"}), memory),
       Dim::Batch,
       {}},
      {Role::Prepare, dims({}), memory, Dim::Batch, {}},
      {Role::Step,
       dims({Dim::Rows, Dim::Caches, Dim::Capacity}),
       with(rows, prepared),
       Dim::Rows,
       {named(Dim::Rows), width}},
      {Role::Beam,
       dims({Dim::Rows, Dim::Caches, Dim::Capacity}),
       with(with(inputsOf(ofSteps, {"history"}), rows), prepared),
       Dim::Rows,
       {named(Dim::Rows), width}},
      {Role::Extend,
       dims(
           {Dim::Tokens, Dim::Blocks, Dim::Wanted, Dim::Caches, Dim::Capacity}),
       with(inputsOf(extendRoles(), {"ids", "positions", "sentences", "caches",
                                     "prefill", "wanted", "wanted_sentences"}),
            prepared),
       Dim::Caches,
       {named(Dim::Wanted), width}},
      {Role::Chunk,
       dims({Dim::Target, Dim::Wanted, Dim::Caches, Dim::Capacity}),
       with(chunk, prepared),
       Dim::Batch,
       {named(Dim::Batch), named(Dim::Wanted), width}},
      {Role::Greedy,
       dims({Dim::Rows, Dim::Caches, Dim::Capacity, Dim::Forbidden}),
       with(with(inputsOf(ofSteps, {"forbidden"}), rows), prepared),
       Dim::Rows,
       {},
       {ofRanges("values", ElementType::F32),
        ofRanges("largest", ElementType::I32)}},
      {Role::Best,
       dims({Dim::Rows, Dim::Caches, Dim::Capacity, Dim::Forbidden, Dim::Best}),
       with(with(inputsOf(ofSteps, {"forbidden", "history"}), rows), prepared),
       Dim::Rows,
       {},
       {ofRanges("maxima", ElementType::F32),
        ofRanges("sums", ElementType::F32),
        ofRanges("values", ElementType::F32, {named(Dim::Best)}),
        ofRanges("best", ElementType::I32, {named(Dim::Best)})}}};
}

/// An align form returns rows of queries and of keys with whole heads of one
/// width.
static Status checkAligned(const Entry &entry) {
  auto widthOf = [&](const char *name, Dim rows) -> int64_t {
    const Argument *output = entry.argument(name, ArgumentKind::Output);
    bool fits = output && output->type == ElementType::F32 &&
                output->shape.size() == 3 && !output->shape[2].dim &&
                output->shape[0] == named(Dim::Batch) &&
                output->shape[1] == named(rows);
    return fits ? output->shape[2].size : 0;
  };
  int64_t queries = widthOf("queries", Dim::Target),
          keys = widthOf("keys", Dim::Source);
  if (outputsAs(ArgumentKind::Output, &entry).size() == 2 && queries > 0 &&
      keys > 0 && queries % entry.heads->queries == 0 &&
      keys % entry.heads->keys == 0 &&
      queries / entry.heads->queries == keys / entry.heads->keys)
    return Status::success();
  return error(entry,
               "shows alignments and returns others than 'queries' as "
               "f32 [batch, target, ",
               entry.heads->queries,
               " heads] and 'keys' as f32 [batch, "
               "source, ",
               entry.heads->keys, " heads] of one width");
}

static Status checkDecoder(const Manifest &manifest, bool hasCandidates) {
  for (const Rule &rule : rulesOf(manifest, hasCandidates))
    if (const Entry *entry = manifest.entry(rule.role, hasCandidates))
      if (Status status = checkEntry(*entry, rule); !status.ok())
        return status;
  if (const Entry *align = manifest.entry(Role::Align, hasCandidates))
    if (Status status = checkAligned(*align); !status.ok())
      return status;
  for (Role many : {Role::Extend, Role::Chunk})
    for (Role role : {Role::Step, Role::Beam, Role::Greedy, Role::Best}) {
      const Entry *prefill = manifest.entry(many, hasCandidates),
                  *step = manifest.entry(role, hasCandidates);
      if (prefill && step)
        if (Status status = checkSameStates(*prefill, *step); !status.ok())
          return status;
    }
  return Status::success();
}

/// The dims of what encoders and tasks read, padded or ragged.
static std::vector<Dim> dimsOfSources(const Manifest &manifest) {
  if (manifest.isRagged())
    return {Dim::Batch, Dim::Tokens, Dim::Blocks};
  return {Dim::Batch, Dim::Source};
}

/// Inputs of these roles; of ragged sources those that say where tokens stand,
/// too.
static std::vector<Argument>
inputsOfSources(const Manifest &manifest,
                std::initializer_list<std::string_view> names) {
  if (!manifest.isRagged())
    return inputsOf(sourceRoles(), names);
  std::vector<Argument> inputs = inputsOf(raggedRoles(), names),
                        places =
                            inputsOf(raggedRoles(), {"positions", "sequences",
                                                     "starts", "blocks"});
  inputs.insert(inputs.end(), places.begin(), places.end());
  return inputs;
}

namespace {
/// What a task's entry returns, beside memory and lengths asks for, and how
/// errors call its shape.
struct TaskRule {
  std::string_view output;
  std::vector<Extent> shape;
  std::string expected;
};
} // namespace

/// Without a last extent any number may stand there.
static TaskRule taskRuleOf(const Manifest &manifest, Role role) {
  auto logits = [](std::vector<Extent> of, size_t count) {
    std::string shape;
    for (const Extent &extent : of)
      shape += nameOf(extent) + ", ";
    of.push_back(Extent{int64_t(count), std::nullopt});
    return TaskRule{"logits", of, "[" + shape + std::to_string(count) + "]"};
  };
  // Of each sequence some, or those of all.
  auto each = [&](Dim padded, Dim ragged) {
    return manifest.isRagged()
               ? std::vector<Extent>{named(ragged)}
               : std::vector<Extent>{named(Dim::Batch), named(padded)};
  };
  switch (role) {
  case Role::Classify:
    return logits({named(Dim::Batch)}, manifest.classify->labels.size());
  case Role::Tag:
    return logits(each(Dim::Source, Dim::Tokens), manifest.tag->labels.size());
  case Role::Answer:
    return logits(each(Dim::Source, Dim::Tokens), 2);
  case Role::Fill:
    return logits(each(Dim::Masks, Dim::Masks),
                  size_t(manifest.sourceVocabulary));
  default:
    // A number for each word, or as many as the model likes.
    if (manifest.embed->logarithms > 0)
      return {
          "vectors",
          {named(Dim::Batch), Extent{manifest.sourceVocabulary, std::nullopt}},
          "[batch, " + std::to_string(manifest.sourceVocabulary) + "]"};
    return {"vectors", {named(Dim::Batch)}, "[batch, width]"};
  }
}

static bool fits(const Argument &output, const TaskRule &rule) {
  std::vector<Extent> shape = rule.shape;
  if (output.name == "vectors" && shape.size() == 1 &&
      output.shape.size() == 2 && !output.shape[1].dim)
    shape.push_back(output.shape[1]);
  return output.name == rule.output && output.type == ElementType::F32 &&
         output.shape == shape;
}

/// A task from what the encoder returns.
static Status checkTask(const Manifest &manifest, Role role) {
  const Entry *entry = manifest.entry(role);
  bool isThere = manifest.textTask(role) != nullptr;
  if (!entry && isThere)
    return Status::error("manifest: it has the task '", nameOf(role),
                         "' and no entry with the role '", nameOf(role), "'");
  if (!entry)
    return Status::success();
  if (!isThere)
    return error(*entry, "computes the task '", nameOf(role),
                 "', which is none of the model's");
  std::vector<Argument> atHand =
      outputsAs(ArgumentKind::Input, manifest.entry(Role::Encode));
  std::vector<Dim> dims = dimsOfSources(manifest);
  std::vector<Argument> ofSources = inputsOfSources(
      manifest, {"lengths", role == Role::Fill ? "masks" : "prompt"});
  if (role == Role::Fill)
    dims.push_back(Dim::Masks);
  atHand.insert(atHand.end(), ofSources.begin(), ofSources.end());
  if (Status status = checkEntry(*entry, {role, dims, atHand, Dim::Batch, {}});
      !status.ok())
    return status;
  std::vector<Argument> outputs = outputsAs(ArgumentKind::Output, entry);
  TaskRule rule = taskRuleOf(manifest, role);
  return outputs.size() == 1 && fits(outputs[0], rule)
             ? Status::success()
             : error(*entry, "returns ",
                     outputs.empty() ? "nothing"
                                     : "'" + outputs[0].name + "' as " +
                                           describe(outputs[0]),
                     ", expected '", rule.output, "' as f32 ", rule.expected);
}

Status heddle::checkEntries(const Manifest &manifest) {
  const Entry *encode = manifest.entry(Role::Encode);
  if (!encode && !manifest.promptsTarget)
    return Status::error("manifest: it has no entry with the role 'encode'");
  if (encode && manifest.promptsTarget)
    return error(*encode, "reads a source, but the prompt of the task "
                          "'generate' is the target's");
  bool hasDecoder = manifest.entry(Role::Full) || manifest.entry(Role::Step) ||
                    manifest.entry(Role::Step, /*hasCandidates=*/true);
  if (manifest.generates && !hasDecoder)
    return Status::error("manifest: it has the task 'generate' and no entry "
                         "with the role 'full' or 'step'");
  for (const Entry &entry : manifest.entries)
    if (!manifest.generates && !entry.decoder.empty())
      return error(entry, "is a form of a decoder, which no task needs");
  std::vector<Dim> dims = dimsOfSources(manifest);
  dims.push_back(Dim::Globals);
  const Rule rule = {Role::Encode,
                     dims,
                     inputsOfSources(manifest, {"ids", "lengths", "types",
                                                "source_positions", "global"}),
                     Dim::Batch,
                     {}};
  if (encode)
    if (Status status = checkEntry(*encode, rule); !status.ok())
      return status;
  for (auto [role, isKnown, key] :
       {std::tuple("types", manifest.sourceTypes > 0, "types"),
        std::tuple("source_positions", manifest.sourcePad.has_value(), "pad")})
    if (encode && encode->argument(role, ArgumentKind::Input) && !isKnown)
      return error(*encode, "has the input '", role, "', but 'source' has no '",
                   key, "'");
  for (Role role : kTaskRoles)
    if (Status status = checkTask(manifest, role); !status.ok())
      return status;
  for (bool hasCandidates : {false, true})
    if (Status status = checkDecoder(manifest, hasCandidates); !status.ok())
      return status;
  return Status::success();
}
