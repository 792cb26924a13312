//===- CompileOptions.cpp - The command line of heddle-compile ------------===//
//
// One loop over the arguments. A flag's value is the next argument or stands
// behind '='; behind '--' everything is a name.
//
//===----------------------------------------------------------------------===//

#include "tools/compile/CompileOptions.h"
#include "lib/CodeGen/Machine/Backend.h"
#include "lib/Masks/AttentionRules.h"
#include "lib/Support/Error.h"
#include "passes/Pipelines.h"
#include "tools/FlagValue.h"
#include "tools/UnknownFlag.h"
#include "tools/help/CompilePage.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;

namespace heddle {

/// The string that takes a flag's value, or null if the flag has another.
static std::string *findText(CompileOptions &options, StringRef flag) {
  return StringSwitch<std::string *>(flag)
      .Case("-o", &options.output)
      .Case("--weights", &options.weights)
      .Case("--write-weights", &options.writeWeights)
      .Case("--tokenizer", &options.tokenizer)
      .Case("--attention", &options.attention)
      .Case("--dump-passes", &options.dumpPasses)
      .Case("--explore", &options.explore)
      .Case("--target", &options.target)
      .Case("--gemm", &options.gemm)
      .Case("--ptxas", &options.ptxas)
      .Case("--dtype", &options.dtype)
      .Case("--activation-dtype", &options.activationDtype)
      .Case("--cache-dtype", &options.cacheDtype)
      .Case("--calibrate", &options.calibrate)
      .Default(nullptr);
}

/// What a flag without a value switches on.
static bool *findSwitch(CompileOptions &options, StringRef flag) {
  return StringSwitch<bool *>(flag)
      .Case("--explain", &options.explain)
      .Case("--reference", &options.reference)
      .Case("--tf32", &options.tf32)
      .Case("--help", &options.help)
      .Case("--license", &options.license)
      .Case("--version", &options.version)
      .Default(nullptr);
}

static Error addFusions(CompileOptions &options, StringRef names) {
  ArrayRef<StringLiteral> known = getFusionNames();
  for (StringRef name : split(names, ',')) {
    if (name == "all")
      options.withoutFusions.assign(known.begin(), known.end());
    else if (is_contained(known, name))
      options.withoutFusions.push_back(name.str());
    else
      return makeError("--no-fuse has the value '" + name +
                       "', expected all or any of " + join(known, ", "));
  }
  return Error::success();
}

static Error addKept(CompileOptions &options, StringRef rule) {
  auto [type, names] = rule.split(':');
  Expected<GlobPattern> pattern = GlobPattern::create(names);
  bool isPattern = bool(pattern) && !names.empty();
  consumeError(pattern.takeError());
  if (!isPattern || !is_contained({"bf16", "f16", "f32"}, type))
    return makeError("--keep has the value '" + rule +
                     "', expected bf16:GLOB, f16:GLOB or f32:GLOB over names "
                     "of weights");
  options.keep.push_back(rule.str());
  return Error::success();
}

Error ofAttention(Error error) {
  return handleErrors(std::move(error), [](std::unique_ptr<TextError> error) {
    error->prepend("--attention: ");
    return Error(std::move(error));
  });
}

/// A rule narrows nothing: one that could not widen is a mistake.
static Error checkKept(const CompileOptions &options) {
  for (StringRef rule : options.keep)
    if (options.dtype == "f32" || rule.split(':').first == options.dtype)
      return makeError("--keep has the value '" + rule +
                       "', expected another type than --dtype, '" +
                       options.dtype + "', and no narrower one");
  return Error::success();
}

static constexpr StringLiteral kTypeNames =
    "auto, f32, bf16, f16, int8 or int8w";
static constexpr StringLiteral kActivationTypeNames = "f32 or bf16";
static constexpr StringLiteral kCacheTypeNames = "f32, bf16, f16 or int8";
static constexpr StringLiteral kGemmNames = "generated or onednn";
static constexpr unsigned kMostJobs = 1024;

static Error setJobs(CompileOptions &options, StringRef value) {
  if (value.getAsInteger(10, options.jobs) || options.jobs == 0 ||
      options.jobs > kMostJobs)
    return makeError("--jobs has the value '" + value +
                     "', expected a number from 1 to " + Twine(kMostJobs));
  return Error::success();
}

static Error setSeed(CompileOptions &options, StringRef value) {
  uint64_t seed;
  if (value.getAsInteger(10, seed))
    return makeError("--random-weights has the value '" + value +
                     "', expected a number below 2^64");
  options.randomSeed = seed;
  return Error::success();
}

/// A list of modes, none twice.
static Error setPooling(CompileOptions &options, StringRef value) {
  SmallVector<StringRef> names;
  value.split(names, ',');
  for (StringRef name : names) {
    std::optional<Pooling> mode = symbolizePooling(name);
    if (!mode || is_contained(options.pooling, *mode))
      return makeError("--pool has the value '" + value +
                       "', expected some of cls, max, mean, mean_sqrt, "
                       "weighted_mean, last, each once, with commas between");
    options.pooling.push_back(*mode);
  }
  return Error::success();
}

static Error setLayers(CompileOptions &options, StringRef value) {
  int64_t layers;
  if (value.getAsInteger(10, layers))
    return makeError("--layers has the value '" + value +
                     "', expected a number of layers, as 6 or -2");
  options.layers = layers;
  return Error::success();
}

/// What a flag takes whose value is any text but an empty one, or is looked at
/// when all flags are there.
static std::string expectedOf(StringRef flag) {
  if (flag == "--target")
    return "any of " + backendNames() + ", with commas between";
  return StringSwitch<StringRef>(flag)
      .Case("--attention", "rules")
      .Case("--dtype", kTypeNames)
      .Case("--activation-dtype", kActivationTypeNames)
      .Case("--cache-dtype", kCacheTypeNames)
      .Case("--gemm", kGemmNames)
      .Default("a file")
      .str();
}

static Error setValue(CompileOptions &options, StringRef flag,
                      StringRef value) {
  if (flag == "--emit") {
    auto emit = StringSwitch<std::optional<Emit>>(value)
                    .Case("artifact", Emit::Artifact)
                    .Case("exe", Emit::Executable)
                    .Case("mlir", Emit::MLIR)
                    .Case("llvm", Emit::LLVM)
                    .Case("asm", Emit::Assembly)
                    .Default(std::nullopt);
    if (!emit)
      return makeError("--emit has the value '" + value +
                       "', expected artifact, exe, mlir, llvm or asm");
    options.emit = *emit;
    return Error::success();
  }
  if (flag == "--no-fuse")
    return addFusions(options, value);
  if (flag == "--keep")
    return addKept(options, value);
  if (flag == "--jobs")
    return setJobs(options, value);
  if (flag == "--random-weights")
    return setSeed(options, value);
  if (flag == "--pool")
    return setPooling(options, value);
  if (flag == "--layers")
    return setLayers(options, value);
  if (value.empty())
    return makeError(flag + " has an empty value, expected " +
                     expectedOf(flag));
  if (flag == "--load-dialect-plugin") {
    options.dialectPlugins.push_back(value.str());
    return Error::success();
  }
  std::string *text = findText(options, flag);
  if (!text->empty())
    return makeError(flag + " is given twice, as '" + *text + "' and as '" +
                     value + "'");
  *text = value.str();
  return flag == "--attention"
             ? ofAttention(parseAttentionRules(*text).takeError())
             : Error::success();
}

static Error setModel(CompileOptions &options, StringRef model) {
  if (model.empty())
    return makeError("the name of the model is empty");
  if (model == "-")
    return makeError("standard input is no model, expected a folder or a .mlir "
                     "module");
  std::string dashed = describePrintedDash(model.str(), getCompilePage());
  if (!dashed.empty())
    return makeError(dashed);
  if (!options.model.empty())
    return makeError("two models are given, '" + options.model + "' and '" +
                     model + "', expected one (-o FILE names the output)");
  options.model = model.str();
  return Error::success();
}

/// A flag that says how to compile, of those that are given.
static StringRef findPassFlag(const CompileOptions &options) {
  std::pair<StringRef, bool> flags[] = {
      {"--target", !options.target.empty()},
      {"--gemm", !options.gemm.empty()},
      {"--ptxas", !options.ptxas.empty()},
      {"--tf32", options.tf32},
      {"--dtype", !options.dtype.empty()},
      {"--activation-dtype", !options.activationDtype.empty()},
      {"--cache-dtype", !options.cacheDtype.empty()},
      {"--keep", !options.keep.empty()},
      {"--calibrate", !options.calibrate.empty()},
      {"--reference", options.reference},
      {"--explain", options.explain},
      {"--no-fuse", !options.withoutFusions.empty()},
      {"--dump-passes", !options.dumpPasses.empty()},
      {"--explore", !options.explore.empty()}};
  for (auto [flag, isGiven] : flags)
    if (isGiven)
      return flag;
  return "";
}

/// What is for GPUs alone, or not for them.
static Error checkGpus(const CompileOptions &options) {
  auto backends = getBackends(options.target, ShortTypes());
  if (!backends)
    return backends.takeError();
  auto refuse = [&](StringRef what) {
    return makeError(what + ", but --target is '" + options.target + "'");
  };
  bool hasGpus =
      any_of(*backends, [](const Backend &backend) { return backend.gpu; });
  if (!hasGpus && !options.ptxas.empty())
    return refuse("--ptxas assembles kernels of GPUs");
  if (!options.ptxas.empty() && !options.makesArtifact())
    return makeError("--ptxas puts machine code into artifacts, which --emit "
                     "does not ask for");
  if (!hasGpus && options.tf32)
    return refuse("--tf32 is for kernels of GPUs");
  if (hasGpus && options.gemm == "onednn")
    return refuse("--gemm=onednn multiplies on a CPU");
  if (options.tf32 && options.reference)
    return makeError("--tf32 is for generated kernels, but --reference has "
                     "none");
  bool keepsF32 = any_of(
      options.keep, [](StringRef rule) { return rule.starts_with("f32:"); });
  if (options.tf32 && !keepsF32 && is_contained({"bf16", "f16"}, options.dtype))
    return makeError("--tf32 multiplies f32 values, but --dtype is '" +
                     options.dtype + "'");
  return Error::success();
}

static Error checkActivations(const CompileOptions &options) {
  StringRef type = options.activationDtype;
  if (type.empty())
    return Error::success();
  if (type != "f32" && type != "bf16")
    return makeError("--activation-dtype has the value '" + type +
                     "', expected " + kActivationTypeNames);
  if (options.dtype != "int8w")
    return makeError("--activation-dtype is for --dtype int8w, but --dtype is "
                     "'" +
                     options.dtype + "'");
  return Error::success();
}

static Error checkTogether(const CompileOptions &options) {
  if (options.help || options.version || options.license)
    return Error::success();
  if (options.model.empty())
    return makeError("no model is given, expected heddle-compile MODEL -o "
                     "FILE");
  if (options.gemm != "generated" && options.gemm != "onednn")
    return makeError("--gemm has the value '" + options.gemm + "', expected " +
                     kGemmNames);
  if (options.gemm == "onednn" && options.dtype != "f32")
    return makeError("--gemm=onednn multiplies f32, but --dtype is '" +
                     options.dtype + "'");
  if (options.gemm == "onednn" && options.emit == Emit::Executable)
    return makeError("--gemm=onednn calls a library, but --emit=exe writes a "
                     "program that needs none");
  if (options.gemm == "onednn" && options.reference)
    return makeError("--gemm=onednn replaces generated kernels, but "
                     "--reference has none");
  if (Error error = checkGpus(options))
    return error;
  if (!is_contained({"auto", "f32", "bf16", "f16", "int8", "int8w"},
                    options.dtype))
    return makeError("--dtype has the value '" + options.dtype +
                     "', expected " + kTypeNames);
  if (Error error = checkActivations(options))
    return error;
  if (!options.cacheDtype.empty() &&
      !is_contained({"f32", "bf16", "f16", "int8"}, options.cacheDtype))
    return makeError("--cache-dtype has the value '" + options.cacheDtype +
                     "', expected " + kCacheTypeNames);
  if (Error error = checkKept(options))
    return error;
  if (!options.weights.empty() && options.randomSeed)
    return makeError("--weights and --random-weights are given, expected one");
  if (!options.writeWeights.empty() && !options.randomSeed)
    return makeError("--write-weights writes what --random-weights draws, "
                     "which is not given");
  bool onlyExplores = !options.explore.empty() &&
                      options.emit == Emit::Artifact &&
                      options.calibrate.empty();
  if (options.output.empty() && !onlyExplores)
    return makeError("no output is given, expected -o FILE");
  if (options.explore == "-")
    return makeError("--explore has the value '-', expected a file");
  for (StringRef other :
       {StringRef(options.output), StringRef(options.writeWeights)})
    if (!options.explore.empty() && options.explore == other)
      return makeError(
          "--explore and " +
          Twine(other == options.output ? "-o" : "--write-weights") +
          " name the same file '" + other + "'");
  if (!options.output.empty() && options.writeWeights == options.output)
    return makeError("-o and --write-weights name the same file '" +
                     options.output + "'");
  bool hasShortCaches =
      !options.cacheDtype.empty() && options.cacheDtype != "f32";
  if (!options.calibrate.empty() && options.dtype == "f32" && !hasShortCaches)
    return makeError("--calibrate compares with f32, but --dtype is 'f32'");
  if (!options.calibrate.empty() && !options.makesArtifact())
    return makeError("--calibrate runs artifacts, expected --emit artifact");
  if (options.output == "-" && (options.explain || !options.calibrate.empty()))
    return makeError(Twine(options.explain ? "--explain" : "--calibrate") +
                     " prints on standard output, expected -o FILE");
  return Error::success();
}

Expected<CompileOptions> parseCompileOptions(ArrayRef<const char *> texts) {
  std::vector<std::string> arguments(texts.begin(), texts.end());
  CompileOptions options;
  const ToolPage page = getCompilePage();
  const std::vector<Flag> &flags = page.flags;
  bool onlyNames = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (!onlyNames && argument == "--") {
      onlyNames = true;
      continue;
    }
    if (onlyNames || argument == "-" || !StringRef(argument).starts_with("-")) {
      if (Error error = setModel(options, argument))
        return std::move(error);
      continue;
    }
    GivenFlag given(argument == "-h" ? "--help" : argument);
    auto flag = find_if(
        flags, [&](const Flag &each) { return each.name == given.name; });
    bool isKnown = flag != flags.end();
    if (isKnown && flag->value.empty() && !given.value) {
      *findSwitch(options, given.name) = true;
    } else if (isKnown && !flag->value.empty()) {
      Result<std::string> value = takeValue(given, arguments, i, page);
      if (!value.ok())
        return makeError(value.message());
      if (Error error = setValue(options, given.name, *value))
        return std::move(error);
    } else {
      return makeError(describeUnknownFlag(argument, page, ""));
    }
  }
  StringRef passFlag = findPassFlag(options);
  if (options.emit == Emit::MLIR && !passFlag.empty())
    return makeError("--emit=mlir writes the module before any pass, so " +
                     passFlag + " has no use");
  if (options.target.empty())
    options.target = "portable";
  if (options.gemm.empty())
    options.gemm = "generated";
  if (options.dtype.empty())
    options.dtype = options.gemm == "onednn" ? "f32" : "auto";
  if (Error error = checkTogether(options))
    return std::move(error);
  return options;
}

} // namespace heddle
