#include "supple/sim/implicit_tet_body.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "supple/adjust/tet_contact.h"
#include "supple/core/error.h"
#include "supple/core/log.h"
#include "supple/math/flat.h"
#include "supple/math/polar.h"
#include "supple/rig/blend_shapes.h"
#include "supple/sim/adjust_reading.h"
#include "supple/sim/tet_shown.h"

namespace supple {
namespace {

// Many points of a skin do not move as the few elements they lie in can: of these, points of which
// less is new are left out.
constexpr double least_new = 0.2;

// From what amount on a point belongs to a proxy.
constexpr float enough = 0.5f;

// From how many substeps on equilibria are found twice a frame instead of in every stage.
constexpr int steps_to_look_ahead = 3;

void refuse_unknown(const BodySettings& settings, const std::string& file) {
  if (settings.skeleton.mode == SkeletonMode::two_way)
    throw_input_error(file, "body.skeleton.mode",
                      "'two_way' needs \"dynamics\": \"explicit\" in body.tets");
  if (settings.adjust.derivatives == AdjustDerivatives::five_point &&
      settings.tets.integrator != StepMethod::backward_euler)
    throw_input_error(file, "body.adjust.derivatives",
                      "'five_point' needs \"integrator\": \"backward_euler\" in body.tets");
}

// The piece of every node that elements connect, as the number of its first node.
std::vector<int32_t> pieces_of(const TetMesh& mesh) {
  std::vector<int32_t> piece(mesh.positions.size());
  for (size_t n = 0; n < piece.size(); ++n) piece[n] = static_cast<int32_t>(n);
  const auto first = [&](int32_t n) {
    while (piece[static_cast<size_t>(n)] != n) {
      int32_t& up = piece[static_cast<size_t>(n)];
      up = piece[static_cast<size_t>(up)];
      n = up;
    }
    return n;
  };
  for (const Vec4i& tet : mesh.tets)
    for (int c = 1; c < 4; ++c) {
      const int32_t a = first(tet[0]), b = first(tet[c]);
      piece[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
    }
  for (size_t n = 0; n < piece.size(); ++n) piece[n] = first(static_cast<int32_t>(n));
  return piece;
}

AdjustedOptions options_of(const BodySettings& settings) {
  AdjustedOptions options;
  options.integrator = settings.tets.integrator == StepMethod::tr_bdf2 ? Integrator::tr_bdf2
                                                                       : Integrator::backward_euler;
  options.damping = settings.adjust.damping == AdjustDamping::scaled   ? DampingFrame::scaled
                    : settings.adjust.damping == AdjustDamping::moving ? DampingFrame::moving
                                                                       : DampingFrame::still;
  if (settings.adjust.derivatives == AdjustDerivatives::five_point)
    options.derivatives = PathDerivatives::five_point;
  options.always_track = settings.adjust.run != nullptr;
  if (settings.solver.iterations > 0) options.iterations = settings.solver.iterations;
  return options;
}

}  // namespace

ImplicitTetBody::ImplicitTetBody(const Character& character, const BodySettings& settings,
                                 const FrameRange& range, const std::string& file,
                                 SkinningMethod skinning)
    : m_character(character),
      m_settings(settings),
      m_skinning(skinning),
      m_model(character, settings, range, file),
      m_carry(m_model.flesh.mesh, m_model.flesh.reference),
      m_step(1 / (range.rate * settings.substeps)) {
  refuse_unknown(settings, file);
  if (!character.binds.empty())
    m_skinner = std::make_unique<Skinner>(character.weights, character.binds);
  if (!m_model.scale.reason.empty()) log_info("tets: {}", m_model.scale.reason);
  for (const std::string& note : m_model.notes) log_warning("tets: {}", note);
  m_compensates = m_model.rig_bones > 0 && settings.gravity.compensate.value_or(true);
  find_held(file);
  if (has_implicit_contact(settings.contact))
    m_contact = std::make_unique<ImplicitTetContact>(character, m_model, settings, range, file);
  m_free = m_held.empty() && m_pulled.empty();
  if (m_free && (!m_contact || adjusts(settings.adjust) || settings.adjust.run))
    throw_input_error(file, "body",
                      "nothing holds the body, so that it has no equilibrium; give it bones, "
                      "'fixed' nodes or 'proxies'");
  const TetSystemModel base = base_model();
  const bool sags = !m_model.gravity.isZero(0) && !m_compensates;
  m_dials = std::make_unique<TetDials>(settings, m_model, base, m_step, sags, file);
  m_factors = m_dials->at({range.clip_time, static_cast<double>(range.first)});
  std::vector<double> inertia(base.masses.size(), 1);
  if (m_dials->act()) inertia = m_dials->inertia(m_factors);
  m_body =
      std::make_unique<AdjustedTets>(m_dials->adjusted(base), inertia, options_of(settings), file);
  m_body->set_factors(m_factors.stiffness, m_factors.damping, m_dials->move());
  if (m_contact) touch_by(m_contact->finder(), m_body->system());
  if (settings.adjust.run) {
    m_body->use_path(settings.adjust.run->path);
    settings.adjust.run->body = m_dials->body();
    settings.adjust.run->record.begin(m_body->system().masses(),
                                      shapes_of(m_body->system(), m_dials->modes()));
  }
  if (m_settings.embedding == SkinEmbedding::smooth)
    m_smooth = std::make_unique<SmoothTetSkin>(m_model.flesh.mesh, m_model.flesh.matter.volumes,
                                               m_model.skin.mesh.positions, m_model.places);
}

// Nodes on bones and in scripts' selections, then points of the skin.
void ImplicitTetBody::find_held(const std::string& file) {
  for (size_t n = 0; n < m_model.flesh.bone_of_node.size(); ++n)
    if (m_model.flesh.bone_of_node[n] >= 0) hold_node(static_cast<int32_t>(n));
  for (size_t i = 0; i < m_settings.proxies.size(); ++i)
    add_proxy(m_settings.proxies[i], fmt::format("body.proxies[{}]", i), file);
  if (m_model.rig_bones > 0) hold_loose_pieces();
  find_driving_shapes();
}

void ImplicitTetBody::hold_node(int32_t node) {
  m_held.push_back({{node, node, node, node}, {1, 0, 0, 0}});
  m_held_node.push_back(node);
  m_held_vertex.push_back(-1);
}

// Cages that are cut between limbs may have bits that no bone and no proxy reaches. They would have
// no equilibrium, and fall: the bones next to them carry them.
void ImplicitTetBody::hold_loose_pieces() {
  const std::vector<int32_t> piece = pieces_of(m_model.flesh.mesh);
  std::vector<uint8_t> tied(piece.size(), 0);
  for (const std::vector<TetTie>* ties : {&m_held, &m_pulled})
    for (const TetTie& tie : *ties)
      for (size_t c = 0; c < 4; ++c)
        if (tie.weights[c] != 0)
          tied[static_cast<size_t>(piece[static_cast<size_t>(tie.nodes[c])])] = 1;
  for (size_t n = 0; n < piece.size(); ++n)
    if (tied[static_cast<size_t>(piece[n])] == 0 && m_model.flesh.reference[n] >= 0)
      hold_node(static_cast<int32_t>(n));
}

void ImplicitTetBody::add_proxy(const ProxySettings& settings, const std::string& field,
                                const std::string& file) {
  if (!m_skinner)
    throw_input_error(file, field, "needs a rigged character, whose skin moves without flesh");
  RegionSettings region;
  region.select = settings.select;
  region.bones = settings.bones;
  region.attribute = settings.attribute;
  std::vector<MaterialPlace> places;
  for (const Vec3f& p : m_model.skin.mesh.positions) {
    const Vec3d at = p.cast<double>();
    places.push_back({at, static_cast<size_t>(nearest_cell(m_model.solid, m_model.mesh, at)), 0});
  }
  const std::vector<float> amount = m_model.amount_of(region, places, field, file);
  const size_t before = m_pulled.size();
  for (size_t p = 0; p < places.size(); ++p) {
    if (amount[p] < enough) continue;
    const int32_t vertex = m_model.skin.vertex_of_point[p];
    if (settings.soft) {
      m_pulled.push_back(m_model.ties[p]);
      m_pulled_vertex.push_back(vertex);
    } else {
      m_held.push_back(m_model.ties[p]);
      m_held_node.push_back(-1);
      m_held_vertex.push_back(vertex);
    }
  }
  const double own = m_model.scale.metres_per_unit * settings.stiffness;
  const double all = own > 0 ? own : 10 * m_model.stiffness * m_model.length;
  m_pulls.resize(m_pulled.size(), all / static_cast<double>(m_pulled.size() - before));
}

// What proxies make of a shape is in the flesh; shown on top of it, it would be there twice.
void ImplicitTetBody::find_driving_shapes() {
  std::vector<bool> driven(m_character.skin.positions.size(), false);
  for (const std::vector<int32_t>* vertices : {&m_held_vertex, &m_pulled_vertex})
    for (const int32_t v : *vertices)
      if (v >= 0) driven[static_cast<size_t>(v)] = true;
  for (const BlendShape& shape : m_character.shapes) {
    bool drives = false;
    for (size_t i = 0; i < shape.vertices.size(); ++i)
      drives |= driven[static_cast<size_t>(shape.vertices[i])] && !shape.offsets[i].isZero(0);
    m_shape_drives.push_back(drives);
  }
}

TetSystemModel ImplicitTetBody::base_model() const {
  TetSystemModel base;
  base.mesh = m_model.flesh.mesh;
  base.matter = m_model.flesh.matter;
  base.masses = m_model.flesh.masses;
  if (m_settings.tets.stiffness_damping > 0)
    base.stiffness_damping.assign(base.mesh.tets.size(), m_settings.tets.stiffness_damping);
  if (m_settings.tets.mass_damping > 0)
    base.mass_damping.assign(base.masses.size(), m_settings.tets.mass_damping);
  base.held = m_held;
  base.least_new = least_new;
  base.pulled = m_pulled;
  base.pulls = m_pulls;
  return base;
}

// Where bones, scripts and plain skinning have the points.
void ImplicitTetBody::places_at(const Instant& instant, std::vector<Vec3d>& held,
                                std::vector<Vec3d>& pulled) {
  const bool skinned = m_settings.proxies.size() > 0;
  if (skinned) {
    m_proxy_skin = m_character.skin.positions;
    add_blend_shapes(m_character.shapes, instant.pose.shape_weights, m_proxy_skin);
    m_skinner->skin(m_skinning, instant.joints, m_proxy_skin, m_proxy_skin);
  }
  std::vector<Affine> frames;
  for (const TetBone& bone : m_model.tet_bones) frames.push_back(bone_frame(bone, instant));
  held.clear();
  pulled.clear();
  const TetFleshModel& flesh = m_model.flesh;
  for (size_t i = 0; i < m_held.size(); ++i) {
    if (m_held_vertex[i] >= 0) {
      held.emplace_back(m_proxy_skin[static_cast<size_t>(m_held_vertex[i])].cast<double>());
      continue;
    }
    const auto n = static_cast<size_t>(m_held_node[i]);
    if (flesh.bone_of_node[n] >= 0) {
      const auto bone = static_cast<size_t>(flesh.bone_of_node[n]);
      held.emplace_back(frames[bone] * flesh.place_on_bone[n]);
    } else {
      const auto bone = static_cast<size_t>(flesh.reference[n]);
      held.emplace_back(frames[bone] *
                        Vec3d(flesh.mesh.positions[n] - m_model.tet_bones[bone].origin));
    }
  }
  for (const int32_t vertex : m_pulled_vertex)
    pulled.emplace_back(m_proxy_skin[static_cast<size_t>(vertex)].cast<double>());
}

// Weight; where the modelled shape is that under weight, what is left of it when bones turn.
void ImplicitTetBody::set_weight(const Instant& instant, TetVector& weight) const {
  std::vector<Mat3d> turns;
  if (m_compensates)
    for (const TetBone& bone : m_model.tet_bones)
      turns.push_back(nearest_rotation(bone_frame(bone, instant).linear()));
  const TetFleshModel& flesh = m_model.flesh;
  for (size_t n = 0; n < flesh.masses.size(); ++n) {
    Vec3d g = m_model.gravity;
    if (m_compensates && flesh.reference[n] >= 0)
      g -= turns[static_cast<size_t>(flesh.reference[n])] * m_model.gravity;
    weight.node(n) = m_factors.gravity * m_dials->weight_of(n) * flesh.masses[n] * g;
  }
}

// What drives a part of the way from one instant to another.
AdjustedDrive ImplicitTetBody::drive_between(const Instant& from, const Instant& to, double begin,
                                             double end) {
  AdjustedDrive drive;
  const bool rigged = m_model.rig_bones > 0 || !m_settings.proxies.empty();
  drive.places = [this, &from, &to, begin, end, rigged](double part, std::vector<Vec3d>& held,
                                                        std::vector<Vec3d>& pulled) {
    const double at = begin + part * (end - begin);
    const auto frame = static_cast<size_t>(at);
    if (at > 1 && frame < m_ahead.size())
      places_at(instant_between(m_character, m_ahead[frame - 1], m_ahead[frame],
                                at - static_cast<double>(frame), rigged),
                held, pulled);
    else
      places_at(at >= 1 ? to : instant_between(m_character, from, to, at, rigged), held, pulled);
  };
  if (m_model.rig_bones > 0)
    drive.carry = [this, &from, &to, begin, end](double here, double there, TetVector& nodes) {
      const auto at = [&](double part) {
        return instant_between(m_character, from, to, begin + part * (end - begin), true);
      };
      const Instant first = at(here), last = at(there);
      std::vector<Affine> moves;
      for (const TetBone& bone : m_model.tet_bones)
        moves.push_back(bone_frame(bone, last) * bone_frame(bone, first).inverse());
      m_carry.move(moves, nodes);
    };
  if (m_contact) {
    drive.contact = contact_drive(m_contact->finder(), [this, &from, &to, begin, end](double part) {
      return m_contact->move(from, to, begin + part * (end - begin));
    });
  }
  drive.forces = m_body->system().zero();
  set_weight(end >= 1 ? to : instant_between(m_character, from, to, end, rigged), drive.forces);
  return drive;
}

void ImplicitTetBody::set_dials(const Moment& moment) {
  if (!m_dials->move()) return;
  m_factors = m_dials->at(moment);
  m_body->set_factors(m_factors.stiffness, m_factors.damping, true);
  m_body->set_epsilon(m_dials->inertia(m_factors));
}

StepReport ImplicitTetBody::step(const Drive& drive, double dt) {
  StepReport report;
  const Instant to{{drive.time, static_cast<double>(drive.frame)}, drive.pose, drive.joints};
  const bool rigged = m_model.rig_bones > 0 || !m_settings.proxies.empty();
  set_dials(to.moment);
  set_ahead(drive, to);
  if (!m_started) {
    start(to, true, report);
    m_started = true;
  } else if (rigged && is_cut(m_character, m_now, to, m_model.length)) {
    start(to, false, report);
    report.warnings.emplace_back("the clip jumps here: the body begins anew at rest");
  } else {
    advance(to, dt, report);
  }
  m_now = to;
  if (m_skinner && !to.joints.empty()) {
    m_plain = m_character.skin.positions;
    add_blend_shapes(m_character.shapes, drive.pose.shape_weights, m_plain);
    m_skinner->skin(m_skinning, to.joints, m_plain, m_plain);
  }
  return report;
}

int ImplicitTetBody::looks_ahead() const {
  return m_settings.adjust.derivatives == AdjustDerivatives::five_point ? 2 : 0;
}

// The frames after this one, up to a cut.
void ImplicitTetBody::set_ahead(const Drive& drive, const Instant& to) {
  const bool rigged = m_model.rig_bones > 0 || !m_settings.proxies.empty();
  m_ahead.clear();
  if (drive.ahead.empty()) return;
  m_ahead.push_back(to);
  for (const Drive& next : drive.ahead) {
    const Instant then{{next.time, static_cast<double>(next.frame)}, next.pose, next.joints};
    const bool cut = rigged && is_cut(m_character, m_ahead.back(), then, m_model.length);
    m_ahead.push_back(cut ? m_ahead.back() : then);
  }
  m_ahead.push_back(m_ahead.back());
}

// To rest in a pose, from the one before, or from the bind pose.
void ImplicitTetBody::start(const Instant& to, bool anew, StepReport& report) {
  if (m_free) {
    start_free();
    return;
  }
  const bool rigged = m_model.rig_bones > 0 || !m_settings.proxies.empty();
  const Instant from = !anew ? m_now : rigged ? bind_instant(m_character, to) : to;
  const int parts = rigged ? parts_of_path(from, to) : 1;
  if (!m_body->start(drive_between(from, to, 0, 1), parts))
    report.warnings.emplace_back("the flesh has not come to rest in this pose");
}

// A body that nothing holds begins as it was modelled, with the scene's motion about its centre.
void ImplicitTetBody::start_free() {
  const TetVector zero = m_body->system().zero();
  m_body->now = m_body->equilibrium = {m_body->system().rest(), zero, zero};
  m_contact->finder().forget();
  const Vec3d velocity = Vec3d(m_settings.velocity.data());
  const Vec3d spin = Vec3d(m_settings.spin.data()) * (std::numbers::pi / 180);
  const TetFleshModel& flesh = m_model.flesh;
  Vec3d centre = Vec3d::Zero();
  for (size_t n = 0; n < flesh.masses.size(); ++n)
    centre += flesh.masses[n] / flesh.mass() * flesh.mesh.positions[n];
  for (size_t n = 0; n < flesh.masses.size(); ++n)
    m_body->now.velocity.node(n) = velocity + spin.cross(flesh.mesh.positions[n] - centre);
}

void ImplicitTetBody::advance(const Instant& to, double dt, StepReport& report) {
  const Instant from = m_now;
  const int steps = m_settings.substeps;
  if (steps >= steps_to_look_ahead) {
    const AdjustedReport ahead =
        m_body->look_ahead(drive_between(from, to, 0, 1), dt / steps, steps);
    report.stages.add(ahead.dynamic.stages);
  }
  for (int s = 0; s < steps; ++s) {
    const AdjustedDrive drive =
        drive_between(from, to, static_cast<double>(s) / steps, static_cast<double>(s + 1) / steps);
    const AdjustedReport step = m_body->step(drive, dt / steps);
    report.iterations += step.dynamic.iterations;
    report.residual = std::max(report.residual, step.dynamic.residual);
    report.stages.add(step.dynamic.stages);
    if (!step.sound) {
      const TetVector zero = m_body->system().zero();
      m_body->now = m_body->equilibrium = {m_body->system().rest(), zero, zero};
      start(to, true, report);
      report.warnings.emplace_back("the motion was too violent; the body begins anew at rest");
      return;
    }
    if (m_settings.adjust.run) record(dt / steps);
  }
}

// Without weight a body of rigidly moved points is where these take it; else that is not known.
void ImplicitTetBody::record(double h) {
  const bool known = m_body->rigid_equilibrium(m_weightless);
  m_settings.adjust.run->record.add(m_body->now, m_body->equilibrium, m_body->system().gradients(),
                                    h, known ? &m_weightless : nullptr);
}

void ImplicitTetBody::finish(AdjustRun& run) {
  finish_reading(*m_body, drive_between(m_now, m_now, 1, 1), *m_dials, m_factors,
                 {.length = m_model.length, .step = m_step}, run);
}

void ImplicitTetBody::skin(BodyFrame& out) const {
  const TetVector& x = m_body->now.position;
  const std::span<const Vec3d> nodes(reinterpret_cast<const Vec3d*>(x.data()),
                                     m_body->system().nodes());
  std::vector<double> on_top = m_now.pose.shape_weights;
  for (size_t s = 0; s < on_top.size(); ++s)
    if (m_shape_drives[s]) on_top[s] = 0;
  const TetSkinShown skin =
      show_tet_skin(m_character, m_model, m_smooth.get(), nodes, on_top, m_plain);
  out.positions = skin.positions;
  Chunk extras;
  if (m_contact) {
    const std::vector<float> depths = m_contact->depths();
    std::vector<float> touched(out.positions.size(), 0);
    for (size_t v = 0; v < touched.size(); ++v)
      if (const int32_t point = m_model.skin.point_of_vertex[v]; point >= 0)
        touched[v] = depths[static_cast<size_t>(point)];
    extras.add<float>("map/contact", touched);
    const std::vector<Vec3f> corners = m_contact->outline_at(m_now);
    if (!corners.empty()) extras.add<float>("collider/vertices", as_floats(corners), 3);
  }
  if (!m_plain.empty()) extras.add<float>("map/distance", skin.distance);
  std::vector<Vec3f> shown;
  for (const Vec3d& p : nodes) shown.push_back(p.cast<float>());
  extras.add<float>("mesh/nodes", as_floats(shown), 3);
  for (const ChunkArray& array : extras.arrays()) out.extras.push_back(array);
}

std::vector<ChunkArray> ImplicitTetBody::shown_once() const {
  Chunk chunk;
  const std::vector<Vec4i>& tets = m_model.flesh.mesh.tets;
  chunk.add<int32_t>("mesh/tetrahedra",
                     std::span<const int32_t>(tets.data()->data(), 4 * tets.size()), 4);
  if (m_contact && !m_contact->outline().empty())
    chunk.add<int32_t>("collider/triangles",
                       std::span<const int32_t>(m_contact->outline().data()->data(),
                                                3 * m_contact->outline().size()),
                       3);
  return chunk.arrays();
}

void ImplicitTetBody::save(Chunk& state) const {
  std::vector<double> numbers;
  for (const Moving<TetVector>* motion : {&m_body->now, &m_body->equilibrium})
    for (const TetVector* v : {&motion->position, &motion->velocity, &motion->acceleration})
      numbers.insert(numbers.end(), v->data(), v->data() + v->size());
  for (const TetVector* v : {&m_body->carried_error, &m_body->carried_before})
    numbers.insert(numbers.end(), v->data(), v->data() + v->size());
  state.add<double>("tets/motion", numbers);
  if (m_contact) m_contact->save(state);
  numbers.clear();
  for (const TetVector& p : m_body->samples)
    numbers.insert(numbers.end(), p.data(), p.data() + p.size());
  if (looks_ahead() > 0) state.add<double>("tets/samples", numbers);
  save_instant(m_now, "tets", state);
}

void ImplicitTetBody::load(const Chunk& state, std::string_view file) {
  const auto size = static_cast<int64_t>(3 * m_body->system().nodes());
  const auto numbers = state.get<double>("tets/motion", 1, 8 * size, file);
  require_finite(numbers, file, "tets");
  const bool rigged = m_model.rig_bones > 0 || !m_settings.proxies.empty();
  m_now = load_instant(state, "tets", m_character, rigged, file);
  const double* from = numbers.data();
  for (Moving<TetVector>* motion : {&m_body->now, &m_body->equilibrium})
    for (TetVector* v : {&motion->position, &motion->velocity, &motion->acceleration}) {
      *v = Eigen::Map<const Eigen::VectorXd>(from, size);
      from += size;
    }
  for (TetVector* v : {&m_body->carried_error, &m_body->carried_before}) {
    *v = Eigen::Map<const Eigen::VectorXd>(from, size);
    from += size;
  }
  if (m_contact) m_contact->load(state, file);
  if (looks_ahead() > 0) load_samples(state, file);
  m_started = true;
}

// None right after the body has begun, or four.
void ImplicitTetBody::load_samples(const Chunk& state, std::string_view file) {
  const auto size = static_cast<Eigen::Index>(3 * m_body->system().nodes());
  const auto numbers = state.get<double>("tets/samples", 1, -1, file);
  require_finite(numbers, file, "tets");
  if (!numbers.empty() && numbers.size() != 4 * static_cast<size_t>(size))
    throw_input_error(std::string(file), "tets", "equilibria of another body");
  m_body->samples.clear();
  for (size_t at = 0; at < numbers.size(); at += static_cast<size_t>(size)) {
    m_body->samples.emplace_back();
    m_body->samples.back() = Eigen::Map<const Eigen::VectorXd>(numbers.data() + at, size);
  }
}

std::vector<BodyFact> ImplicitTetBody::facts() const {
  const PointHolds& holds = m_body->system().holds();
  std::vector<BodyFact> facts = {
      {"elements", static_cast<double>(m_model.flesh.mesh.tets.size()), ""},
      {"nodes", static_cast<double>(m_body->system().nodes()), ""},
      {"held points", static_cast<double>(holds.size() - holds.redundant()), ""},
      {"pulled points", static_cast<double>(m_pulled.size()), ""},
      {"smallest angle", m_model.smallest_angle, "degrees"},
      {"mass", m_model.flesh.mass(), "kg"},
      {"memory", static_cast<double>(m_body->bytes()) / 1e6, "MB"},
      {"metres per unit", m_model.scale.metres_per_unit, ""},
      {"time step", 1000 * m_step, "ms"}};
  if (m_contact && m_contact->finder().self())
    facts.push_back(
        {"contact points", static_cast<double>(m_contact->finder().self()->points().size()), ""});
  if (m_dials->body().omega > 0)
    facts.push_back({"lowest frequency",
                     m_dials->body().omega * std::sqrt(m_factors.stiffness) / 6.283185307, "Hz"});
  return facts;
}

}  // namespace supple
