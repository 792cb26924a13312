//===- ImportMBart.cpp - mBART --------------------------------------------===//
//
// MBartForConditionalGeneration (arXiv:2001.08210): BART with the norms in
// front of the sublayers and one behind the last layer.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFaceModel.h"

using namespace heddle;

static void readMBartForm(ConfigReader &config, HuggingFaceConfig &model) {
  requireForm(config, model,
              {/*normalizeBefore=*/true, /*finalNorm=*/true,
               /*normalizeEmbedding=*/true, /*staticPositions=*/false});
  readPositions(config, model);
}

const HuggingFaceArchitecture heddle::kMBart = {
    "MBartForConditionalGeneration",
    "mbart",
    "model",
    /*vocabulary=*/50265,
    {/*start=*/std::nullopt, /*bos=*/0, /*eos=*/2, /*pad=*/1, /*forcedEos=*/2},
    kBartTables,
    /*sidesFallBack=*/true,
    readMBartForm,
    buildBartEncode,
    "MBartTokenizer"};
