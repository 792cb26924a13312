//===- Manifest.cpp - What an artifact says of itself ---------------------===//
//
// One function for each object of the manifest, in the order of
// ArtifactFormat.h.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/Manifest.h"

#include "runtime/artifact/JsonReader.h"
#include "runtime/artifact/Tasks.h"

#include <algorithm>
#include <charconv>

using namespace heddle;
using nlohmann::json;

static constexpr std::array<std::string_view, kNumDims> kDimNames = {
    "batch",   "source", "target", "rows", "capacity", "shortlist", "forbidden",
    "globals", "caches", "wanted", "best", "masks",    "tokens",    "blocks"};
static constexpr std::array<std::string_view, kNumRoles> kRoleNames = {
    "encode", "full",     "prepare", "step",   "beam",
    "extend", "chunk",    "greedy",  "best",   "align",
    "embed",  "classify", "tag",     "answer", "fill"};
static constexpr std::string_view kKindNames[] = {"input", "prepared", "state",
                                                  "output"};
static constexpr std::string_view kTypeNames[] = {"f32", "i32", "i8", "bf16",
                                                  "f16"};

/// Between a dim and a number.
static constexpr std::string_view kAtMost = "<=", kFloorDivision = " floordiv ";

/// No tensor of a transformer has more dimensions.
static constexpr size_t kMaxRank = 8;
/// Bounds what an absurd manifest can make the runtime store.
static constexpr size_t kMaxEntries = 64, kMaxArguments = 4096;
static constexpr int64_t kMaxLength = std::numeric_limits<int32_t>::max();

std::string_view heddle::nameOf(Dim dim) {
  return kDimNames[static_cast<size_t>(dim)];
}
std::string heddle::nameOf(const Extent &extent) {
  if (!extent.dim)
    return std::to_string(extent.size);
  std::string name(nameOf(*extent.dim));
  if (extent.divisor > 1)
    return name + std::string(kFloorDivision) + std::to_string(extent.divisor);
  return extent.size == Extent::kUnbounded
             ? name
             : name + std::string(kAtMost) + std::to_string(extent.size);
}
std::string_view heddle::nameOf(Role role) {
  return kRoleNames[static_cast<size_t>(role)];
}
std::string_view heddle::nameOf(ArgumentKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}
std::string_view heddle::nameOf(ElementType type) {
  return kTypeNames[static_cast<size_t>(type)];
}
/// The enumerator of that name in a table of names.
template <typename Enum, typename Names>
static std::optional<Enum> named(const Names &names, std::string_view name) {
  auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names))
    return std::nullopt;
  return static_cast<Enum>(found - std::begin(names));
}

int64_t heddle::elementSize(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::BF16:
  case ElementType::F16:
    return 2;
  case ElementType::I8:
    return 1;
  }
  return 0;
}

std::optional<int64_t> Argument::byteSize(const DimValues &dims) const {
  int64_t size = elementSize(type);
  for (const Extent &extent : shape)
    if (__builtin_mul_overflow(size, extent.in(dims), &size))
      return std::nullopt;
  return size;
}

std::string heddle::describe(const Argument &argument) {
  std::string text(nameOf(argument.type));
  text += " [";
  for (const Extent &extent : argument.shape) {
    text += &extent == argument.shape.data() ? "" : ", ";
    text += nameOf(extent);
  }
  return text + "]";
}

const Argument *Entry::argument(std::string_view wanted,
                                ArgumentKind kind) const {
  for (const Argument &argument : arguments)
    if (argument.name == wanted && argument.kind == kind)
      return &argument;
  return nullptr;
}

const Entry *Manifest::entry(Role role, bool hasCandidates) const {
  for (const Entry &entry : entries)
    if (entry.role == role && entry.hasCandidates == hasCandidates)
      return &entry;
  return nullptr;
}

bool Manifest::isRagged() const {
  const Entry *encode = entry(Role::Encode);
  return encode &&
         std::any_of(encode->dims.begin(), encode->dims.end(),
                     [](const Extent &dim) { return dim.dim == Dim::Tokens; });
}

static std::optional<int32_t> narrow(std::optional<int64_t> id) {
  return id ? std::optional<int32_t>(static_cast<int32_t>(*id)) : std::nullopt;
}

static void parseSource(JsonReader reader, Manifest &manifest) {
  manifest.sourceVocabulary =
      int32_t(reader.integer("vocabulary", kVocabularySizes));
  manifest.sourcePositions =
      reader.optionalInteger("positions", {1, kMaxLength});
  manifest.sourceTypes =
      int32_t(reader.optionalInteger("types", kVocabularySizes).value_or(0));
  manifest.sourcePad = narrow(reader.optionalInteger("pad", {0, kMaxLength}));
  reader.rejectOtherKeys();
}

static constexpr std::string_view kTargetLanguageNames[] = {
    "start", "forced_bos", "source"};

/// The languages that a request may name.
static void parseLanguages(TokenizerDescription &tokenizer, JsonReader &reader,
                           IntegerRange ids) {
  if (!reader.find("languages"))
    return;
  std::vector<std::string> names = reader.strings("languages");
  std::vector<int32_t> tokens = reader.optionalIds("language_tokens", ids);
  std::string target = reader.string("target_language");
  if (auto known = named<TargetLanguage>(kTargetLanguageNames, target))
    tokenizer.targetLanguage = *known;
  else
    reader.fail("has the target language '", target,
                "' (supported: start, forced_bos, source)");
  if (names.size() != tokens.size())
    return reader.fail("names ", names.size(), " languages with tokens for ",
                       tokens.size());
  for (size_t i = 0; i < names.size(); ++i)
    tokenizer.languages.push_back({std::move(names[i]), tokens[i]});
}

static TokenizerDescription parseTokenizer(JsonReader reader,
                                           const Manifest &manifest) {
  TokenizerDescription tokenizer;
  tokenizer.kind = reader.string("kind");
  if (tokenizer.kind == "none") {
    if (reader.find("reason"))
      tokenizer.reason = reader.string("reason");
    return tokenizer;
  }

  // A tokenizer may know pieces beyond the model's rows.
  IntegerRange ids{0, std::numeric_limits<int32_t>::max() - 1};
  tokenizer.eos = narrow(reader.optionalInteger("eos", ids));
  tokenizer.bos = narrow(reader.optionalInteger("bos", ids));
  tokenizer.unknown = narrow(reader.optionalInteger("unknown", ids));
  tokenizer.special = reader.optionalIds("special", ids);
  tokenizer.language = narrow(reader.optionalInteger("language", ids));
  // The decoder reads them, too.
  parseLanguages(tokenizer, reader,
                 {0, (manifest.generates ? std::min(manifest.sourceVocabulary,
                                                    manifest.targetVocabulary)
                                         : manifest.sourceVocabulary) -
                         1});
  tokenizer.cleansUp =
      reader.optionalInteger("clean_up", {0, 1}).value_or(0) != 0;
  tokenizer.marksWords =
      reader.optionalInteger("marks_words", {0, 1}).value_or(0) != 0;
  reader.rejectOtherKeys();
  return tokenizer;
}

/// A dim; the number of slots of a cache can have a bound, and several elements
/// of a dim can make one.
static std::optional<Extent> parseDim(std::string_view text) {
  std::string_view name = text, relation;
  for (std::string_view known : {kAtMost, kFloorDivision})
    if (size_t at = text.find(known); at != text.npos) {
      name = text.substr(0, at);
      relation = known;
    }
  std::optional<Dim> dim = named<Dim>(kDimNames, name);
  if (!dim)
    return std::nullopt;
  Extent extent{Extent::kUnbounded, dim};
  if (relation.empty())
    return extent;
  text.remove_prefix(name.size() + relation.size());
  int64_t number = 0;
  auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  bool isOfSlots = relation == kAtMost;
  if (isOfSlots != (*dim == Dim::Capacity) || error != std::errc() ||
      rest != text.data() + text.size() || number < (isOfSlots ? 1 : 2))
    return std::nullopt;
  (isOfSlots ? extent.size : extent.divisor) = number;
  return extent;
}

static Extent parseExtent(const json &value, const Entry &entry,
                          JsonReader &reader) {
  if (value.is_string()) {
    std::optional<Extent> dim = parseDim(value.get_ref<const std::string &>());
    if (dim && std::count(entry.dims.begin(), entry.dims.end(), *dim))
      return *dim;
    reader.fail("has the dim ", value.dump(), " in its shape, which entry '",
                entry.name, "' does not declare");
  } else if (value.is_number_integer() && value.get<int64_t>() >= 1) {
    return Extent{value.get<int64_t>(), std::nullopt};
  } else {
    reader.fail("has ", value.dump(),
                " in its shape, expected a positive integer or a dim");
  }
  return Extent{};
}

/// The slots that are no part of a ring, which has one at least.
static void parsePinned(Argument &argument, JsonReader &reader) {
  int64_t slots = 0;
  for (const Extent &extent : argument.shape)
    if (extent.dim == Dim::Capacity && extent.size != Extent::kUnbounded)
      slots = extent.size;
  std::optional<int64_t> pinned =
      reader.optionalInteger("pinned", {1, kMaxLength});
  if (!pinned)
    return;
  if (argument.kind != ArgumentKind::State || *pinned >= slots)
    reader.fail("has ", *pinned, " pinned slots, expected fewer than those of ",
                "a state with a bound");
  argument.pinned = *pinned;
}

static Argument parseArgument(const json &value, const Entry &entry,
                              Status &status) {
  JsonReader reader(value, "an argument of entry '" + entry.name + "'", status);
  Argument argument;
  argument.name = reader.string("name");
  std::string kind = reader.string("kind");
  std::string type = reader.string("dtype");
  std::optional<ArgumentKind> knownKind = named<ArgumentKind>(kKindNames, kind);
  if (!knownKind)
    reader.fail("has the kind '", kind,
                "' (supported: input, prepared, state, output)");
  argument.kind = knownKind.value_or(ArgumentKind::Input);
  std::optional<ElementType> knownType = named<ElementType>(kTypeNames, type);
  if (!knownType)
    reader.fail("has the dtype '", type,
                "' (supported: f32, i32, i8, bf16, f16)");
  argument.type = knownType.value_or(ElementType::F32);
  const json &shape = reader.array("shape");
  if (shape.size() > kMaxRank)
    reader.fail("has ", shape.size(), " dimensions, expected at most ",
                kMaxRank);
  for (const json &extent : shape)
    if (argument.shape.size() < kMaxRank)
      argument.shape.push_back(parseExtent(extent, entry, reader));
  parsePinned(argument, reader);
  reader.rejectOtherKeys();
  if (!argument.byteSize(DimValues()))
    reader.fail("has a shape of more bytes than 63 bits can count");
  if (entry.argument(argument.name, argument.kind))
    reader.fail("repeats the ", kind, " '", argument.name, "'");
  return argument;
}

static constexpr const char *kOneDnnLibrary = "libheddle-onednn.so";

/// Only the encoder and tasks have a role without being a form of a decoder.
static void parseRole(Entry &entry, JsonReader &reader) {
  if (!reader.find("role"))
    return;
  std::string name = reader.string("role");
  entry.role = named<Role>(kRoleNames, name);
  std::string known;
  for (std::string_view each : kRoleNames)
    known += (known.empty() ? "" : ", ") + std::string(each);
  if (!entry.role)
    reader.fail("'", entry.name, "' has the role '", name,
                "' (supported: ", known, ")");
  else if (isOfDecoder(*entry.role))
    entry.decoder = reader.string("decoder");
}

/// Says of each form whether its decoder has candidates; then there is one of
/// each role.
static void findCandidates(Manifest &manifest, JsonReader &reader) {
  auto readsCandidates = [](const Entry &entry) {
    return std::any_of(
        entry.dims.begin(), entry.dims.end(),
        [](const Extent &extent) { return extent.dim == Dim::Shortlist; });
  };
  for (Entry &entry : manifest.entries)
    entry.hasCandidates =
        !entry.decoder.empty() &&
        std::any_of(manifest.entries.begin(), manifest.entries.end(),
                    [&](const Entry &other) {
                      return other.decoder == entry.decoder &&
                             readsCandidates(other);
                    });
  for (const Entry &entry : manifest.entries)
    if (entry.role)
      if (const Entry *first = manifest.entry(*entry.role, entry.hasCandidates);
          first != &entry)
        reader.fail("has two entries with the role '", nameOf(*entry.role),
                    "', '", first->name, "' and '", entry.name, "'");
}

/// The places of the entry that comes next.
static void parsePlaces(Manifest &manifest, const Entry &entry,
                        JsonReader &reader) {
  int64_t kernelCount = int64_t(manifest.kernels.size());
  int64_t layerCount = int64_t(manifest.layers.size());
  auto kernels = reader.optionalIds("kernels", {0, kernelCount - 1});
  auto layers = reader.optionalIds("layers", {-1, layerCount - 1});
  if (kernels.size() != layers.size()) {
    reader.fail("'", entry.name, "' has ", layers.size(), " layers of ",
                kernels.size(), " calls of kernels");
    return;
  }
  for (size_t i = 0; i < kernels.size(); ++i)
    manifest.places.push_back(
        {int32_t(manifest.entries.size()), kernels[i], layers[i]});
}

/// What the role Align has, and no other.
static void parseHeads(Entry &entry, JsonReader &reader, Status &status) {
  if (entry.role != Role::Align)
    return;
  JsonReader heads(reader.object("heads"),
                   "'heads' of entry '" + entry.name + "'", status);
  AlignedHeads &own = entry.heads.emplace();
  own.queries = heads.integer("queries", {1, kMaxLength});
  own.keys = heads.integer("keys", {1, kMaxLength});
  own.aligned = heads.integer("aligned", {1, kMaxLength});
  auto scale = heads.optionalNumber("scale", -kMostNumber, kMostNumber);
  own.scale = scale.value_or(1);
  if (own.queries % own.keys != 0 || own.aligned > own.queries)
    heads.fail("has ", own.queries, " queries, ", own.keys, " keys and ",
               own.aligned,
               " aligned, expected keys to divide queries, which "
               "aligned ones are some of");
  heads.rejectOtherKeys();
}

static Entry parseEntry(const json &value, Manifest &manifest, Status &status) {
  JsonReader reader(value, "an entry", status);
  Entry entry;
  entry.name = reader.string("name");
  for (const Entry &other : manifest.entries)
    if (other.name == entry.name)
      reader.fail("repeats the name '", entry.name, "'");
  parseRole(entry, reader);
  entry.symbol = reader.string("symbol");
  entry.arenaSymbol = reader.string("arena_symbol");
  for (const std::string &name : reader.strings("dims")) {
    std::optional<Extent> dim = parseDim(name);
    if (!dim)
      reader.fail(
          "'", entry.name, "' has the dim '", name,
          "' (supported: batch, source, target, rows, capacity, "
          "capacity<=N, shortlist, forbidden, globals, caches, wanted, best, "
          "masks, and DIM floordiv N)");
    else if (std::count(entry.dims.begin(), entry.dims.end(), *dim))
      reader.fail("'", entry.name, "' repeats the dim '", name, "'");
    else
      entry.dims.push_back(*dim);
  }
  const json &arguments = reader.array("arguments");
  if (arguments.size() > kMaxArguments)
    reader.fail("'", entry.name, "' has ", arguments.size(),
                " arguments, expected at most ", kMaxArguments);
  else
    for (const json &argument : arguments)
      entry.arguments.push_back(parseArgument(argument, entry, status));
  parseHeads(entry, reader, status);
  parsePlaces(manifest, entry, reader);
  reader.rejectOtherKeys();
  return entry;
}

static void parseKernels(Manifest &manifest, JsonReader &reader) {
  if (reader.find("kernels"))
    manifest.kernels = reader.strings("kernels");
  if (!reader.find("kernel_types"))
    manifest.kernelTypes.resize(manifest.kernels.size(), ElementType::F32);
  else
    for (const std::string &name : reader.strings("kernel_types")) {
      std::optional<ElementType> type = named<ElementType>(kTypeNames, name);
      if (!type)
        reader.fail("has the kernel type '", name,
                    "' (supported: f32, i32, i8, bf16, f16)");
      manifest.kernelTypes.push_back(type.value_or(ElementType::F32));
    }
  if (manifest.kernelTypes.size() != manifest.kernels.size())
    reader.fail("has ", manifest.kernelTypes.size(), " types of ",
                manifest.kernels.size(), " kernels");
  if (reader.find("layers"))
    manifest.layers = reader.strings("layers");
}

Result<Manifest> heddle::parseManifest(std::string_view text) {
  Result<json> parsed = parseJson(text);
  if (!parsed.ok())
    return Status::error("manifest: it ", parsed.message());
  const json &document = *parsed;

  Status status = Status::success();
  JsonReader reader(document, "it", status);
  Manifest manifest;
  manifest.compilerVersion = reader.string("heddle");
  JsonReader model(reader.object("model"), "'model'", status);
  manifest.modelName = model.string("name");
  manifest.family = model.string("family");
  manifest.isas = reader.strings("isas");
  if (manifest.isas.empty())
    reader.fail("has no name in 'isas'");
  if (reader.find("gpus"))
    manifest.gpus = reader.strings("gpus");
  if (const json *options = reader.find("options");
      options && options->is_object())
    for (const auto &option : options->items())
      manifest.options.emplace_back(option.key(),
                                    option.value().is_string()
                                        ? option.value().get<std::string>()
                                        : option.value().dump());

  parseSource(JsonReader(reader.object("source"), "'source'", status),
              manifest);
  readTasks(reader.object("tasks"), manifest, status);
  manifest.tokenizer = parseTokenizer(
      JsonReader(reader.object("tokenizer"), "'tokenizer'", status), manifest);

  parseKernels(manifest, reader);
  const json &entries = reader.array("entries");
  if (entries.size() > kMaxEntries)
    reader.fail("has ", entries.size(), " entries, expected at most ",
                kMaxEntries);
  else
    for (const json &entry : entries)
      manifest.entries.push_back(parseEntry(entry, manifest, status));
  findCandidates(manifest, reader);
  if (reader.find("libraries"))
    manifest.libraries = reader.strings("libraries");
  for (const std::string &library : manifest.libraries)
    if (library != kOneDnnLibrary)
      reader.fail("needs the library '", library,
                  "' (supported: ", kOneDnnLibrary, ")");
  if (!status.ok())
    return Status::error("manifest: ", status.message());
  return manifest;
}
