#include "supple/io/obj_sequence_writer.h"

#include <fmt/format.h>

#include <iterator>

#include "supple/core/file.h"
#include "supple/io/export_frames.h"
#include "supple/io/split_files.h"
#include "supple/io/staging_folder.h"

namespace supple {
namespace {

// OBJ ends a name at white space.
std::string obj_name(const std::string& name, const char* otherwise) {
  std::string result = name;
  for (char& c : result)
    if (static_cast<unsigned char>(c) <= 32 || c == 127) c = '_';
  return result.empty() ? otherwise : result;
}

std::string texture_lines(const AnimatedSkin& skin, const VertexAttribute& uv) {
  std::string text;
  for (size_t v = 0; v < skin.rest.size(); ++v) {
    const Vec2f st = texture_coordinate(uv, v);
    fmt::format_to(std::back_inserter(text), "vt {} {}\n", st[0], st[1]);
  }
  return text;
}

void append_faces(std::string& text, const AnimatedSkin& skin, const Range& triangles,
                  bool textured) {
  for (int32_t t = triangles.first; t < triangles.end(); ++t) {
    const Vec3i corner = skin.triangles[t] + Vec3i::Ones();
    if (is_segment(corner))
      fmt::format_to(std::back_inserter(text), "l {} {}\n", corner[0], corner[1]);
    else if (textured)
      fmt::format_to(std::back_inserter(text), "f {0}/{0} {1}/{1} {2}/{2}\n", corner[0], corner[1],
                     corner[2]);
    else
      fmt::format_to(std::back_inserter(text), "f {} {} {}\n", corner[0], corner[1], corner[2]);
  }
}

// Everything after the positions: the same in all frames.
std::string constant_lines(const AnimatedSkin& skin) {
  const VertexAttribute* uv = find_attribute(skin, "TEXCOORD_0", 2);
  std::string text = uv ? texture_lines(skin, *uv) : std::string{};
  text += "s 1\n";
  UniqueNames names;
  for (const Part& part : parts_to_write(skin)) {
    text += fmt::format("g {}\n", names.take(obj_name(part.name, "part")));
    if (!part.material.empty()) text += fmt::format("usemtl {}\n", obj_name(part.material, ""));
    append_faces(text, skin, part.triangles, uv != nullptr);
  }
  return text;
}

std::string position_lines(const std::vector<Vec3f>& positions) {
  std::string text;
  text.reserve(positions.size() * 36);
  for (const Vec3f& p : positions)
    fmt::format_to(std::back_inserter(text), "v {} {} {}\n", p[0], p[1], p[2]);
  return text;
}

}  // namespace

void write_obj_sequence(const std::filesystem::path& path, const AnimatedSkin& skin,
                        const ExportOptions& options) {
  check_exportable(path, skin);
  const bool named = path.extension() == ".obj";
  const std::string stem = named ? path.stem().string() : file_stem(skin.name);
  StagingFolder folder(named ? path.parent_path() : path);
  const std::string object = fmt::format("o {}\n", obj_name(skin.name, "skin"));
  const std::string constant = constant_lines(skin);
  for_each_frame(path, skin, options, [&](int64_t number, const SkinFrame& frame) {
    AtomicFile file(folder.add(fmt::format("{}.{}.obj", stem, frame_digits(number))));
    file.write(object);
    file.write(position_lines(frame.positions));
    file.write(constant);
    file.commit();
  });
  if (!skin.split_map.empty())
    write_file(folder.add(stem + ".split.csv"), split_table(skin.split_map));
  folder.commit();
}

void write_obj_rest(const std::filesystem::path& path, const AnimatedSkin& skin,
                    const ExportOptions& options) {
  check_exportable(path, skin);
  std::vector<Vec3f> rest = skin.rest;
  for (Vec3f& p : rest) p = to_file_axes(p, options.up);
  AtomicFile file(path);
  file.write(fmt::format("o {}\n", obj_name(skin.name, "skin")));
  file.write(position_lines(rest));
  file.write(constant_lines(skin));
  file.commit();
}

}  // namespace supple
