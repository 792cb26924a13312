//===- ImportPegasus.cpp - Pegasus ----------------------------------------===//
//
// PegasusForConditionalGeneration (arXiv:1912.08777): BART with the norms in
// front of the sublayers, one behind the last layer, none behind the
// embeddings, and positions by formula.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/HuggingFaceModel.h"

using namespace heddle;

const HuggingFaceArchitecture heddle::kPegasus = {
    "PegasusForConditionalGeneration",
    "pegasus",
    "model",
    /*vocabulary=*/50265,
    {/*start=*/0, /*bos=*/std::nullopt, /*eos=*/1, /*pad=*/0, /*forcedEos=*/1},
    {/*normalizeBefore=*/true, /*finalNorm=*/true,
     /*normalizeEmbedding=*/false, /*staticPositions=*/true},
    /*hadOtherForms=*/false,
    /*readsForceBos=*/false,
    kBartTables,
    /*sidesFallBack=*/true,
    readPositions,
    buildBartEncode,
    "PegasusTokenizer"};
