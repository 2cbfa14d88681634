#include "modelling/armature.h"

#include "supple/core/error.h"

namespace supple::modelling {
namespace {

// Mirrored in x = 0, an arrow turns its x around, and a turn's axis the other two.
Freedom mirrored(const Freedom& freedom) {
  const Vec3d signs = freedom.slides ? Vec3d(-1, 1, 1) : Vec3d(1, -1, -1);
  return {freedom.name, freedom.axis.cwiseProduct(signs), freedom.slides};
}

[[noreturn]] void throw_unknown(std::string_view what) {
  throw Error(ErrorKind::usage, fmt::format("the armature has no '{}'", what));
}

}  // namespace

std::vector<Freedom> ball_joint() {
  return {{"bend", Vec3d::UnitX()}, {"twist", Vec3d::UnitY()}, {"lean", Vec3d::UnitZ()}};
}

void Armature::add(const std::string& name, const std::string& parent, const Vec3d& place,
                   const std::vector<Freedom>& freedoms) {
  Joint joint;
  joint.name = name;
  joint.parent = parent.empty() ? -1 : this->joint(parent);
  joint.rest.translation =
      joint.parent < 0 ? place : Vec3d(place - m_places[static_cast<size_t>(joint.parent)]);
  joint.is_bone = true;
  for (const Freedom& freedom : freedoms)
    m_freedoms.push_back({freedom.name, freedom.axis.normalized(), freedom.slides});
  m_first_freedom.push_back(m_freedoms.size());
  m_skeleton.joints.push_back(std::move(joint));
  m_places.push_back(place);
}

void Armature::add_pair(const std::string& name, const std::string& parent, const Vec3d& place,
                        const std::vector<Freedom>& freedoms) {
  const bool centred = m_skeleton.find(parent) >= 0;
  std::vector<Freedom> others;
  for (const Freedom& freedom : freedoms) others.push_back(mirrored(freedom));
  add("left_" + name, centred ? parent : "left_" + parent, place, freedoms);
  add("right_" + name, centred ? parent : "right_" + parent, Vec3d(-place[0], place[1], place[2]),
      others);
}

int Armature::joint(std::string_view name) const {
  const int found = m_skeleton.find(name);
  if (found < 0) throw_unknown(name);
  return found;
}

size_t Armature::freedom(std::string_view joint, std::string_view name) const {
  for (const size_t f : freedoms_of(joint))
    if (m_freedoms[f].name == name) return f;
  throw_unknown(fmt::format("{}.{}", joint, name));
}

std::vector<size_t> Armature::freedoms_of(std::string_view joint) const {
  const auto owner = static_cast<size_t>(this->joint(joint));
  std::vector<size_t> own;
  for (size_t f = m_first_freedom[owner]; f < m_first_freedom[owner + 1]; ++f) own.push_back(f);
  return own;
}

const Vec3d& Armature::place(std::string_view name) const {
  return m_places[static_cast<size_t>(joint(name))];
}

bool Armature::turns(int joint) const { return has(joint, false); }

bool Armature::slides(int joint) const { return has(joint, true); }

bool Armature::has(int joint, bool slides) const {
  for (size_t f = m_first_freedom[static_cast<size_t>(joint)];
       f < m_first_freedom[static_cast<size_t>(joint) + 1]; ++f)
    if (m_freedoms[f].slides == slides) return true;
  return false;
}

Transform Armature::local(int joint, std::span<const double> values) const {
  const auto j = static_cast<size_t>(joint);
  Transform local = m_skeleton.joints[j].rest;
  for (size_t f = m_first_freedom[j]; f < m_first_freedom[j + 1]; ++f) {
    if (m_freedoms[f].slides)
      local.translation += values[f] * m_freedoms[f].axis;
    else
      local.rotation = local.rotation * Eigen::AngleAxisd(values[f], m_freedoms[f].axis);
  }
  return local;
}

Affine Armature::frame(int joint, std::span<const double> values) const {
  Affine frame = local(joint, values).matrix();
  for (int above = m_skeleton.joints[static_cast<size_t>(joint)].parent; above >= 0;
       above = m_skeleton.joints[static_cast<size_t>(above)].parent)
    frame = local(above, values).matrix() * frame;
  return frame;
}

Pose Armature::pose(std::span<const double> values) const {
  Pose pose = rest_pose(m_skeleton);
  for (size_t j = 0; j < m_skeleton.size(); ++j) pose.local[j] = local(static_cast<int>(j), values);
  return pose;
}

}  // namespace supple::modelling
