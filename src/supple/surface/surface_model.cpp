#include "supple/surface/surface_model.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>

#include "supple/contact/ray_caster.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/triangle_mesh.h"
#include "supple/surface/volume_kernels.h"

namespace supple {
namespace {

constexpr uint32_t block_particles = 1024;

void check_range(const std::string& where, const char* field, double value, double low,
                 double high) {
  if (!(value >= low && value <= high))
    throw_input_error(where, field,
                      fmt::format("{} is out of range, must be from {} to {}", value, low, high));
}

void check_mesh(const SurfaceObject& object, const std::string& where) {
  for (const Vec3f& p : object.positions)
    if (!p.allFinite()) throw_input_error(where, "positions", "a number is not finite");
  const auto count = static_cast<int32_t>(object.positions.size());
  for (const Vec3i& t : object.triangles)
    if (t.minCoeff() < 0 || t.maxCoeff() >= count)
      throw_input_error(where, "triangles", "a corner is not a vertex of the mesh");
  if (!object.masses.empty() && object.masses.size() != object.positions.size())
    throw_input_error(where, "masses", "there must be one per vertex");
  for (const float m : object.masses)
    if (!(m > 0) || !std::isfinite(m))
      throw_input_error(where, "masses", fmt::format("{} is not a positive number", m));
}

// Puts objects into a model, one after the other.
class Packer {
 public:
  explicit Packer(SurfaceModel& model) : m_model(model) {}

  void add(const SurfaceObject& mesh) {
    PackedObject& object = m_model.objects.emplace_back();
    object.parameters = mesh.parameters;
    object.begin = static_cast<uint32_t>(m_model.rest.size());
    object.end = object.begin + static_cast<uint32_t>(mesh.positions.size());
    object.first_triangle = static_cast<uint32_t>(m_model.triangles.size());
    const VertexLists neighbours = vertex_neighbours(mesh.positions.size(), mesh.triangles);
    const SurfacePaths paths = build_paths(mesh.positions, neighbours);
    add_particles(mesh, paths);
    add_blocks(object, paths);
    const auto first_slot = static_cast<uint32_t>(object.begin + m_model.path_starts.size() - 1);
    if (first_slot + paths.order.size() + paths.starts.size() > RegionTable::slots_limit)
      throw Error(ErrorKind::input, "surfaces: more than 16 million particles and paths");
    append_regions(paths, neighbours, mesh.parameters.region_width, first_slot, m_model.regions);
    append_regions(paths, neighbours, 1, first_slot, m_model.rings);
    for (size_t p = 1; p < paths.starts.size(); ++p)
      m_model.path_starts.push_back(object.begin + paths.starts[p]);
    add_volume(object, mesh, paths);
    find_box(object);
    object.last_triangle = static_cast<uint32_t>(m_model.triangles.size());
  }

 private:
  void add_particles(const SurfaceObject& mesh, const SurfacePaths& paths) {
    const auto base = static_cast<int32_t>(m_model.rest.size());
    const auto first_vertex = static_cast<int32_t>(m_model.particle_of_vertex.size());
    m_model.particle_of_vertex.resize(m_model.particle_of_vertex.size() + paths.order.size());
    for (size_t i = 0; i < paths.order.size(); ++i) {
      const auto v = static_cast<size_t>(paths.order[i]);
      m_model.rest.push_back(mesh.positions[v]);
      m_model.masses.push_back(mesh.masses.empty() ? 1.0f : mesh.masses[v]);
      m_model.vertex_of_particle.push_back(first_vertex + paths.order[i]);
      m_model.particle_of_vertex[static_cast<size_t>(first_vertex) + v] =
          base + static_cast<int32_t>(i);
    }
    for (const Vec3i& t : mesh.triangles) {
      Vec3i& to = m_model.triangles.emplace_back();
      for (int k = 0; k < 3; ++k)
        to[k] =
            m_model
                .particle_of_vertex[static_cast<size_t>(first_vertex) + static_cast<size_t>(t[k])];
    }
  }

  // Whole paths of one shell, until there are enough.
  void add_blocks(PackedObject& object, const SurfacePaths& paths) {
    const auto base_path = static_cast<uint32_t>(m_model.path_starts.size() - 1);
    const auto base_shell = static_cast<uint32_t>(m_model.volume.shells.size());
    object.first_block = static_cast<uint32_t>(m_model.blocks.size());
    for (uint32_t s = 0; s + 1 < paths.shells.size(); ++s)
      for (uint32_t p = paths.shells[s]; p < paths.shells[s + 1];) {
        SurfaceBlock block;
        block.object = static_cast<uint32_t>(m_model.objects.size() - 1);
        block.shell = base_shell + s;
        block.begin = object.begin + paths.starts[p];
        block.first_path = base_path + p;
        for (; p < paths.shells[s + 1]; ++p) {
          const uint32_t end = object.begin + paths.starts[p + 1];
          if (end - block.begin > block_particles && block.end > block.begin) break;
          block.end = end;
        }
        block.last_path = base_path + p;
        m_model.blocks.push_back(block);
      }
    object.last_block = static_cast<uint32_t>(m_model.blocks.size());
  }

  void add_volume(PackedObject& object, const SurfaceObject& mesh, const SurfacePaths& paths) {
    VolumeSurface part(mesh.positions, mesh.triangles, paths.order);
    VolumeSurface& all = m_model.volume;
    object.first_shell = static_cast<uint32_t>(all.shells.size());
    const auto before = static_cast<uint32_t>(all.fans.items.size());
    for (size_t i = 1; i < part.fans.offsets.size(); ++i)
      all.fans.offsets.push_back(before + part.fans.offsets[i]);
    for (const int32_t item : part.fans.items)
      all.fans.items.push_back(item + static_cast<int32_t>(object.begin));
    for (VolumeShell shell : part.shells) {
      const bool loose = part.fans.offsets[shell.end] == part.fans.offsets[shell.begin];
      object.loose_vertices += loose ? static_cast<int>(shell.end - shell.begin) : 0;
      object.open_shells += !loose && !shell.closed ? 1 : 0;
      shell.begin += object.begin;
      shell.end += object.begin;
      all.shells.push_back(shell);
    }
    object.last_shell = static_cast<uint32_t>(all.shells.size());
  }

  void find_box(PackedObject& object) {
    const Box3f box =
        bounding_box(std::span(m_model.rest).subspan(object.begin, object.end - object.begin));
    if (box.isEmpty()) return;
    object.rest_centre = box.center();
    const float reach = box.sizes().maxCoeff() / 2;
    object.rest_reach = reach > 0 ? reach : 1.0f;
  }

  SurfaceModel& m_model;
};

// Rays inwards from every particle of an object, to the closest corner of the first triangle they
// meet; stiffness from s_max for the shortest to s_min for the longest.
class InnerDistances {
 public:
  InnerDistances(SurfaceModel& model, const PackedObject& object)
      : m_model(model),
        m_object(object),
        m_rest(std::span(model.rest).subspan(object.begin, object.end - object.begin)) {}

  void find(std::span<const Vec3f> normals) {
    std::vector<Vec3i> triangles;
    const Vec3i base = Vec3i::Constant(static_cast<int32_t>(m_object.begin));
    for (size_t t = m_object.first_triangle; t < m_object.last_triangle; ++t)
      triangles.emplace_back(m_model.triangles[t] - base);
    if (triangles.empty()) return;
    const RayCaster caster(m_rest, triangles);
    parallel_for(m_rest.size(), 1024, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const Vec3f& normal = normals[m_object.begin + i];
        if (normal.isZero()) continue;
        const RayHit hit = caster.cast(m_rest[i], -normal, static_cast<int32_t>(i));
        if (hit.triangle >= 0)
          join(i, triangles[static_cast<size_t>(hit.triangle)], m_rest[i] - hit.distance * normal);
      }
    });
    set_stiffness();
  }

 private:
  // Ties particle i to the corner nearest to where its ray ended.
  void join(size_t i, const Vec3i& corners, const Vec3f& at) {
    float least = std::numeric_limits<float>::max();
    for (const int32_t corner : corners) {
      const Vec3f p = m_rest[static_cast<size_t>(corner)];
      if (!((p - at).norm() < least)) continue;
      least = (p - at).norm();
      m_model.inner_partners[m_object.begin + i] = corner + static_cast<int32_t>(m_object.begin);
      m_model.inner_lengths[m_object.begin + i] = (p - m_rest[i]).norm();
    }
  }

  void set_stiffness() {
    float least = std::numeric_limits<float>::max(), most = 0;
    for (size_t i = m_object.begin; i < m_object.end; ++i)
      if (m_model.inner_partners[i] >= 0) {
        least = std::min(least, m_model.inner_lengths[i]);
        most = std::max(most, m_model.inner_lengths[i]);
      }
    const auto thin = static_cast<float>(m_object.parameters.thin_stiffness);
    const auto thick = static_cast<float>(m_object.parameters.thick_stiffness);
    for (size_t i = m_object.begin; i < m_object.end; ++i)
      if (m_model.inner_partners[i] >= 0) {
        const float along =
            most > least ? (m_model.inner_lengths[i] - least) / (most - least) : 0.0f;
        m_model.inner_stiffness[i] = thin + along * (thick - thin);
      }
  }

  SurfaceModel& m_model;
  const PackedObject& m_object;
  std::span<const Vec3f> m_rest;
};

// Unit normals at rest, zero where there is none; sets the areas too.
std::vector<Vec3f> rest_normals(SurfaceModel& model) {
  std::vector<Vec3f> positions(model.rest), normals(model.size() + 1, Vec3f::Zero());
  positions.emplace_back(0, 0, 0);
  fan_gradients(model.volume.fans.offsets.data(), model.volume.fans.items.data(),
                positions.data()->data(), normals.data()->data(), 0, model.size());
  model.rest_areas.clear();
  for (size_t i = 0; i < model.size(); ++i) {
    model.rest_areas.push_back(normals[i].norm());
    normals[i].stableNormalize();
  }
  return normals;
}

// What the sums over regions of an object need.
class Summer {
 public:
  Summer(SurfaceModel& model, PackedObject& object) : m_model(model), m_object(object) {}

  void sum(std::span<const Vec3f> normals) {
    set_moments();
    parallel_for(m_object.end - m_object.begin, 1024, [&](size_t begin, size_t end) {
      for (size_t i = m_object.begin + begin; i < m_object.begin + end; ++i)
        set_region(i, normals[i]);
    });
    for (size_t i = m_object.begin; i < m_object.end; ++i) {
      const float length = m_model.normal_points[4 * i + 3];
      if (length > 0) m_object.shortest_region = std::min(m_object.shortest_region, length);
    }
  }

 private:
  // Calls `visit` with every particle of a region.
  template <class Visit>
  void visit_region(size_t i, const Visit& visit) const {
    const RegionTable& table = m_model.regions;
    for (uint32_t e = table.offsets[i]; e < table.offsets[i + 1]; ++e) {
      const uint32_t slot = RegionTable::first(table.intervals[e]);
      const auto path = static_cast<uint32_t>(
          std::upper_bound(m_slots.begin(), m_slots.end(), slot) - m_slots.begin() - 1);
      const uint32_t length = table.intervals[e] & 255u;
      for (uint32_t k = 0; k < length; ++k) visit(slot - path + k);
    }
  }

  // Whole numbers, so that sums over a region stay exact in 31 bits.
  void set_moments() {
    for (size_t p = 0; p + 1 < m_model.path_starts.size(); ++p)
      m_slots.push_back(m_model.path_starts[p] + static_cast<uint32_t>(p));
    double heaviest = 0;
    for (size_t i = m_object.begin; i < m_object.end; ++i) {
      double mass = 0;
      visit_region(i, [&](uint32_t j) { mass += static_cast<double>(m_model.masses[j]); });
      heaviest = std::max(heaviest, mass);
      m_object.largest_region = std::max(m_object.largest_region, m_model.regions.sizes[i]);
    }
    const double unit = heaviest > 0 ? 0x1p30 / heaviest : 0;
    for (size_t i = m_object.begin; i < m_object.end; ++i) {
      const Vec3f place = (m_model.rest[i] - m_object.rest_centre) / m_object.rest_reach;
      const double mass = std::max(1.0, std::rint(unit * static_cast<double>(m_model.masses[i])));
      float* to = m_model.moments.data() + 4 * i;
      to[3] = static_cast<float>(mass);
      for (int k = 0; k < 3; ++k) to[k] = std::rint(to[3] * place[k]);
    }
  }

  void set_region(size_t i, const Vec3f& normal) {
    int64_t sums[4] = {};
    visit_region(i, [&](uint32_t j) {
      for (size_t k = 0; k < 4; ++k) sums[k] += static_cast<int64_t>(m_model.moments[4 * j + k]);
    });
    for (size_t k = 0; k < 4; ++k) m_model.centres[4 * i + k] = static_cast<int32_t>(sums[k]);
    const double mass = static_cast<double>(sums[3]);
    const Vec3d centre(static_cast<double>(sums[0]) / mass, static_cast<double>(sums[1]) / mass,
                       static_cast<double>(sums[2]) / mass);
    // l, the mean distance from the centre. [Diziol 2011, section 4] divides the weighted sum by
    // the number of particles, which is the same for masses of one.
    double length = 0;
    Mat3d moments = Mat3d::Zero();
    visit_region(i, [&](uint32_t j) {
      const double m = static_cast<double>(m_model.moments[4 * j + 3]);
      const Vec3d arm = place(j) - centre;
      length += m * arm.norm();
      moments += m * arm * arm.transpose();
    });
    length /= mass;
    const double mean = mass / m_model.regions.sizes[i];
    const Vec3d arm = place(i) - centre + length * normal.cast<double>();
    for (size_t k = 0; k < 3; ++k)
      m_model.normal_points[4 * i + k] = static_cast<float>(mean * arm[static_cast<int>(k)]);
    m_model.normal_points[4 * i + 3] = static_cast<float>(length);
    if (m_model.has_plasticity()) set_inverse(i, moments + mean * arm * arm.transpose());
  }

  void set_inverse(size_t i, Mat3d moments) {
    const double trace = moments.trace();
    moments.diagonal().array() += trace > 0 ? 1e-6 * trace : 1.0;
    const Mat3d inverse = moments.inverse();
    const double entries[6] = {inverse(0, 0), inverse(1, 1), inverse(2, 2),
                               inverse(1, 2), inverse(0, 2), inverse(0, 1)};
    for (size_t k = 0; k < 6; ++k) m_model.rest_inverse[6 * i + k] = static_cast<float>(entries[k]);
  }

  Vec3d place(size_t i) const {
    return ((m_model.rest[i] - m_object.rest_centre) / m_object.rest_reach).cast<double>();
  }

  SurfaceModel& m_model;
  PackedObject& m_object;
  std::vector<uint32_t> m_slots;  // first slot of every path
};

}  // namespace

void SurfaceParameters::check(const std::string& where) const {
  check_range(where, "region_width", region_width, 1, 32);
  check_range(where, "stiffness", stiffness, 0, 1);
  check_range(where, "damping", damping, 0, 1);
  check_range(where, "support", support, 0, 1);
  check_range(where, "spread", spread, 0, 1);
  check_range(where, "inner", inner, 0, 1);
  check_range(where, "thick_stiffness", thick_stiffness, 0, 1);
  check_range(where, "thin_stiffness", thin_stiffness, 0, 1);
  check_range(where, "volume_tolerance", volume_tolerance, 1e-6, 1);
  check_range(where, "plastic_yield", plastic_yield, 0, 1e6);
  check_range(where, "plastic_creep", plastic_creep, 0, 1e6);
  check_range(where, "plastic_limit", plastic_limit, 0, 3);
}

SurfaceModel::SurfaceModel(std::span<const SurfaceObject> all) {
  size_t count = 0;
  bool plastic = false;
  for (size_t o = 0; o < all.size(); ++o) {
    const std::string where = fmt::format("surface {}", o);
    all[o].parameters.check(where);
    check_mesh(all[o], where);
    count += all[o].positions.size();
    plastic = plastic || all[o].parameters.plastic_limit > 0;
  }
  if (count > RegionTable::slots_limit)
    throw Error(ErrorKind::input, "surfaces: more than 16 million particles and paths");
  path_starts.push_back(0);
  objects.reserve(all.size());
  Packer packer(*this);
  for (const SurfaceObject& object : all) packer.add(object);
  moments.resize(4 * count);
  centres.resize(4 * count);
  normal_points.resize(4 * count);
  if (plastic) rest_inverse.resize(6 * count);
  inner_partners.assign(count, -1);
  inner_lengths.assign(count, 0.0f);
  inner_stiffness.assign(count, 0.0f);
  const std::vector<Vec3f> normals = rest_normals(*this);
  for (PackedObject& object : objects) {
    InnerDistances(*this, object).find(normals);
    Summer(*this, object).sum(normals);
  }
}

std::vector<std::string> SurfaceModel::remarks() const {
  std::vector<std::string> lines;
  for (size_t o = 0; o < objects.size(); ++o) {
    const PackedObject& object = objects[o];
    if (object.open_shells > 0 && object.parameters.keep_volume)
      lines.push_back(fmt::format(
          "surface {}: {} of {} shells are not closed and cannot keep a volume", o,
          object.open_shells,
          object.last_shell - object.first_shell - static_cast<uint32_t>(object.loose_vertices)));
    if (object.loose_vertices > 0)
      lines.push_back(
          fmt::format("surface {}: {} vertices belong to no triangle", o, object.loose_vertices));
  }
  return lines;
}

void SurfaceModel::to_vertices(std::span<const Vec3f> particles, std::span<Vec3f> vertices) const {
  for (size_t i = 0; i < size(); ++i)
    vertices[static_cast<size_t>(vertex_of_particle[i])] = particles[i];
}

void SurfaceModel::to_particles(std::span<const Vec3f> vertices, std::span<Vec3f> particles) const {
  for (size_t i = 0; i < size(); ++i)
    particles[i] = vertices[static_cast<size_t>(vertex_of_particle[i])];
}

}  // namespace supple
