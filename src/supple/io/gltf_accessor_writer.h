// Adding accessors to a glTF document.
#pragma once

#include <span>

#include "supple/io/gltf_document.h"
#include "supple/rig/character.h"

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

/// Adds the triangles of a part as indices into its own vertices.
int add_part_indices(GltfDocument& document, std::span<const Vec3i> triangles, const Part& part);

/// Adds a part's share of per-vertex attributes to a primitive's attributes, under names and within
/// limits that make a valid file.
void add_part_attributes(GltfDocument& document, const std::vector<VertexAttribute>& given,
                         const Part& part, Json& attributes);

/// Adds where a part's share of a split skin comes from to a primitive's attributes:
/// `_SOURCE_VERTICES`, by numbers within the part's vertices in the input file, and
/// `_SOURCE_WEIGHTS`. Adds nothing for a skin that was not split.
void add_part_sources(GltfDocument& document, const SplitMap& map, const Part& part,
                      Json& attributes);

}  // namespace supple
