#include "Operation.h"
using namespace heddle::emulator;
std::unique_ptr<Operation> heddle::emulator::makeIntrinsic(std::string_view) {
  return nullptr;
}
std::unique_ptr<Operation>
heddle::emulator::makeAssembly(std::string_view text, std::string_view,
                               std::string &problem) {
  problem = "unknown assembly '" + std::string(text) + "'";
  return nullptr;
}
