#include "supple/io/cache.h"

#include <algorithm>
#include <cmath>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/math/flat.h"

namespace supple {
namespace {

namespace fs = std::filesystem;

constexpr const char* format_name = "supple-cache";
constexpr int format_version = 1;

fs::path frame_path(const fs::path& folder, int frame) {
  return folder / "frames" / fmt::format("{}.chunk", frame);
}

// The folder a cache lies in; a slash at the end of its name changes nothing.
fs::path home_of(const fs::path& cache_folder) {
  const fs::path folder = fs::absolute(cache_folder).lexically_normal();
  return folder.has_filename() ? folder.parent_path() : folder.parent_path().parent_path();
}

// --- index and static chunk --------------------------------------------------------------------

// True for the arrays that show more of a body than its skin.
bool is_overlay(const ChunkArray& array) {
  return array.name.starts_with("mesh/") || array.name.starts_with("collider/");
}

Json parts_json(const CacheInfo& info) {
  Json parts = Json::array();
  for (const Part& part : info.parts)
    parts.push_back({{"name", part.name},
                     {"material", part.material},
                     {"joint", part.joint},
                     {"rigid", part.rigid},
                     {"source_node", part.source_node},
                     {"source_mesh", part.source_mesh},
                     {"source_primitive", part.source_primitive},
                     {"vertices", {part.vertices.first, part.vertices.count}},
                     {"triangles", {part.triangles.first, part.triangles.count}}});
  return parts;
}

std::string index_text(const CacheInfo& info, ByteView static_bytes) {
  Json joints = Json::array();
  for (const Joint& joint : info.joints)
    joints.push_back({{"name", joint.name},
                      {"parent", joint.parent},
                      {"bone", joint.is_bone},
                      {"source_node", joint.source_node}});
  const Json index = {
      {"format", format_name},
      {"version", format_version},
      {"name", info.name},
      {"source", {{"file", info.source}, {"checksum", fmt::format("{:016x}", info.source_sum)}}},
      {"frames",
       {{"first", info.range.first},
        {"last", info.range.last},
        {"rate", info.range.rate},
        {"clip_time", info.range.clip_time},
        {"preroll", info.range.preroll}}},
      {"vertices", info.skin.positions.size()},
      {"triangles", info.skin.triangles.size()},
      {"static_checksum", fmt::format("{:016x}", checksum(static_bytes))},
      {"parts", parts_json(info)},
      {"joints", joints},
      {"settings", info.settings}};
  return index.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Range parse_range(const JsonField& field, size_t limit) {
  if (field.size() != 2) field.fail("must be [first, count]");
  Range range;
  range.first = static_cast<int32_t>(field[size_t{0}].integer(0, static_cast<int64_t>(limit)));
  range.count =
      static_cast<int32_t>(field[size_t{1}].integer(0, static_cast<int64_t>(limit) - range.first));
  return range;
}

void parse_parts(const JsonField& parts, CacheInfo& info) {
  for (size_t i = 0; i < parts.size(); ++i) {
    const JsonField field = parts[i];
    Part part;
    part.name = field["name"].text();
    part.material = field["material"].text();
    part.joint =
        static_cast<int>(field["joint"].integer(-1, static_cast<int64_t>(info.joints.size()) - 1));
    part.rigid = field["rigid"].boolean();
    part.source_node = static_cast<int>(field["source_node"].integer(-1, 0x7FFFFFFF));
    part.source_mesh = static_cast<int>(field["source_mesh"].integer(-1, 0x7FFFFFFF));
    part.source_primitive = static_cast<int>(field["source_primitive"].integer(-1, 0x7FFFFFFF));
    part.vertices = parse_range(field["vertices"], info.skin.positions.size());
    part.triangles = parse_range(field["triangles"], info.skin.triangles.size());
    info.parts.push_back(std::move(part));
  }
}

void parse_joints(const JsonField& joints, CacheInfo& info) {
  for (size_t i = 0; i < joints.size(); ++i) {
    Joint joint;
    joint.name = joints[i]["name"].text();
    joint.parent = static_cast<int>(joints[i]["parent"].integer(-1, static_cast<int64_t>(i) - 1));
    joint.is_bone = joints[i]["bone"].boolean();
    joint.source_node = static_cast<int>(joints[i]["source_node"].integer(-1, 0x7FFFFFFF));
    info.joints.push_back(std::move(joint));
  }
}

FrameRange parse_frames(const JsonField& field) {
  constexpr int64_t most = 1'000'000'000;
  FrameRange range;
  range.first = static_cast<int>(field["first"].integer(-most, most));
  range.last = static_cast<int>(field["last"].integer(
      range.first, std::min<int64_t>(most, int64_t{range.first} + 10'000'000)));
  range.rate = field["rate"].number(1e-6, 1e6);
  range.clip_time = field["clip_time"].number();
  range.preroll = static_cast<int>(field["preroll"].integer(0, most));
  return range;
}

// Where a split skin comes from, if it was split; every number is checked, as exports rely on them.
SplitMap parse_split_map(const Chunk& chunk, int64_t vertices, int64_t triangles,
                         const std::string& file) {
  SplitMap map;
  if (!chunk.find("split/vertices")) return map;
  const auto sources = chunk.get<int32_t>("split/vertices", 3, vertices, file);
  const auto weights = chunk.get<float>("split/weights", 3, vertices, file);
  map.triangles = chunk.get<int32_t>("split/triangles", 1, triangles, file);
  map.vertices.resize(static_cast<size_t>(vertices));
  int32_t inputs = 0;
  for (size_t v = 0; v < map.vertices.size(); ++v) {
    for (size_t k = 0; k < 3; ++k) {
      map.vertices[v].vertices[static_cast<Eigen::Index>(k)] = sources[3 * v + k];
      map.vertices[v].weights[static_cast<Eigen::Index>(k)] = weights[3 * v + k];
    }
    const Vec3f& w = map.vertices[v].weights;
    if (!(w.minCoeff() >= 0 && w.sum() == 1))
      throw_input_error(file, "split/weights", fmt::format("those of vertex {} are no shares", v));
    inputs += map.vertices[v].is_input() ? 1 : 0;
  }
  for (const int32_t source : sources)
    if (source < 0 || source >= inputs)
      throw_input_error(file, "split/vertices", fmt::format("{} is not of the input", source));
  for (const int32_t triangle : map.triangles)
    if (triangle < 0 || triangle >= triangles)
      throw_input_error(file, "split/triangles", fmt::format("{} is not of the input", triangle));
  return map;
}

void parse_static(const Chunk& chunk, const JsonField& root, CacheInfo& info) {
  const auto vertices = root["vertices"].integer(0, 0x7FFFFFFF);
  const auto triangles = root["triangles"].integer(0, 0x7FFFFFFF);
  info.skin.positions = to_vectors(chunk.get<float>("rest", 3, vertices, root.file()));
  const std::vector<int32_t> corners = chunk.get<int32_t>("triangles", 3, triangles, root.file());
  for (size_t t = 0; t < corners.size(); t += 3) {
    for (size_t c = t; c < t + 3; ++c)
      if (corners[c] < 0 || corners[c] >= vertices)
        throw_input_error(root.file(), "triangles",
                          fmt::format("vertex {} does not exist", corners[c]));
    info.skin.triangles.emplace_back(corners[t], corners[t + 1], corners[t + 2]);
  }
  info.split_map = parse_split_map(chunk, vertices, triangles, root.file());
  constexpr std::string_view prefix = "attribute/";
  for (const ChunkArray& array : chunk.arrays())
    if (array.name.starts_with(prefix)) {
      constexpr uint32_t most_components = 1024;
      if (array.components > most_components)
        throw_input_error(root.file(), array.name, "has too many components");
      VertexAttribute attribute;
      attribute.name = array.name.substr(prefix.size());
      attribute.components = static_cast<int>(array.components);
      attribute.values = chunk.get<float>(array.name, array.components, vertices, root.file());
      info.attributes.push_back(std::move(attribute));
    } else if (is_overlay(array)) {
      info.extras.push_back(array);
    }
}

// --- comparing settings on resume --------------------------------------------------------------

// A setting that two runs do not have in common.
struct Difference {
  std::string path;
  Json ours, theirs;  // null where it is not set
};

// The first difference between two JSON values.
std::optional<Difference> first_difference(const Json& ours, const Json& theirs,
                                           const std::string& path) {
  if (!ours.is_object() || !theirs.is_object())
    return ours == theirs ? std::nullopt : std::optional(Difference{path, ours, theirs});
  Json all = ours;
  all.update(theirs);
  for (const auto& [key, unused] : all.items()) {
    auto found = first_difference(ours.value(key, Json()), theirs.value(key, Json()),
                                  path.empty() ? key : fmt::format("{}.{}", path, key));
    if (found) return found;
  }
  return std::nullopt;
}

std::string shown(const Json& value) {
  if (value.is_null()) return "not set";
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void remove_temporaries(const fs::path& folder) {
  std::error_code code;
  for (const fs::path& place : {folder, folder / "frames"})
    for (const auto& entry : fs::directory_iterator(place, code))
      if (is_temporary_file(entry.path())) fs::remove(entry.path(), code);
}

FolderLock lock_cache(const fs::path& folder) {
  return FolderLock(folder, "another run is writing this cache");
}

// True when a folder holds nothing but files a cache may have: what is left when a run is killed
// before its index is written.
bool only_cache_files(const fs::path& folder) {
  static const std::vector<std::string> known = {"index.json", "static.chunk", "checkpoint.chunk",
                                                 "report.json", "frames"};
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    if (!is_temporary_file(name) && std::find(known.begin(), known.end(), name) == known.end())
      return false;
  }
  for (const auto& entry : fs::directory_iterator(folder / "frames", code))
    if (!is_temporary_file(entry.path()) && entry.path().extension() != ".chunk") return false;
  return true;
}

// Empties an existing cache. The index goes first: what remains after a crash is no cache rather
// than a mixture of two.
void clear_cache(const fs::path& folder) {
  std::error_code code;
  fs::remove(folder / "index.json", code);
  for (const char* name : {"static.chunk", "checkpoint.chunk", "report.json"})
    fs::remove(folder / name, code);
  fs::remove_all(folder / "frames", code);
  if (code) throw_output_error(folder.string(), code.message());
  remove_temporaries(folder);
}

}  // namespace

CacheInfo cache_info(const Character& character, const FrameRange& range, Json settings,
                     const fs::path& cache_folder) {
  CacheInfo info;
  info.name = character.name;
  if (!character.source.empty()) {  // solids that are made have no file
    info.source = fs::absolute(character.source)
                      .lexically_normal()
                      .lexically_relative(home_of(cache_folder))
                      .generic_string();
    info.source_sum = checksum(read_file(character.source));
  }
  info.settings = std::move(settings);
  info.range = range;
  info.skin = character.skin;
  info.split_map = character.split_map;
  info.parts = character.parts;
  info.attributes = character.attributes;
  info.joints = character.skeleton.joints;
  return info;
}

void check_cache_name(const fs::path& folder) {
  std::error_code code;
  if (!fs::exists(folder, code)) return;
  if (!fs::is_directory(folder, code)) throw_output_error(folder.string(), "a file has that name");
  if (!is_cache(folder) && !only_cache_files(folder))
    throw_output_error(folder.string(), "the folder exists and is not a cache");
}

bool is_being_written(const fs::path& folder) { return is_locked(folder); }

bool is_cache(const fs::path& folder) {
  std::error_code code;
  return fs::is_regular_file(folder / "index.json", code) &&
         fs::is_regular_file(folder / "static.chunk", code);
}

CacheWriter CacheWriter::create(const fs::path& folder, const CacheInfo& info) {
  check_cache_name(folder);
  make_folder(folder);
  FolderLock lock = lock_cache(folder);
  clear_cache(folder);
  make_folder(folder / "frames");
  const Bytes static_bytes = static_chunk(info).serialise();
  write_file(folder / "static.chunk", static_bytes);
  write_file(folder / "index.json", index_text(info, static_bytes));
  return CacheWriter(folder, info.range, std::move(lock));
}

CacheWriter CacheWriter::resume(const fs::path& folder, const CacheInfo& info) {
  FolderLock lock = lock_cache(folder);
  const CacheReader existing(folder);
  const std::string file = (folder / "index.json").string();
  if (existing.info().source_sum != info.source_sum)
    throw_input_error(
        file, "source",
        "the character file has changed since this cache was begun; run without --resume");
  if (const auto found = first_difference(info.settings, existing.info().settings, ""))
    throw_input_error(file, "settings." + found->path,
                      fmt::format("is {} there and {} now; run without --resume to start again",
                                  shown(found->theirs), shown(found->ours)));
  const FrameRange &a = info.range, &b = existing.info().range;
  if (a.first != b.first || a.last != b.last || a.rate != b.rate || a.clip_time != b.clip_time ||
      a.preroll != b.preroll)
    throw_input_error(file, "frames", "differ from this run; run without --resume to start again");
  remove_temporaries(folder);
  make_folder(folder / "frames");
  return CacheWriter(folder, info.range, std::move(lock));
}

Chunk static_chunk(const CacheInfo& info) {
  Chunk chunk;
  chunk.add<float>("rest", as_floats(info.skin.positions), 3);
  chunk.add<int32_t>("triangles", as_ints(info.skin.triangles), 3);
  for (const VertexAttribute& attribute : info.attributes)
    chunk.add<float>("attribute/" + attribute.name, attribute.values,
                     static_cast<uint32_t>(attribute.components));
  if (!info.split_map.empty()) {
    std::vector<int32_t> vertices;
    std::vector<float> weights;
    for (const VertexSource& source : info.split_map.vertices)
      for (int k = 0; k < 3; ++k) {
        vertices.push_back(source.vertices[k]);
        weights.push_back(source.weights[k]);
      }
    chunk.add<int32_t>("split/vertices", vertices, 3);
    chunk.add<float>("split/weights", weights, 3);
    chunk.add<int32_t>("split/triangles", info.split_map.triangles);
  }
  for (const ChunkArray& extra : info.extras) chunk.add(extra);
  return chunk;
}

Chunk frame_chunk(const FrameRecord& record) {
  Chunk chunk;
  const std::vector<int32_t> frame = {record.frame};
  const std::vector<double> time = {record.time};
  chunk.add<int32_t>("frame", frame);
  chunk.add<double>("time", time);
  chunk.add<float>("positions", as_floats(record.body.positions), 3);
  // Joint-to-model matrices, row by row, the constant last row left out.
  std::vector<float> joints;
  joints.reserve(12 * record.joints.size());
  for (const Affine& m : record.joints)
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 4; ++column)
        joints.push_back(static_cast<float>(m(row, column)));
  chunk.add<float>("joints", joints, 12);
  for (const ChunkArray& extra : record.body.extras) chunk.add(extra);
  return chunk;
}

CacheFrame frame_from_chunk(const Chunk& chunk, size_t vertices, size_t joints,
                            std::string_view file) {
  CacheFrame frame;
  frame.frame = chunk.get<int32_t>("frame", 1, 1, file)[0];
  frame.time = chunk.get<double>("time", 1, 1, file)[0];
  frame.positions =
      to_vectors(chunk.get<float>("positions", 3, static_cast<int64_t>(vertices), file));
  const std::vector<float> values =
      chunk.get<float>("joints", 12, static_cast<int64_t>(joints), file);
  for (size_t j = 0; j < joints; ++j) {
    Affine m = Affine::Identity();
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 4; ++column)
        m(row, column) =
            static_cast<double>(values[12 * j + static_cast<size_t>(4 * row + column)]);
    frame.joints.push_back(m);
  }
  for (const ChunkArray& array : chunk.arrays())
    if (array.name.starts_with("map/") || is_overlay(array)) frame.extras.push_back(array);
  return frame;
}

void CacheWriter::write_frame(const FrameRecord& record) const {
  write_file(frame_path(m_folder, record.frame), frame_chunk(record).serialise());
}

void CacheWriter::write_checkpoint(const Chunk& state) const {
  write_file(m_folder / "checkpoint.chunk", state.serialise());
}

std::optional<Chunk> CacheWriter::usable_checkpoint() const {
  const fs::path path = m_folder / "checkpoint.chunk";
  try {
    Chunk state = Chunk::parse(read_file(path), path.string());
    const int next = state.get<int32_t>("session/next_frame", 1, 1, path.string())[0];
    if (next < m_range.first || next > m_range.last + 1) return std::nullopt;
    for (int frame = m_range.first; frame < next; ++frame) {
      const std::string file = frame_path(m_folder, frame).string();
      const Chunk chunk = Chunk::parse(read_file(file), file);
      if (chunk.get<int32_t>("frame", 1, 1, file)[0] != frame) return std::nullopt;
    }
    return state;
  } catch (const Error&) {
    return std::nullopt;  // no checkpoint, or frames are missing: the run starts from the first
                          // frame
  }
}

CacheInfo parse_cache_index(ByteView index, ByteView static_bytes, const std::string& file) {
  const Json json = parse_json(index, file);
  const JsonField root(json, file);
  if (root["format"].text() != format_name) root["format"].fail("is not a Supple cache");
  if (root["version"].integer() != format_version)
    root["version"].fail(fmt::format("{} is not supported (this program reads {})",
                                     root["version"].integer(), format_version));
  if (root["static_checksum"].text() != fmt::format("{:016x}", checksum(static_bytes)))
    root["static_checksum"].fail("does not match static.chunk: the cache is damaged");
  CacheInfo info;
  info.name = root["name"].text();
  info.source = root["source"]["file"].text();
  const std::string sum = root["source"]["checksum"].text();
  if (sum.size() != 16 || sum.find_first_not_of("0123456789abcdef") != std::string::npos)
    root["source"]["checksum"].fail("must be 16 hexadecimal digits");
  info.source_sum = std::stoull(sum, nullptr, 16);
  info.settings = root["settings"].value();
  info.range = parse_frames(root["frames"]);
  parse_static(Chunk::parse(static_bytes, file), root, info);
  parse_joints(root["joints"], info);
  parse_parts(root["parts"], info);
  return info;
}

CacheReader::CacheReader(fs::path folder) : m_folder(std::move(folder)) {
  std::error_code code;
  if (!fs::is_directory(m_folder, code))
    throw_input_error(m_folder.string(), "", "is not a cache: no such folder");
  const fs::path index = m_folder / "index.json";
  if (!fs::exists(index, code))
    throw_input_error(m_folder.string(), "",
                      "is not a cache (it has no index.json), nor does it hold numbered OBJ files");
  m_info =
      parse_cache_index(read_file(index), read_file(m_folder / "static.chunk"), index.string());
}

int CacheReader::frame_count(int known) const {
  std::error_code code;
  int count = known;
  while (count < m_info.range.count() &&
         fs::is_regular_file(frame_path(m_folder, m_info.range.first + count), code))
    ++count;
  return count;
}

CacheFrame CacheReader::parse_frame(ByteView bytes, int frame) const {
  const std::string file = frame_path(m_folder, frame).string();
  CacheFrame result = frame_from_chunk(Chunk::parse(bytes, file), m_info.skin.positions.size(),
                                       m_info.joints.size(), file);
  if (result.frame != frame)
    throw_input_error(file, "frame",
                      fmt::format("holds frame {} instead of {}", result.frame, frame));
  for (const Vec3f& p : result.positions)
    if (!p.allFinite()) throw_input_error(file, "positions", "are not all finite");
  return result;
}

CacheFrame CacheReader::read_frame(int frame) const {
  return parse_frame(read_file(frame_path(m_folder, frame)), frame);
}

Bytes CacheReader::read_frame_bytes(int frame) const {
  Bytes bytes = read_file(frame_path(m_folder, frame));
  parse_frame(bytes, frame);
  return bytes;
}

std::vector<std::string> CacheReader::map_names(const CacheFrame& frame) const {
  constexpr std::string_view prefix = "map/";
  std::vector<std::string> names;
  for (const ChunkArray& extra : frame.extras)
    if (extra.name.starts_with(prefix) && extra.type == ElementType::f32 && extra.components == 1 &&
        extra.rows() == m_info.skin.positions.size())
      names.push_back(extra.name.substr(prefix.size()));
  return names;
}

fs::path CacheReader::source_path() const {
  if (m_info.source.empty()) return {};
  return (home_of(m_folder) / m_info.source).lexically_normal();
}

AnimatedSkin CacheReader::animated_skin() const {
  AnimatedSkin skin;
  skin.name = m_info.name;
  skin.rest = m_info.skin.positions;
  skin.triangles = m_info.skin.triangles;
  skin.parts = m_info.parts;
  skin.attributes = m_info.attributes;
  skin.split_map = m_info.split_map;
  skin.rate = m_info.range.rate;
  skin.first_frame = m_info.range.first;
  skin.frame_count = frame_count();
  // The maps of the first frame are the maps of all.
  if (skin.frame_count > 0) skin.map_names = map_names(read_frame(skin.first_frame));
  skin.frame = [this, names = skin.map_names](int index) {
    CacheFrame frame = read_frame(m_info.range.first + index);
    SkinFrame result{std::move(frame.positions), {}};
    for (const std::string& name : names) {
      std::vector<float> values(result.positions.size(), 0.0f);
      for (const ChunkArray& extra : frame.extras)
        if (extra.name == "map/" + name && extra.data.size() == values.size() * sizeof(float))
          std::memcpy(values.data(), extra.data.data(), extra.data.size());
      result.maps.push_back(std::move(values));
    }
    return result;
  };
  return skin;
}

}  // namespace supple
