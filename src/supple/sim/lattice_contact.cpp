#include "supple/sim/lattice_contact.h"

#include <algorithm>
#include <cmath>

#include "supple/core/error.h"
#include "supple/math/polar.h"
#include "supple/rig/bind_pose.h"

namespace supple {
namespace {

// Of an affine motion: rotation, shift, and the mean of the scales.
Affine rigid_part(const Affine& motion) {
  const Polar polar = polar_decomposition(motion.linear());
  const double scale = polar.stretch.trace() / 3;
  Affine result = motion;
  result.linear() = polar.rotation * (scale > 0 ? scale : 1);
  return result;
}

Vec3d vector_of(const Numbers3& numbers) { return Vec3d(numbers.data()); }

ColliderShape shape_of(const ColliderSettings& settings) {
  const Vec3d centre = vector_of(settings.centre), up = settings.length / 2 * Vec3d::UnitY();
  switch (settings.type) {
    case ColliderType::sphere:
      return SphereShape{centre, settings.radius};
    case ColliderType::capsule:
      return RoundConeShape{centre - up, centre + up, settings.radius, settings.radius};
    case ColliderType::box:
      return BoxShape{centre, vector_of(settings.size) / 2};
    case ColliderType::mesh: {
      std::vector<Vec3f> positions = settings.mesh->positions;
      for (Vec3f& p : positions) p += centre.cast<float>();
      return LevelSet(positions, settings.mesh->triangles);
    }
    case ColliderType::plane:
      break;
  }
  const Vec3d normal = vector_of(settings.normal).normalized();
  return PlaneShape{normal, normal.dot(centre)};
}

}  // namespace

LatticeContact::LatticeContact(const Character& character, const LatticeModel& model,
                               const BodySettings& settings, const FrameRange& range,
                               const std::string& file)
    : m_model(model),
      m_stiffness(settings.contact.stiffness * model.stiffness / model.solid.spacing),
      m_grip(settings.contact.grip),
      m_surface(model.skin.mesh.positions, model.skin.mesh.triangles, model.solid.spacing),
      m_points(choose_contact_points(m_surface, {.factor = 1 / settings.contact.points})),
      m_before(m_points.size(), Vec3d::Zero()),
      m_depths(m_points.size(), 0) {
  for (const ContactPoint& point : m_points)
    m_ties.push_back(tie_to_cell(model.solid, model.mesh,
                                 nearest_cell(model.solid, model.mesh, point.rest), point.rest));
  if (settings.contact.self)
    m_self = std::make_unique<SelfCollision>(model.solid, model.mesh, m_surface, m_points);
  add_colliders(character, settings, range, file);
  if (settings.contact.props) add_props(character);
}

void LatticeContact::add_colliders(const Character& character, const BodySettings& settings,
                                   const FrameRange& range, const std::string& file) {
  const Skeleton bound = bind_skeleton(character);
  const std::vector<Affine> globals = global_matrices(bound, rest_pose(bound));
  for (size_t i = 0; i < settings.contact.colliders.size(); ++i) {
    const ColliderSettings& own = settings.contact.colliders[i];
    const std::string here = fmt::format("body.contact.colliders[{}]", i);
    if (own.type == ColliderType::mesh && !own.mesh)
      throw_input_error(file, here + ".file", "a collider of type 'mesh' needs a file");
    if (own.type == ColliderType::plane && vector_of(own.normal).isZero(0))
      throw_input_error(file, here + ".normal", "is 0 0 0; a direction is needed");
    const int joint =
        own.joint.empty() ? -1 : character.skeleton.require(own.joint, file, here + ".joint");
    m_colliders.push_back(
        {Collider(shape_of(own), {own.friction, own.thickness}),
         Script(own.motion, range, file, here + ".motion"), joint,
         joint < 0 ? Affine::Identity() : globals[static_cast<size_t>(joint)].inverse()});
  }
}

// Meshes that hang rigidly on joints, where the flesh does not need them itself.
void LatticeContact::add_props(const Character& character) {
  const Skeleton bound = bind_skeleton(character);
  const std::vector<Affine> globals = global_matrices(bound, rest_pose(bound));
  for (const Part& part : character.parts) {
    if (!part.rigid || part.joint < 0 || part.vertices.count == 0 ||
        m_model.skin.point_of_vertex[static_cast<size_t>(part.vertices.first)] >= 0)
      continue;
    std::vector<Vec3f> positions(character.skin.positions.begin() + part.vertices.first,
                                 character.skin.positions.begin() + part.vertices.end());
    std::vector<Vec3i> triangles(character.skin.triangles.begin() + part.triangles.first,
                                 character.skin.triangles.begin() + part.triangles.end());
    for (Vec3i& t : triangles) t -= Vec3i::Constant(part.vertices.first);
    try {
      m_colliders.push_back({Collider(LevelSet(positions, triangles)), Script(), part.joint,
                             globals[static_cast<size_t>(part.joint)].inverse()});
    } catch (const Error&) {
      // A prop without area or of no size cannot be touched.
    }
  }
}

Affine LatticeContact::motion_of(const MovingCollider& moving, const ColliderDrive& drive) {
  const Affine scripted = moving.script.at(drive.moment);
  const auto joint = static_cast<size_t>(moving.joint);
  if (moving.joint < 0 || joint >= drive.joints.size()) return scripted;
  return rigid_part(drive.joints[joint] * moving.from_joint) * scripted;
}

// Points on the sides of the lattice may lie a rounding error beyond its cells.
std::vector<Vec3d> LatticeContact::lattice_points() const {
  const SolidLattice& solid = m_model.solid;
  std::vector<Vec3d> result;
  for (const ContactPoint& point : m_points) {
    const int32_t cell = nearest_cell(solid, m_model.mesh, point.rest);
    const LatticePlace& place = m_model.mesh.cells[static_cast<size_t>(cell)];
    const Vec3d low = solid.lattice.coordinates(place.block, place.local).cast<double>();
    const Vec3d at = (point.rest - solid.origin) / solid.spacing;
    result.emplace_back(at.cwiseMax(low).cwiseMin(low + Vec3d::Ones()));
  }
  return result;
}

void LatticeContact::begin(const ColliderDrive& before, const ColliderDrive& now, double dt,
                           std::span<const Vec3d> nodes) {
  m_step = dt;
  if (m_colliders.empty()) return;
  for (MovingCollider& moving : m_colliders)
    moving.collider.set_motion(motion_of(moving, before), motion_of(moving, now), dt);
  for (size_t p = 0; p < m_points.size(); ++p) m_before[p] = m_ties[p].position(nodes);
}

size_t LatticeContact::find(std::span<const Vec3d> nodes, int32_t first,
                            std::vector<ActiveSpring>& out) {
  m_first = first;
  std::fill(m_depths.begin(), m_depths.end(), 0.0f);
  const size_t before = out.size();
  if (m_self) {
    m_self->find(nodes, m_contacts);
    for (const SelfContact& contact : m_contacts) {
      // A long way out is gone in parts, so that forces have a bound.
      const double way = std::min(contact.depth / 2, m_model.solid.spacing / 4);
      add_spring(contact.point, contact.position + way * contact.normal, contact.normal, m_grip,
                 out);
      m_depths[static_cast<size_t>(contact.point)] = static_cast<float>(contact.depth);
    }
  }
  if (!m_colliders.empty()) find_rigid(nodes, out);
  return out.size() - before;
}

// Springs across the surface of colliders; with friction also along it, to where the collider has
// carried the point since the beginning of the step, no stronger than Coulomb's law allows.
void LatticeContact::find_rigid(std::span<const Vec3d> nodes, std::vector<ActiveSpring>& out) {
  for (size_t p = 0; p < m_points.size(); ++p) {
    const Vec3d x = m_ties[p].position(nodes);
    for (const MovingCollider& moving : m_colliders) {
      const std::optional<RigidContact> contact = moving.collider.test(x);
      if (!contact) continue;
      const double bound = std::min(contact->depth, m_model.solid.spacing);
      Vec3d target = x + bound * contact->normal;
      double along = 0;
      const double friction = moving.collider.options().friction;
      if (friction > 0) {
        Vec3d slip = m_before[p] + m_step * contact->velocity - x;
        slip -= contact->normal.dot(slip) * contact->normal;
        const double length = slip.norm();
        along = length > 0 ? std::min(1.0, friction * bound / length) : 1.0;
        target += slip;
      }
      add_spring(static_cast<int32_t>(p), target, contact->normal, along, out);
      m_depths[p] = std::max(m_depths[p], static_cast<float>(contact->depth));
    }
  }
}

void LatticeContact::add_spring(int32_t point, const Vec3d& target, const Vec3d& normal,
                                double along, std::vector<ActiveSpring>& out) const {
  const double k = m_stiffness * m_points[static_cast<size_t>(point)].area;
  const Mat3d m = k * ((1 - along) * normal * normal.transpose() + along * Mat3d::Identity());
  const auto number = [&](int row, int column) { return static_cast<float>(m(row, column)); };
  out.push_back(
      {{m_first + point,
        {number(0, 0), number(1, 1), number(2, 2), number(1, 2), number(0, 2), number(0, 1)}},
       target});
}

}  // namespace supple
