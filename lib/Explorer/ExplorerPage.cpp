//===- ExplorerPage.cpp - The data of a page, and the page around it ------===//
//
// The page is page.html, which CMake embeds with its style and its script. This
// file fills in one JSON object; page.js says how it is shown.
//
//===----------------------------------------------------------------------===//

#include "lib/Explorer/Exploration.h"
#include "lib/Explorer/PageText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace heddle;
namespace json = llvm::json;

static json::Array toArray(llvm::ArrayRef<std::string> texts) {
  json::Array array;
  for (const std::string &text : texts)
    array.push_back(json::fixUTF8(text));
  return array;
}

static json::Value toJson(std::optional<int64_t> number) {
  return number ? json::Value(*number) : json::Value(nullptr);
}

static json::Object toJson(const LayerRow &row) {
  json::Array flops, bytes;
  for (const CountedWork &work : row.work) {
    flops.push_back(toJson(work.flops));
    bytes.push_back(toJson(work.bytes));
  }
  return json::Object{
      {"function", row.function},     {"kind", row.kind},
      {"names", toArray(row.names)},  {"shape", row.shape},
      {"parameters", row.parameters}, {"weightBytes", row.weightBytes},
      {"weightType", row.weightType}, {"flops", std::move(flops)},
      {"bytes", std::move(bytes)}};
}

static json::Object toJson(const FusionRemark &remark) {
  return json::Object{{"pass", remark.pass},
                      {"function", remark.function},
                      {"names", toArray(remark.names)},
                      {"fused", remark.isFused},
                      {"sentence", json::fixUTF8(remark.sentence)}};
}

/// A script ends where "</script" stands in it, whatever language it is in.
static std::string toScriptText(json::Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  std::string safe;
  safe.reserve(text.size());
  for (char c : text)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

std::string Exploration::write(llvm::ArrayRef<FusionRemark> remarks) const {
  json::Object data{{"model", json::fixUTF8(title.model)},
                    {"level", title.level},
                    {"version", title.version},
                    {"lengths", json::Array(kCountedLengths)},
                    {"texts", toArray(texts.getTexts())},
                    {"masks", json::Array(masks)}};
  json::Array all;
  for (const Stage &stage : stages) {
    json::Array functions;
    for (const Function &function : stage.functions) {
      functions.push_back(function.symbol);
      functions.push_back(function.text);
    }
    all.push_back(json::Object{{"name", stage.name},
                               {"summary", stage.summary},
                               {"functions", std::move(functions)}});
  }
  data["passes"] = std::move(all);
  json::Array names;
  for (const std::string &key : nameLists.getTexts()) {
    llvm::SmallVector<llvm::StringRef> each;
    llvm::StringRef(key).split(each, '\0');
    json::Array list;
    for (llvm::StringRef name : each)
      list.push_back(json::fixUTF8(name));
    names.push_back(std::move(list));
  }
  data["names"] = std::move(names);
  data["symbols"] = toArray(symbols.getTexts());
  json::Array said, rows;
  for (const FusionRemark &remark : remarks)
    said.push_back(toJson(remark));
  for (const LayerRow &row : layers)
    rows.push_back(toJson(row));
  data["remarks"] = std::move(said);
  data["layers"] = std::move(rows);

  auto [before, behind] = kPageText.split("/* data */");
  return (before + toScriptText(std::move(data)) + behind).str();
}
