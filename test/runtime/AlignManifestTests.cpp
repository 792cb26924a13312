//===- AlignManifestTests.cpp - Forms of decoders that show alignments ----===//

#include "ManifestMessage.h"
#include "ToyModel.h"
#include "runtime/artifact/Manifest.h"
#include <functional>

using namespace heddle;
using namespace heddle::test;
using nlohmann::json;

TEST(EntryContractTest, an_align_form_returns_queries_and_keys) {
  auto with = [](const std::function<void(json &)> &change) {
    json manifest = toyManifest();
    json align = manifest["entries"][1];
    align["name"] = "decode.align";
    align["role"] = "align";
    json &arguments = align["arguments"];
    arguments.erase(3);
    arguments.push_back({{"name", "queries"},
                         {"kind", "output"},
                         {"dtype", "f32"},
                         {"shape", {"batch", "target", 12}}});
    arguments.push_back({{"name", "keys"},
                         {"kind", "output"},
                         {"dtype", "f32"},
                         {"shape", {"batch", "source", 6}}});
    align["heads"] = {
        {"queries", 4}, {"keys", 2}, {"aligned", 3}, {"scale", 0.5}};
    change(align);
    manifest["entries"].push_back(align);
    return messageOfManifest(manifest);
  };
  const std::string expected =
      "manifest: entry 'decode.align' shows alignments and returns others than "
      "'queries' as f32 [batch, target, 4 heads] and 'keys' as f32 [batch, "
      "source, 2 heads] of one width";
  EXPECT_EQ(with([](json &) {}), "valid");
  EXPECT_EQ(with([](json &align) { align["arguments"].erase(4); }), expected);
  EXPECT_EQ(with([](json &align) { align["arguments"][3]["dtype"] = "i32"; }),
            expected);
  EXPECT_EQ(with([](json &align) { align["arguments"][3]["shape"][2] = 13; }),
            expected);
  EXPECT_EQ(with([](json &align) { align["arguments"][4]["shape"][2] = 8; }),
            expected);
  EXPECT_EQ(
      with([](json &align) { align["arguments"][4]["shape"][1] = "target"; }),
      expected);
  EXPECT_EQ(with([](json &align) { align.erase("heads"); }),
            "manifest: an entry has no 'heads'");
  EXPECT_EQ(with([](json &align) { align["heads"]["aligned"] = 5; }),
            "manifest: 'heads' of entry 'decode.align' has 4 queries, 2 keys "
            "and 5 aligned, expected keys to divide queries, which aligned "
            "ones are some of");
  EXPECT_EQ(with([](json &align) { align["role"] = "full"; }),
            "manifest: an entry has the key 'heads', which this runtime does "
            "not know");
}
