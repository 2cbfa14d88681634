// The structure of a USD text layer: its prims, and where the values of the properties that
// describe meshes stand. Variants, references and sublayers are passed over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "supple/io/usda_scanner.h"
#include "supple/math/types.h"

namespace supple {

/// A value at one time code.
struct UsdaSample {
  double time = 0;
  UsdaSpan value;
};

/// A property of a prim.
struct UsdaProperty {
  std::string name;
  UsdaSpan value;                   ///< empty when there is none
  std::vector<UsdaSample> samples;  ///< in the file's order
  std::string interpolation;
};

/// A prim; only properties that describe meshes are kept.
struct UsdaPrim {
  std::string type;
  std::string name;
  bool is_defined = true;  ///< `def`, not in or below `over` or `class`
  int parent = -1;
  std::vector<UsdaProperty> properties;

  /// The property of that name, or null.
  const UsdaProperty* find(std::string_view property) const;
};

/// A layer: its metadata that matters to meshes, and its prims, parents before children.
struct UsdaLayer {
  double meters_per_unit = 0.01;      ///< USD's own default
  double time_codes_per_second = 24;  ///< USD's own default
  double start_time = 0;
  std::string up_axis = "Y";
  std::vector<UsdaPrim> prims;
};

/// Reads through a layer once; throws an input error where it is malformed or cut off.
UsdaLayer read_usda_layer(const InputFile& file);

/// A token or string value without its quotes.
std::string read_usda_text(const InputFile& file, const UsdaSpan& span);

/// A list of whole numbers: [1, 2, 3].
std::vector<int64_t> read_usda_integers(const InputFile& file, const UsdaSpan& span);

/// The numbers of a list of tuples, [(1, 2, 3), (4, 5, 6)], one tuple after the other; each must
/// have `components`.
std::vector<float> read_usda_tuples(const InputFile& file, const UsdaSpan& span, int components);

}  // namespace supple
