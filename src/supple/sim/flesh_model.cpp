#include "supple/sim/flesh_model.h"

#include <algorithm>
#include <cmath>

#include "supple/core/error.h"
#include "supple/sim/selection.h"

namespace supple {
namespace {

std::string reach_of(const std::vector<Vec3d>& points) {
  Box3d box;
  for (const Vec3d& p : points) box.extend(p);
  const Vec3d a = box.min(), b = box.max();
  return fmt::format("the body reaches from {:.4g} {:.4g} {:.4g} to {:.4g} {:.4g} {:.4g}", a[0],
                     a[1], a[2], b[0], b[1], b[2]);
}

}  // namespace

FleshModel::FleshModel(const Character& character, const BodySettings& settings, const Cutter& cut,
                       const std::string& file)
    : skin(character),
      length(skin.mesh.positions.empty()
                 ? 0
                 : static_cast<double>(bounding_box(skin.mesh.positions).sizes().maxCoeff())),
      scale(skin.rigged || settings.size > 0 ? world_scale(length, settings.size) : WorldScale()),
      solid(cut(skin)),
      mesh(solid.lattice),
      embedding(solid, mesh, skin.mesh.positions),
      gravity(Vec3d(settings.gravity.acceleration.data()) / scale.metres_per_unit) {
  for (const LatticePlace& node : mesh.nodes)
    rest.push_back(solid.position(solid.lattice.coordinates(node.block, node.local)));
  rest_reach = reach_of(rest);
  if (settings.embedding == SkinEmbedding::smooth)
    smooth = std::make_unique<SmoothEmbedding>(solid, mesh, skin.mesh.positions);
  if (skin.rigged)
    rig = std::make_unique<FleshRig>(character, skin, solid, mesh, settings.attach, file);
}

void FleshModel::attach(const BodySettings& settings, const FrameRange& range, bool needs_hold,
                        const std::string& file) {
  if (rig)
    attachment = std::make_unique<Attachment>(*rig, AttachmentInput{rest, masses, young}, settings);
  hold_nodes(settings, range, file);
  pull_places(settings, range, file);
  set_pokes(settings, file);
  if (needs_hold) refuse_loose_pieces(file);
}

Vec3d FleshModel::cell_centre(size_t cell) const {
  const LatticePlace& place = mesh.cells[cell];
  return solid.position(solid.lattice.coordinates(place.block, place.local)) +
         Vec3d::Constant(solid.spacing / 2);
}

LatticeTie FleshModel::tie(const Vec3d& at) const {
  return tie_to_cell(solid, mesh, nearest_cell(solid, mesh, at), at);
}

std::vector<Vec3d> FleshModel::weights(std::span<const Affine> joints, bool compensated,
                                       std::span<const Vec3d> support) const {
  std::vector<Vec3d> forces(masses.size());
  for (size_t n = 0; n < forces.size(); ++n) forces[n] = masses[n] * gravity;
  if (compensated && !gravity.isZero(0)) {
    std::vector<Mat3d> turns(forces.size());
    attachment->rotations(joints, turns);
    for (size_t n = 0; n < forces.size(); ++n)
      forces[n] += turns[n] * (support.empty() ? Vec3d(-forces[n]) : support[n]);
  }
  return forces;
}

void FleshModel::add_pokes(const Moment& moment, std::span<Vec3d> forces) const {
  for (const Poke& poke : pokes) {
    const double time = poke.unit == TimeUnit::seconds ? moment.time : moment.frame;
    if (time < poke.from || time >= poke.to) continue;
    for (const LatticeTie& spot : poke.ties)
      for (size_t c = 0; c < 8; ++c)
        forces[static_cast<size_t>(spot.nodes[c])] += spot.weights[c] * poke.force;
  }
}

std::vector<Vec3d> FleshModel::outer_forces(const Moment& moment, std::span<const Affine> joints,
                                            bool compensated,
                                            std::span<const Vec3d> support) const {
  std::vector<Vec3d> forces = weights(joints, compensated, support);
  add_pokes(moment, forces);
  return forces;
}

void FleshModel::hold_nodes(const BodySettings& settings, const FrameRange& range,
                            const std::string& file) {
  std::vector<int32_t> holder(rest.size(), -1);
  for (size_t i = 0; i < settings.fixed.size(); ++i) {
    const std::string here = fmt::format("body.fixed[{}]", i);
    Script script(settings.fixed[i].motion, range, file, here + ".motion");
    if (settings.fixed[i].skin) {
      hold_points(settings.fixed[i], std::move(script), here, file);
      fixed.emplace_back();
      continue;
    }
    const Selection selection(settings.fixed[i].select, selection_border * solid.spacing, file,
                              here + ".select");
    fixed.push_back({{}, std::move(script)});
    size_t count = 0;
    for (size_t n = 0; n < rest.size(); ++n)
      if (selection.contains(rest[n])) {
        holder[n] = static_cast<int32_t>(i);
        ++count;
      }
    if (count == 0) throw_input_error(file, here + ".select", "catches no node; " + rest_reach);
  }
  for (size_t n = 0; n < rest.size(); ++n)
    if (holder[n] >= 0)
      fixed[static_cast<size_t>(holder[n])].nodes.push_back(static_cast<int32_t>(n));
}

void FleshModel::hold_points(const FixedSettings& settings, Script script, const std::string& field,
                             const std::string& file) {
  const Selection selection(settings.select, selection_border * solid.spacing, file,
                            field + ".select");
  ScriptedPoints group{{}, std::move(script)};
  for (size_t p = 0; p < skin.mesh.positions.size(); ++p)
    if (selection.contains(skin.mesh.positions[p].cast<double>()))
      group.points.push_back(static_cast<int32_t>(p));
  if (group.points.empty())
    throw_input_error(file, field + ".select", "catches no point of the skin; " + rest_reach);
  held_points.push_back(std::move(group));
}

void FleshModel::pull_places(const BodySettings& settings, const FrameRange& range,
                             const std::string& file) {
  std::vector<bool> held(rest.size(), false);
  for (const ScriptedNodes& group : fixed)
    for (const int32_t node : group.nodes) held[static_cast<size_t>(node)] = true;
  for (size_t i = 0; i < settings.pulled.size(); ++i) {
    const PulledSettings& pull = settings.pulled[i];
    const std::string here = fmt::format("body.pulled[{}]", i);
    const Selection selection(pull.select, selection_border * solid.spacing, file,
                              here + ".select");
    PulledPlaces group;
    group.script = Script(pull.motion, range, file, here + ".motion");
    if (pull.skin) {
      for (const Vec3f& point : skin.mesh.positions)
        if (selection.contains(point.cast<double>())) group.rest.emplace_back(point.cast<double>());
    } else {
      for (size_t n = 0; n < rest.size(); ++n)
        if (!held[n] && selection.contains(rest[n])) group.rest.push_back(rest[n]);
    }
    if (group.rest.empty())
      throw_input_error(
          file, here + ".select",
          fmt::format("catches no {}; {}",
                      pull.skin ? "point of the skin" : "node that is not held", rest_reach));
    for (const Vec3d& at : group.rest) group.ties.push_back(tie(at));
    group.stiffness = pull.stiffness / static_cast<double>(group.rest.size());
    pulled.push_back(std::move(group));
  }
}

// A poke's force is spread evenly over the points of the skin in its spot.
void FleshModel::set_pokes(const BodySettings& settings, const std::string& file) {
  constexpr double usual_radius = 0.1;  // of the body's length
  for (size_t i = 0; i < settings.pokes.size(); ++i) {
    const PokeSettings& given = settings.pokes[i];
    const double radius = given.radius > 0 ? given.radius : usual_radius * length;
    Poke poke;
    poke.from = given.from;
    poke.to = given.to;
    poke.unit = given.unit;
    const Vec3d at(given.at.data());
    for (const Vec3f& point : skin.mesh.positions)
      if ((point.cast<double>() - at).norm() <= radius)
        poke.ties.push_back(tie(point.cast<double>()));
    if (poke.ties.empty())
      throw_input_error(
          file, fmt::format("body.pokes[{}].at", i),
          fmt::format("no point of the skin is within {:.4g} m; {}", radius, rest_reach));
    poke.force =
        Vec3d(given.force.data()) / scale.metres_per_unit / static_cast<double>(poke.ties.size());
    pokes.push_back(std::move(poke));
  }
}

// A piece that nothing holds has no equilibrium under gravity.
void FleshModel::refuse_loose_pieces(const std::string& file) const {
  if (gravity.isZero(0)) return;
  const std::vector<int32_t> piece = mesh.pieces();
  std::vector<bool> held(
      piece.empty() ? 0 : static_cast<size_t>(*std::max_element(piece.begin(), piece.end()) + 1),
      false);
  for (const ScriptedNodes& group : fixed)
    for (const int32_t node : group.nodes)
      held[static_cast<size_t>(piece[static_cast<size_t>(node)])] = true;
  for (const PulledPlaces& group : pulled)
    for (const LatticeTie& place : group.ties)
      if (group.stiffness > 0)
        held[static_cast<size_t>(piece[static_cast<size_t>(place.nodes[0])])] = true;
  for (const ScriptedPoints& group : held_points)
    for (const int32_t p : group.points)
      held[static_cast<size_t>(
          piece[static_cast<size_t>(embedding.ties()[static_cast<size_t>(p)].nodes[0])])] = true;
  if (attachment)
    for (size_t n = 0; n < rest.size(); ++n)
      if (attachment->stiffness()[n] > 0) held[static_cast<size_t>(piece[n])] = true;
  const auto loose = std::find(held.begin(), held.end(), false);
  if (loose == held.end()) return;
  std::vector<Vec3d> points;
  for (size_t n = 0; n < rest.size(); ++n)
    if (piece[n] == loose - held.begin()) points.push_back(rest[n]);
  Box3d box;
  for (const Vec3d& p : points) box.extend(p);
  const Vec3d middle = box.center();
  throw_input_error(file, "body.fixed",
                    fmt::format("nothing holds the piece of {} nodes around {:.4g} {:.4g} {:.4g} "
                                "against gravity: fix or pull some, or set 'dynamic'",
                                points.size(), middle[0], middle[1], middle[2]));
}

double damping_rate(const BodySettings& settings) {
  // Implicit steps take some of the motion away; explicit ones, as tets have, nothing.
  return settings.damping.value_or(settings.type == "tets" ? 6 : 1);
}

}  // namespace supple
