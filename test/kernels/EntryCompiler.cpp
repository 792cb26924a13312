//===- EntryCompiler.cpp - Compile the module of an EntryRunner -----------===//
//
// The compiler runs in a child that is forked from this process: a crash is the
// child's, and LLVM's libraries are loaded once. To load them takes longer than
// to compile most layers.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/ArtifactCache.h"
#include "test/kernels/EntryRunner.h"
#include "tools/compile/Compiler.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::test;

/// A file of safetensors: the length of a JSON header, it, the bytes. Empty if
/// there are no weights.
static std::string safetensorsOf(const Weights &weights) {
  if (weights.empty())
    return "";
  std::string header, bytes;
  for (const auto &[name, weight] : weights) {
    header += header.empty() ? "{" : ",";
    header += "\"" + name + "\":{\"dtype\":\"F32\",\"shape\":[";
    for (size_t i = 0; i < weight.shape.size(); ++i)
      header += (i ? "," : "") + std::to_string(weight.shape[i]);
    header += "],\"data_offsets\":[" + std::to_string(bytes.size()) + ",";
    bytes.append(reinterpret_cast<const char *>(weight.values.data()),
                 4 * weight.values.size());
    header += std::to_string(bytes.size()) + "]}";
  }
  header += "}";
  uint64_t length = header.size();
  std::string file(reinterpret_cast<const char *>(&length), sizeof length);
  return file + header + bytes;
}

/// What a whole model has to have; entries without a role are left alone.
static constexpr const char *kModelBegin = R"(
module attributes {
  transformer.family = "test",
  transformer.tasks = {generate = {eos = array<i32: 0>, max_target = 8 : i32, vocabulary = 8 : i32}},
  transformer.source = {vocabulary = 8 : i32, positions = 8 : i32}
} {
  transformer.parameter @nothing : tensor<8x8xf32> zeros
  func.func private @encode(%ids: tensor<?x?xi32> {
      transformer.name = "ids", transformer.dims = ["batch", "source"]})
      attributes {transformer.forms = ["full"]} {
    return
  }
  func.func private @decode(%ids: tensor<?x?xi32> {
      transformer.name = "ids", transformer.dims = ["batch", "target"],
      transformer.target}) -> (tensor<?x?x8xf32> {transformer.name = "logits"})
      attributes {transformer.forms = ["full"]} {
    %nothing = transformer.weight @nothing : tensor<8x8xf32>
    %logits = transformer.embedding %ids, %nothing
      : (tensor<?x?xi32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
    return %logits : tensor<?x?x8xf32>
  }
)";

/// A folder that goes with its object.
namespace {
class TemporaryFolder {
public:
  TemporaryFolder()
      : path(std::filesystem::temp_directory_path() / "heddle-XXXXXX") {
    if (!mkdtemp(path.data()))
      path.clear();
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    if (!path.empty())
      std::filesystem::remove_all(path);
  }

  std::string path;
};
} // namespace

std::string EntryRunner::wholeModel(const std::string &body) {
  // MLIR takes aliases outside of modules alone.
  std::string aliases, rest;
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);)
    (line[0] == '!' ? aliases : rest) += line + "\n";
  return aliases + kModelBegin + rest + "}\n";
}

/// Does what heddle-compile does with these arguments in a folder.
static Status runCompilerIn(const std::string &folder,
                            const std::vector<std::string> &arguments) {
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string errors = folder + "/errors";
  fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    int file = open(errors.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (dup2(file, STDERR_FILENO) < 0 || chdir(folder.c_str()) != 0)
      _exit(1);
    _exit(runCompiler(pointers));
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child)
    return Status::error("cannot start a child: ", strerror(errno));
  if (status == 0)
    return Status::success();
  std::ostringstream text;
  text << std::ifstream(errors).rdbuf();
  if (WIFSIGNALED(status))
    text << "the compiler ended by signal " << WTERMSIG(status);
  return Status::error(text.str());
}

/// Compiles a module to `output` with these flags. `weights` are a file's
/// bytes, empty if there are none.
static Status compileTo(const std::string &output, const std::string &module,
                        const std::string &weights, const std::string &flags) {
  TemporaryFolder folder;
  if (folder.path.empty())
    return Status::error("cannot create a temporary folder");
  std::ofstream(folder.path + "/layer.mlir") << module;
  std::ofstream(folder.path + "/weights.safetensors", std::ios::binary)
      << weights;
  std::vector<std::string> arguments = {"layer.mlir", "-o", output};
  if (!weights.empty())
    arguments.insert(arguments.end(), {"--weights", "weights.safetensors"});
  std::istringstream words(flags);
  arguments.insert(arguments.end(), std::istream_iterator<std::string>(words),
                   {});
  return runCompilerIn(folder.path, arguments);
}

/// Compiles a module with these flags, unless a test of this build has: the
/// path of the artifact, which is `unkept` if no artifacts are kept.
static Result<std::string> compileOnce(const std::string &body,
                                       const Weights &weights,
                                       const std::string &flags,
                                       const std::string &unkept) {
  std::string module = EntryRunner::wholeModel(body);
  std::string bytes = safetensorsOf(weights);
  return ArtifactCache::ofBuild().find(
      {module, flags, bytes}, unkept, [&](const std::string &path) {
        return compileTo(path, module, bytes, flags);
      });
}

Result<EntryRunner> EntryRunner::compile(const std::string &body,
                                         const Weights &weights,
                                         const CodeChoice &choice) {
  TemporaryFolder folder;
  if (folder.path.empty())
    return Status::error("cannot create a temporary folder");
  std::string flags = "--target " + choice.target +
                      (choice.reference ? " --reference " : " ") + choice.flags;
  Result<std::string> artifact =
      compileOnce(body, weights, flags, folder.path + "/layer.heddle");
  if (!artifact.ok())
    return artifact.status();
  Result<EntryRunner> runner = open(*artifact);
  if (!runner.ok() || !runner->gpu)
    return runner;
  runner->recorder = CallRecorder::next();
  if (!runner->recorder)
    return runner;
  if (Status status =
          compileTo(std::filesystem::absolute(runner->recorder->artifact()),
                    wholeModel(body), safetensorsOf(weights),
                    "--target " + CallRecorder::target() + " " + choice.flags);
      !status.ok())
    return status;
  return runner;
}

bool EntryRunner::canAssemble() {
  return std::system("'" HEDDLE_CHECK_PTX "' --find > /dev/null 2>&1") == 0;
}

Status EntryRunner::assemble(const std::string &body, const Weights &weights,
                             const std::string &gpu,
                             const std::string &architectures) {
  TemporaryFolder folder;
  if (folder.path.empty())
    return Status::error("cannot create a temporary folder");
  std::string ptx = folder.path + "/layer.ptx",
              report = folder.path + "/report";
  Status status = compileTo(ptx, wholeModel(body), safetensorsOf(weights),
                            "--emit=asm --target " + gpu);
  if (!status.ok())
    return status;
  std::string command = "'" HEDDLE_CHECK_PTX "' '" + ptx + "' " +
                        architectures + " > '" + report + "' 2>&1";
  if (std::system(command.c_str()) == 0)
    return Status::success();
  std::ostringstream found;
  found << std::ifstream(report).rdbuf();
  return Status::error(found.str());
}
