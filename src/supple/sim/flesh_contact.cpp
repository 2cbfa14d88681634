#include "supple/sim/flesh_contact.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

// A spring at point `point` of the system, to `target`: stiffness k across a surface and k * along
// in it.
ActiveSpring spring_at(int32_t point, const Vec3d& target, const Vec3d& normal, double k,
                       double along) {
  const Mat3d m = k * ((1 - along) * normal * normal.transpose() + along * Mat3d::Identity());
  const auto number = [&](int row, int column) { return static_cast<float>(m(row, column)); };
  return {
      {point, {number(0, 0), number(1, 1), number(2, 2), number(1, 2), number(0, 2), number(0, 1)}},
      target};
}

}  // namespace

FleshContact::FleshContact(const Character& character, const FleshModel& model,
                           const BodySettings& settings, const FleshContactOptions& options,
                           const FrameRange& range, const std::string& file)
    : m_model(model),
      m_stiffness(settings.contact.stiffness / model.solid.spacing),
      m_grip(settings.contact.grip),
      m_colliders(character, settings.contact, range, model.length, file) {
  if (!model.skin.mesh.triangles.empty()) {
    m_surface = std::make_unique<SkinSurface>(model.skin.mesh.positions, model.skin.mesh.triangles,
                                              model.solid.spacing);
    const double along = settings.contact.points * options.density;
    m_points = choose_contact_points(*m_surface, {.factor = 1 / along});
    if (options.self) {
      m_self = std::make_unique<SelfCollision>(model.solid, model.mesh, *m_surface, m_points);
      if (settings.contact.clear_skin)
        m_clearance =
            std::make_unique<SkinClearance>(model.solid, model.mesh, model.rest, *m_surface);
    }
  }
  add_line_points();
  for (const ContactPoint& point : m_points) {
    m_ties.push_back(tie(point.rest));
    m_young.push_back(young_at(m_ties.back()));
  }
  m_before.assign(m_points.size(), Vec3d::Zero());
  m_self_depths.assign(m_points.size(), 0);
  m_depths.assign(m_points.size(), 0);
  if (settings.contact.props) m_colliders.add_props(model.skin);
  m_outer = m_colliders.size();
  add_sliding_bones();
}

LatticeTie FleshContact::tie(const Vec3d& rest) const {
  return tie_to_cell(m_model.solid, m_model.mesh, nearest_cell(m_model.solid, m_model.mesh, rest),
                     rest);
}

// Lines are as thick as a quarter of a cell to what they touch; their vertices are the points.
void FleshContact::add_line_points() {
  const double width = m_model.solid.spacing / 4;
  std::vector<double> areas(m_model.skin.mesh.positions.size(), 0);
  for (const Vec3i& s : m_model.skin.segments) {
    const Vec3f &a = m_model.skin.mesh.positions[static_cast<size_t>(s[0])],
                &b = m_model.skin.mesh.positions[static_cast<size_t>(s[1])];
    for (int k = 0; k < 2; ++k)
      areas[static_cast<size_t>(s[k])] += static_cast<double>((b - a).norm()) * width / 2;
  }
  for (size_t p = 0; p < areas.size(); ++p)
    if (areas[p] > 0)
      m_points.push_back({.rest = m_model.skin.mesh.positions[p].cast<double>(),
                          .area = areas[p],
                          .vertex = static_cast<int32_t>(p),
                          .sheet = true});
}

// Young's modulus around a point.
double FleshContact::young_at(const LatticeTie& tie) const {
  double sum = 0;
  for (const int32_t node : tie.nodes) sum += m_model.young[static_cast<size_t>(node)];
  return sum / 8;
}

// Points of the flesh in a layer around each bone that slides, on a grid of half a cell.
void FleshContact::add_sliding_bones() {
  if (!m_model.rig) return;
  constexpr double layer = 0.75;
  const SolidLattice& solid = m_model.solid;
  const double h = solid.spacing, step = h / 2;
  Box3d flesh;
  for (const Vec3d& node : m_model.rest) flesh.extend(node);
  for (const FleshBone& bone : m_model.rig->bones()) {
    if (bone.hold != BoneHold::sliding) continue;
    const size_t number = m_colliders.add(bone.surface, bone.shape.joint);
    Box3d box(bone.shape.from);
    box.extend(bone.shape.to);
    double reach = bone.shape.radius + layer * h;
    if (const auto* mesh = std::get_if<LevelSet>(&bone.surface)) {
      box = mesh->box();
      reach = layer * h;
    }
    // Bones may be far larger than the flesh they lie in.
    box = Box3d(box.min() - Vec3d::Constant(reach), box.max() + Vec3d::Constant(reach))
              .intersection(flesh);
    if (box.isEmpty()) continue;
    const Vec3i low = (box.min() / step).array().floor().cast<int>(),
                high = (box.max() / step).array().ceil().cast<int>();
    for (int z = low[2]; z <= high[2]; ++z)
      for (int y = low[1]; y <= high[1]; ++y)
        for (int x = low[0]; x <= high[0]; ++x) {
          const Vec3d rest = step * Vec3d(x, y, z);
          const double beyond = bone.distance(rest);
          const Vec3i cell = ((rest - solid.origin) / h).array().floor().cast<int>();
          if (beyond < 0 || beyond > layer * h || !solid.lattice.has_cell(cell)) continue;
          // As stiff as springs of the nodes, of which there is one for eight such points.
          const LatticeTie own = tie(rest);
          m_inner.push_back({rest, own, number, bone.stiffness * young_at(own) * h / 8});
        }
  }
}

// Points on the sides of the lattice may lie a rounding error beyond its cells.
std::vector<Vec3d> FleshContact::lattice_points() const {
  const SolidLattice& solid = m_model.solid;
  std::vector<Vec3d> result;
  const auto add = [&](const Vec3d& rest) {
    const int32_t cell = nearest_cell(solid, m_model.mesh, rest);
    const LatticePlace& place = m_model.mesh.cells[static_cast<size_t>(cell)];
    const Vec3d low = solid.lattice.coordinates(place.block, place.local).cast<double>();
    const Vec3d at = (rest - solid.origin) / solid.spacing;
    result.emplace_back(at.cwiseMax(low).cwiseMin(low + Vec3d::Ones()));
  };
  for (const ContactPoint& point : m_points) add(point.rest);
  for (const InnerPoint& point : m_inner) add(point.rest);
  return result;
}

void FleshContact::begin(const ColliderDrive& before, const ColliderDrive& now, double dt,
                         std::span<const Vec3d> nodes) {
  m_step = dt;
  m_pose.assign(now.joints.begin(), now.joints.end());
  m_room.clear();
  if (m_colliders.size() == 0) return;
  m_colliders.move(before, now, dt);
  for (size_t p = 0; p < m_points.size(); ++p) m_before[p] = m_ties[p].position(nodes);
}

// How much of the volume of the flesh at a place is left; negative where it is inside out.
double FleshContact::volume_at(std::span<const Vec3d> nodes, const LatticeTie& tie) const {
  return cell_gradient(nodes, tie.nodes, m_model.solid.spacing).determinant();
}

size_t FleshContact::find(std::span<const Vec3d> nodes, int32_t first, bool with_itself,
                          std::vector<ActiveSpring>& out) {
  m_first = first;
  const size_t before = out.size();
  if (with_itself) find_itself(nodes);
  m_depths = m_self_depths;
  out.insert(out.end(), m_self_springs.begin(), m_self_springs.end());
  find_rigid(nodes, out);
  find_inner(nodes, out);
  return out.size() - before;
}

void FleshContact::clear_skin(std::span<const Vec3d> nodes, std::span<Vec3f> points) const {
  if (m_clearance) m_clearance->clear(nodes, points);
}

void FleshContact::find_itself(std::span<const Vec3d> nodes) {
  m_self_springs.clear();
  std::fill(m_self_depths.begin(), m_self_depths.end(), 0.0f);
  if (!m_self) return;
  m_self->find(nodes, m_contacts);
  if (m_room.empty() && std::any_of(m_contacts.begin(), m_contacts.end(),
                                    [&](const SelfContact& c) { return is_lost(c, nodes); }))
    find_room();
  for (const SelfContact& contact : m_contacts) {
    m_self_depths[static_cast<size_t>(contact.point)] = static_cast<float>(contact.depth);
    const double k = stiffness_of(contact, nodes);
    if (k <= 0) continue;
    // A long way out is gone in parts, so that forces have a bound.
    const double way = std::min(contact.depth / 2, m_model.solid.spacing / 4);
    m_self_springs.push_back(spring_at(m_first + contact.point,
                                       contact.position + way * contact.normal, contact.normal, k,
                                       m_grip));
  }
}

// Whether a contact has turned the flesh at its point inside out and not got it out either.
bool FleshContact::is_lost(const SelfContact& contact, std::span<const Vec3d> nodes) const {
  constexpr double deep = 0.5;  // in cells
  return contact.depth > deep * m_model.solid.spacing &&
         volume_at(nodes, m_ties[static_cast<size_t>(contact.point)]) <= 0;
}

// Finds out which contact points have room where the rig wants them: in no other flesh, and in
// flesh of their own that is not flat. Without a rig nothing holds them where they have none.
void FleshContact::find_room() {
  constexpr double flat = 0.3;  // volume left
  m_room.assign(m_points.size(), 1);
  if (!m_model.attachment) return;
  std::vector<Vec3f> targets(m_model.rest.size());
  m_model.attachment->targets(m_pose, targets);
  std::vector<Vec3d> nodes;
  nodes.reserve(targets.size());
  for (const Vec3f& target : targets) nodes.push_back(target.cast<double>());
  std::vector<SelfContact> contacts;
  m_self->find(nodes, contacts);
  for (size_t p = 0; p < m_points.size(); ++p) m_room[p] = volume_at(nodes, m_ties[p]) > flat;
  for (const SelfContact& contact : contacts) m_room[static_cast<size_t>(contact.point)] = 0;
}

// How hard the two sides of a contact press, in newtons per metre; the softer one decides. Flesh
// that is inside out is let go until it has come back: once the rig leaves it room for that, or it
// is wrung out. And where the way out is long and the flesh on one side squashed already, a rig
// puts one bone into another: the less is left, the less it is pressed.
double FleshContact::stiffness_of(const SelfContact& contact, std::span<const Vec3d> nodes) const {
  constexpr double long_way = 1;            // depth, in cells, and a cell more for all of it
  constexpr double free = 0.5, full = 0.1;  // volume left
  constexpr double wrung = -1;              // volume
  const auto point = static_cast<size_t>(contact.point);
  const double own = volume_at(nodes, m_ties[point]);
  if (is_lost(contact, nodes) && (m_room[point] != 0 || own < wrung)) return 0;
  const double depth = contact.depth / m_model.solid.spacing;
  const double left = std::min(own, volume_at(nodes, contact.tie));
  const double room = std::clamp((left - full) / (free - full), 0.0, 1.0);
  const double deep = std::clamp(depth - long_way, 0.0, 1.0);
  return (1 - deep * (1 - room)) * m_stiffness * m_points[point].area *
         std::min(m_young[point], young_at(contact.tie));
}

// Springs across the surface of colliders; with friction also along it, to where the collider has
// carried the point since the beginning of the step, no stronger than Coulomb's law allows.
void FleshContact::find_rigid(std::span<const Vec3d> nodes, std::vector<ActiveSpring>& out) {
  if (m_outer == 0) return;
  for (size_t p = 0; p < m_points.size(); ++p) {
    const Vec3d x = m_ties[p].position(nodes);
    for (size_t c = 0; c < m_outer; ++c) {
      const std::optional<RigidContact> contact = m_colliders[c].test(x);
      if (!contact) continue;
      const double bound = std::min(contact->depth, m_model.solid.spacing);
      Vec3d target = x + bound * contact->normal;
      double along = 0;
      const double friction = m_colliders[c].options().friction;
      if (friction > 0) {
        Vec3d slip = m_before[p] + m_step * contact->velocity - x;
        slip -= contact->normal.dot(slip) * contact->normal;
        const double length = slip.norm();
        along = length > 0 ? std::min(1.0, friction * bound / length) : 1.0;
        target += slip;
      }
      out.push_back(spring_at(m_first + static_cast<int32_t>(p), target, contact->normal,
                              m_stiffness * m_points[p].area * m_young[p], along));
      m_depths[p] = std::max(m_depths[p], static_cast<float>(contact->depth));
    }
  }
}

// Flesh around sliding bones is pushed out of them and moves freely along them.
void FleshContact::find_inner(std::span<const Vec3d> nodes, std::vector<ActiveSpring>& out) const {
  const auto first = m_first + static_cast<int32_t>(m_points.size());
  for (size_t i = 0; i < m_inner.size(); ++i) {
    const InnerPoint& point = m_inner[i];
    const Vec3d x = point.tie.position(nodes);
    const std::optional<RigidContact> contact = m_colliders[point.bone].test(x);
    if (!contact) continue;
    const double way = std::min(contact->depth, m_model.solid.spacing);
    out.push_back(spring_at(first + static_cast<int32_t>(i), x + way * contact->normal,
                            contact->normal, point.stiffness, 0));
  }
}

}  // namespace supple
