//===- Arguments.cpp - What callers of heddle.h may get wrong -------------===//
//
// NULL is right for an array of no elements. The largest size that is let
// through is what addresses of a process reach: a size beyond is mostly a
// negative number that a binding has handed on. Failures name the argument as
// heddle.h does, and among several inputs the one that is wrong.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Arguments.h"

#include "runtime/api/InputSource.h"

using namespace heddle;

Status heddle::checkPointers(std::initializer_list<Pointer> pointers) {
  for (const Pointer &pointer : pointers)
    if (pointer.isNull)
      return Status::error("'", pointer.name, "' is NULL");
  return Status::success();
}

Status heddle::checkArrays(std::initializer_list<Array> arrays) {
  for (const Array &array : arrays) {
    if (array.isNull && array.size > 0)
      return Status::error("'", array.name, "' is NULL but '", array.sizeName,
                           "' is ", array.size);
    if (array.size > array.most)
      return Status::error("'", array.sizeName, "' is ", array.size,
                           ", expected at most ", array.most);
  }
  return Status::success();
}

Status heddle::checkInput(const heddle_input &input) {
  if (input.pair && input.ids)
    return Status::error("'pair' is given beside 'ids', expected two texts");
  return checkArrays(
      {{"text", input.text, "text_size", input.text_size},
       {"pair", input.pair, "pair_size", input.pair_size},
       {"ids", input.ids, "id_count", input.id_count},
       {"target", input.target, "target_size", input.target_size},
       {"target_ids", input.target_ids, "target_id_count",
        input.target_id_count}});
}

Status heddle::checkInputs(const heddle_input *inputs, size_t count) {
  if (Status status = checkArrays({{"inputs", inputs, "count", count}});
      !status.ok())
    return status;
  ArraySource names(inputs, count);
  for (size_t i = 0; i < count; ++i)
    if (Status status = checkInput(inputs[i]); !status.ok())
      return Status::error(names.nameOf(int64_t(i)), ": ", status.message());
  return Status::success();
}
