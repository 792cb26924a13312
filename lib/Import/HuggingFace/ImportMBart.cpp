//===- ImportMBart.cpp - mBART --------------------------------------------===//
//
// MBartForConditionalGeneration (arXiv:2001.08210): BART with the norms in
// front of the sublayers and one behind the last layer.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/HuggingFaceModel.h"

using namespace heddle;

const HuggingFaceArchitecture heddle::kMBart = {
    "MBartForConditionalGeneration",
    "mbart",
    "model",
    /*vocabulary=*/50265,
    {/*start=*/std::nullopt, /*bos=*/0, /*eos=*/2, /*pad=*/1, /*forcedEos=*/2},
    {/*normalizeBefore=*/true, /*finalNorm=*/true,
     /*normalizeEmbedding=*/true, /*staticPositions=*/false},
    /*hadOtherForms=*/false,
    /*readsForceBos=*/false,
    kBartTables,
    /*sidesFallBack=*/true,
    readPositions,
    buildBartEncode,
    "MBartTokenizer"};
