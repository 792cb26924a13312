//===- TargetReader.cpp - Lines of a file as target ids -------------------===//
//
// A thin layer over LineReader.
//
//===----------------------------------------------------------------------===//

#include "tools/TargetReader.h"

#include "tools/SourceReader.h"

using namespace heddle;

Result<TargetReader> TargetReader::open(const Model &model,
                                        const std::string &path, bool ids,
                                        TargetPart part) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines.ok())
    return lines.status();
  return TargetReader(model, std::move(*lines), ids, part);
}

Result<TokenIds> TargetReader::parse(const std::string &line) const {
  if (ids)
    return parseIds(line);
  Result<TokenIds> target = model.tokenizer()->encodeTarget(line);
  if (!target.ok() || part == TargetPart::Any)
    return target;
  const Manifest &manifest = model.manifest();
  std::optional<int32_t> bos = manifest.generation.forcedBos
                                   ? manifest.generation.forcedBos
                                   : manifest.tokenizer.bos;
  bool isWhole = part == TargetPart::Whole;
  if (bos && (isWhole || !target->empty()))
    target->insert(target->begin(), *bos);
  if (isWhole)
    target->push_back(manifest.generation.eos.front());
  return target;
}

Result<std::optional<TokenIds>> TargetReader::next() {
  Result<std::optional<std::string>> line = lines.next();
  if (!line.ok())
    return line.status();
  if (!*line)
    return std::optional<TokenIds>();
  Result<TokenIds> target = parse(**line);
  Status status = target.ok() ? model.checkTarget(*target) : target.status();
  if (!status.ok())
    return Status::error(lines.where(), " ", status.message());
  return std::optional<TokenIds>(std::move(*target));
}

Result<std::vector<TokenIds>> TargetReader::readAll() {
  std::vector<TokenIds> targets;
  for (;;) {
    Result<std::optional<TokenIds>> target = next();
    if (!target.ok())
      return target.status();
    if (!*target)
      return targets;
    targets.push_back(std::move(**target));
  }
}
