//===- RunToolTest.h - heddle-run from outside ------------------*- C++ -*-===//
//
// Runs the tool itself on the toy artifact, by the shell, and looks at its exit
// code and at what it wrote.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_RUNTIME_RUN_RUNTOOLTEST_H
#define HEDDLE_TEST_RUNTIME_RUN_RUNTOOLTEST_H

#include "test/runtime/ToyModel.h"

#include <string>
#include <vector>

namespace heddle::test {

/// Stands in a folder of its own with the artifacts `toy`, with positions for
/// 9 source tokens, and `text`, the same with a tokenizer.
class RunToolTest : public ToyModelTest {
protected:
  struct Outcome {
    int exitCode;
    std::string output;
    std::string errors;
  };

  void SetUp() override;
  void TearDown() override;

  /// A file of the folder.
  void write(const std::string &name, const std::string &bytes) const;
  std::string read(const std::string &name) const;

  /// Runs `heddle-run <arguments>` by the shell, in the folder.
  Outcome run(const std::string &arguments, const std::string &input = "");
  /// Runs bash on `text`, in the folder; $run is the tool.
  Outcome runScript(const std::string &text);
  /// Expects this sentence.
  void expectError(const std::string &arguments, const std::string &sentence,
                   const std::string &input = "", int exitCode = 1);
  /// The same of a command line that is wrong in itself.
  void expectUsageError(const std::string &arguments,
                        const std::string &sentence) {
    expectError(arguments, sentence, /*input=*/"", /*exitCode=*/2);
  }

  std::string folder;

private:
  Outcome shell(const std::string &command);
};

/// Lines of ids, and what the toy answers.
std::string idLines(const std::vector<Ids> &lines);
std::string answers(const std::vector<Ids> &sources, bool shortlist);

} // namespace heddle::test

#endif // HEDDLE_TEST_RUNTIME_RUN_RUNTOOLTEST_H
