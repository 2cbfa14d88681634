#include "supple/sim/session.h"

#include <cmath>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/sim/implicit_lattice_body.h"
#include "supple/sim/implicit_tet_body.h"
#include "supple/sim/lattice_body.h"
#include "supple/sim/skinned_body.h"
#include "supple/sim/surface_body.h"
#include "supple/sim/tet_body.h"
#include "supple/sim/voxel_body.h"

namespace supple {
namespace {

constexpr int most_frames = 10'000'000;

// Without a clip, bodies that move by themselves are watched for a while, in seconds.
constexpr double watching = 2;

FrameRange frames_of(const Scene& scene, const Clip* clip, const Character& character,
                     const std::string& file) {
  return resolve_frames(scene.frames, clip, file,
                        moves_alone(body_type(scene.body, character)) ? watching : 0);
}

std::unique_ptr<Body> make_body(const Character& character, const Scene& scene, const Clip* clip,
                                const std::string& file) {
  const std::string_view type = body_type(scene.body, character);
  if (type == "skinning") return std::make_unique<SkinnedBody>(character, scene.character.skinning);
  const bool implicit = type == "tets" && scene.body.tets.dynamics == TetDynamics::implicit_steps;
  const bool adjustable_lattice =
      type == "lattice" && scene.body.lattice.integrator != LatticeSteps::plain;
  if (!implicit && !adjustable_lattice && adjusts(scene.body.adjust))
    throw_input_error(file, "body.adjust",
                      std::string(type == "voxels" ? "bodies of type 'voxels' take steps of one "
                                                     "linear solve, which no equilibrium solves; "
                                                     "it is for "
                                                   : "is for ") +
                          adjustable_bodies);
  if (scene.body.gravity.compensate_by == WeightCarrier::rest_shape &&
      (type != "lattice" || adjustable_lattice))
    throw_input_error(file, "body.gravity.compensate_by",
                      "'rest_shape' is for bodies of type 'lattice' in steps of 'plain'");
  if (adjustable_lattice)
    return std::make_unique<ImplicitLatticeBody>(character, scene.body,
                                                 frames_of(scene, clip, character, file), file,
                                                 scene.character.skinning);
  if (implicit)
    return std::make_unique<ImplicitTetBody>(character, scene.body,
                                             frames_of(scene, clip, character, file), file,
                                             scene.character.skinning);
  if (type == "tets")
    return std::make_unique<TetBody>(character, scene.body, frames_of(scene, clip, character, file),
                                     file, scene.character.skinning);
  for (size_t i = 0; i < scene.body.contact.colliders.size(); ++i)
    if (!scene.body.contact.colliders[i].free.empty())
      throw_input_error(file, fmt::format("body.contact.colliders[{}].free", i),
                        "is for bodies of type 'tets'");
  if (type == "surface")
    return std::make_unique<SurfaceBody>(character, scene, frames_of(scene, clip, character, file),
                                         file);
  if (type == "voxels")
    return std::make_unique<VoxelBody>(character, scene.body,
                                       frames_of(scene, clip, character, file), file,
                                       scene.character.skinning);
  if (type == "lattice")
    return std::make_unique<LatticeBody>(character, scene.body,
                                         frames_of(scene, clip, character, file), file,
                                         scene.character.skinning);
  throw Error(ErrorKind::usage,
              fmt::format("there is no body of type '{}'", printable(scene.body.type)));
}

int find_shape(const Character& character, const std::string& name, const std::string& file) {
  std::vector<std::string> names;
  for (size_t i = 0; i < character.shapes.size(); ++i) {
    if (character.shapes[i].name == name) return static_cast<int>(i);
    names.push_back(character.shapes[i].name);
  }
  throw_input_error(file, "character.pose_space",
                    fmt::format("the character has no blend shape '{}'{}", printable(name),
                                suggestion(name, names)));
}

PoseSpace make_pose_space(const PoseSpaceSettings& settings, const Character& character,
                          const std::string& file) {
  std::vector<int> joints;
  for (const std::string& name : settings.joints)
    joints.push_back(character.skeleton.require(name, file, "character.pose_space"));
  std::vector<PoseSample> samples;
  for (const PoseSampleSettings& given : settings.samples) {
    PoseSample sample;
    if (given.rotations.size() != joints.size())
      throw_input_error(
          file, "character.pose_space.samples.rotations",
          fmt::format("{} rotations for {} joints", given.rotations.size(), joints.size()));
    for (const std::vector<double>& q : given.rotations) {
      if (q.size() != 4 || std::hypot(std::hypot(q[0], q[1]), std::hypot(q[2], q[3])) < 1e-6)
        throw_input_error(file, "character.pose_space.samples.rotations",
                          "must be quaternions [x, y, z, w]");
      sample.rotations.push_back(Quatd(q[3], q[0], q[1], q[2]).normalized());
    }
    if (!given.shape.empty()) sample.shape = find_shape(character, given.shape, file);
    samples.push_back(std::move(sample));
  }
  constexpr double degree = 3.14159265358979323846 / 180;
  return PoseSpace(std::move(joints), std::move(samples), settings.radius * degree);
}

bool all_finite(std::span<const Vec3f> positions) {
  const int64_t bad = parallel_reduce(
      positions.size(), 8192, int64_t{0},
      [&](size_t begin, size_t end) {
        int64_t count = 0;
        for (size_t i = begin; i < end; ++i) count += !positions[i].allFinite();
        return count;
      },
      std::plus<>());
  return bad == 0;
}

}  // namespace

std::string_view body_type(const BodySettings& settings, const Character& character) {
  if (settings.type != "automatic") return settings.type;
  return is_skinned(character) ? "lattice" : "skinning";
}

bool moves_alone(std::string_view type) {
  return type == "voxels" || type == "tets" || type == "surface";
}

FrameRange resolve_frames(const FrameSettings& settings, const Clip* clip, const std::string& file,
                          double seconds) {
  FrameRange range;
  range.first = settings.first;
  range.preroll = settings.preroll;
  range.rate = settings.rate > 0 ? settings.rate : clip ? clip_rate(*clip) : 24;
  range.clip_time = (clip ? clip->start() : 0) + settings.start;
  range.last = settings.last;
  if (settings.last == FrameSettings::automatic) {
    const double left = clip ? std::max(0.0, clip->end() - range.clip_time) : seconds;
    // A clip of 2 s at 24 frames per second has frames at 0/24 to 48/24; rounding noise must not
    // add one.
    const double frames = std::floor(left * range.rate + 1e-3);
    if (frames > most_frames)
      throw_input_error(file, "frames", "the clip is longer than ten million frames");
    range.last = range.first + static_cast<int>(frames);
  }
  if (range.last < range.first)
    throw_input_error(file, "frames.last",
                      fmt::format("{} is before the first frame {}", range.last, range.first));
  if (static_cast<int64_t>(range.last) - range.first >= most_frames)
    throw_input_error(file, "frames", "more than ten million frames");
  return range;
}

Session::Session(const std::shared_ptr<const Character>& character, const Scene& scene,
                 const Clip* clip, const std::string& file)
    : Session(character, scene, clip, make_body(*character, scene, clip, file), file) {}

Session::Session(std::shared_ptr<const Character> character, const Scene& scene, const Clip* clip,
                 std::unique_ptr<Body> body, const std::string& file)
    : m_character(std::move(character)),
      m_clip(clip),
      m_range(frames_of(scene, clip, *m_character, file)),
      m_body(std::move(body)),
      m_rest(rest_pose(*m_character)),
      m_next_frame(m_range.first) {
  for (const PoseSpaceSettings& settings : scene.character.pose_space)
    m_pose_spaces.push_back(make_pose_space(settings, *m_character, file));
}

// A frame, stage by stage: clip, pose, drive, step, skin. What becomes of it is the caller's
// affair.
FrameReport Session::advance(FrameRecord& out) {
  FrameReport report;
  const Stopwatch watch;
  const double time = m_range.time_of(m_next_frame);
  report.frame = m_next_frame;
  report.stages.time("pose", [&] { pose_rig(time, m_drive); });
  report.stages.time("drive", [&] {
    drive_body(m_next_frame, time, m_drive);
    look_ahead();
  });
  StepReport step = report.stages.time("step", [&] { return step_body(); });
  report.stages.add(step.stages, "step/");
  out.body.extras.clear();  // records are reused from frame to frame
  report.stages.time("skin", [&] { m_body->skin(out.body); });
  out.frame = m_next_frame;
  out.time = time;
  out.joints = m_drive.joints;
  report.iterations = step.iterations;
  report.residual = step.residual;
  report.time_step = step.time_step;
  report.warnings = std::move(step.warnings);
  report.stages.time("check", [&] { check(out, report); });
  report.seconds = watch.seconds();
  ++m_next_frame;
  return report;
}

void Session::pose_rig(double time, Drive& drive) const {
  drive.pose = m_rest;
  if (m_clip) apply_clip(*m_clip, time, drive.pose);
  for (const PoseSpace& space : m_pose_spaces) space.apply(drive.pose);
}

void Session::drive_body(int frame, double time, Drive& drive) const {
  drive.frame = frame;
  drive.time = time;
  global_matrices(m_character->skeleton, drive.pose, drive.joints);
}

// What comes after the last frame is as it is there.
void Session::look_ahead() {
  m_drive.ahead.resize(static_cast<size_t>(m_body->looks_ahead()));
  int frame = m_next_frame;
  for (Drive& next : m_drive.ahead) {
    frame = std::min(frame + 1, m_range.last);
    const double time = m_range.time_of(frame);
    pose_rig(time, next);
    drive_body(frame, time, next);
  }
}

StepReport Session::step_body() {
  const double dt = 1 / m_range.rate;
  // The body settles in the first pose before anybody looks.
  if (m_next_frame == m_range.first)
    for (int i = 0; i < m_range.preroll; ++i) m_body->step(m_drive, dt);
  return m_body->step(m_drive, dt);
}

void Session::check(const FrameRecord& record, FrameReport& report) const {
  if (!all_finite(record.body.positions))
    throw Error(
        ErrorKind::simulation,
        fmt::format(
            "frame {}: vertices left the range of numbers; look at the animation's scales and "
            "translations at {:.4g} s",
            record.frame, record.time));
  report.volume = signed_volume(record.body.positions, m_character->skin.triangles);
}

Chunk Session::save() const {
  Chunk state;
  const std::vector<int32_t> next = {m_next_frame};
  state.add<int32_t>("session/next_frame", next);
  m_body->save(state);
  return state;
}

void Session::load(const Chunk& state, std::string_view file) {
  const int32_t next = state.get<int32_t>("session/next_frame", 1, 1, file)[0];
  if (next < m_range.first || next > m_range.last + 1)
    throw_input_error(
        file, "session/next_frame",
        fmt::format("{} is not one of the frames {} to {}", next, m_range.first, m_range.last));
  m_body->load(state, file);
  m_next_frame = next;
}

RunReport run(Session& session, int checkpoint_every, const RunHooks& hooks) {
  RunReport report;
  const Stopwatch watch;
  FrameRecord record;
  report.resumed = session.next_frame() != session.range().first;
  report.resumed_from = session.next_frame();
  while (!session.done()) {
    if (hooks.interrupted && hooks.interrupted()) {
      report.interrupted = true;
      break;
    }
    FrameReport frame = session.advance(record);
    if (hooks.frame) frame.stages.time("write", [&] { hooks.frame(record); });
    const bool due =
        checkpoint_every > 0 && (frame.frame - session.range().first + 1) % checkpoint_every == 0;
    if (hooks.progress) hooks.progress(frame);
    if (hooks.checkpoint && due && !session.done()) hooks.checkpoint(session.save(), frame.frame);
    report.frames.push_back(std::move(frame));
  }
  if (hooks.checkpoint && session.next_frame() > session.range().first)
    hooks.checkpoint(session.save(), session.next_frame() - 1);
  report.seconds = watch.seconds();
  return report;
}

}  // namespace supple
