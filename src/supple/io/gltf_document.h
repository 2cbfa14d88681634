// A glTF 2.0 file as it stands: its JSON and its buffers. Reader and writer both work on this, so
// that what Supple does not understand (materials, cameras, extensions) passes through untouched.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "supple/core/bytes.h"
#include "supple/io/json_field.h"

namespace supple {

/// JSON and binary data of a glTF file; compressed geometry has been unpacked.
struct GltfDocument {
  std::string file;
  std::filesystem::path folder;  ///< where relative addresses start
  Json root;
  std::vector<Bytes> buffers;  ///< one per entry of root["buffers"]

  /// The JSON's root, for checked access.
  JsonField fields() const { return JsonField(root, file); }
};

/// Reads a .gltf or .glb with all buffers it refers to.
GltfDocument read_gltf_document(const std::filesystem::path& path);

/// Reads a .gltf or .glb from memory; `folder` is where external buffers are looked for (none when
/// empty).
GltfDocument parse_gltf_document(ByteView bytes, const std::string& file,
                                 const std::filesystem::path& folder);

/// The content of the file that `field`, a relative address, names.
Bytes read_beside(const GltfDocument& document, const JsonField& field);

/// The document as a .glb, all buffers joined into one; `output` is the file it is for.
Bytes serialise_glb(const GltfDocument& document, const std::string& output);

/// Throws an output error when a .glb of so many bytes cannot be: its header counts 32 bits.
void check_glb_size(const std::string& output, size_t bytes);

/// Appends `data` to the document's last buffer as a new buffer view; returns the view's number.
int add_buffer_view(GltfDocument& document, ByteView data);

/// Unpacks geometry compressed with KHR_draco_mesh_compression and EXT_meshopt_compression into
/// plain buffers and takes the extensions out of the document.
void unpack_compressed_geometry(GltfDocument& document);

/// Decodes base64 text; throws an input error about `field` when it is not valid.
Bytes decode_base64(std::string_view text, const JsonField& field);

}  // namespace supple
