//===- DeviceBinary.cpp - One run of an assembler -------------------------===//
//
// PTX goes to a temporary file, the assembler runs, and its output is read
// back; all temporary files are removed on every path. If the program fails,
// the first line that it wrote is the error. Its output has to be an ELF file
// for GPUs: a program that is no assembler may end well and write anything.
// Output for the emulator is not checked, since the emulator alone knows its
// format.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/DeviceBinary.h"
#include "lib/Support/Error.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;
using namespace heddle;

Expected<std::string> heddle::findAssembler(StringRef name) {
  ErrorOr<std::string> found = sys::findProgramByName(name);
  if (!found)
    return makeError("there is no program '" + name +
                     "': " + found.getError().message());
  return *found;
}

/// An empty file, for whoever asks to remove.
static Error makeFile(StringRef suffix, SmallString<128> &path) {
  if (std::error_code error =
          sys::fs::createTemporaryFile("heddle-kernel", suffix, path))
    return makeError("cannot make a temporary file: " + error.message());
  return Error::success();
}

static Expected<std::string> readFile(StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file)
    return makeError("cannot read '" + path +
                     "': " + file.getError().message());
  return (*file)->getBuffer().str();
}

/// Whether it is an ELF file for GPUs.
static bool isMachineCode(StringRef file) {
  ELF::Elf64_Ehdr header;
  if (file.size() < sizeof header)
    return false;
  std::memcpy(&header, file.data(), sizeof header);
  return header.checkMagic() && header.e_machine == ELF::EM_CUDA;
}

Expected<std::string>
heddle::assembleDeviceCode(StringRef code, const GpuArchitecture &architecture,
                           StringRef assembler) {
  SmallString<128> input, output, report;
  if (Error error = makeFile("ptx", input))
    return std::move(error);
  FileRemover removesInput(input);
  if (Error error = makeFile("cubin", output))
    return std::move(error);
  FileRemover removesOutput(output);
  if (Error error = makeFile("log", report))
    return std::move(error);
  FileRemover removesReport(report);
  std::error_code written;
  {
    raw_fd_ostream file(input, written);
    file << code;
    file.close();
    if (file.has_error() || written) {
      std::string reason = (written ? written : file.error()).message();
      file.clear_error();
      return makeError("cannot write '" + input + "': " + reason);
    }
  }
  std::string arch = ("-arch=" + architecture.name).str();
  StringRef arguments[] = {assembler, arch, "-o", output, input};
  std::optional<StringRef> redirects[] = {StringRef(), report.str(),
                                          report.str()};
  std::string reason;
  int status = sys::ExecuteAndWait(assembler, arguments, std::nullopt,
                                   redirects, /*SecondsToWait=*/0,
                                   /*MemoryLimit=*/0, &reason);
  if (status != 0) {
    Expected<std::string> said = readFile(report);
    if (said && !said->empty())
      reason = StringRef(*said).split('\n').first.str();
    else if (!said)
      consumeError(said.takeError());
    if (reason.empty())
      reason =
          ("it prints nothing and exits with status " + Twine(status)).str();
    return makeError("'" + assembler + "' failed for " + architecture.name +
                     ": " + reason);
  }
  Expected<std::string> binary = readFile(output);
  if (binary && !architecture.isEmulated && !isMachineCode(*binary))
    return makeError("'" + assembler + "' wrote no machine code for " +
                     architecture.name);
  return binary;
}
