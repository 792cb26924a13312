//===- Family.h - A family of transformers' classes -------------*- C++ -*-===//
//
// Each family has one file, Families/<Name>.cpp, with a function
// makeFamily<Name>. CMake makes the list of them from the names of the files.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_FAMILY_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_FAMILY_H

#include "lib/Import/HuggingFace/HuggingFaceArchitecture.h"
#include "lib/Import/HuggingFace/HuggingFaceFolder.h"
#include "lib/Import/ImportModel.h"

namespace heddle {

/// `model_type` of config.json, and the class that stands for it.
struct FamilyClass {
  llvm::StringRef modelType, className;
};

struct Family {
  /// `model_type` of config.json, and the class that stands for the family.
  llvm::StringRef modelType, className;
  /// Reads the folder and writes its model.
  llvm::Expected<ImportedModel> (*import)(HuggingFaceFolder &folder) = nullptr;
  /// Of BART's descendants, what importEncoderDecoder has to know.
  std::optional<HuggingFaceArchitecture> encoderDecoder = {};
  /// Others that the family imports.
  llvm::ArrayRef<FamilyClass> kin = {};
};

#define FAMILY(NAME) Family makeFamily##NAME();
#include "lib/Import/HuggingFace/Families.inc"
#undef FAMILY

/// All families, by the names of their files.
llvm::ArrayRef<Family> getFamilies();

/// The family that transformers' AutoModel takes: `model_type` decides,
/// whatever head wrote the file (facebook/bart-base is a BartModel). Only a
/// file without one needs the name of a class. Fails in `config`, and returns
/// any, if there is none.
const Family &chooseFamily(ConfigReader &config);

/// A family of BART's descendants.
Family makeEncoderDecoder(HuggingFaceArchitecture architecture);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_FAMILY_H
