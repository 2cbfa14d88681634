// Taking out of a glTF document what nothing refers to any more.
#pragma once

#include "supple/io/gltf_document.h"

namespace supple {

/// Removes accessors, buffer views and buffer bytes nothing refers to, and renumbers the rest.
/// Documents with extensions whose references we do not know are left as they are.
void remove_unused_data(GltfDocument& document);

/// Brings images that lie in files beside the document into its buffers, so that it can be written
/// elsewhere; returns the addresses of images that were not found.
std::vector<std::string> embed_images(GltfDocument& document);

}  // namespace supple
