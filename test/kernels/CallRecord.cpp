#include "test/kernels/CallRecord.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace heddle;
using namespace heddle::test;

static constexpr char kMagic[] = "heddle call 1\n";
/// Of a call in a file, and of an entry.
static constexpr size_t kMostBytes = 512 << 10;
static constexpr int kMostCalls = 3;

static void writeText(std::ostream &file, const std::string &text) {
  uint64_t size = text.size();
  file.write(reinterpret_cast<const char *>(&size), sizeof size);
  file.write(text.data(), static_cast<std::streamsize>(size));
}

static std::string readText(std::istream &file) {
  uint64_t size = 0;
  file.read(reinterpret_cast<char *>(&size), sizeof size);
  if (!file || size > kMostBytes)
    return file.setstate(std::ios::failbit), "";
  std::string text(size, '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  return text;
}

Status RecordedCall::write(const std::string &path) const {
  std::ofstream file(path, std::ios::binary);
  file << kMagic;
  writeText(file, entry);
  file.write(reinterpret_cast<const char *>(&dims), sizeof dims);
  uint64_t count = before.size();
  file.write(reinterpret_cast<const char *>(&count), sizeof count);
  for (const std::vector<std::string> *all : {&before, &after})
    for (const std::string &bytes : *all)
      writeText(file, bytes);
  return file.flush() ? Status::success()
                      : Status::error("cannot write '", path, "'");
}

Result<RecordedCall> RecordedCall::read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic(sizeof kMagic - 1, '\0');
  file.read(magic.data(), static_cast<std::streamsize>(magic.size()));
  RecordedCall call;
  uint64_t count = 0;
  if (magic == kMagic) {
    call.entry = readText(file);
    file.read(reinterpret_cast<char *>(&call.dims), sizeof call.dims);
    file.read(reinterpret_cast<char *>(&count), sizeof count);
  }
  for (std::vector<std::string> *all : {&call.before, &call.after})
    for (uint64_t i = 0; i < count && file; ++i)
      all->push_back(readText(file));
  if (!file || call.entry.empty())
    return Status::error("'", path, "' is no recorded call");
  return call;
}

std::shared_ptr<CallRecorder> CallRecorder::next() {
  static int number = 0;
  const char *folder = getenv("HEDDLE_RECORD_CALLS");
  if (!folder || !*folder)
    return nullptr;
  std::ostringstream prefix;
  prefix << folder << '/' << number++;
  return std::shared_ptr<CallRecorder>(new CallRecorder(prefix.str()));
}

std::string CallRecorder::target() {
  const char *target = getenv("HEDDLE_RECORD_TARGET");
  return target && *target ? target : "x86-64-v3,sm_80,sm_90a";
}

Status CallRecorder::add(const RecordedCall &call) {
  size_t bytes = 0;
  for (const std::vector<std::string> *all : {&call.before, &call.after})
    for (const std::string &argument : *all)
      bytes += argument.size();
  if (bytes > kMostBytes || calls[call.entry] == kMostCalls)
    return Status::success();
  ++calls[call.entry];
  return call.write(prefix + "-" + std::to_string(number++) + ".call");
}
