//===- CheckpointTests.cpp - Checkpoints of trainers ----------------------===//

#include "FileBuilders.h"
#include "lib/Import/PickledOptions.h"
#include "lib/Weights/MappedFile.h"
#include "lib/Weights/TorchCheckpoint.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;
namespace json = llvm::json;

namespace {

llvm::Expected<TorchCheckpoint> readGolden(const std::string &name) {
  auto buffer = mapFile(HEDDLE_GOLDENS "/" + name);
  if (!buffer)
    return buffer.takeError();
  return TorchCheckpoint::read(std::move(*buffer));
}

llvm::Expected<Pickle> parse(const std::string &instructions) {
  std::string bytes = "\x80\x02" + instructions + ".";
  ByteReader reader(bytes);
  return Pickle::read(reader, {"argparse.", "builtins.set"}, "file", 0);
}

/// The fields of a pickle's root, as text.
std::string optionsOf(const std::string &instructions) {
  llvm::Expected<Pickle> pickle = parse(instructions);
  if (!pickle)
    return llvm::toString(pickle.takeError());
  std::optional<json::Object> fields = readPickledOptions(pickle->getRoot());
  if (!fields)
    return "none";
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(*fields));
  return text;
}

const std::string kNamespace = "cargparse\nNamespace\n)\x81";

TEST(PickledOptions, AreFieldsOfEachType) {
  EXPECT_EQ(optionsOf("}(U\001aK\007U\001bG\x3f\xf8" + std::string(6, '\0') +
                      "U\001cNU\001d\x88U\001e](K\001K\002eU\001fU\002hiu"),
            R"({"a":7,"b":1.5,"c":null,"d":true,"e":[1,2],"f":"hi"})");
  EXPECT_EQ(optionsOf(kNamespace + "}U\001aK\007sb"), R"({"a":7})");
  // Sets of both ways to write them.
  EXPECT_EQ(optionsOf("}U\001a\x8f(K\003\x90s"), R"({"a":[3]})");
  EXPECT_EQ(optionsOf("}U\001acbuiltins\nset\n](K\003K\004e\x85Rs"),
            R"({"a":"an object of builtins.set"})");
  // What is not finite has no number in JSON; other bytes no text.
  EXPECT_EQ(optionsOf("}U\001aG\x7f\xf0" + std::string(6, '\0') + "s"),
            R"({"a":"inf"})");
  EXPECT_EQ(optionsOf("}U\001aU\001\xffs"), "{\"a\":\"\xef\xbf\xbd\"}");
  // An enumerator, and an object without attributes.
  EXPECT_EQ(optionsOf("}U\001acargparse\nKind\nU\003one\x85Rs"),
            R"({"a":"one"})");
  EXPECT_EQ(optionsOf(kNamespace), "none");
  EXPECT_EQ(optionsOf("]"), "none");
}

TEST(PickledOptions, EndWhereValuesHoldThemselves) {
  EXPECT_EQ(optionsOf("}q\001U\001ah\001s").substr(0, 12), R"({"a":{"a":{")");
  EXPECT_EQ(optionsOf(kNamespace + "q\001h\001b"), "none");
  // Each list has the one before it twice; all are items of one.
  std::string doubled = "}U\001a](]q\001";
  for (char i = 1; i < 60; ++i)
    doubled += std::string("](h") + i + "h" + i + "eq" + char(i + 1);
  EXPECT_EQ(optionsOf(doubled + "es").substr(0, 11), R"({"a":[[],[[)");
}

TEST(TorchCheckpoint, HasOptionsOfEachForm) {
  auto namespaces = readGolden("fairseq/joined/checkpoint_best.pt");
  ASSERT_TRUE(bool(namespaces)) << llvm::toString(namespaces.takeError());
  auto cfg = readPickledOptions(*namespaces->getRoot().find("cfg"));
  ASSERT_TRUE(cfg.has_value());
  EXPECT_EQ(cfg->getObject("model")->getString("arch"), "transformer");
  EXPECT_EQ(cfg->getObject("model")->getInteger("encoder_layers"), 2);
  EXPECT_EQ(cfg->getObject("model")->getNumber("dropout"), 0.1);
  EXPECT_EQ(cfg->getObject("task")->getString("source_lang"), "de");

  auto nodes = readGolden("fairseq/learned/checkpoint_best.pt");
  ASSERT_TRUE(bool(nodes)) << llvm::toString(nodes.takeError());
  cfg = readPickledOptions(*nodes->getRoot().find("cfg"));
  ASSERT_TRUE(cfg.has_value());
  const json::Object *encoder = cfg->getObject("model")->getObject("encoder");
  ASSERT_TRUE(encoder);
  EXPECT_EQ(encoder->getBoolean("learned_pos"), true);
  EXPECT_EQ(encoder->getInteger("embed_dim"), 16);

  auto sequence = readGolden("fairseq/pre-norm/checkpoint_best.pt");
  ASSERT_TRUE(bool(sequence)) << llvm::toString(sequence.takeError());
  auto args = readPickledOptions(*sequence->getRoot().find("args"));
  ASSERT_TRUE(args.has_value());
  EXPECT_EQ(args->getBoolean("decoder_normalize_before"), true);
}

TEST(TorchCheckpoint, GivesTensorsOfItsDictionaries) {
  for (const char *name : {"joined", "pre-norm"}) {
    auto read =
        readGolden("fairseq/" + std::string(name) + "/checkpoint_best.pt");
    ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
    const PickleValue *model = read->getRoot().find("model");
    ASSERT_TRUE(model);
    auto tables = read->takeTensors({{model, "a."}});
    ASSERT_TRUE(bool(tables)) << llvm::toString(tables.takeError());
    const TensorInfo *bias =
        tables->front().find("a.encoder.layers.0.fc1.bias");
    ASSERT_TRUE(bias);
    EXPECT_EQ(bias->shape, (llvm::SmallVector<int64_t, 4>{24}));
  }
}

TEST(TorchCheckpoint, RefusesWhatTrainersDoNotName) {
  for (const char *name : {"exploit-archive.bin", "exploit-sequence.bin"}) {
    std::string sentence = sentenceOf(readGolden("torch/" + std::string(name)));
    EXPECT_NE(sentence.find("asks for 'posix.system' at byte "),
              std::string::npos)
        << sentence;
  }
  EXPECT_EQ(optionsOf("cbuiltins\neval\nU\0011\x85R"),
            "'file' asks for 'builtins.eval' at byte 2, which weights do not "
            "need and which was not run");
  EXPECT_EQ(optionsOf("cargparsers\nNamespace\n"),
            "'file' asks for 'argparsers.Namespace' at byte 2, which weights "
            "do not need and which was not run");
}

} // namespace
