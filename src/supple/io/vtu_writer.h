// VTK XML for ParaView, VisIt and PyVista: one binary unstructured grid of triangles per frame and
// a .pvd file that gives each its time. Every map of the skin is point data.
#pragma once

#include <filesystem>

#include "supple/io/animated_skin.h"

namespace supple {

/// Writes NAME.pvd (for `path` NAME.pvd or NAME.vtu) and NAME_vtu/NAME_0001.vtu, ... (the frame's
/// number, at least four digits) beside it: positions in metres, times in seconds (frame number
/// divided by the rate), point data `displacement` (from the rest shape, in metres) and all maps,
/// cell data `part`; of a skin that was split also `source_vertices`, `source_weights` and, per
/// cell, `source_triangle`. Nothing is replaced unless all frames succeed.
void write_vtu(const std::filesystem::path& path, const AnimatedSkin& skin,
               const ExportOptions& options);

}  // namespace supple
