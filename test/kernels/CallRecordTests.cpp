//===- CallRecordTests.cpp - Calls come back from files -------------------===//

#include "test/kernels/CallRecord.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace heddle;
using namespace heddle::test;

TEST(CallRecordTest, ComesBackAsItWas) {
  std::string path = testing::TempDir() + "heddle-call-record";
  RecordedCall call;
  call.entry = "causal";
  call.dims[Dim::Capacity] = 1050;
  call.before = {"some", std::string("\0bytes", 6)};
  call.after = {"some", "others"};
  ASSERT_TRUE(call.write(path).ok());
  Result<RecordedCall> found = RecordedCall::read(path);
  ASSERT_TRUE(found.ok()) << found.message();
  EXPECT_EQ(found->entry, call.entry);
  EXPECT_EQ(found->dims[Dim::Capacity], 1050);
  EXPECT_EQ(found->before, call.before);
  EXPECT_EQ(found->after, call.after);

  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  std::ofstream(path, std::ios::binary)
      << bytes.str().substr(0, bytes.str().size() - 1);
  EXPECT_EQ(RecordedCall::read(path).message(),
            "'" + path + "' is no recorded call");
  std::remove(path.c_str());
}
