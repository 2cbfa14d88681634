// glTF accessors: typed arrays inside buffers, with strides, normalised integers and sparse parts.
#pragma once

#include <cstdint>
#include <vector>

#include "supple/io/gltf_document.h"

namespace supple {

/// Component types of glTF accessors.
enum class GltfComponent { i8 = 5120, u8 = 5121, i16 = 5122, u16 = 5123, u32 = 5125, f32 = 5126 };

/// Size of a component in bytes; 0 for a number that is no component type.
size_t component_size(int64_t component);

/// Components of an element type ("VEC3" has 3); 0 for an unknown type.
int components_of_type(std::string_view type);

/// The accessor `index` as floats, `components` per element; normalised integers become fractions.
/// `field` is the place that refers to it, for messages. Values must be finite.
std::vector<float> read_float_accessor(const GltfDocument& document, const JsonField& field,
                                       int components);

/// The accessor as unsigned integers, `components` per element; its type must be an unsigned
/// integer.
std::vector<uint32_t> read_integer_accessor(const GltfDocument& document, const JsonField& field,
                                            int components);

/// Number of elements of the accessor that `field` refers to.
size_t accessor_count(const GltfDocument& document, const JsonField& field);

/// Number of components per element of the accessor that `field` refers to.
int accessor_components(const GltfDocument& document, const JsonField& field);

}  // namespace supple
