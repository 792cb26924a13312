//===- DropPadding.cpp - Sequences of a batch one behind the other --------===//
//
// An encoder is imported as mathematics over [batch, n] tokens, of which
// shorter sequences fill a part. Here its functions become ragged: values are
// rows of tokens, and what needs to know its sequence gets lists. The functions
// of a module change together, since one reads what another returns; if one op
// has no ragged form all of them stay.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/CallLayout.h"
#include "lib/Fusion/FusionRemarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_DROPPADDINGPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static_assert(kQueryBlock == HEDDLE_QUERY_BLOCK, "the runtime lists blocks");

/// What the dimensions [batch, NAME] are as one; empty if they stay two.
static StringRef nameRagged(StringRef name) {
  if (name == "source")
    return kTokensDim;
  // Of each sequence those that it has, as rows of tokens.
  return name == "masks" ? name : "";
}

namespace {
/// Builds the ragged form of a function, in front of it.
class RaggedFunction {
public:
  explicit RaggedFunction(func::FuncOp full);

  /// Null if an op has no such form.
  func::FuncOp build();
  /// That op.
  Operation *getRefused() const { return refused; }

private:
  Value addArgument(StringRef name, ArrayAttr dims, Type type);
  Value addList(StringRef name, StringRef dim);
  void addArguments();
  LogicalResult addOp(Operation *op);
  void dropUnusedLists();

  func::FuncOp full, function;
  OpBuilder builder;
  IRMapping mapping;
  RaggedContext ragged{mapping, {}, {}, {}, {}, {}};
  unsigned firstList = 0;
  Operation *refused = nullptr;
};
} // namespace

RaggedFunction::RaggedFunction(func::FuncOp full)
    : full(full), builder(full->getContext()) {
  builder.setInsertionPoint(full);
  function = func::FuncOp::create(builder, full.getLoc(),
                                  (full.getSymName() + ".ragged").str(),
                                  builder.getFunctionType({}, {}));
  function.setPrivate();
  function->setDiscardableAttrs(full->getDiscardableAttrDictionary());
  function.addEntryBlock();
  builder.setInsertionPointToEnd(&function.front());
}

Value RaggedFunction::addArgument(StringRef name, ArrayAttr dims, Type type) {
  NamedAttribute attributes[] = {
      builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)),
      builder.getNamedAttr(kDimsAttr, dims)};
  unsigned index = function.getNumArguments();
  LogicalResult inserted = function.insertArgument(
      index, type, builder.getDictionaryAttr(attributes),
      NameLoc::get(builder.getStringAttr(name)));
  assert(succeeded(inserted) && "a func.func takes arguments");
  (void)inserted;
  return function.getArgument(index);
}

Value RaggedFunction::addList(StringRef name, StringRef dim) {
  return addArgument(
      name, builder.getStrArrayAttr(dim),
      RankedTensorType::get(ShapedType::kDynamic, builder.getI32Type()));
}

void RaggedFunction::addArguments() {
  for (BlockArgument argument : full.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto name = full.getArgAttrOfType<StringAttr>(index, kNameAttr);
    auto dims = full.getArgAttrOfType<ArrayAttr>(index, kDimsAttr);
    auto type = cast<RankedTensorType>(argument.getType());
    StringRef merged =
        dims.size() > 1 ? nameRagged(cast<StringAttr>(dims[1]).getValue()) : "";
    if (!merged.empty()) {
      SmallVector<Attribute> names = {builder.getStringAttr(merged)};
      llvm::append_range(names, dims.getValue().drop_front(2));
      dims = builder.getArrayAttr(names);
      type = dropAxis(type, 1);
    }
    Value value = addArgument(name.getValue(), dims, type);
    mapping.map(argument, value);
    if (name == "lengths")
      ragged.lengths = value;
  }
  firstList = function.getNumArguments();
  if (!ragged.lengths)
    ragged.lengths = addList("lengths", "batch");
  ragged.starts = addList("starts", "batch");
  ragged.positions = addList("positions", kTokensDim);
  ragged.sequences = addList("sequences", kTokensDim);
  ragged.blocks = addList("blocks", "blocks");
}

LogicalResult RaggedFunction::addOp(Operation *op) {
  if (llvm::none_of(op->getOperands(),
                    [&](Value value) { return ragged.isRagged(value); })) {
    builder.clone(*op, mapping);
    return success();
  }
  auto layer = dyn_cast<IncrementalOpInterface>(op);
  if (!layer)
    return failure();
  FailureOr<SmallVector<Value>> results = layer.buildRagged(builder, ragged);
  if (failed(results))
    return failure();
  mapping.map(op->getResults(), *results);
  return success();
}

void RaggedFunction::dropUnusedLists() {
  for (unsigned index = function.getNumArguments(); index-- > firstList;)
    if (function.getArgument(index).use_empty()) {
      LogicalResult erased = function.eraseArgument(index);
      assert(succeeded(erased) && "nothing uses it");
      (void)erased;
    }
}

func::FuncOp RaggedFunction::build() {
  addArguments();
  for (Operation &op : full.front().without_terminator())
    if (failed(addOp(&op))) {
      refused = &op;
      function.erase();
      return nullptr;
    }
  SmallVector<Value> results;
  for (Value value : full.front().getTerminator()->getOperands())
    results.push_back(mapping.lookup(value));
  func::ReturnOp::create(builder, full.getLoc(), results);
  function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                           TypeRange(ValueRange(results))));
  for (unsigned index = 0; index < results.size(); ++index)
    function.setResultAttrs(index, full.getResultAttrDict(index));
  dropUnusedLists();
  return function;
}

/// Whether all that the module does is to read texts, and something asks for
/// more than their hidden states.
static bool readsTextsAlone(ModuleOp module) {
  auto functions = module.getOps<func::FuncOp>();
  return llvm::any_of(functions,
                      [](func::FuncOp function) {
                        return function->hasAttr(kTaskAttr);
                      }) &&
         llvm::none_of(functions, [](func::FuncOp function) {
           return function->hasAttr(kDecoderAttr);
         });
}

static void reportPadded(Operation *op) {
  reportDeclined("drop-padding", op,
                 "shorter texts of a batch are padded, since " +
                     withArticle(op) + " has no form without padding");
}

/// Whether all arguments have names, for them and for their dimensions.
static bool isNamed(func::FuncOp function) {
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (!function.getArgAttr(index, kNameAttr) ||
        !function.getArgAttr(index, kDimsAttr) ||
        !isa<RankedTensorType>(function.getArgumentTypes()[index]))
      return false;
  return !function.isExternal();
}

namespace {
struct DropPadding : heddle::impl::DropPaddingPassBase<DropPadding> {
  void runOnOperation() override {
    if (!readsTextsAlone(getOperation()))
      return;
    SmallVector<func::FuncOp> functions, forms;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kRoleAttr) && isNamed(function))
        functions.push_back(function);
    for (func::FuncOp function : functions) {
      RaggedFunction ragged(function);
      func::FuncOp form = ragged.build();
      if (!form) {
        reportPadded(ragged.getRefused());
        llvm::for_each(forms, [](func::FuncOp other) { other.erase(); });
        return;
      }
      forms.push_back(form);
    }
    reportFused("drop-padding", functions.front().front().getTerminator(),
                "texts of a batch stand one behind the other: no layer works "
                "on padding");
    for (auto [function, form] : llvm::zip_equal(functions, forms)) {
      StringAttr name = function.getSymNameAttr();
      function.erase();
      form.setSymNameAttr(name);
    }
  }
};
} // namespace
