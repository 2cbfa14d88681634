// Taking out of a glTF document what nothing refers to any more.
#pragma once

#include "supple/io/gltf_document.h"

namespace supple {

/// Removes accessors, buffer views and buffer bytes nothing refers to, and renumbers the rest.
/// Documents with extensions whose references we do not know are left as they are.
void remove_unused_data(GltfDocument& document);

/// Brings images that lie in files beside the document into its buffers, so that it can be written
/// elsewhere. Images that cannot be had are taken out of the document, with the textures that show
/// them taken off their materials; returns what was wrong with each, one line naming file and
/// field.
std::vector<std::string> embed_images(GltfDocument& document);

}  // namespace supple
