//===- SearchAttributes.h - How a model generates, as attributes -*- C++
//-*-===//
//
// The settings of a search that an importer knows, each under the key of its
// row of runtime/artifact/SearchSettings.def.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_SEARCHATTRIBUTES_H
#define HEDDLE_LIB_IMPORT_SEARCHATTRIBUTES_H

#include "mlir/IR/Builders.h"
#include "runtime/artifact/SearchSettings.h"

namespace heddle {

/// Collects settings. Borrows the context.
class SearchAttributes {
public:
  explicit SearchAttributes(mlir::MLIRContext &context) : builder(&context) {}

  void addCount(const Setting &setting, int64_t value) {
    add(setting, builder.getI32IntegerAttr(int32_t(value)));
  }
  void addNumber(const Setting &setting, double value) {
    add(setting, builder.getF64FloatAttr(value));
  }
  void addText(const Setting &setting, llvm::StringRef value) {
    add(setting, builder.getStringAttr(value));
  }
  void addIds(const Setting &setting, llvm::ArrayRef<int32_t> ids) {
    add(setting, builder.getDenseI32ArrayAttr(ids));
  }
  mlir::DictionaryAttr build() { return builder.getDictionaryAttr(entries); }

private:
  void add(const Setting &setting, mlir::Attribute value) {
    entries.push_back(builder.getNamedAttr(setting.key, value));
  }

  mlir::Builder builder;
  llvm::SmallVector<mlir::NamedAttribute> entries;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_SEARCHATTRIBUTES_H
