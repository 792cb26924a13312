//===- HuggingFaceReaders.h - Configurations that tests spell ---*- C++ -*-===//

#ifndef HEDDLE_TEST_UNIT_HUGGINGFACEREADERS_H
#define HEDDLE_TEST_UNIT_HUGGINGFACEREADERS_H

#include "lib/Import/HuggingFace/HuggingFaceGeneration.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

namespace heddle::test {

/// A reader of a JSON text.
inline ConfigReader makeReader(const std::string &json,
                               const std::string &path) {
  auto object = parseJsonObject(json, path);
  EXPECT_TRUE(bool(object)) << json;
  return ConfigReader(std::move(*object), path);
}

/// The generation settings of the fields of config.json and, unless they are
/// empty, of generation_config.json: as text, or the sentence of an error.
inline std::string settingsText(const std::string &fields,
                                const std::string &generation) {
  mlir::MLIRContext context;
  ConfigReader reader = makeReader("{" + fields + "}", "config.json");
  auto model = readHuggingFaceConfig(reader);
  if (!model)
    return llvm::toString(model.takeError());
  std::optional<ConfigReader> other;
  if (!generation.empty())
    other = makeReader("{" + generation + "}", "generation_config.json");
  auto settings =
      readGeneration(reader, other ? &*other : nullptr, *model, context);
  if (!settings)
    return llvm::toString(settings.takeError());
  std::string text;
  llvm::raw_string_ostream(text) << *settings;
  return text;
}

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_HUGGINGFACEREADERS_H
