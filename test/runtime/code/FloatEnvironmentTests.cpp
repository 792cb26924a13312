//===- FloatEnvironmentTests.cpp - MXCSR around compiled code -------------===//
//
// The toy kernel changes its logits where denormals are not flushed, so that
// every test of generation is one of this too. Here the caller's side: what it
// does to its own register reaches no result, and nothing reaches it.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/ToyModel.h"

#include "runtime/code/FloatEnvironment.h"
#include "runtime/search/Generate.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// Changes the register and restores it, for the sake of the other tests.
class FloatEnvironmentTest : public ToyModelTest {
protected:
  void TearDown() override { _mm_setcsr(original); }

  const unsigned original = _mm_getcsr();
};

} // namespace

TEST_F(FloatEnvironmentTest, holds_in_its_scope_and_no_longer) {
  const unsigned callers =
      (original & ~_MM_EXCEPT_MASK) | _MM_ROUND_UP | _MM_EXCEPT_OVERFLOW;
  _mm_setcsr(callers);
  volatile float smallest = 0x1p-126f, half;
  {
    FloatEnvironment environment;
    half = smallest / 2; // Raises the flag of an underflow.
    EXPECT_EQ(_mm_getcsr() & _MM_EXCEPT_UNDERFLOW, _MM_EXCEPT_UNDERFLOW);
    EXPECT_EQ(_mm_getcsr() & ~_MM_EXCEPT_MASK, 0x9FC0u);
  }
  EXPECT_EQ(_mm_getcsr(), callers);
  EXPECT_EQ(half, 0.0f);
}

TEST_F(FloatEnvironmentTest, of_the_caller_reaches_no_result) {
  TemporaryFile file(toyArtifact(toyManifest()).build());
  Result<Model> model = Model::load(file.path());
  ASSERT_TRUE(model.ok()) << model.message();
  std::vector<Ids> sources = toySources(20), expected;
  for (const Ids &source : sources)
    expected.push_back(toyGreedy(source, toyManifest()["tasks"]["generate"], 12,
                                 toyCandidates(source)));
  for (unsigned mode : {0u, _MM_ROUND_TOWARD_ZERO, _MM_FLUSH_ZERO_ON}) {
    const unsigned callers = _MM_MASK_MASK | mode;
    Session session(*model);
    _mm_setcsr(callers);
    auto generated = generate(*model, session, sources, /*prefixes=*/{}, {});
    const unsigned left = _mm_getcsr();
    _mm_setcsr(original);
    ASSERT_TRUE(generated.ok());
    std::vector<Ids> best;
    for (const std::vector<Hypothesis> &hypotheses : *generated)
      best.push_back(hypotheses.front().tokens);
    EXPECT_EQ(best, expected) << mode;
    EXPECT_EQ(left & ~_MM_EXCEPT_MASK, callers);
  }
}
