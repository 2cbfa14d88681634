// Adding accessors to a glTF document.
#pragma once

#include <span>

#include "supple/io/gltf_document.h"
#include "supple/math/types.h"

namespace supple {

/// Adds `count` elements of a component type and element type ("VEC3"); returns the accessor's
/// number.
int add_accessor(GltfDocument& document, ByteView data, int component, const char* type,
                 size_t count);

/// Adds floats, as many per element as `type` has components; returns the accessor's number.
int add_float_accessor(GltfDocument& document, std::span<const float> values, const char* type);

/// Adds vectors; with `bounds` their smallest and largest values are stated, as positions must.
int add_vector_accessor(GltfDocument& document, const std::vector<Vec3f>& values, bool bounds);

/// Adds key times in seconds, with their bounds.
int add_time_accessor(GltfDocument& document, std::span<const float> times);

/// Adds vertex indices.
int add_index_accessor(GltfDocument& document, std::span<const uint32_t> indices);

}  // namespace supple
