#include "supple/rig/character_chunk.h"

#include <array>
#include <span>
#include <string>
#include <vector>

#include "supple/core/error.h"

namespace supple {
namespace {

constexpr uint32_t transform_size = 10;  // translation, rotation as x y z w, scale
constexpr uint32_t affine_size = 12;     // the upper three rows, row by row

// Writing -------------------------------------------------------------------------------------

// Adds one array made of `row(item)`, an std::array of elements, for every item.
template <class T, size_t N, class Items, class Row>
void add_rows(Chunk& chunk, std::string name, const Items& items, const Row& row) {
  std::vector<T> values;
  values.reserve(items.size() * N);
  for (const auto& item : items) {
    const std::array<T, N> fields = row(item);
    values.insert(values.end(), fields.begin(), fields.end());
  }
  chunk.add<T>(std::move(name), values, N);
}

// Adds the texts `text(item)` as one array of bytes and one of lengths.
template <class Items, class Text>
void add_texts(Chunk& chunk, const std::string& name, const Items& items, const Text& text) {
  std::string joined;
  std::vector<int32_t> sizes;
  for (const auto& item : items) {
    const std::string& one = text(item);
    joined += one;
    sizes.push_back(static_cast<int32_t>(one.size()));
  }
  chunk.add_text(name, joined);
  chunk.add<int32_t>(name + ".sizes", sizes);
}

std::array<double, transform_size> transform_row(const Transform& t) {
  return {t.translation[0], t.translation[1], t.translation[2], t.rotation.x(), t.rotation.y(),
          t.rotation.z(),   t.rotation.w(),   t.scale[0],       t.scale[1],     t.scale[2]};
}

std::array<double, affine_size> affine_row(const Affine& matrix) {
  std::array<double, affine_size> row{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) row[4 * i + j] = matrix(i, j);
  return row;
}

void add_skeleton(Chunk& chunk, const Skeleton& skeleton) {
  const auto& joints = skeleton.joints;
  add_texts(
      chunk, "joint_names", joints, [](const Joint& j) -> auto& { return j.name; });
  add_rows<int32_t, 4>(chunk, "joints", joints, [](const Joint& j) {
    return std::array<int32_t, 4>{j.parent, j.is_bone, j.source_node, j.sheared.has_value()};
  });
  add_rows<double, transform_size>(chunk, "joint_rest", joints,
                                   [](const Joint& j) { return transform_row(j.rest); });
  std::vector<Affine> sheared;
  for (const Joint& joint : joints)
    if (joint.sheared) sheared.push_back(*joint.sheared);
  add_rows<double, affine_size>(chunk, "joint_sheared", sheared, affine_row);
}

void add_skin(Chunk& chunk, const Character& character) {
  const auto& [positions, triangles] = character.skin;
  add_rows<float, 3>(chunk, "positions", positions, [](const Vec3f& p) {
    return std::array<float, 3>{p[0], p[1], p[2]};
  });
  add_rows<int32_t, 3>(chunk, "triangles", triangles, [](const Vec3i& t) {
    return std::array<int32_t, 3>{t[0], t[1], t[2]};
  });
  const auto& parts = character.parts;
  add_texts(
      chunk, "part_names", parts, [](const Part& p) -> auto& { return p.name; });
  add_texts(
      chunk, "part_materials", parts, [](const Part& p) -> auto& { return p.material; });
  add_rows<int32_t, 8>(chunk, "parts", parts, [](const Part& p) {
    return std::array<int32_t, 8>{p.joint,           p.source_mesh,    p.source_primitive,
                                  p.rigid,           p.vertices.first, p.vertices.count,
                                  p.triangles.first, p.triangles.count};
  });
  const auto& attributes = character.attributes;
  add_texts(
      chunk, "attribute_names", attributes, [](const auto& a) -> auto& { return a.name; });
  std::vector<int32_t> components;
  std::vector<float> values;
  for (const VertexAttribute& attribute : attributes) {
    components.push_back(attribute.components);
    values.insert(values.end(), attribute.values.begin(), attribute.values.end());
  }
  chunk.add<int32_t>("attribute_components", components);
  chunk.add<float>("attribute_values", values);
}

void add_weights(Chunk& chunk, const Character& character) {
  std::vector<int32_t> joints, influencing;
  std::vector<float> weights;
  for (const Bind& bind : character.binds) joints.push_back(bind.joint);
  for (const Influence& influence : character.weights.influences) {
    influencing.push_back(influence.bind);
    weights.push_back(influence.weight);
  }
  chunk.add<int32_t>("bind_joints", joints);
  add_rows<double, affine_size>(chunk, "bind_matrices", character.binds,
                                [](const Bind& bind) { return affine_row(bind.rest_to_joint); });
  chunk.add<int32_t>("weight_offsets", character.weights.offsets);
  chunk.add<int32_t>("weight_binds", influencing);
  chunk.add<float>("weights", weights);
}

void add_shapes(Chunk& chunk, const std::vector<BlendShape>& shapes) {
  std::vector<int32_t> sizes, vertices;
  std::vector<Vec3f> offsets;
  std::vector<double> rest_weights;
  for (const BlendShape& shape : shapes) {
    sizes.push_back(static_cast<int32_t>(shape.vertices.size()));
    vertices.insert(vertices.end(), shape.vertices.begin(), shape.vertices.end());
    offsets.insert(offsets.end(), shape.offsets.begin(), shape.offsets.end());
    rest_weights.push_back(shape.rest_weight);
  }
  add_texts(
      chunk, "shape_names", shapes, [](const BlendShape& s) -> auto& { return s.name; });
  chunk.add<int32_t>("shape_sizes", sizes);
  chunk.add<int32_t>("shape_vertices", vertices);
  add_rows<float, 3>(chunk, "shape_offsets", offsets, [](const Vec3f& o) {
    return std::array<float, 3>{o[0], o[1], o[2]};
  });
  chunk.add<double>("shape_rest_weights", rest_weights);
}

void add_clips(Chunk& chunk, const std::vector<Clip>& clips) {
  std::vector<int32_t> channel_counts, channels;
  std::vector<double> rates, times, values;
  for (const Clip& clip : clips) {
    rates.push_back(clip.rate);
    channel_counts.push_back(static_cast<int32_t>(clip.channels.size()));
    for (const Channel& c : clip.channels) {
      for (const int field : {static_cast<int>(c.target), static_cast<int>(c.interpolation),
                              c.joint, c.first_shape, c.width, static_cast<int>(c.times.size())})
        channels.push_back(field);
      times.insert(times.end(), c.times.begin(), c.times.end());
      values.insert(values.end(), c.values.begin(), c.values.end());
    }
  }
  add_texts(
      chunk, "clip_names", clips, [](const Clip& c) -> auto& { return c.name; });
  chunk.add<double>("clip_rates", rates);
  chunk.add<int32_t>("clip_channel_counts", channel_counts);
  chunk.add<int32_t>("channels", channels, 6);
  chunk.add<double>("channel_times", times);
  chunk.add<double>("channel_values", values);
}

// Reading -------------------------------------------------------------------------------------

// Reads a chunk's arrays, and cuts them into the pieces that other arrays give the sizes of.
class ChunkReader {
 public:
  ChunkReader(const Chunk& chunk, std::string_view file) : m_chunk(chunk), m_file(file) {}

  // The next `count` items of an array, moving `at` past them.
  template <class Items>
  auto take(Items items, size_t& at, int64_t count, std::string_view name) const {
    if (count < 0 || static_cast<uint64_t>(count) > items.size() - at)
      throw_input_error(m_file, name, fmt::format("array has no {} more items", count));
    const auto piece = items.subspan(at, static_cast<size_t>(count));
    at += static_cast<size_t>(count);
    return piece;
  }

  template <class T>
  std::vector<T> get(std::string_view name, uint32_t components = 1, int64_t rows = -1) const {
    return m_chunk.get<T>(name, components, rows, m_file);
  }

  std::string text(std::string_view name) const { return m_chunk.get_text(name, m_file); }

  std::vector<std::string> texts(const std::string& name) const {
    const std::string joined = text(name);
    std::vector<std::string> result;
    size_t at = 0;
    for (const int32_t size : get<int32_t>(name + ".sizes")) {
      const auto piece = take(std::span(joined), at, size, name);
      result.emplace_back(piece.begin(), piece.end());
    }
    finish(joined.size(), at, name);
    return result;
  }

  // The whole of an array must have been taken.
  void finish(size_t size, size_t at, std::string_view name) const {
    if (at != size)
      throw_input_error(m_file, name, fmt::format("array has {} items too many", size - at));
  }

  [[noreturn]] void refuse(std::string_view name, std::string_view problem) const {
    throw_input_error(m_file, name, problem);
  }

 private:
  const Chunk& m_chunk;
  std::string_view m_file;
};

Transform read_transform(const double* v) {
  Transform transform;
  transform.translation = Vec3d(v[0], v[1], v[2]);
  transform.rotation = Quatd(v[6], v[3], v[4], v[5]);
  transform.scale = Vec3d(v[7], v[8], v[9]);
  return transform;
}

Affine read_affine(const double* v) {
  Affine matrix = Affine::Identity();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) matrix(i, j) = v[4 * i + j];
  return matrix;
}

Skeleton read_skeleton(const ChunkReader& in) {
  const std::vector<std::string> names = in.texts("joint_names");
  const auto count = static_cast<int64_t>(names.size());
  const auto fields = in.get<int32_t>("joints", 4, count);
  const auto rest = in.get<double>("joint_rest", transform_size, count);
  const auto sheared = in.get<double>("joint_sheared", affine_size);
  Skeleton skeleton;
  skeleton.joints.resize(names.size());
  size_t used = 0;
  for (size_t j = 0; j < names.size(); ++j) {
    Joint& joint = skeleton.joints[j];
    joint.name = names[j];
    joint.parent = fields[4 * j];
    joint.is_bone = fields[4 * j + 1] != 0;
    joint.source_node = fields[4 * j + 2];
    joint.rest = read_transform(&rest[transform_size * j]);
    if (fields[4 * j + 3] != 0)
      joint.sheared =
          read_affine(in.take(std::span(sheared), used, affine_size, "joint_sheared").data());
  }
  in.finish(sheared.size(), used, "joint_sheared");
  return skeleton;
}

std::vector<Vec3f> read_points(const ChunkReader& in, std::string_view name, int64_t rows = -1) {
  const auto values = in.get<float>(name, 3, rows);
  std::vector<Vec3f> points(values.size() / 3);
  for (size_t i = 0; i < points.size(); ++i) points[i] = Eigen::Map<const Vec3f>(&values[3 * i]);
  return points;
}

void read_skin(const ChunkReader& in, Character& character) {
  character.skin.positions = read_points(in, "positions");
  const auto corners = in.get<int32_t>("triangles", 3);
  for (size_t i = 0; i < corners.size(); i += 3)
    character.skin.triangles.emplace_back(corners[i], corners[i + 1], corners[i + 2]);
  const std::vector<std::string> names = in.texts("part_names");
  const std::vector<std::string> materials = in.texts("part_materials");
  if (materials.size() != names.size()) in.refuse("part_materials", "one per part is needed");
  const auto fields = in.get<int32_t>("parts", 8, static_cast<int64_t>(names.size()));
  for (size_t p = 0; p < names.size(); ++p) {
    const int32_t* f = &fields[8 * p];
    character.parts.push_back(
        {names[p], materials[p], f[0], f[1], f[2], f[3] != 0, {f[4], f[5]}, {f[6], f[7]}});
  }
}

void read_attributes(const ChunkReader& in, Character& character) {
  const std::vector<std::string> names = in.texts("attribute_names");
  const auto components =
      in.get<int32_t>("attribute_components", 1, static_cast<int64_t>(names.size()));
  const auto values = in.get<float>("attribute_values");
  const auto vertices = static_cast<int64_t>(character.skin.positions.size());
  size_t used = 0;
  for (size_t a = 0; a < names.size(); ++a) {
    const auto piece =
        in.take(std::span(values), used, vertices * components[a], "attribute_values");
    character.attributes.push_back({names[a], components[a], {piece.begin(), piece.end()}});
  }
  in.finish(values.size(), used, "attribute_values");
}

void read_weights(const ChunkReader& in, Character& character) {
  const auto joints = in.get<int32_t>("bind_joints");
  const auto matrices =
      in.get<double>("bind_matrices", affine_size, static_cast<int64_t>(joints.size()));
  for (size_t b = 0; b < joints.size(); ++b)
    character.binds.push_back({joints[b], read_affine(&matrices[affine_size * b])});
  const auto binds = in.get<int32_t>("weight_binds");
  const auto weights = in.get<float>("weights", 1, static_cast<int64_t>(binds.size()));
  character.weights.offsets = in.get<int32_t>("weight_offsets");
  for (size_t i = 0; i < binds.size(); ++i)
    character.weights.influences.push_back({binds[i], weights[i]});
}

void read_shapes(const ChunkReader& in, Character& character) {
  const std::vector<std::string> names = in.texts("shape_names");
  const auto count = static_cast<int64_t>(names.size());
  const auto sizes = in.get<int32_t>("shape_sizes", 1, count);
  const auto rest_weights = in.get<double>("shape_rest_weights", 1, count);
  const auto vertices = in.get<int32_t>("shape_vertices");
  const auto offsets = read_points(in, "shape_offsets", static_cast<int64_t>(vertices.size()));
  size_t used = 0;
  for (size_t s = 0; s < names.size(); ++s) {
    const auto first = offsets.begin() + static_cast<ptrdiff_t>(used);
    const auto moved = in.take(std::span(vertices), used, sizes[s], "shape_vertices");
    character.shapes.push_back(
        {names[s], {moved.begin(), moved.end()}, {first, first + sizes[s]}, rest_weights[s]});
  }
  in.finish(vertices.size(), used, "shape_vertices");
}

Channel read_channel(const ChunkReader& in, const int32_t* fields) {
  Channel channel;
  if (fields[0] < 0 || fields[0] > static_cast<int>(ChannelTarget::shape_weights))
    in.refuse("channels", fmt::format("unknown target {}", fields[0]));
  if (fields[1] < 0 || fields[1] > static_cast<int>(Interpolation::cubic_spline))
    in.refuse("channels", fmt::format("unknown interpolation {}", fields[1]));
  channel.target = static_cast<ChannelTarget>(fields[0]);
  channel.interpolation = static_cast<Interpolation>(fields[1]);
  channel.joint = fields[2];
  channel.first_shape = fields[3];
  channel.width = fields[4];
  return channel;
}

// Values a channel holds for every key.
int64_t values_per_key(const Channel& channel) {
  return int64_t{channel.width} * (channel.interpolation == Interpolation::cubic_spline ? 3 : 1);
}

void read_clips(const ChunkReader& in, Character& character) {
  const std::vector<std::string> names = in.texts("clip_names");
  const auto count = static_cast<int64_t>(names.size());
  const auto rates = in.get<double>("clip_rates", 1, count);
  const auto channel_counts = in.get<int32_t>("clip_channel_counts", 1, count);
  const auto channels = in.get<int32_t>("channels", 6);
  const auto times = in.get<double>("channel_times");
  const auto values = in.get<double>("channel_values");
  size_t used_fields = 0, used_times = 0, used_values = 0;
  for (size_t c = 0; c < names.size(); ++c) {
    Clip clip{names[c], {}, rates[c]};
    if (channel_counts[c] < 0) in.refuse("clip_channel_counts", "must be zero or more");
    for (int32_t i = 0; i < channel_counts[c]; ++i) {
      const auto fields = in.take(std::span(channels), used_fields, 6, "channels");
      Channel channel = read_channel(in, fields.data());
      const auto keys = in.take(std::span(times), used_times, fields[5], "channel_times");
      const auto content =
          in.take(std::span(values), used_values,
                  values_per_key(channel) * static_cast<int64_t>(keys.size()), "channel_values");
      channel.times.assign(keys.begin(), keys.end());
      channel.values.assign(content.begin(), content.end());
      clip.channels.push_back(std::move(channel));
    }
    character.clips.push_back(std::move(clip));
  }
  in.finish(channels.size(), used_fields, "channels");
  in.finish(times.size(), used_times, "channel_times");
  in.finish(values.size(), used_values, "channel_values");
}

}  // namespace

Chunk to_chunk(const Character& character) {
  const auto itself = [](const std::string& text) -> auto& { return text; };
  Chunk chunk;
  chunk.add_text("name", character.name);
  chunk.add_text("source", character.source);
  add_texts(chunk, "notes", character.notes, itself);
  add_skeleton(chunk, character.skeleton);
  add_skin(chunk, character);
  add_weights(chunk, character);
  add_shapes(chunk, character.shapes);
  add_clips(chunk, character.clips);
  return chunk;
}

Character character_from_chunk(const Chunk& chunk, std::string_view file) {
  const ChunkReader in(chunk, file);
  Character character;
  character.name = in.text("name");
  character.source = in.text("source");
  character.notes = in.texts("notes");
  character.skeleton = read_skeleton(in);
  read_skin(in, character);
  read_attributes(in, character);
  read_weights(in, character);
  read_shapes(in, character);
  read_clips(in, character);
  check_character(character, file);
  return character;
}

}  // namespace supple
