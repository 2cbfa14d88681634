#include "supple/sim/tet_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "supple/core/error.h"
#include "supple/mesh/refine.h"
#include "supple/mesh/tet_cage.h"
#include "supple/rig/bind_pose.h"
#include "supple/sim/selection.h"

namespace supple {
namespace {

// Cells along the longest side of the lattice that materials and bones are looked up in.
constexpr int guide_cells = 32;

// Elements of cages, for plain and for detailed skins.
constexpr int usual_elements = 1000, many_elements = 8600;
constexpr size_t detailed_skin = 10000;

// Linear tetrahedra lock when they may not change their volume.
constexpr double highest_usual_poisson = 0.4;

// Elements with next to nothing in them count for this part.
constexpr double least_filled = 0.01;

BodySettings with_softer_volume(BodySettings settings) {
  if (!settings.poisson && settings.material != MaterialPreset::firm)
    settings.poisson = highest_usual_poisson;
  return settings;
}

SolidLattice guide(const FleshSkin& skin, const std::string& file) {
  try {
    SolidOptions options;
    options.cells = guide_cells;
    return fill_lattice(skin.mesh.positions, skin.mesh.triangles, options);
  } catch (const Error& error) {
    throw_input_error(file, "body", error.what());
  }
}

void refuse_unknown(const BodySettings& settings, const std::string& file) {
  if (!settings.pulled.empty()) throw_input_error(file, "body.pulled", "is not for type 'tets'");
  if (!settings.pokes.empty()) throw_input_error(file, "body.pokes", "is not for type 'tets'");
  if (settings.contact.self.value_or(false) &&
      settings.tets.dynamics == TetDynamics::explicit_steps)
    throw_input_error(file, "body.contact.self", "needs \"dynamics\": \"implicit\" in body.tets");
  if (!settings.dynamic.value_or(true))
    throw_input_error(file, "body.dynamic", "bodies of type 'tets' always have inertia");
  for (size_t i = 0; i < settings.fixed.size(); ++i)
    if (settings.fixed[i].skin)
      throw_input_error(file, fmt::format("body.fixed[{}].skin", i),
                        "is for bodies of type 'voxels'");
  if (!settings.fixed.empty() && settings.skeleton.mode == SkeletonMode::two_way)
    throw_input_error(file, "body.fixed", "cannot hold a skeleton that moves by itself");
}

std::vector<double> vertex_areas(const TriangleMesh& mesh) {
  std::vector<double> areas(mesh.positions.size(), 0);
  for (const Vec3i& t : mesh.triangles) {
    const auto at = [&](int c) -> Vec3d {
      return mesh.positions[static_cast<size_t>(t[c])].cast<double>();
    };
    const double area = (at(1) - at(0)).cross(at(2) - at(0)).norm() / 2;
    for (int c = 0; c < 3; ++c) areas[static_cast<size_t>(t[c])] += area / 3;
  }
  return areas;
}

}  // namespace

Affine bone_frame(const TetBone& bone, const Instant& instant) {
  Affine change = Affine::Identity();
  if (bone.joint >= 0)
    change = instant.joints[static_cast<size_t>(bone.joint)] * bone.bind.inverse();
  else
    change = bone.script.at(instant.moment);
  return change * Eigen::Translation3d(bone.origin);
}

TetModel::TetModel(const Character& character, const BodySettings& settings,
                   const FrameRange& range, const std::string& file)
    : FleshModel(
          character, settings, [&](const FleshSkin& skin) { return guide(skin, file); }, file) {
  refuse_unknown(settings, file);
  if (rig) find_rig_bones(character, settings, file);
  rig_bones = tet_bones.size();
  find_scripted_bones(settings, range, file);
  make_cage(character, settings, file);
  fill(with_softer_volume(settings), file);
  hold_nodes(file);
  tie_skin(settings);
  if (rig && settings.skeleton.mode == SkeletonMode::two_way)
    skeleton = describe_skeleton(character, *this, settings.skeleton, file);
}

// Joints with a bone in the flesh, and those between them and the one above all.
void TetModel::find_rig_bones(const Character& character, const BodySettings& settings,
                              const std::string& file) {
  const Skeleton bound = bind_skeleton(character);
  const std::vector<Affine> at = global_matrices(bound, rest_pose(bound));
  std::vector<int> below(bound.size(), 0);  // joints with bones, at or below
  int wanted = 0;
  std::vector<uint8_t> has(bound.size(), 0);
  for (const FleshBone& bone : rig->bones()) has[static_cast<size_t>(bone.shape.joint)] = 1;
  for (const JointSettings& own : settings.skeleton.joints)
    has[static_cast<size_t>(character.skeleton.require(own.joint, file, "body.skeleton.joints"))] =
        1;
  for (size_t j = bound.size(); j-- > 0;) {
    below[j] += has[j];
    wanted += has[j];
    if (bound.joints[j].parent >= 0) below[static_cast<size_t>(bound.joints[j].parent)] += below[j];
  }
  size_t top = 0;
  for (size_t j = 0; j < bound.size(); ++j)
    if (below[j] == wanted) top = j;
  for (size_t j = 0; j < bound.size(); ++j) {
    if (below[j] == 0) continue;
    int up = static_cast<int>(j);
    while (up >= 0 && static_cast<size_t>(up) != top)
      up = bound.joints[static_cast<size_t>(up)].parent;
    if (up < 0) continue;  // above the one above all
    TetBone bone;
    bone.joint = static_cast<int>(j);
    bone.bind = at[j];
    bone.origin = at[j].translation();
    tet_bones.push_back(std::move(bone));
  }
}

void TetModel::find_scripted_bones(const BodySettings& settings, const FrameRange& range,
                                   const std::string& file) {
  for (size_t i = 0; i < settings.fixed.size(); ++i) {
    const std::string here = fmt::format("body.fixed[{}]", i);
    TetBone bone;
    bone.script = Script(settings.fixed[i].motion, range, file, here + ".motion");
    m_selections.emplace_back(
        Selection(settings.fixed[i].select, 1e-6 * length, file, here + ".select"),
        static_cast<int32_t>(tet_bones.size()));
    tet_bones.push_back(std::move(bone));
  }
}

// Points where nodes are wanted: along the axis of every bone, not next to its ends, where joints
// bend; and two beside it, so that flesh does not turn about it.
std::vector<Vec3d> TetModel::points_on_bones(double spacing,
                                             std::vector<int32_t>& bone_of_point) const {
  std::vector<Vec3d> points;
  for (const FleshBone& bone : rig->bones()) {
    if (bone.hold == BoneHold::none) continue;
    const auto of = std::find_if(tet_bones.begin(), tet_bones.end(),
                                 [&](const TetBone& b) { return b.joint == bone.shape.joint; });
    if (of == tet_bones.end()) continue;
    const auto number = static_cast<int32_t>(of - tet_bones.begin());
    const Vec3d along = bone.shape.to - bone.shape.from;
    const double long_way = along.norm();
    const int count = std::max(2, static_cast<int>(std::lround(long_way / (0.8 * spacing))));
    for (int i = 0; i < count; ++i) {
      points.emplace_back(bone.shape.from + (i + 0.5) / count * along);
      bone_of_point.push_back(number);
    }
    const Vec3d middle = bone.shape.from + 0.5 * along;
    // To the side where there is most flesh, half way out, but no nearer than nodes can be.
    Vec3d aside = long_way > 0 ? Vec3d(along.unitOrthogonal()) : Vec3d(Vec3d::UnitX());
    const Vec3d axis = long_way > 0 ? Vec3d(along / long_way) : Vec3d(Vec3d::UnitY());
    double widest = 0;
    for (int turn = 0; turn < 8; ++turn) {
      const Vec3d way = Eigen::AngleAxisd(turn * std::numbers::pi / 8, axis) * aside;
      double reach = 0;
      while (reach < 2 * spacing && rig->way_out(middle + (reach + 0.1 * spacing) * way) > 0 &&
             rig->way_out(middle - (reach + 0.1 * spacing) * way) > 0)
        reach += 0.1 * spacing;
      if (reach <= widest) continue;
      widest = reach;
      aside = way;
    }
    const double radius = std::min(0.6 * spacing, std::max(0.5 * widest, 0.3 * spacing));
    if (radius > widest) continue;
    for (const double side : {-radius, radius}) {
      points.emplace_back(middle + side * aside);
      bone_of_point.push_back(number);
    }
  }
  return points;
}

void TetModel::make_cage(const Character& character, const BodySettings& settings,
                         const std::string& file) {
  const TetSettings& tets = settings.tets;
  if (tets.mesh) {
    flesh.mesh = *tets.mesh;
    orient_positively(flesh.mesh);
    m_bone_of_node.assign(flesh.mesh.positions.size(), -1);
    cage_spacing = std::cbrt(12 * volume(flesh.mesh) /
                             static_cast<double>(std::max<size_t>(flesh.mesh.tets.size(), 1)));
    smallest_angle = smallest_dihedral(flesh.mesh);
    m_filling = fill_tets(flesh.mesh, skin.mesh, 128, settings.voxels.sheets);
    return;
  }
  TetCageOptions options;
  options.method = tets.cage;
  options.elements = tets.elements > 0                                 ? tets.elements
                     : character.skin.positions.size() > detailed_skin ? many_elements
                                                                       : usual_elements;
  TriangleMesh covered = skin.mesh;
  for (const Vec3i& segment : skin.segments) covered.triangles.push_back(segment);
  try {
    std::vector<int32_t> bone_of_point;
    std::vector<Vec3d> points;
    if (rig) {
      // A cage without points tells how far apart nodes will be.
      const double spacing = make_tet_cage(covered, {}, options).spacing;
      points = points_on_bones(spacing, bone_of_point);
    }
    TetCage cage = make_tet_cage(covered, points, options);
    m_cut.emplace(cage.mesh, skin.mesh, cage.spacing);
    m_filling = m_cut->divide(fill_tets(cage.mesh, skin.mesh, 128, settings.voxels.sheets));
    flesh.mesh = m_cut->mesh;
    smallest_angle = cage.smallest_angle;
    cage_spacing = cage.spacing;
    m_bone_of_node.assign(flesh.mesh.positions.size(), -1);
    std::vector<int32_t> bone_before(cage.mesh.positions.size(), -1);
    for (size_t p = 0; p < points.size(); ++p) {
      const int32_t node = cage.nodes_of_points[p];
      if (node >= 0 && bone_before[static_cast<size_t>(node)] < 0)
        bone_before[static_cast<size_t>(node)] = bone_of_point[p];
    }
    for (size_t n = 0; n < m_bone_of_node.size(); ++n)
      if (m_cut->at_home[n])
        m_bone_of_node[n] = bone_before[static_cast<size_t>(m_cut->node_before[n])];
    copies = m_cut->copies();
    if (cage.farthest > 0.5 * cage.spacing)
      notes.push_back(
          fmt::format("the cage is coarse for the bones: a node meant for one is {:.2g} "
                      "of the spacing away from it",
                      cage.farthest / cage.spacing));
  } catch (const Error& error) {
    throw_input_error(file, "body.tets", error.what());
  }
}

// What is in the elements, and what it is made of.
void TetModel::fill(const BodySettings& settings, const std::string& file) {
  TetFilling& filling = m_filling;
  std::vector<MaterialPlace> places;
  const double cell_volume = solid.spacing * solid.spacing * solid.spacing;
  for (size_t c = 0; c < mesh.cells.size(); ++c)
    places.push_back({cell_centre(c), c, solid.covered(mesh.cells[c]) * cell_volume});
  const size_t cells = places.size();
  std::vector<double> densities;
  flesh.matter.law = settings.tets.law;
  for (size_t e = 0; e < flesh.mesh.tets.size(); ++e) {
    const double volume = six_volumes(flesh.mesh, flesh.mesh.tets[e]) / 6;
    if (filling.filled[e] < least_filled) {
      filling.filled[e] = least_filled;
      filling.shares[e].setConstant(least_filled * volume / 4);
    }
    flesh.matter.volumes.push_back(filling.filled[e] * volume);
    Vec3d middle = Vec3d::Zero();
    for (int c = 0; c < 4; ++c)
      middle += flesh.mesh.positions[static_cast<size_t>(flesh.mesh.tets[e][c])] / 4;
    places.push_back({middle, static_cast<size_t>(nearest_cell(solid, mesh, middle)), 0});
  }
  const std::vector<Substance> is = set_materials(settings, places, file);
  double poisson = 0;
  for (size_t e = 0; e < flesh.mesh.tets.size(); ++e) {
    const Substance& own = is[cells + e];
    flesh.matter.materials.push_back(lame_moduli(own.young, own.poisson));
    m_young.push_back(own.young);
    densities.push_back(own.density);
    poisson = std::max(poisson, own.poisson);
  }
  flesh.matter.limits = {std::max(settings.tets.lower, least_lower_limit(poisson)),
                         std::max(settings.tets.upper, 1.0), settings.tets.volume};
  flesh.masses = lumped_masses(flesh.mesh, filling.shares, densities);
  flesh.damping = damping_rate(settings);
}

// Which nodes are fixed to which bone: those placed on one, those inside one, those a scene holds.
void TetModel::hold_nodes(const std::string& file) {
  const size_t nodes = flesh.mesh.positions.size();
  flesh.bone_of_node = m_bone_of_node;
  flesh.place_on_bone.assign(nodes, Vec3d::Zero());
  flesh.reference.assign(nodes, -1);
  std::map<int, int32_t> number;
  for (size_t b = 0; b < rig_bones; ++b) number[tet_bones[b].joint] = static_cast<int32_t>(b);
  for (size_t n = 0; n < nodes; ++n) {
    const Vec3d& at = flesh.mesh.positions[n];
    const Vec3d& matter = m_cut ? m_cut->matter[n] : at;
    double nearest = std::numeric_limits<double>::infinity();
    for (size_t b = 0; rig && b < rig->bones().size(); ++b) {
      const FleshBone& bone = rig->bones()[b];
      const double distance = bone.distance(matter);
      if (distance >= nearest) continue;
      nearest = distance;
      flesh.reference[n] = number.at(bone.shape.joint);
      if ((!m_cut || m_cut->at_home[n]) && bone.distance(at) <= 0 && bone.hold != BoneHold::none &&
          flesh.bone_of_node[n] < 0)
        flesh.bone_of_node[n] = flesh.reference[n];
    }
    for (const auto& [selection, bone] : m_selections)
      if (selection.contains(at)) flesh.bone_of_node[n] = bone;
    if (flesh.bone_of_node[n] >= 0)
      flesh.place_on_bone[n] = at - tet_bones[static_cast<size_t>(flesh.bone_of_node[n])].origin;
  }
  for (const auto& [selection, bone] : m_selections)
    if (std::find(flesh.bone_of_node.begin(), flesh.bone_of_node.end(), bone) ==
        flesh.bone_of_node.end())
      throw_input_error(
          file, fmt::format("body.fixed[{}].select", bone - static_cast<int32_t>(rig_bones)),
          "catches no node; " + rest_reach);
}

// The skin in the elements, and how hard contact pushes it.
void TetModel::tie_skin(const BodySettings& settings) {
  const TriangleMesh touching =
      refined(skin.mesh, static_cast<int>(std::lround(settings.contact.points)));
  std::vector<Vec3d> points;
  for (const Vec3f& p : touching.positions) points.push_back(p.cast<double>());
  const std::vector<double> areas = vertex_areas(touching);
  places = m_cut ? m_cut->locate(points) : locate_points(flesh.mesh, points);
  for (size_t p = 0; p < places.size(); ++p) {
    const auto e = static_cast<size_t>(places[p].tet);
    TetTie tie;
    for (size_t c = 0; c < 4; ++c) {
      tie.nodes[c] = flesh.mesh.tets[e][static_cast<Eigen::Index>(c)];
      tie.weights[c] = places[p].weights[static_cast<Eigen::Index>(c)];
    }
    const double modulus = settings.contact.stiffness * m_young[e] / cage_spacing;
    if (p < skin.mesh.positions.size()) {
      ties.push_back(tie);
      contact_moduli.push_back(modulus);
    }
    contact.ties.push_back(tie);
    contact.stiffness.push_back(modulus * areas[p]);
    contact.element_of.push_back(places[p].tet);
  }
  contact.deepest_only = settings.tets.deepest_only;
  places.resize(skin.mesh.positions.size());
}

namespace {

// Mass, centre and inertia of the bone's own shapes: cylinders, as long as their capsules.
void give_mass(const TetModel& model, const TetBone& from, double density, BoneDescription& bone) {
  Vec3d first = Vec3d::Zero();
  Mat3d second = Mat3d::Zero();
  const auto about_origin = [](double m, const Vec3d& x) -> Mat3d {
    return m * (x.squaredNorm() * Mat3d::Identity() - x * x.transpose());
  };
  for (const FleshBone& own : model.rig->bones()) {
    if (own.shape.joint != from.joint) continue;
    const double r = std::max(own.shape.radius, 0.01 * model.length), l = own.shape.length();
    const double m = density * std::numbers::pi * r * r * (l + 4 * r / 3);
    const Vec3d middle = (own.shape.from + own.shape.to) / 2 - from.origin;
    const Vec3d axis = l > 0 ? Vec3d((own.shape.to - own.shape.from) / l) : Vec3d(Vec3d::UnitX());
    const double along = m * r * r / 2, across = m * (3 * r * r + (l + r) * (l + r)) / 12;
    bone.mass += m;
    first += m * middle;
    second += across * Mat3d::Identity() + (along - across) * axis * axis.transpose() +
              about_origin(m, middle);
  }
  if (!(bone.mass > 0)) return;
  bone.centre = first / bone.mass;
  bone.inertia = second - about_origin(bone.mass, bone.centre);
  bone.inertia = (bone.inertia + bone.inertia.transpose().eval()) / 2;
}

// A joint as the scene has it; its stops turn what hangs on it (kg m²) back at some 15 Hz.
void set_joint(const JointSettings& own, double inertia, const std::string& here,
               const std::string& file, BoneDescription& bone) {
  if (own.type == JointType::free && bone.parent >= 0)
    throw_input_error(file, here + ".type", "only the topmost bone can be free");
  bone.joint = own.type;
  bone.axis = Vec3d(own.axis.data());
  bone.axis2 = Vec3d(own.axis2.data());
  if (bone.axis.isZero(0) || bone.axis2.isZero(0))
    throw_input_error(file, here + ".axis", "is 0 0 0; a direction is needed");
  bone.axis.normalize();
  bone.axis2.normalize();
  bone.passive.stiffness = own.stiffness;
  bone.passive.damping = own.damping;
  const double rate = 2 * std::numbers::pi * 15;
  bone.passive.limit_stiffness = inertia * rate * rate;
  bone.passive.limit_damping = inertia * rate;
  const size_t axes = own.type == JointType::universal ? 2 : 1;
  if (!own.limits.empty() && own.limits.size() != axes)
    throw_input_error(file, here + ".limits",
                      fmt::format("has {} pairs, the joint takes {}", own.limits.size(), axes));
  const double unit = own.type == JointType::prismatic ? 1 : std::numbers::pi / 180;
  for (size_t a = 0; a < own.limits.size(); ++a) {
    if (own.limits[a].size() != 2 || !(own.limits[a][0] < own.limits[a][1]))
      throw_input_error(file, here + ".limits", "must be pairs, the smaller number first");
    bone.passive.lower[a] = unit * own.limits[a][0];
    bone.passive.upper[a] = unit * own.limits[a][1];
  }
}

}  // namespace

std::vector<BoneDescription> describe_skeleton(const Character& character, const TetModel& model,
                                               const SkeletonSettings& settings,
                                               const std::string& file) {
  const double s = model.scale.metres_per_unit, density = s * s * s * settings.density;
  std::map<int, int> number;
  for (size_t b = 0; b < model.rig_bones; ++b)
    number[model.tet_bones[b].joint] = static_cast<int>(b);
  std::vector<BoneDescription> bones(model.rig_bones);
  for (size_t b = 0; b < bones.size(); ++b) {
    const TetBone& from = model.tet_bones[b];
    const Joint& joint = character.skeleton.joints[static_cast<size_t>(from.joint)];
    BoneDescription& bone = bones[b];
    bone.name = joint.name;
    int up = joint.parent;
    while (up >= 0 && !number.contains(up))
      up = character.skeleton.joints[static_cast<size_t>(up)].parent;
    bone.parent = up >= 0 ? number.at(up) : -1;
    bone.joint = bone.parent < 0 ? JointType::free : settings.others;
    bone.position = from.origin;
    if (bone.parent >= 0) bone.position -= model.tet_bones[static_cast<size_t>(bone.parent)].origin;
    give_mass(model, from, density, bone);
  }
  merge_fixed_masses(model.flesh, bones);
  for (BoneDescription& bone : bones)
    if (bone.mass <= 0 && bone.parent >= 0) bone.joint = JointType::fixed;
  for (size_t i = 0; i < settings.joints.size(); ++i) {
    const std::string here = fmt::format("body.skeleton.joints[{}]", i);
    const int joint = character.skeleton.require(settings.joints[i].joint, file, here + ".joint");
    const auto found = number.find(joint);
    if (found == number.end())
      throw_input_error(file, here + ".joint", "this joint carries no flesh");
    const auto bone = static_cast<size_t>(found->second);
    set_joint(settings.joints[i], hanging_inertia(bones, bone), here, file, bones[bone]);
  }
  return bones;
}

}  // namespace supple
