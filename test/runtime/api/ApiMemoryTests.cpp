//===- ApiMemoryTests.cpp - heddle.h where memory is short ----------------===//
//
// The linker gives this file each call of malloc in the runtime (--wrap), which
// then finds none. What a call would have given out is NULL, and its status
// says why.
//
//===----------------------------------------------------------------------===//

#include "ApiTest.h"

#include <cstdlib>

using namespace heddle::test;

static bool hasMemory = true;

extern "C" void *__real_malloc(size_t size);
extern "C" void *__wrap_malloc(size_t size) {
  return hasMemory ? __real_malloc(size) : nullptr;
}

namespace {
class ApiMemoryTest : public ApiTest {
protected:
  void TearDown() override {
    hasMemory = true;
    ApiTest::TearDown();
  }
  /// Expects that a call finds no memory for so many bytes, or any number.
  template <typename Call>
  static void expectNoMemory(Call call, const std::string &bytes = "") {
    hasMemory = false;
    heddle_status status = call();
    hasMemory = true;
    EXPECT_EQ(status, HEDDLE_FAILED);
    EXPECT_EQ(
        std::string(heddle_error()).find("there is no memory for " + bytes), 0u)
        << heddle_error();
  }
};
} // namespace

TEST_F(ApiMemoryTest, nothing_is_given_out) {
  ASSERT_EQ(set("ids", "true"), HEDDLE_OK);
  int32_t *ids = nullptr;
  size_t count = 7;
  expectNoMemory(
      [&] {
        return heddle_encode(session, HEDDLE_SOURCE, "1 2", 3, nullptr, &ids,
                             &count);
      },
      "9 bytes");
  EXPECT_EQ(ids, nullptr);
  EXPECT_EQ(count, 0u);
  char *text = nullptr;
  int32_t target[] = {7, 10};
  expectNoMemory(
      [&] { return heddle_decode(session, target, 2, &text, &count); },
      "5 bytes");
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(count, 0u);
  expectNoMemory([&] { return heddle_describe(path.c_str(), 0, 0, &text); });
  EXPECT_EQ(text, nullptr);
  ASSERT_EQ(set("profile", "true"), HEDDLE_OK);
  for (heddle_profile_form form : {HEDDLE_PROFILE_TABLE, HEDDLE_PROFILE_JSON}) {
    expectNoMemory(
        [&] { return heddle_session_profile(session, form, &text); });
    EXPECT_EQ(text, nullptr);
  }
}
