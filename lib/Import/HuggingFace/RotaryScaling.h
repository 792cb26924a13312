//===- RotaryScaling.h - Rotary positions of config.json --------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_ROTARYSCALING_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_ROTARYSCALING_H

#include "lib/Import/HuggingFace/ConfigReader.h"
#include "lib/Import/LayerBuilder.h"

namespace heddle {

/// Reads `rope_theta`, whose default is the class's, and `rope_scaling` of a
/// network with so many frequencies and positions. Fails in `config` if it
/// scales in another way than by a factor or as Llama 3.1.
LayerBuilder::Rotary readRotary(ConfigReader &config, double usualBase,
                                int64_t count);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_ROTARYSCALING_H
