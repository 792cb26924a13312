//===- MaskPicture.h - A mask as an image -----------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_MASKS_MASKPICTURE_H
#define HEDDLE_LIB_MASKS_MASKPICTURE_H

#include "lib/Masks/PairGrid.h"
#include <string>

namespace heddle {

/// What heads that are alike see; all of a picture have one length.
struct MaskPanel {
  std::vector<int64_t> heads;
  PairGrid grid;
};

struct MaskPicture {
  /// What the mask is, and whose.
  std::string mask, owner;
  /// One or more, drawn beside each other.
  std::vector<MaskPanel> panels;
  /// How many heads there are, drawn or not.
  int64_t numHeads;
};

/// An SVG document without scripts, in colours for light and dark grounds:
/// queries from top to bottom, keys from left to right. Pairs of tiles that
/// kernels take whole are darkest, those that they ask the predicate for
/// lighter; palest is what they compute and drop. Below stand the number of
/// pairs and their share, and that of tiles.
std::string drawMask(const MaskPicture &picture);

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_MASKPICTURE_H
