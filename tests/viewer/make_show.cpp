// Writes caches for the tests of the page: make_show FOLDER [VERTICES FRAMES].
//
// sphere.supple    6 frames from 1001, with maps, lattice cells, tetrahedra, segments, colliders
// shifted.supple   the same, vertex v moved by v * 1e-4 m along x at every frame
// damaged.supple   the same as the first, frame 1003 damaged
// other.supple     another number of vertices
// big.supple       VERTICES and FRAMES, where given
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "supple/core/file.h"
#include "supple/io/cache.h"
#include "supple/io/report_file.h"

namespace {

using namespace supple;

constexpr double pi = 3.14159265358979323846;
constexpr int first_frame = 1001;

struct Show {
  int rings = 24;
  int frames = 6;
  double shift = 0;  // metres along x per vertex number
  bool overlays = true;
};

// A sphere of radius 0.5 m on the ground, `rings` by twice as many vertices and the poles.
Character sphere(int rings) {
  Character character;
  character.name = "sphere";
  const int segments = 2 * rings;
  character.skin.positions.emplace_back(0.0f, 1.0f, 0.0f);
  for (int i = 1; i <= rings; ++i)
    for (int j = 0; j < segments; ++j) {
      const double polar = pi * i / (rings + 1), around = 2 * pi * j / segments;
      character.skin.positions.push_back(Vec3d(0.5 * std::sin(polar) * std::sin(around),
                                               0.5 + 0.5 * std::cos(polar),
                                               0.5 * std::sin(polar) * std::cos(around))
                                             .cast<float>());
    }
  character.skin.positions.emplace_back(0.0f, 0.0f, 0.0f);
  const auto at = [&](int ring, int j) { return 1 + (ring - 1) * segments + j % segments; };
  const int last = static_cast<int>(character.skin.positions.size()) - 1;
  for (int j = 0; j < segments; ++j) {
    character.skin.triangles.emplace_back(0, at(1, j), at(1, j + 1));
    for (int i = 1; i < rings; ++i) {
      character.skin.triangles.emplace_back(at(i, j), at(i + 1, j), at(i + 1, j + 1));
      character.skin.triangles.emplace_back(at(i, j), at(i + 1, j + 1), at(i, j + 1));
    }
    character.skin.triangles.emplace_back(last, at(rings, j + 1), at(rings, j));
  }
  Part part;
  part.name = "sphere";
  part.vertices = {0, static_cast<int32_t>(character.skin.positions.size())};
  part.triangles = {0, static_cast<int32_t>(character.skin.triangles.size())};
  character.parts.push_back(part);
  for (int j = 0; j < 3; ++j) {
    Joint joint;
    joint.name = "bone" + std::to_string(j);
    joint.parent = j - 1;
    joint.is_bone = true;
    character.skeleton.joints.push_back(joint);
  }
  return character;
}

// A cube of cells around the sphere: `side` cells along each edge.
void add_cells(int side, Chunk& nodes, Chunk& cells, float height) {
  std::vector<float> positions;
  std::vector<int32_t> corners;
  const int n = side + 1;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
        for (const float value : {static_cast<float>(i) / static_cast<float>(side) - 0.5f,
                                  static_cast<float>(j) / static_cast<float>(side) + height,
                                  static_cast<float>(k) / static_cast<float>(side) - 0.5f})
          positions.push_back(value);
  for (int k = 0; k < side; ++k)
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i)
        for (int c = 0; c < 8; ++c)
          corners.push_back((i + (c & 1)) + n * ((j + (c >> 1 & 1)) + n * (k + (c >> 2))));
  nodes.add<float>("mesh/nodes", positions, 3);
  cells.add<int32_t>("mesh/hexahedra", corners, 8);
  cells.add<int32_t>("mesh/tetrahedra", std::vector<int32_t>{0, 1, n, n * n}, 4);
  cells.add<int32_t>("mesh/segments", std::vector<int32_t>{0, n * n * n - 1}, 2);
}

void add_collider(Chunk& chunk) {
  const std::vector<float> corners = {-1, 0, -1, 1, 0, -1, 1, 0, 1, -1, 0, 1};
  chunk.add<float>("collider/vertices", corners, 3);
  chunk.add<int32_t>("collider/triangles", std::vector<int32_t>{0, 2, 1, 0, 3, 2}, 3);
}

FrameRecord frame_of(const Character& character, const Show& show, int index) {
  FrameRecord record;
  record.frame = first_frame + index;
  record.time = index / 24.0;
  const float height = 0.05f * static_cast<float>(index);
  std::vector<float> stretch, volume, contact;
  for (size_t v = 0; v < character.skin.positions.size(); ++v) {
    Vec3f p = character.skin.positions[v];
    stretch.push_back(p[1] + static_cast<float>(index));
    volume.push_back(p[0]);
    contact.push_back(p[1] < 0.1f ? 1.0f : 0.0f);
    p[0] += static_cast<float>(show.shift * static_cast<double>(v));
    p[1] += height;
    record.body.positions.push_back(p);
  }
  for (int j = 0; j < 3; ++j) {
    Affine joint = Affine::Identity();
    joint.translate(Vec3d(0, 0.2 + 0.3 * j + static_cast<double>(height), 0));
    record.joints.push_back(joint);
  }
  if (!show.overlays) return record;
  Chunk extras, unused;
  extras.add<float>("map/stretch", stretch);
  extras.add<float>("map/volume", volume);
  extras.add<float>("map/contact", contact);
  add_cells(4, extras, unused, height);
  record.body.extras = extras.arrays();
  return record;
}

// Reports with numbers a test can foretell.
FrameReport report_of(int index) {
  FrameReport report;
  report.frame = first_frame + index;
  report.seconds = 0.01 * (index + 1);
  report.stages.time("pose", [] {});
  report.stages.time("step", [] {});
  report.iterations = 3 + index;
  report.residual = 1e-3 / (index + 1);
  report.volume = 0.5 + 0.001 * index;
  return report;
}

void write_show(const std::filesystem::path& folder, const Show& show) {
  Character character = sphere(show.rings);
  character.source = folder.parent_path() / "sphere.obj";
  write_file(character.source, std::string_view("# stands for the character's file\n"));
  FrameRange range;
  range.first = first_frame;
  range.last = first_frame + show.frames - 1;
  const Json settings = {{"body", {{"type", "skinning"}}}};
  CacheInfo info = cache_info(character, range, settings, folder);
  Chunk unused, overlay;
  add_cells(4, unused, overlay, 0);
  add_collider(overlay);
  if (show.overlays) info.extras = overlay.arrays();
  const CacheWriter writer = CacheWriter::create(folder, info);
  RunReport report;
  for (int index = 0; index < show.frames; ++index) {
    writer.write_frame(frame_of(character, show, index));
    report.frames.push_back(report_of(index));
  }
  write_report(folder / "report.json", report, settings, {}, "done");
}

void damage(const std::filesystem::path& file) {
  Bytes bytes = read_file(file);
  bytes[bytes.size() / 2] ^= std::byte{0x40};
  write_file(file, ByteView(bytes));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    std::fprintf(stderr, "usage: make_show FOLDER [VERTICES FRAMES]\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  make_folder(folder);
  write_show(folder / "sphere.supple", {});
  write_show(folder / "shifted.supple", {.shift = 1e-4});
  write_show(folder / "damaged.supple", {});
  damage(folder / "damaged.supple" / "frames" / "1003.chunk");
  write_show(folder / "other.supple", {.rings = 10});
  if (argc == 4) {
    const int rings = static_cast<int>(std::sqrt(std::atof(argv[2]) / 2));
    write_show(folder / "big.supple",
               {.rings = rings, .frames = std::atoi(argv[3]), .overlays = false});
  }
  return 0;
}
