#include "supple/sim/surface_body.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "supple/core/error.h"
#include "supple/core/log.h"
#include "supple/core/parallel.h"
#include "supple/math/flat.h"
#include "supple/sim/selection.h"

namespace supple {
namespace {

// A mesh alone weighs as if it were this long, in metres, whatever its file's unit: a toy.
constexpr double usual_length = 0.5;
// What settings of pulls are for, in seconds.
constexpr double usual_step = 0.005;
// A mesh alone falls from this height, in lengths of its own.
constexpr double drop = 0.5;

size_t at(int32_t i) { return static_cast<size_t>(i); }

double length_of(const Character& character) {
  const Box3f box = bounding_box(character.skin.positions);
  return box.isEmpty() ? 0 : static_cast<double>(box.sizes().maxCoeff());
}

double metres_per_unit(double length, const Scene& scene) {
  if (!(length > 0)) return 1;
  if (scene.body.size > 0) return scene.body.size / length;
  return scene.objects.empty() ? usual_length / length : 1;
}

// The ground a mesh alone falls on is a little below it.
BodySettings with_ground(const BodySettings& given, const Character& character, bool is_alone) {
  BodySettings settings = standing_on_ground(given, character);
  if (is_alone && settings.contact.colliders.size() > given.contact.colliders.size()) {
    ColliderSettings& ground = settings.contact.colliders.back();
    for (size_t c = 0; c < 3; ++c)
      ground.centre[c] -= drop * length_of(character) * ground.normal[c];
  }
  return settings;
}

SurfaceModel model_of(const SurfacePieces& pieces) {
  std::vector<std::vector<float>> masses;
  return SurfaceModel(pieces.objects(masses));
}

}  // namespace

SurfaceBody::SurfaceBody(const Character& character, const Scene& scene, const FrameRange& range,
                         const std::string& file)
    : m_character(character),
      m_pieces(character, scene, file),
      m_settings(with_ground(scene.body, character, scene.objects.empty())),
      m_skinning(scene.character.skinning),
      m_length(length_of(character)),
      m_metres_per_unit(metres_per_unit(m_length, scene)),
      m_gravity(Vec3d(m_settings.gravity.acceleration.data()) / m_metres_per_unit),
      m_model(model_of(m_pieces)),
      m_solver(m_model),
      m_colliders(character, m_settings.contact, range, m_length, file),
      m_state(m_model),
      m_touching(m_model.size(), 0) {
  if (m_pieces.rigged) {
    m_skinner = std::make_unique<Skinner>(character.weights, character.binds);
    if (m_settings.gravity.compensate.value_or(true)) m_gravity.setZero();
  }
  if (m_settings.contact.props) m_colliders.add_props(FleshSkin(character));
  for (size_t i = 0; i < m_colliders.size(); ++i) m_collider_list.push_back(&m_colliders[i]);
  hold(scene.body, range, file);
  weigh_pulls(scene.body, file);
  std::vector<int32_t> objects(m_model.size());
  std::vector<SurfaceTouch> touches;
  for (size_t o = 0; o < m_model.objects.size(); ++o) {
    std::fill(objects.begin() + m_model.objects[o].begin, objects.begin() + m_model.objects[o].end,
              static_cast<int32_t>(o));
    touches.push_back(m_pieces.pieces[o].touch);
  }
  std::vector<float> inverse;
  for (const float mass : m_model.masses) inverse.push_back(1 / mass);
  for (const Held& group : m_held)
    for (const int32_t p : group.particles) inverse[at(p)] = 0;
  m_contact = std::make_unique<SurfaceContact>(
      SurfaceCollisionModel{m_model.rest, m_model.triangles, objects, inverse, touches}, file);
  for (const SurfacePiece& piece : m_pieces.pieces) {
    if (piece.placed < 0) continue;
    const PlacedObject& placed = scene.placed[at(piece.placed)];
    const std::span<const Vec3f> shown(character.skin.positions);
    m_details.push_back({DetailMesh(piece.mesh.positions, piece.mesh.triangles,
                                    shown.subspan(at(placed.first_vertex), at(placed.vertices))),
                         piece.first_point, placed.first_vertex,
                         static_cast<int32_t>(piece.mesh.positions.size())});
  }
  if (!m_pull_weights.empty()) m_targets = m_from = m_to = m_model.rest;
}

// Particles that scripts hold.
void SurfaceBody::hold(const BodySettings& settings, const FrameRange& range,
                       const std::string& file) {
  for (size_t i = 0; i < settings.fixed.size(); ++i) {
    const std::string here = fmt::format("body.fixed[{}]", i);
    const Selection selection(settings.fixed[i].select, 1e-4 * m_length, file, here + ".select");
    Held group;
    group.script = Script(settings.fixed[i].motion, range, file, here + ".motion");
    for (size_t p = 0; p < m_model.size(); ++p)
      if (selection.contains(m_model.rest[p].cast<double>()))
        group.particles.push_back(static_cast<int32_t>(p));
    if (group.particles.empty())
      throw_input_error(file, here + ".select", "there is no vertex of the skin in it");
    m_held.push_back(std::move(group));
  }
}

// How strongly particles are drawn to the rig and held by scripts.
void SurfaceBody::weigh_pulls(const BodySettings& settings, const std::string& file) {
  if (!m_pieces.rigged && m_held.empty()) return;
  const VertexAttribute* flesh = nullptr;
  if (!settings.flesh.attribute.empty()) {
    flesh = m_character.attribute(settings.flesh.attribute);
    if (flesh == nullptr)
      throw_input_error(file, "body.flesh.attribute",
                        fmt::format("the character has no vertex attribute '{}'",
                                    printable(settings.flesh.attribute)));
  }
  m_pull_weights.assign(m_model.size(), 0);
  for (size_t p = 0; p < m_model.size() && m_pieces.rigged; ++p) {
    const int32_t vertex = m_pieces.vertex_of_point[at(m_model.vertex_of_particle[p])];
    double soft = 1;
    if (flesh != nullptr && vertex >= 0)
      soft = std::clamp(
          static_cast<double>(flesh->values[at(vertex) * static_cast<size_t>(flesh->components)]),
          0.0, 1.0);
    m_pull_weights[p] = static_cast<float>(1 - soft * (1 - settings.surface.follow));
  }
  for (const Held& group : m_held)
    for (const int32_t p : group.particles) m_pull_weights[at(p)] = 1;
}

// The first step puts the body where it begins, without time passing. Each later one goes from the
// moment of the one before to the drive's, in equal parts.
StepReport SurfaceBody::step(const Drive& drive, double dt) {
  StepReport report;
  const Instant to{{drive.time, static_cast<double>(drive.frame)}, drive.pose, drive.joints};
  if (!m_started) {
    start(to);
    report.warnings = m_model.remarks();
    for (const std::string& remark : report.warnings) log_warning("{}", remark);
  } else {
    const bool is_jump = m_pieces.rigged && is_cut(m_character, m_now, to, m_length);
    if (m_pieces.rigged) {
      pose_targets(m_now, m_from);
      pose_targets(to, m_to);
      if (is_jump) start(to);
    }
    const Instant from = m_now;
    const int steps = std::max(1, static_cast<int>(std::ceil(dt / m_settings.surface.step - 1e-9)));
    for (int s = 1; s <= steps && !is_jump; ++s) {
      const double part = static_cast<double>(s) / steps;
      advance(s == steps ? to : instant_between(m_character, from, to, part, m_pieces.rigged), part,
              dt / steps, report);
    }
  }
  m_started = true;
  m_now = to;
  return report;
}

void SurfaceBody::start(const Instant& first) {
  for (const SurfacePiece& piece : m_pieces.pieces) place(piece);
  if (m_pieces.rigged) {
    pose_targets(first, m_to);
    m_from = m_to;
    std::copy(m_to.begin(), m_to.end(), m_state.positions.begin());
  }
  m_now = first;
  aim(first, 1);
  for (const Held& group : m_held)
    for (const int32_t p : group.particles) m_state.positions[at(p)] = m_targets[at(p)];
}

// Puts an object where it begins, with its speed.
void SurfaceBody::place(const SurfacePiece& piece) {
  const size_t count = piece.mesh.positions.size();
  const Box3f box = bounding_box(piece.mesh.positions);
  const Vec3f middle = box.center();
  std::mt19937 random(static_cast<unsigned>(piece.first_point) + 1);
  const auto part = [&] { return static_cast<float>(random()) / 4294967296.0f; };
  for (size_t i = 0; i < count; ++i) {
    Vec3f p = piece.mesh.positions[i];
    if (piece.start == ObjectStart::random)
      p = box.min() + Vec3f(part(), part(), part()).cwiseProduct(box.sizes());
    else if (piece.start == ObjectStart::flat)
      p[1] = middle[1];
    else if (piece.start == ObjectStart::point)
      p = middle;
    else if (piece.start == ObjectStart::inverted)
      p = 2 * middle - p;
    const size_t particle = at(m_model.particle_of_vertex[at(piece.first_point) + i]);
    m_state.positions[particle] = p;
    m_state.velocities[particle] =
        (piece.velocity / m_metres_per_unit + piece.spin.cross((p - middle).cast<double>()))
            .cast<float>();
  }
}

// Where plain skinning has the particles.
void SurfaceBody::pose_targets(const Instant& at_time, std::vector<Vec3f>& out) {
  m_plain = m_character.skin.positions;
  add_blend_shapes(m_character.shapes, at_time.pose.shape_weights, m_plain);
  m_skinner->skin(m_skinning, at_time.joints, m_plain, m_plain);
  out.resize(m_model.size());
  for (size_t p = 0; p < m_model.size(); ++p)
    out[p] = m_plain[at(m_pieces.vertex_of_point[at(m_model.vertex_of_particle[p])])];
}

// Where rig and scripts want the particles, at a part of the way from frame to frame.
void SurfaceBody::aim(const Instant& now, double part) {
  if (m_pull_weights.empty()) return;
  if (m_pieces.rigged)
    for (size_t p = 0; p < m_targets.size(); ++p)
      m_targets[p] = m_from[p] + static_cast<float>(part) * (m_to[p] - m_from[p]);
  for (const Held& group : m_held) {
    const Affine motion = group.script.at(now.moment);
    for (const int32_t p : group.particles)
      m_targets[at(p)] = (motion * m_model.rest[at(p)].cast<double>()).cast<float>();
  }
}

// One time step [Diziol 2011, section 3].
void SurfaceBody::advance(const Instant& now, double part, double dt, StepReport& report) {
  m_colliders.move({m_now.moment, m_now.joints}, {now.moment, now.joints}, dt);
  std::vector<float> weights = m_pull_weights;
  for (float& w : weights)
    w = static_cast<float>(1 - std::pow(1 - static_cast<double>(w), dt / usual_step));
  aim(now, part);
  m_solver.set_pulls({m_targets, weights});
  report.stages.time("match", [&] {
    m_solver.predict(m_state, dt, m_gravity);
    m_solver.match(m_state, dt);
  });
  const std::span<Vec3f> x(m_state.positions.data(), m_model.size()),
      v(m_state.velocities.data(), m_model.size());
  report.stages.time("contact", [&] { m_contact->resolve(m_collider_list, dt, x, v, m_touching); });
  report.stages.time("volume", [&] {
    // What touches something stays, so that no contact that was resolved is violated.
    const VolumeReport volume = m_solver.keep_volume(m_state, m_touching);
    m_solver.keep_volume_velocity(m_state);
    report.residual = std::max(report.residual, volume.error);
  });
  ++report.iterations;
  m_now = now;
}

double SurfaceBody::volume_error() const {
  double worst = 0;
  const auto volumes = m_solver.volumes();
  for (size_t s = 0; s < m_model.volume.shells.size(); ++s) {
    const VolumeShell& shell = m_model.volume.shells[s];
    if (shell.closed) worst = std::max(worst, std::abs(volumes[s] / shell.rest_volume - 1));
  }
  return worst;
}

void SurfaceBody::skin(BodyFrame& out) const {
  out.positions.resize(m_character.skin.positions.size());
  std::vector<float> contact(out.positions.size(), 0);
  parallel_for(out.positions.size(), 4096, [&](size_t begin, size_t end) {
    for (size_t v = begin; v < end; ++v) {
      const int32_t point = m_pieces.point_of_vertex[v];
      if (point < 0) {  // follows the rig, or a simulated mesh
        out.positions[v] = m_plain.empty() ? m_character.skin.positions[v] : m_plain[v];
        continue;
      }
      const size_t particle = at(m_model.particle_of_vertex[at(point)]);
      out.positions[v] = m_state.positions[particle];
      contact[v] = m_touching[particle] != 0;
    }
  });
  std::vector<Vec3f> coarse;
  for (const Detail& detail : m_details) {
    coarse.resize(at(detail.points));
    for (size_t i = 0; i < coarse.size(); ++i)
      coarse[i] = m_state.positions[at(m_model.particle_of_vertex[at(detail.first_point) + i])];
    detail.mesh.follow(
        coarse, std::span(out.positions).subspan(at(detail.first_vertex), detail.mesh.size()));
  }
  Chunk extras;
  extras.add<float>("map/contact", contact);
  if (!m_colliders.triangles().empty())
    extras.add<float>("collider/vertices",
                      as_floats(m_colliders.vertices({m_now.moment, m_now.joints})), 3);
  for (const ChunkArray& array : extras.arrays()) out.extras.push_back(array);
}

std::vector<ChunkArray> SurfaceBody::shown_once() const {
  Chunk chunk;
  if (!m_colliders.triangles().empty())
    chunk.add<int32_t>("collider/triangles", as_ints(m_colliders.triangles()), 3);
  return chunk.arrays();
}

std::vector<BodyFact> SurfaceBody::facts() const {
  double closed = 0;
  for (const VolumeShell& shell : m_model.volume.shells) closed += shell.closed;
  return {{"objects", static_cast<double>(m_model.objects.size()), ""},
          {"particles", static_cast<double>(m_model.size()), ""},
          {"triangles", static_cast<double>(m_model.triangles.size()), ""},
          {"closed shells", closed, ""},
          {"paths", static_cast<double>(m_model.path_starts.size()) - 1, ""},
          {"step", m_settings.surface.step, "s"},
          {"metres per unit", m_metres_per_unit, ""}};
}

void SurfaceBody::save(Chunk& state) const {
  const auto numbers = [&](const std::vector<Vec3f>& all) {
    return std::span(all.data()->data(), 3 * m_model.size());
  };
  state.add<float>("surface/positions", numbers(m_state.positions), 3);
  state.add<float>("surface/velocities", numbers(m_state.velocities), 3);
  state.add<float>("surface/plastic", m_state.plastic);
  state.add<float>("surface/rotations", m_state.rotations);
  state.add<uint8_t>("surface/recovering", m_state.recovering);
  const std::span<const uint8_t> touching = std::as_const(*m_contact).self_touching();
  state.add<uint8_t>("surface/self_touching", touching);
  state.add<uint8_t>("surface/touching", m_touching);
  save_instant(m_now, "surface", state);
}

void SurfaceBody::load(const Chunk& state, std::string_view file) {
  const auto rows = static_cast<int64_t>(m_model.size());
  const auto positions = state.get<float>("surface/positions", 3, rows, file);
  const auto velocities = state.get<float>("surface/velocities", 3, rows, file);
  const auto plastic =
      state.get<float>("surface/plastic", 1, static_cast<int64_t>(m_state.plastic.size()), file);
  const auto rotations = state.get<float>("surface/rotations", 1,
                                          static_cast<int64_t>(m_state.rotations.size()), file);
  const auto recovering = state.get<uint8_t>("surface/recovering", 1,
                                             static_cast<int64_t>(m_state.recovering.size()), file);
  const auto self = state.get<uint8_t>("surface/self_touching", 1, rows, file);
  m_touching = state.get<uint8_t>("surface/touching", 1, rows, file);
  for (const auto* numbers : {&positions, &velocities, &plastic, &rotations})
    for (const float number : *numbers)
      if (!std::isfinite(number)) throw_input_error(file, "surface", "is not a finite number");
  m_now = load_instant(state, "surface", m_character, m_pieces.rigged, file);
  std::copy(positions.begin(), positions.end(), m_state.positions.data()->data());
  std::copy(velocities.begin(), velocities.end(), m_state.velocities.data()->data());
  m_state.plastic = plastic;
  m_state.rotations = rotations;
  m_state.recovering = recovering;
  std::copy(self.begin(), self.end(), m_contact->self_touching().begin());
  m_started = true;
}

}  // namespace supple
