// Tetrahedral meshes from Medit, Gmsh and TetGen files.
//
// Common to all formats: tetrahedra come back positively oriented, in the file's order; nodes stay
// in the file's order, less those no tetrahedron uses (other elements' nodes, mid-edge nodes of
// higher-order tetrahedra, which keep their four corners). Other elements, regions and markers are
// skipped. A tetrahedron without volume is an error. Lengths stay in the file's units.
#pragma once

#include <filesystem>
#include <string>

#include "supple/core/bytes.h"
#include "supple/mesh/tet_mesh.h"

namespace supple {

/// Reads a tetrahedral mesh, the format chosen by the extension: .mesh (Medit), .msh (Gmsh), .node
/// or .ele (TetGen; the other of the two lies beside it).
TetMesh read_tets(const std::filesystem::path& path);

/// Reads a Medit .mesh file (text, three dimensions) from memory; `file` names it in errors.
TetMesh parse_medit(ByteView bytes, const std::string& file);

/// Reads a Gmsh .msh file (versions 2.x, 4.0 and 4.1, text or binary of either byte order) from
/// memory; `file` names it in errors.
TetMesh parse_gmsh(ByteView bytes, const std::string& file);

/// Reads TetGen's .node and .ele files (nodes counted from 0 or 1) from memory; the names are for
/// errors.
TetMesh parse_tetgen(ByteView nodes, const std::string& node_file, ByteView elements,
                     const std::string& element_file);

/// Makes a mesh as read what the readers promise: drops unused nodes, orients all tetrahedra
/// positively, and refuses, naming `file`, a mesh without tetrahedra or with one without volume.
void finish_tets(TetMesh& mesh, const std::string& file);

}  // namespace supple
