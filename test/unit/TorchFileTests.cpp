//===- TorchFileTests.cpp - What torch.save writes ------------------------===//

#include "FileBuilders.h"
#include "lib/Weights/MappedFile.h"
#include "lib/Weights/WeightSource.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

llvm::Expected<std::vector<TensorFile>> readGolden(const std::string &name) {
  auto buffer = mapFile(HEDDLE_GOLDENS "/torch/" + name);
  if (!buffer)
    return buffer.takeError();
  return readTorchFile(std::move(*buffer));
}

/// The sentence about a file of the goldens, whose folder is "F".
std::string refuse(const std::string &name) {
  std::string sentence = sentenceOf(readGolden(name));
  std::string folder = HEDDLE_GOLDENS "/torch";
  if (size_t at = sentence.find(folder); at != std::string::npos)
    sentence.replace(at, folder.size(), "F");
  return sentence;
}

/// All elements of a tensor, which one of the tables has.
std::vector<float> decode(llvm::ArrayRef<TensorFile> files,
                          llvm::StringRef name) {
  for (const TensorFile &file : files)
    if (const TensorInfo *tensor = file.find(name)) {
      auto stored =
          StoredTensor::create(name, tensor->shape, *tensor->encoding,
                               /*transposed=*/false, file, tensor->offset);
      EXPECT_TRUE(bool(stored)) << llvm::toString(stored.takeError());
      std::vector<float> values(stored->getRows() * stored->getColumns());
      stored->decodeRows(0, stored->getRows(), values);
      return values;
    }
  ADD_FAILURE() << "no tensor " << name.str();
  return {};
}

class TorchFile : public testing::TestWithParam<const char *> {};

/// test/goldens/make_torch_files.py says what the file holds.
TEST_P(TorchFile, HoldsViews) {
  auto files = readGolden(GetParam());
  ASSERT_TRUE(bool(files)) << llvm::toString(files.takeError());
  ASSERT_EQ(files->size(), 2u);
  const TensorFile &mapped = files->front(), &packed = files->back();

  std::vector<float> table(24), transposed;
  for (int i = 0; i < 24; ++i)
    table[i] = float(i);
  for (int column = 0; column < 6; ++column)
    for (int row = 0; row < 4; ++row)
      transposed.push_back(table[row * 6 + column]);
  EXPECT_EQ(decode(*files, "table"), table);
  EXPECT_EQ(decode(*files, "row"),
            std::vector<float>(table.begin() + 12, table.begin() + 18));
  EXPECT_EQ(decode(*files, "transposed"), transposed);
  EXPECT_EQ(decode(*files, "window"),
            (std::vector<float>{8, 9, 10, 14, 15, 16}));
  EXPECT_EQ(decode(*files, "parameter"),
            std::vector<float>(table.begin(), table.begin() + 12));
  EXPECT_EQ(decode(*files, "scalar"), std::vector<float>{1.5});
  EXPECT_EQ(decode(*files, "half"), (std::vector<float>{0.5, -2}));
  EXPECT_EQ(decode(*files, "brain"), (std::vector<float>{0.5, -2, 3}));

  // What is shared is mapped once; what is not dense was copied.
  EXPECT_EQ(mapped.find("tied")->offset, mapped.find("table")->offset);
  EXPECT_EQ(mapped.find("row")->offset, mapped.find("table")->offset + 48);
  EXPECT_TRUE(packed.find("transposed") && packed.find("window"));
  EXPECT_EQ(packed.find("transposed")->shape,
            (llvm::SmallVector<int64_t, 4>{6, 4}));
  EXPECT_EQ(packed.getTensors().size(), 2u);
  // Known, but no parameter has such elements.
  EXPECT_FALSE(mapped.find("wide")->encoding || mapped.find("ids")->encoding);
  EXPECT_EQ(mapped.find("ids")->elementType, "torch.LongStorage");
}

INSTANTIATE_TEST_SUITE_P(Formats, TorchFile,
                         testing::Values("archive.bin", "sequence.bin",
                                         "protocol-5.bin", "sequence-3.bin",
                                         "sequence-4.bin"));

TEST(TorchFile, ExecutesNothing) {
  for (const char *name :
       {"exploit-archive.bin", "exploit-sequence.bin", "exploit.bin"}) {
    std::string sentence = refuse(name);
    EXPECT_EQ(sentence.rfind("'F/" + std::string(name) +
                                 "' asks for 'posix.system' at byte ",
                             0),
              0u)
        << sentence;
  }
}

TEST(TorchFile, RefusesWhatIsNoStateDictionary) {
  EXPECT_EQ(sentenceOf(readTorchFile(makeBuffer("\x80\x02N."))),
            "'file' is no file of torch.save: neither a zip archive nor a "
            "sequence of pickles");
  EXPECT_EQ(refuse("negated.bin"),
            "'F/negated.bin' has a negated or conjugate view under the key 'a' "
            "(expected a tensor)");
  EXPECT_EQ(refuse("nested.bin"), "'F/nested.bin' has a dict under the key "
                                  "'model' (expected a tensor)");
  EXPECT_EQ(refuse("repeated.bin"),
            "tensor 'a' of 'F/repeated.bin' with shape [3, 2] repeats elements "
            "of its storage");
  EXPECT_EQ(refuse("compressed.bin"),
            "'F/compressed.bin' keeps 'nested/data.pkl' compressed (supported: "
            "stored, as torch and numpy write it)");
}

/// The sentence about a storage of archive.bin once `change` has altered the
/// file; the storage's bytes begin at `data`.
std::string prepareChanged(
    llvm::function_ref<void(std::string &bytes, size_t data)> change) {
  std::string bytes = readFile(HEDDLE_GOLDENS "/torch/archive.bin");
  auto files = readTorchFile(makeBuffer(bytes));
  EXPECT_TRUE(bool(files)) << llvm::toString(files.takeError());
  change(bytes, files->front().find("table")->offset);
  files = readTorchFile(makeBuffer(bytes));
  if (!files)
    return llvm::toString(files.takeError());
  // The copy of a view reads the storage of the table.
  std::string sentence =
      sentenceOf(files->front().prepare(files->front().find("table")->offset));
  EXPECT_EQ(sentence, sentenceOf(files->back().prepare(
                          files->back().find("transposed")->offset)));
  return sentence;
}

TEST(TorchFile, ComparesChecksumsOfStorages) {
  auto damage = [](std::string &bytes, size_t data) { bytes[data + 3] ^= 1; };
  std::string sentence = prepareChanged(damage);
  EXPECT_EQ(
      sentence.substr(0, sentence.find("0x")),
      "'file' is a damaged zip archive: 'archive/data/0' has the CRC-32 ");
  // torch.serialization.set_crc32_options(False) leaves checksums at 0, in the
  // directory 30 bytes in front of the name.
  EXPECT_EQ(prepareChanged([&](std::string &bytes, size_t data) {
              damage(bytes, data);
              bytes.replace(bytes.rfind("archive/data/0") - 30, 4, 4, '\0');
            }),
            "");
  EXPECT_EQ(prepareChanged([](std::string &bytes, size_t data) {
              size_t pickle = bytes.find("torch._utils");
              if (pickle == std::string::npos)
                pickle = bytes.find("ctorch");
              bytes[pickle - 1] ^= 1;
            }).substr(0, 64),
            "'file' is a damaged zip archive: 'archive/data.pkl' has the CRC-");
}

/// A file of the old format whose third pickle is `dictionary`.
std::string refusePickle(const std::string &dictionary) {
  std::string magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
                    15),
      none = "\x80\x02N.";
  return sentenceOf(
      readTorchFile(makeBuffer(magic + none + none + "\x80\x02" + dictionary)));
}

TEST(TorchFile, BoundsWhatAPickleCanDo) {
  EXPECT_EQ(refusePickle("N"), "'file' ends within a pickle");
  EXPECT_EQ(refusePickle("N."),
            "'file' has no pickle of protocols 2 to 5 at byte 27");
  EXPECT_EQ(refusePickle("(u."), "'file' has a damaged pickle: instruction "
                                 "0x75 at byte 26 lacks what it needs");
  EXPECT_EQ(refusePickle("q\x01."), "'file' has a damaged pickle: instruction "
                                    "0x71 at byte 25 lacks what it needs");
  EXPECT_EQ(refusePickle("h\x01."), "'file' has a damaged pickle: instruction "
                                    "0x68 at byte 25 lacks what it needs");
  EXPECT_EQ(refusePickle("ios\nsystem\n."),
            "'file' has the unknown pickle instruction 0x69 at byte 25");
  EXPECT_EQ(refusePickle("cos\nsystem\n."),
            "'file' asks for 'os.system' at byte 25, which weights do not need "
            "and which was not run");
  // The same with names from the stack, as later protocols have it.
  EXPECT_EQ(refusePickle("\x8c\x02os\x8c\x06system\x93."),
            "'file' asks for 'os.system' at byte 37, which weights do not need "
            "and which was not run");
  EXPECT_EQ(refusePickle("NN."),
            "'file' has a pickle that ends with 2 values at byte 27");
  // Neither a deep list nor one that is in itself costs a stack.
  std::string deep(100'000, ']');
  EXPECT_EQ(refusePickle(deep + std::string(99'999, 'a') + "."),
            "'file' has no pickle of protocols 2 to 5 at byte 200025");
  EXPECT_EQ(refusePickle("]q\1h\1a."),
            "'file' has no pickle of protocols 2 to 5 at byte 32");
  EXPECT_EQ(refusePickle(std::string(5'000'000, 'N') + "."),
            "'file' has a pickle of more than 4194304 values");
  // Calls have a copy of the tuple of their arguments, whose items are many.
  std::string call = "ctorch._utils\n_rebuild_tensor\nh\1R";
  std::string calls = "(" + std::string(100'000, 'N') + "tq\1";
  for (int i = 0; i < 1000; ++i)
    calls += call;
  EXPECT_EQ(refusePickle(calls + "."),
            "'file' has a pickle that copies more than 4194304 items");
  // So does an OrderedDict of the pairs of a list, however often that is named.
  std::string ordered = "]q\1(";
  for (int i = 0; i < 50'000; ++i)
    ordered += "NN\x86";
  ordered += "e";
  for (int i = 0; i < 100; ++i)
    ordered += "ccollections\nOrderedDict\nh\1\x85R";
  EXPECT_EQ(refusePickle(ordered + "."),
            "'file' has a pickle that copies more than 4194304 items");
}

} // namespace
