// Scene files: JSON in, JSON out, and the JSON Schema editors complete them with.
#pragma once

#include <filesystem>
#include <string>

#include "supple/io/json_field.h"
#include "supple/sim/scene.h"

namespace supple {

/// Reads a scene file; paths in it come out relative to the working folder, not to the file.
Scene read_scene(const std::filesystem::path& path);

/// Reads a scene from memory; unknown fields are refused with the nearest known one.
Scene parse_scene(ByteView bytes, const std::string& file);

/// A scene as JSON with every field written out.
Json scene_to_json(const Scene& scene);

/// The JSON Schema of scene files (docs/scene.schema.json).
Json scene_schema();

}  // namespace supple
