//===- Chunks.cpp - A mask in two methods, the README's example -----------===//

#include "dialect/Transformer.h"
#include "dialect/masks/MaskRanges.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "test/masks/ChunksDialect.h.inc"
#define GET_OP_CLASSES
#include "test/masks/ChunksOps.h.inc"

#include "test/masks/ChunksDialect.cpp.inc"
#define GET_OP_CLASSES
#include "test/masks/ChunksOps.cpp.inc"

using namespace mlir;
using namespace heddle;

void ChunksDialect::initialize() { addOperations<ChunkOp>(); }

Value ChunkOp::contains(Lanes &lanes, const MaskPoint &point) {
  Value size = lanes.i32(getSize());
  return lanes.equal(lanes.udiv(point.i, size), lanes.udiv(point.j, size));
}

KeyRanges ChunkOp::keyRanges(OpBuilder &builder, Location loc,
                             const QueryBlock &block) {
  IndexMath math{builder, loc};
  auto ofChunk = [&](Value query, int64_t offset) {
    Value begin = math.mul(math.udiv(query, getSize()), getSize());
    return math.min(math.add(begin, offset), block.keyCount);
  };
  // All see what the first and the last query see: one chunk, or nothing.
  Value first = block.begin, last = math.add(block.end, -1);
  return {{{ofChunk(first, 0), ofChunk(last, getSize()), ofChunk(last, 0),
            ofChunk(first, getSize())}}};
}

extern "C" DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "chunks", "1",
          [](DialectRegistry *registry) { registry->insert<ChunksDialect>(); }};
}
