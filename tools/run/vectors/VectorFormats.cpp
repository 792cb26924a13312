//===- VectorFormats.cpp - How vectors stand in files ---------------------===//

#include "tools/run/vectors/VectorFormats.h"

using namespace heddle;

/// Heddle's own names of types of weights, and what sentence-transformers calls
/// bits.
static std::string_view usualName(std::string_view name) {
  return name == "f32"       ? "float32"
         : name == "f16"     ? "float16"
         : name == "ubinary" ? "bits"
                             : name;
}

Result<heddle_vector_type> heddle::parseVectorType(const std::string &name) {
  std::string names;
  for (const VectorFormat &format : kVectorFormats) {
    if (usualName(name) == format.name)
      return format.type;
    names += (names.empty()                       ? ""
              : format.type == HEDDLE_VECTOR_BITS ? " or "
                                                  : ", ") +
             std::string(format.name);
  }
  return Status::error("--vector-type has the value '", name, "', expected ",
                       names);
}
