// What the exports share: checks before anything is written, the loop over frames, and names that
// other programs accept. Frames arrive one at a time, already in the file's axes.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "supple/core/bytes.h"
#include "supple/io/animated_skin.h"

namespace supple {

/// Throws an output error that names `path` when `skin` cannot be exported: no frames, no vertices,
/// positions that are not finite, a rate that is not positive, or triangles and attributes that do
/// not fit the vertices.
void check_exportable(const std::filesystem::path& path, const AnimatedSkin& skin);

/// Frame `index` of the skin, in our axes; throws an output error that names `path` when it does
/// not fit the skin or holds a position that is not finite.
SkinFrame checked_frame(const std::filesystem::path& path, const AnimatedSkin& skin, int index);

/// Calls `body` with the number of each frame and the frame itself, its positions in the axes
/// `options` asks for; throws an output error for a frame that does not fit the skin or holds a
/// position that is not finite.
void for_each_frame(const std::filesystem::path& path, const AnimatedSkin& skin,
                    const ExportOptions& options,
                    const std::function<void(int64_t number, const SkinFrame& frame)>& body);

/// The time of a frame in seconds: frame 0 is at 0.
double seconds_of_frame(const AnimatedSkin& skin, int64_t number);

/// A frame number for a file name: at least four digits, a sign only where it is negative.
std::string frame_digits(int64_t number);

/// The skin's parts where their triangles follow each other without gaps; else one part that holds
/// everything.
std::vector<Part> parts_to_write(const AnimatedSkin& skin);

/// True when the parts divide the vertices too: none shared, none left over.
bool parts_are_separate(const AnimatedSkin& skin, const std::vector<Part>& parts);

/// The attribute of that name with at least that many components, or null.
const VertexAttribute* find_attribute(const AnimatedSkin& skin, std::string_view name,
                                      int components);

/// Component `k` of a vertex, 0 where it is not finite.
float attribute_value(const VertexAttribute& attribute, size_t vertex, int k);

/// Texture coordinate of a vertex with v upwards (glTF's runs down).
Vec2f texture_coordinate(const VertexAttribute& attribute, size_t vertex);

/// Values of a part's vertices from those the part had in the input file, `components` per vertex:
/// their weighted means where the skin was split. Throws an output error naming `path` when they
/// are not as many as the skin's map says.
std::vector<float> split_values(const std::string& path, const AnimatedSkin& skin, const Part& part,
                                const std::vector<float>& values, int components);

/// `name` fit to be part of a file name; "skin" when nothing is left.
std::string file_stem(std::string_view name);

/// The bytes of consecutive positions: three float32 each.
ByteView position_bytes(const std::vector<Vec3f>& positions);

/// Gives out names that differ from each other by adding _2, _3, ... where needed.
class UniqueNames {
 public:
  /// `name`, or the first free variation of it.
  std::string take(const std::string& name);

 private:
  std::set<std::string> m_taken;
};

}  // namespace supple
