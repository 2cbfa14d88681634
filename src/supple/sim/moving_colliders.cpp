#include "supple/sim/moving_colliders.h"

#include "supple/core/error.h"
#include "supple/math/polar.h"
#include "supple/mesh/primitives.h"
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

// What is shown of a plane: a square around its point.
TriangleMesh square(const Vec3d& normal, double side) {
  const Vec3d along = normal.unitOrthogonal() * side / 2, across = normal.cross(along);
  TriangleMesh mesh;
  const Vec3d one = along + across, other = along - across;
  for (const Vec3d& corner : {Vec3d(-one), other, one, Vec3d(-other)})
    mesh.positions.push_back(corner.cast<float>());
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  return mesh;
}

}  // namespace

ColliderShape collider_shape(const ColliderSettings& settings) {
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

TriangleMesh collider_outline(const ColliderSettings& settings, double length) {
  constexpr double edges = 8, planes = 3;  // per radius; body lengths
  TriangleMesh mesh;
  switch (settings.type) {
    case ColliderType::sphere:
    case ColliderType::capsule:
      mesh = sphere_surface(settings.radius, settings.radius / edges);
      if (settings.type == ColliderType::capsule)
        for (Vec3f& p : mesh.positions)
          p[1] += static_cast<float>(p[1] < 0 ? -settings.length / 2 : settings.length / 2);
      break;
    case ColliderType::box:
      mesh = box_surface(vector_of(settings.size), vector_of(settings.size).maxCoeff());
      break;
    case ColliderType::mesh:
      mesh = *settings.mesh;
      break;
    case ColliderType::plane:
      mesh = square(vector_of(settings.normal).normalized(), planes * length);
      break;
  }
  for (Vec3f& p : mesh.positions) p += vector_of(settings.centre).cast<float>();
  return mesh;
}

BodySettings standing_on_ground(BodySettings settings, const Character& character) {
  const bool alone = settings.fixed.empty() && settings.pulled.empty() &&
                     settings.contact.colliders.empty() && !is_skinned(character);
  const Vec3d gravity(settings.gravity.acceleration.data());
  if (!alone || gravity.isZero(0) || character.skin.positions.empty()) return settings;
  const Vec3d up = -gravity.normalized();
  double lowest = up.dot(character.skin.positions[0].cast<double>());
  for (const Vec3f& p : character.skin.positions)
    lowest = std::min(lowest, up.dot(p.cast<double>()));
  const Vec3d middle = bounding_box(character.skin.positions).center().cast<double>();
  const Vec3d below = middle + (lowest - up.dot(middle)) * up;
  ColliderSettings ground;
  ground.normal = {up[0], up[1], up[2]};
  ground.centre = {below[0], below[1], below[2]};
  ground.friction = 0.5;
  settings.contact.colliders.push_back(ground);
  return settings;
}

MovingColliders::MovingColliders(const Character& character, const ContactSettings& settings,
                                 const FrameRange& range, double length, const std::string& file)
    : m_character(character) {
  const Skeleton bound = bind_skeleton(character);
  m_bound = global_matrices(bound, rest_pose(bound));
  for (size_t i = 0; i < settings.colliders.size(); ++i) {
    const ColliderSettings& own = settings.colliders[i];
    if (!own.free.empty()) continue;
    const std::string here = fmt::format("body.contact.colliders[{}]", i);
    if (own.type == ColliderType::mesh && !own.mesh)
      throw_input_error(file, here + ".file", "a collider of type 'mesh' needs a file");
    if (own.type == ColliderType::plane && vector_of(own.normal).isZero(0))
      throw_input_error(file, here + ".normal", "is 0 0 0; a direction is needed");
    const int joint =
        own.joint.empty() ? -1 : character.skeleton.require(own.joint, file, here + ".joint");
    m_all.push_back({Collider(collider_shape(own), {own.friction, own.thickness}),
                     Script(own.motion, range, file, here + ".motion"),
                     joint,
                     joint < 0 ? Affine::Identity() : m_bound[static_cast<size_t>(joint)].inverse(),
                     {}});
    show(collider_outline(own, length));
  }
}

// Adds the outline of the last one.
void MovingColliders::show(const TriangleMesh& outline) {
  for (const Vec3i& t : outline.triangles) m_triangles.emplace_back(t + Vec3i::Constant(m_corners));
  m_corners += static_cast<int32_t>(outline.positions.size());
  m_all.back().outline = outline.positions;
}

size_t MovingColliders::add(ColliderShape shape, int joint) {
  m_all.push_back({Collider(std::move(shape)),
                   Script(),
                   joint,
                   m_bound[static_cast<size_t>(joint)].inverse(),
                   {}});
  return m_all.size() - 1;
}

void MovingColliders::add_props(const FleshSkin& skin) {
  for (const Part& part : m_character.parts) {
    if (!part.rigid || part.joint < 0 || part.vertices.count == 0 ||
        skin.point_of_vertex[static_cast<size_t>(part.vertices.first)] >= 0)
      continue;
    const TriangleMesh& all = m_character.skin;
    TriangleMesh prop;
    prop.positions.assign(all.positions.begin() + part.vertices.first,
                          all.positions.begin() + part.vertices.end());
    prop.triangles.assign(all.triangles.begin() + part.triangles.first,
                          all.triangles.begin() + part.triangles.end());
    for (Vec3i& t : prop.triangles) t -= Vec3i::Constant(part.vertices.first);
    try {
      add(LevelSet(prop.positions, prop.triangles), part.joint);
    } catch (const Error&) {
      // A prop without area or of no size cannot be touched.
    }
  }
}

Affine MovingColliders::motion_of(const Moving& moving, const ColliderDrive& drive) {
  Affine scripted = moving.script.at(drive.moment);
  const auto joint = static_cast<size_t>(moving.joint);
  if (moving.joint < 0 || joint >= drive.joints.size()) return scripted;
  return rigid_part(drive.joints[joint] * moving.from_joint) * scripted;
}

void MovingColliders::move(const ColliderDrive& before, const ColliderDrive& now, double dt) {
  for (Moving& moving : m_all)
    moving.collider.set_motion(motion_of(moving, before), motion_of(moving, now), dt);
}

std::vector<Vec3f> MovingColliders::vertices(const ColliderDrive& now) const {
  std::vector<Vec3f> result;
  for (const Moving& moving : m_all) {
    if (moving.outline.empty()) continue;
    const Affine motion = motion_of(moving, now);
    for (const Vec3f& p : moving.outline)
      result.emplace_back((motion * p.cast<double>()).cast<float>());
  }
  return result;
}

}  // namespace supple
