//===- KernelTable.cpp - Records in front, names and images behind --------===//
//
// All records have one size, so that a kernel is found by its number. A record
// is written when the places of its name and images are known, which stand
// behind all records. Names and images end in NUL: the driver takes PTX as a C
// string, and the runtime checks for that NUL before it passes one on.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/KernelTable.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace heddle;

std::string heddle::writeKernelTable(llvm::ArrayRef<CompiledKernel> kernels) {
  std::string table(sizeof(format::KernelTableHeader) +
                        kernels.size() * sizeof(format::KernelRecord),
                    '\0');
  format::KernelTableHeader header{kernels.size()};
  std::memcpy(table.data(), &header, sizeof header);
  size_t place = sizeof header;
  for (const CompiledKernel &kernel : kernels) {
    format::KernelRecord record{};
    record.name = table.size();
    table.append(kernel.name).push_back('\0');
    table.resize(llvm::alignTo(table.size(), 16));
    record.image = table.size();
    record.imageBytes = kernel.image.size();
    table.append(kernel.image).push_back('\0');
    if (!kernel.binary.empty()) {
      table.resize(llvm::alignTo(table.size(), 16));
      record.binary = table.size();
      record.binaryBytes = kernel.binary.size();
      table.append(kernel.binary).push_back('\0');
    }
    record.threads = static_cast<uint32_t>(kernel.threads);
    record.sharedBytes = static_cast<uint32_t>(kernel.sharedBytes);
    record.stayingCluster = static_cast<uint32_t>(kernel.stayingCluster);
    std::memcpy(table.data() + place, &record, sizeof record);
    place += sizeof record;
  }
  return table;
}
