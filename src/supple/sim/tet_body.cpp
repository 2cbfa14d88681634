#include "supple/sim/tet_body.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "supple/core/error.h"
#include "supple/core/log.h"
#include "supple/math/flat.h"
#include "supple/math/polar.h"
#include "supple/rig/blend_shapes.h"
#include "supple/sim/tet_shown.h"

namespace supple {
namespace {

// Steps are this part of the longest stable ones: stretched elements are stiffer than the estimate.
constexpr double safety = 0.6;
constexpr double usual_step = 1e-3;

// Iterations of the power method at the start, and again in every frame.
constexpr int first_iterations = 40, later_iterations = 3;

// A frame that ends badly is tried again with half the step, so many times.
constexpr int most_tries = 5;

// From the bind pose to the first one: seconds, and damping per second.
constexpr double settling_time = 0.5, settling_damping = 30;

// Nothing alive moves this many body lengths in a second.
constexpr double fastest_lengths = 500;

BoneMotion motion_of(const Affine& placed) {
  BoneMotion motion;
  motion.rotation = nearest_rotation(placed.linear());
  motion.position = placed.translation();
  return motion;
}

}  // namespace

// The state of a frame's beginning, to go back to.
struct TetBody::Saved {
  ArticulatedState joints;
  std::vector<Vec3d> positions, velocities;
  std::vector<Grip> grips;
  std::vector<FreeBody> free_bodies;
  Eigen::VectorXd began;
  int on_since = 0;
  std::vector<Affine> bones_then;
  double time = 0;
};

TetBody::TetBody(const Character& character, const BodySettings& settings, const FrameRange& range,
                 const std::string& file, SkinningMethod skinning)
    : m_character(character),
      m_settings(standing_on_ground(settings, character)),
      m_skinning(skinning),
      m_model(character, m_settings, range, file),
      m_range(range) {
  if (!character.binds.empty())
    m_skinner = std::make_unique<Skinner>(character.weights, character.binds);
  if (!m_model.scale.reason.empty()) log_info("tets: {}", m_model.scale.reason);
  for (const std::string& note : m_model.notes) log_warning("tets: {}", note);
  const bool two_way = !m_model.skeleton.empty();
  m_carried = !two_way && m_settings.gravity.compensate.value_or(true);
  if (m_settings.skeleton.mode == SkeletonMode::two_way && !two_way)
    throw_input_error(file, "body.skeleton.mode", "'two_way' needs a rigged character");
  ArticulatedBody skeleton = two_way ? ArticulatedBody(m_model.skeleton) : ArticulatedBody();
  // Momentum is kept to the last digits where bones feel it; speed counts more where they do not.
  m_body =
      std::make_unique<TetCharacter>(std::move(skeleton), m_model.flesh, m_model.contact,
                                     two_way ? TetPrecision::twice : TetPrecision::single, file);
  if (two_way)
    m_control = std::make_unique<TetControl>(character, m_model, m_body->skeleton(),
                                             m_settings.skeleton, range, file);
  m_colliders =
      std::make_unique<MovingColliders>(character, m_settings.contact, range, m_model.length, file);
  if (m_settings.contact.props) m_colliders->add_props(m_model.skin);
  for (size_t c = 0; c < m_colliders->size(); ++c) m_collider_list.push_back(&(*m_colliders)[c]);
  // In the rest pose, so that runs that are resumed have the same.
  m_body->stable_step(first_iterations, safety);
  for (const ColliderSettings& own : m_settings.contact.colliders)
    m_joints_carry |= !own.joint.empty();
  m_joints_carry |= m_settings.contact.props;
  add_free_bodies(m_settings, file);
  if (m_settings.embedding == SkinEmbedding::smooth)
    m_smooth = std::make_unique<SmoothTetSkin>(m_model.flesh.mesh, m_model.flesh.matter.volumes,
                                               m_model.skin.mesh.positions, m_model.places);
  if (m_settings.volume) {
    NodeShares shares;
    for (const TetTie& tie : m_model.ties) shares.add(tie.nodes, tie.weights);
    std::vector<uint8_t> held;
    for (const int32_t bone : m_model.flesh.bone_of_node) held.push_back(bone >= 0 ? 1 : 0);
    m_volume = std::make_unique<SkinVolume>(m_model.skin, shares, std::move(held));
  }
}

// Colliders with the same name are one body; its weight comes from their outlines.
void TetBody::add_free_bodies(const BodySettings& settings, const std::string& file) {
  std::vector<std::string> names;
  for (const ColliderSettings& own : settings.contact.colliders)
    if (!own.free.empty() && std::find(names.begin(), names.end(), own.free) == names.end())
      names.push_back(own.free);
  const double s = m_model.scale.metres_per_unit;
  for (const std::string& name : names) {
    double mass = 0;
    Vec3d first = Vec3d::Zero();
    Mat3d second = Mat3d::Zero();
    TriangleMesh outline;
    RigidBodyModel body;
    std::vector<Collider> parts;
    for (size_t i = 0; i < settings.contact.colliders.size(); ++i) {
      const ColliderSettings& own = settings.contact.colliders[i];
      const std::string here = fmt::format("body.contact.colliders[{}]", i);
      if (own.free != name) continue;
      if (own.type == ColliderType::plane || !own.joint.empty() || !own.motion.empty())
        throw_input_error(file, here + ".free",
                          "planes, and what joints or scripts move, cannot be free");
      if (own.type == ColliderType::mesh && !own.mesh)
        throw_input_error(file, here + ".file", "a collider of type 'mesh' needs a file");
      const TriangleMesh shown = collider_outline(own, m_model.length);
      const RigidBodyModel part = solid_body(shown, s * s * s * own.density, file + ": " + here);
      const auto about_origin = [](double m, const Vec3d& c) -> Mat3d {
        return m * (c.squaredNorm() * Mat3d::Identity() - c * c.transpose());
      };
      mass += part.mass;
      first += part.mass * part.centre;
      second += part.inertia + about_origin(part.mass, part.centre);
      for (const Vec3f& p : shown.positions) body.points.push_back(p.cast<double>());
      const auto corners = static_cast<int32_t>(outline.positions.size());
      outline.positions.insert(outline.positions.end(), shown.positions.begin(),
                               shown.positions.end());
      for (const Vec3i& t : shown.triangles)
        outline.triangles.emplace_back(t + Vec3i::Constant(corners));
      parts.emplace_back(collider_shape(own), ColliderOptions{own.friction, own.thickness});
    }
    body.mass = mass;
    body.centre = first / mass;
    body.inertia = second - mass * (body.centre.squaredNorm() * Mat3d::Identity() -
                                    body.centre * body.centre.transpose());
    // On a few of its points it bounces at some 30 Hz.
    const double rate = 2 * std::numbers::pi * 30;
    body.stiffness = mass * rate * rate * 2 / static_cast<double>(body.points.size());
    m_body->free_bodies.push_back({RigidBody(std::move(body)), std::move(parts)});
    m_free_outlines.push_back(std::move(outline));
  }
}

// The first step puts the body where it begins, without time passing. Each later one goes from the
// moment of the one before to the drive's.
StepReport TetBody::step(const Drive& drive, double dt) {
  StepReport report;
  const Instant to{{drive.time, static_cast<double>(drive.frame)}, drive.pose, drive.joints};
  if (!m_started) {
    start(to, report);
    m_started = true;
  } else if (!is_two_way() && m_model.rig_bones > 0 &&
             is_cut(m_character, m_now, to, m_model.length)) {
    settle(to, report);
    report.warnings.emplace_back("the clip jumps here: the body begins anew at rest");
  } else {
    advance(to, dt, report);
  }
  m_now = to;
  m_joints = joints_now();
  if (m_skinner && !m_joints.empty()) {
    m_plain = m_character.skin.positions;
    add_blend_shapes(m_character.shapes, drive.pose.shape_weights, m_plain);
    m_skinner->skin(m_skinning, m_joints, m_plain, m_plain);
  }
  return report;
}

void TetBody::start(const Instant& first, StepReport& report) {
  const Vec3d velocity = Vec3d(m_settings.velocity.data());
  const Vec3d spin = Vec3d(m_settings.spin.data()) * (std::numbers::pi / 180);
  if (is_two_way()) {
    const TurnSettings& turn = m_settings.skeleton.turn;
    const Vec3d about(turn.about.data()), axis(turn.axis.data());
    Affine placed = Affine::Identity();
    if (turn.angle != 0 && !axis.isZero(0))
      placed = Eigen::Translation3d(about) *
               Eigen::AngleAxisd(turn.angle * (std::numbers::pi / 180), axis.normalized()) *
               Eigen::Translation3d(-about);
    placed.pretranslate(Vec3d(m_settings.skeleton.shift.data()));
    std::vector<Affine> joints =
        m_control->tracks() ? first.joints : bind_instant(m_character, first).joints;
    for (Affine& joint : joints) joint = placed * joint;
    m_body->joints.q = m_control->numbers_of(joints);
    put_at(first);
  } else if (m_model.rig_bones > 0) {
    m_now = bind_instant(m_character, first);
    settle(first, report);
  } else {
    put_at(first);
  }
  move_colliders(first, first, 1, 0);
  find_step(1, first_iterations);
  // A rigid motion about the centre of mass.
  if (velocity.isZero(0) && spin.isZero(0)) return;
  m_body->update();
  const Vec3d centre = m_body->centre_of_mass();
  for (size_t n = 0; n < m_body->flesh.positions.size(); ++n)
    m_body->flesh.velocities[n] = velocity + spin.cross(m_body->flesh.positions[n] - centre);
  for (size_t b = 0; is_two_way() && b < m_body->skeleton().size(); ++b) {
    const ArticulatedBone& bone = m_body->skeleton().bone(b);
    if (bone.joint != JointType::free) continue;
    const BoneMotion& now = m_body->dynamics().motions()[b];
    m_body->joints.v.segment<3>(bone.v) = now.rotation.transpose() * spin;
    m_body->joints.v.segment<3>(bone.v + 3) = velocity + spin.cross(now.position - centre);
  }
}

// Puts every node where the bone nearest to it takes it.
void TetBody::put_at(const Instant& now) {
  std::vector<Affine> frames;
  if (is_two_way())
    for (const BoneMotion& bone : m_body->update()) frames.push_back(bone.matrix());
  else
    for (const TetBone& bone : m_model.tet_bones) frames.push_back(bone_frame(bone, now));
  const TetFleshModel& flesh = m_model.flesh;
  for (size_t n = 0; n < flesh.mesh.positions.size(); ++n) {
    const int32_t bone = flesh.bone_of_node[n] >= 0 ? flesh.bone_of_node[n] : flesh.reference[n];
    m_body->flesh.positions[n] =
        bone < 0
            ? flesh.mesh.positions[n]
            : frames[static_cast<size_t>(bone)] *
                  (flesh.mesh.positions[n] - m_model.tet_bones[static_cast<size_t>(bone)].origin);
    m_body->flesh.velocities[n].setZero();
  }
  m_body->contact.forget();
}

// To rest in a pose: the flesh is taken there from where it was, as if through honey.
void TetBody::settle(const Instant& to, StepReport& report) {
  TetFlesh& flesh = m_body->flesh;
  if (!m_started) put_at(m_now);
  std::fill(flesh.velocities.begin(), flesh.velocities.end(), Vec3d::Zero());
  bones_between(m_now, to, settling_time);
  const int steps = std::max(1, find_step(settling_time, first_iterations));
  const double h = settling_time / steps;
  move_colliders(to, to, 1, 0);
  for (int pass = 0; pass < 2; ++pass) {
    for (int s = 0; s < steps; ++s) {
      // The second time round the bones stand still.
      bones_at(pass == 0 ? s * h : settling_time, m_bones);
      bones_at(pass == 0 ? (s + 1) * h : settling_time, m_next_bones);
      m_body->follow(m_bones, m_next_bones, m_collider_list, m_model.gravity, m_carried, h);
      for (Vec3d& v : flesh.velocities) v *= std::exp(-settling_damping * h);
    }
  }
  std::fill(flesh.velocities.begin(), flesh.velocities.end(), Vec3d::Zero());
  if (!m_body->is_sound(fastest_lengths * m_model.length)) {
    put_at(to);
    report.warnings.emplace_back(
        "the flesh did not come to rest in this pose; it is put where the "
        "bones are");
  }
}

// How many steps a frame of dt seconds takes; sets the length of each.
int TetBody::find_step(double dt, int iterations) {
  const double longest = m_settings.tets.step > 0 ? m_settings.tets.step : usual_step;
  const double stable = m_body->stable_step(iterations, safety);
  const int steps = std::max(m_settings.substeps,
                             static_cast<int>(std::ceil(dt / std::min(longest, stable) - 1e-9)));
  m_step = dt / steps;
  return steps;
}

void TetBody::advance(const Instant& to, double dt, StepReport& report) {
  Saved saved{m_body->joints,
              m_body->flesh.positions,
              m_body->flesh.velocities,
              m_body->contact.grips,
              m_body->free_bodies,
              {},
              0,
              {},
              m_time};
  if (m_control) {
    saved.began = m_control->began;
    saved.on_since = m_control->on_since;
    saved.bones_then = m_control->bones_then;
  }
  const Instant from = m_now;
  int steps = report.stages.time("step length", [&] { return find_step(dt, later_iterations); });
  for (int attempt = 0; attempt < most_tries; ++attempt, steps *= 2) {
    m_step = dt / steps;
    if (report.stages.time("steps", [&] { return run_steps(from, to, dt, steps, report); })) {
      report.iterations = steps;
      report.time_step = m_step;
      if (attempt > 0)
        report.warnings.push_back(fmt::format(
            "the motion was too violent: taken in {} steps of {:.2g} ms", steps, 1000 * m_step));
      return;
    }
    m_body->joints = saved.joints;
    m_body->flesh.positions = saved.positions;
    m_body->flesh.velocities = saved.velocities;
    m_body->contact.grips = saved.grips;
    m_body->free_bodies = saved.free_bodies;
    m_body->contact.forget();
    m_time = saved.time;
    if (m_control) {
      m_control->began = saved.began;
      m_control->on_since = saved.on_since;
      m_control->bones_then = saved.bones_then;
    }
  }
  // No step is short enough: the flesh is put where the bones are, and the skeleton stops.
  m_body->joints.v.setZero();
  for (FreeBody& free : m_body->free_bodies) {
    free.body.velocity.setZero();
    free.body.spin.setZero();
  }
  m_time += dt;
  put_at(to);
  report.warnings.emplace_back(
      "the motion was too violent for any step; the body begins anew at rest");
}

// All steps of a frame; false when the state is no longer sound.
bool TetBody::run_steps(const Instant& from, const Instant& to, double dt, int steps,
                        StepReport& report) {
  const double h = dt / steps, limit = fastest_lengths * m_model.length;
  int slowed = 0;
  if (is_two_way())
    m_control->begin_frame(from.joints, to.joints);
  else
    bones_between(from, to, dt);
  for (int s = 0; s < steps; ++s) {
    const double part = static_cast<double>(s + 1) / steps;
    move_colliders(from, to, part, h);
    if (is_two_way()) {
      const Moment moment{from.moment.time + part * (to.moment.time - from.moment.time),
                          from.moment.frame + part * (to.moment.frame - from.moment.frame)};
      m_body->update();
      m_body->find_forces(m_collider_list, h);
      slowed += m_control->order(*m_body, m_time, moment, part, m_model.gravity, h, m_orders);
      m_body->advance(m_orders, m_model.gravity, h);
    } else {
      bones_at(s * h, m_bones);
      bones_at((s + 1) * h, m_next_bones);
      m_body->follow(m_bones, m_next_bones, m_collider_list, m_model.gravity, m_carried, h);
    }
    if (m_volume) m_volume->keep(m_body->flesh.positions, m_body->flesh.velocities);
    m_time += h;
    // Looked at now and then: a state that is not sound does not become so again.
    if (((s & 15) == 15 || s + 1 == steps) && !m_body->is_sound(limit)) return false;
  }
  if (is_two_way()) m_body->update();
  if (slowed > 0)
    report.warnings.push_back(
        fmt::format("joints were asked to jump: slowed down in {} of {} steps", slowed, steps));
  return true;
}

void TetBody::move_colliders(const Instant& from, const Instant& to, double part, double h) {
  if (m_colliders->size() == 0) return;
  const auto between = [&](double p) {
    return Moment{from.moment.time + p * (to.moment.time - from.moment.time),
                  from.moment.frame + p * (to.moment.frame - from.moment.frame)};
  };
  const double length = to.moment.time - from.moment.time;
  const double before = h > 0 && length > 0 ? std::max(0.0, part - h / length) : part;
  if (!m_joints_carry) {
    m_colliders->move({between(before), from.joints}, {between(part), from.joints}, h);
    return;
  }
  const bool rigged = m_model.rig_bones > 0;
  const std::vector<Affine> then = instant_between(m_character, from, to, before, rigged).joints;
  const std::vector<Affine> now = instant_between(m_character, from, to, part, rigged).joints;
  m_colliders->move({between(before), then}, {between(part), now}, h);
}

// Straight ways of the bones from one frame to the next.
void TetBody::bones_between(const Instant& from, const Instant& to, double dt) {
  m_ways.resize(m_model.tet_bones.size());
  m_bones.resize(m_ways.size());
  m_next_bones.resize(m_ways.size());
  for (size_t b = 0; b < m_ways.size(); ++b) {
    const BoneMotion a = motion_of(bone_frame(m_model.tet_bones[b], from)),
                     z = motion_of(bone_frame(m_model.tet_bones[b], to));
    const Eigen::AngleAxisd turn(Mat3d(z.rotation * a.rotation.transpose()));
    m_ways[b] = {a.position, (z.position - a.position) / dt, turn.axis(), a.rotation,
                 turn.angle() / dt};
  }
}

void TetBody::bones_at(double time, std::vector<BoneMotion>& out) const {
  for (size_t b = 0; b < m_ways.size(); ++b) {
    const BoneWay& way = m_ways[b];
    out[b].position = way.position + time * way.velocity;
    out[b].rotation =
        Eigen::AngleAxisd(time * way.rate, way.axis).toRotationMatrix() * way.rotation;
    out[b].velocity = {way.rate * way.axis, way.velocity};
  }
}

// The rig's joints as the skeleton has moved them: those without a bone of their own go along with
// the one above.
std::vector<Affine> TetBody::joints_now() const {
  if (!is_two_way()) return m_now.joints;
  std::vector<Affine> joints = m_now.joints;
  std::vector<int32_t> bone_of(joints.size(), -1);
  for (size_t b = 0; b < m_model.rig_bones; ++b)
    bone_of[static_cast<size_t>(m_model.tet_bones[b].joint)] = static_cast<int32_t>(b);
  const std::span<const BoneMotion> bones = m_body->dynamics().motions();
  for (size_t j = 0; j < joints.size(); ++j) {
    const int parent = m_character.skeleton.joints[j].parent;
    if (bone_of[j] >= 0) {
      const TetBone& bone = m_model.tet_bones[static_cast<size_t>(bone_of[j])];
      joints[j] = bones[static_cast<size_t>(bone_of[j])].matrix() *
                  Eigen::Translation3d(-bone.origin) * bone.bind;
    } else if (parent >= 0) {
      joints[j] = joints[static_cast<size_t>(parent)] *
                  (m_now.joints[static_cast<size_t>(parent)].inverse() * m_now.joints[j]);
    }
  }
  return joints;
}

void TetBody::skin(BodyFrame& out) const {
  const std::vector<Vec3d>& nodes = m_body->flesh.positions;
  const TetSkinShown skin =
      show_tet_skin(m_character, m_model, m_smooth.get(), nodes, m_now.pose.shape_weights, m_plain);
  out.positions = skin.positions;
  std::vector<float> touched(out.positions.size(), 0);
  for (size_t v = 0; v < touched.size(); ++v)
    if (const int32_t point = m_model.skin.point_of_vertex[v]; point >= 0)
      touched[v] = m_body->contact.depths()[static_cast<size_t>(point)];
  std::vector<Vec3f> shown;
  for (const Vec3d& p : nodes) shown.push_back(p.cast<float>());
  Chunk extras;
  extras.add<float>("map/contact", touched);
  if (!m_plain.empty()) extras.add<float>("map/distance", skin.distance);
  extras.add<float>("mesh/nodes", as_floats(shown), 3);
  std::vector<Vec3f> corners;
  if (m_colliders->size() > 0) corners = m_colliders->vertices({m_now.moment, m_joints});
  for (size_t f = 0; f < m_free_outlines.size(); ++f) {
    const Affine placed = m_body->free_bodies[f].body.placed();
    for (const Vec3f& p : m_free_outlines[f].positions)
      corners.emplace_back((placed * p.cast<double>()).cast<float>());
  }
  if (!corners.empty()) extras.add<float>("collider/vertices", as_floats(corners), 3);
  for (const ChunkArray& array : extras.arrays()) out.extras.push_back(array);
}

std::vector<ChunkArray> TetBody::shown_once() const {
  Chunk chunk;
  const std::vector<Vec4i>& tets = m_model.flesh.mesh.tets;
  chunk.add<int32_t>("mesh/tetrahedra",
                     std::span<const int32_t>(tets.data()->data(), 4 * tets.size()), 4);
  std::vector<Vec3i> triangles = m_colliders->triangles();
  int32_t corners = 0;
  for (const Vec3i& t : triangles) corners = std::max(corners, t.maxCoeff() + 1);
  for (const TriangleMesh& outline : m_free_outlines) {
    for (const Vec3i& t : outline.triangles) triangles.emplace_back(t + Vec3i::Constant(corners));
    corners += static_cast<int32_t>(outline.positions.size());
  }
  if (!triangles.empty())
    chunk.add<int32_t>("collider/triangles",
                       std::span<const int32_t>(triangles.data()->data(), 3 * triangles.size()), 3);
  return chunk.arrays();
}

void TetBody::save(Chunk& state) const {
  const TetCharacter& body = *m_body;
  state.add<double>("tets/positions", as_doubles(body.flesh.positions), 3);
  state.add<double>("tets/velocities", as_doubles(body.flesh.velocities), 3);
  std::vector<double> grips;
  const auto add_grips = [&](const std::vector<Grip>& from) {
    for (const Grip& grip : from)
      grips.insert(grips.end(),
                   {grip.anchor[0], grip.anchor[1], grip.anchor[2], grip.normal[0], grip.normal[1],
                    grip.normal[2], static_cast<double>(grip.collider)});
  };
  add_grips(body.contact.grips);
  state.add<double>("tets/mode", as_doubles(body.flesh.mode()), 3);
  std::vector<double> numbers = {m_time, m_step};
  for (const FreeBody& free : body.free_bodies) {
    const RigidBody& b = free.body;
    for (const Vec3d& v : {b.position, b.velocity, b.spin})
      numbers.insert(numbers.end(), {v[0], v[1], v[2]});
    for (int i = 0; i < 4; ++i) numbers.push_back(b.orientation.coeffs()[i]);
    add_grips(b.grips);
  }
  if (m_control) {
    const auto add = [&](const Eigen::VectorXd& v) {
      numbers.insert(numbers.end(), v.data(), v.data() + v.size());
    };
    add(body.joints.q);
    add(body.joints.v);
    add(body.joint_mode);
    numbers.push_back(m_control->on_since);
    add(m_control->began.size() > 0 ? m_control->began : body.joints.q);
    for (size_t b = 0; b < body.skeleton().size(); ++b) {
      const Affine placed =
          m_control->bones_then.empty() ? Affine::Identity() : m_control->bones_then[b];
      numbers.insert(numbers.end(), placed.matrix().data(), placed.matrix().data() + 16);
    }
  }
  state.add<double>("tets/grips", grips, 7);
  state.add<double>("tets/numbers", numbers);
  save_instant(m_now, "tets", state);
}

void TetBody::load(const Chunk& state, std::string_view file) {
  TetCharacter& body = *m_body;
  const auto rows = static_cast<int64_t>(body.flesh.positions.size());
  const auto positions = state.get<double>("tets/positions", 3, rows, file);
  const auto velocities = state.get<double>("tets/velocities", 3, rows, file);
  const auto mode = state.get<double>("tets/mode", 3, rows, file);
  size_t grip_count = body.contact.grips.size(), count = 2;
  for (const FreeBody& free : body.free_bodies) {
    grip_count += free.body.grips.size();
    count += 13;
  }
  const auto nq = static_cast<size_t>(body.skeleton().position_numbers()),
             nv = static_cast<size_t>(body.skeleton().velocity_numbers());
  if (m_control) count += 2 * nq + 2 * nv + 1 + 16 * body.skeleton().size();
  const auto grips = state.get<double>("tets/grips", 7, static_cast<int64_t>(grip_count), file);
  const auto numbers = state.get<double>("tets/numbers", 1, static_cast<int64_t>(count), file);
  require_finite(positions, file, "tets");
  require_finite(velocities, file, "tets");
  require_finite(mode, file, "tets");
  require_finite(grips, file, "tets");
  require_finite(numbers, file, "tets");
  m_now = load_instant(state, "tets", m_character, m_model.rig_bones > 0, file);
  body.flesh.positions = as_vectors(positions);
  body.flesh.velocities = as_vectors(velocities);
  body.flesh.mode() = as_vectors(mode);
  const double* grip = grips.data();
  const auto take_grips = [&](std::vector<Grip>& to) {
    for (Grip& g : to) {
      g = {Vec3d(grip[0], grip[1], grip[2]), Vec3d(grip[3], grip[4], grip[5]),
           static_cast<int32_t>(grip[6])};
      grip += 7;
    }
  };
  take_grips(body.contact.grips);
  const double* number = numbers.data();
  m_time = *number++;
  m_step = *number++;
  for (FreeBody& free : body.free_bodies) {
    for (Vec3d* v : {&free.body.position, &free.body.velocity, &free.body.spin}) {
      *v = Vec3d(number[0], number[1], number[2]);
      number += 3;
    }
    free.body.orientation = Quatd(number[3], number[0], number[1], number[2]);
    number += 4;
    take_grips(free.body.grips);
    for (Collider& part : free.parts) part.set_motion(free.body.placed());
  }
  if (m_control) {
    const auto take = [&](Eigen::VectorXd& v, size_t size) {
      v = Eigen::Map<const Eigen::VectorXd>(number, static_cast<Eigen::Index>(size));
      number += size;
    };
    take(body.joints.q, nq);
    take(body.joints.v, nv);
    take(body.joint_mode, nv);
    m_control->on_since = static_cast<int>(*number++);
    take(m_control->began, nq);
    m_control->bones_then.resize(body.skeleton().size());
    for (Affine& placed : m_control->bones_then) {
      placed.matrix() = Eigen::Map<const Mat4d>(number);
      number += 16;
    }
    body.update();
  }
  body.contact.forget();
  m_joints = joints_now();
  m_started = true;
}

std::vector<BodyFact> TetBody::facts() const {
  size_t fixed = 0;
  for (const int32_t bone : m_model.flesh.bone_of_node) fixed += bone >= 0;
  std::vector<BodyFact> facts = {
      {"elements", static_cast<double>(m_body->flesh.element_count()), ""},
      {"nodes", static_cast<double>(m_model.flesh.mesh.positions.size()), ""},
      {"nodes fixed to bones", static_cast<double>(fixed), ""},
      {"smallest angle", m_model.smallest_angle, "degrees"},
      {"bones", static_cast<double>(m_model.rig_bones), ""},
      {"mass", m_model.flesh.mass(), "kg"},
      {"memory", static_cast<double>(m_body->flesh.bytes()) / 1e6, "MB"},
      {"metres per unit", m_model.scale.metres_per_unit, ""}};
  if (m_model.copies > 0)
    facts.push_back({"elements that limbs do not share", static_cast<double>(m_model.copies), ""});
  if (is_two_way())
    facts.push_back({"degrees of freedom of the skeleton",
                     static_cast<double>(m_body->skeleton().velocity_numbers()), ""});
  if (m_step > 0) facts.push_back({"time step", 1000 * m_step, "ms"});
  return facts;
}

}  // namespace supple
