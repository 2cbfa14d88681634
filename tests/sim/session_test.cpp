// Sessions: which frames there are, and that a frame never depends on how a run got there.
#include "supple/sim/session.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/io/gltf_reader.h"
#include "supple/math/flat.h"
#include "supple/sim/skinned_body.h"
#include "support/gltf_samples.h"

namespace supple {
namespace {

std::shared_ptr<const Character> tube() {
  static const auto character = std::make_shared<const Character>(
      character_from_gltf(parse_gltf_document(test::rigged_tube().bytes, "tube.glb", {})));
  return character;
}

// Every vertex hangs on its skinned position by a damped spring; positions and velocities are the
// state. Counts its steps, and shows a map so that extras are there too.
class SpringBody final : public Body {
 public:
  SpringBody(const Character& character, int* steps)
      : m_target(character, SkinningMethod::linear), m_steps(steps) {
    for (const Vec3f& p : character.skin.positions) m_positions.push_back(p.cast<double>());
    m_velocities.assign(m_positions.size(), Vec3d::Zero());
  }

  StepReport step(const Drive& drive, double dt) override {
    m_target.step(drive, dt);
    BodyFrame target;
    m_target.skin(target);
    parallel_for(m_positions.size(), 16, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const Vec3d pull = 90 * (target.positions[i].cast<double>() - m_positions[i]);
        m_velocities[i] += dt * (pull - 2 * m_velocities[i]);
        m_positions[i] += dt * m_velocities[i];
      }
    });
    m_speed = parallel_reduce(
        m_velocities.size(), 16, 0.0,
        [&](size_t begin, size_t end) {
          double sum = 0;
          for (size_t i = begin; i < end; ++i) sum += m_velocities[i].norm();
          return sum;
        },
        std::plus<>());
    m_positions[0][0] += 1e-6 * m_speed;  // one vertex depends on all, so that order would show
    if (m_steps) ++*m_steps;
    if (drive.frame == bad_frame) m_positions[3][1] = std::numeric_limits<double>::quiet_NaN();
    StepReport report;
    report.iterations = 3;
    report.residual = 0.25;
    if (drive.frame == 5) report.warnings.push_back("at five");
    return report;
  }

  void skin(BodyFrame& out) const override {
    out.positions.clear();
    for (const Vec3d& p : m_positions) out.positions.push_back(p.cast<float>());
    const std::vector<float> speed(m_positions.size(), static_cast<float>(m_speed));
    Chunk maps;
    maps.add<float>("map/speed", speed);
    out.extras.push_back(maps.arrays()[0]);
  }

  void save(Chunk& state) const override {
    state.add<double>("body/positions", numbers(m_positions), 3);
    state.add<double>("body/velocities", numbers(m_velocities), 3);
  }

  void load(const Chunk& state, std::string_view file) override {
    const auto rows = static_cast<int64_t>(m_positions.size());
    const auto p = state.get<double>("body/positions", 3, rows, file);
    const auto v = state.get<double>("body/velocities", 3, rows, file);
    for (size_t i = 0; i < m_positions.size(); ++i) {
      m_positions[i] = Vec3d(p[3 * i], p[3 * i + 1], p[3 * i + 2]);
      m_velocities[i] = Vec3d(v[3 * i], v[3 * i + 1], v[3 * i + 2]);
    }
  }

  int bad_frame = 1 << 30;

 private:
  static std::span<const double> numbers(const std::vector<Vec3d>& v) {
    return {v.data()->data(), 3 * v.size()};
  }

  SkinnedBody m_target;
  int* m_steps;
  std::vector<Vec3d> m_positions, m_velocities;
  double m_speed = 0;
};

Scene short_scene() {
  Scene scene;
  scene.frames.first = 1001;
  scene.frames.last = 1012;
  scene.frames.preroll = 4;
  return scene;
}

Session spring_session(const Scene& scene, int* steps = nullptr) {
  return Session(tube(), scene, &tube()->clips[0], std::make_unique<SpringBody>(*tube(), steps),
                 "test.json");
}

// All frames of a run as bytes.
using Frames = std::map<int, std::vector<float>>;

RunHooks keep_frames(Frames& frames) {
  RunHooks hooks;
  hooks.frame = [&](const FrameRecord& record) {
    const auto floats = as_floats(record.body.positions);
    frames[record.frame].assign(floats.begin(), floats.end());
    ASSERT_EQ(record.body.extras.size(), 1u);
  };
  return hooks;
}

Frames uninterrupted(const Scene& scene) {
  Frames frames;
  Session session = spring_session(scene);
  run(session, 0, keep_frames(frames));
  return frames;
}

Clip clip_of(double start, double end, double rate = 0) {
  Clip clip;
  clip.rate = rate;
  Channel channel;
  channel.joint = 0;
  channel.times = {start, end};
  channel.values = {0, 0, 0, 1, 0, 0};
  clip.channels.push_back(channel);
  return clip;
}

void expect_input_error(const FrameSettings& settings, const Clip* clip, const std::string& field) {
  try {
    resolve_frames(settings, clip, "s.json");
    ADD_FAILURE() << field;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_TRUE(std::string(error.what()).starts_with("s.json: " + field)) << error.what();
  }
}

TEST(Frames, AClipOfTwoSecondsHas49Frames) {
  const Clip clip = clip_of(0, 2, 24);
  FrameSettings settings;
  FrameRange range = resolve_frames(settings, &clip, "s");
  EXPECT_EQ(range.first, 1);
  EXPECT_EQ(range.last, 49);
  EXPECT_EQ(range.count(), 49);
  EXPECT_EQ(range.rate, 24);
  EXPECT_DOUBLE_EQ(range.time_of(1), 0);
  EXPECT_DOUBLE_EQ(range.time_of(49), 2);
  settings.first = 1001;
  EXPECT_EQ(resolve_frames(settings, &clip, "s").last, 1049);
  settings.first = -20;
  EXPECT_EQ(resolve_frames(settings, &clip, "s").last, 28);
  settings.rate = 60;
  EXPECT_EQ(resolve_frames(settings, &clip, "s").last, 100);
}

TEST(Frames, EveryUsualRateCountsWholeFrames) {
  // Keys that float times put a little before or behind a whole frame.
  for (const double rate : {23.976, 24.0, 25.0, 29.97, 30.0, 59.94, 60.0, 120.0})
    for (int frames = 0; frames < 2000; frames += 7) {
      const Clip clip = clip_of(0, static_cast<double>(static_cast<float>(frames / rate)), rate);
      ASSERT_EQ(resolve_frames({}, &clip, "s").count(), frames + 1) << rate;
    }
}

TEST(Frames, StartCountsFromTheClipsFirstKey) {
  const Clip clip = clip_of(0.5, 2.5, 24);
  FrameSettings settings;
  EXPECT_DOUBLE_EQ(resolve_frames(settings, &clip, "s").clip_time, 0.5);
  EXPECT_EQ(resolve_frames(settings, &clip, "s").count(), 49);
  settings.start = 1;
  EXPECT_DOUBLE_EQ(resolve_frames(settings, &clip, "s").clip_time, 1.5);
  EXPECT_EQ(resolve_frames(settings, &clip, "s").count(), 25);
  settings.start = 100;
  EXPECT_EQ(resolve_frames(settings, &clip, "s").count(), 1);
}

TEST(Frames, WithoutAClipThereIsOneFrameUnlessMoreAreAskedFor) {
  FrameSettings settings;
  EXPECT_EQ(resolve_frames(settings, nullptr, "s").count(), 1);
  EXPECT_EQ(resolve_frames(settings, nullptr, "s").rate, 24);
  settings.last = 240;
  settings.preroll = 7;
  EXPECT_EQ(resolve_frames(settings, nullptr, "s").last, 240);
  EXPECT_EQ(resolve_frames(settings, nullptr, "s").preroll, 7);
}

TEST(Frames, ImpossibleRangesAreRefused) {
  const Clip clip = clip_of(0, 2, 24), endless = clip_of(0, 1e7, 24),
             absurd = clip_of(0, 1e300, 24);
  FrameSettings settings;
  settings.last = 0;
  expect_input_error(settings, &clip, "frames.last: 0 is before the first frame 1");
  settings = {};
  expect_input_error(settings, &endless, "frames");
  expect_input_error(settings, &absurd, "frames");
  settings.start = -1e308;
  expect_input_error(settings, &clip, "frames");
  settings = {};
  settings.first = -1'000'000'000;
  settings.last = 1'000'000'000;
  expect_input_error(settings, &clip, "frames");
}

TEST(Session, ResumingAfterAnyFrameGivesTheSameBits) {
  const Scene scene = short_scene();
  const Frames expected = uninterrupted(scene);
  ASSERT_EQ(expected.size(), 12u);
  for (int stop = 1; stop < 12; ++stop) {
    Frames frames;
    Bytes saved;
    {
      Session session = spring_session(scene);
      RunHooks hooks = keep_frames(frames);
      int asked = 0;
      hooks.interrupted = [&] { return asked++ == stop; };
      hooks.checkpoint = [&](const Chunk& state, int last) {
        EXPECT_EQ(last, 1000 + stop);
        saved = state.serialise();
      };
      const RunReport report = run(session, 0, hooks);
      EXPECT_TRUE(report.interrupted);
      EXPECT_FALSE(report.resumed);
      EXPECT_EQ(report.frames.size(), static_cast<size_t>(stop));
    }
    Session session = spring_session(scene);
    session.load(Chunk::parse(saved, "checkpoint"), "checkpoint");
    EXPECT_EQ(session.next_frame(), 1001 + stop);
    const RunReport report = run(session, 0, keep_frames(frames));
    EXPECT_TRUE(report.resumed);
    EXPECT_EQ(report.resumed_from, 1001 + stop);
    EXPECT_EQ(frames, expected) << "stopped after " << stop;
  }
}

TEST(Session, FramesDependNeitherOnThreadsNorOnCheckpoints) {
  const Scene scene = short_scene();
  const Frames expected = uninterrupted(scene);
  for (const int threads : {1, 2, 3, 7})
    for (const int every : {0, 1, 5}) {
      set_thread_count(threads);
      Frames frames;
      RunHooks hooks = keep_frames(frames);
      hooks.checkpoint = [](const Chunk&, int) {};
      Session session = spring_session(scene);
      run(session, every, hooks);
      EXPECT_EQ(frames, expected) << threads << " threads, checkpoint every " << every;
    }
  set_thread_count(0);
}

TEST(Session, PrerollHappensOnce) {
  const Scene scene = short_scene();
  int steps = 0;
  Session first = spring_session(scene, &steps);
  FrameRecord record;
  first.advance(record);
  EXPECT_EQ(steps, 5);
  first.advance(record);
  EXPECT_EQ(steps, 6);
  int later_steps = 0;
  Session second = spring_session(scene, &later_steps);
  second.load(first.save(), "state");
  second.advance(record);
  EXPECT_EQ(later_steps, 1);
  EXPECT_EQ(record.frame, 1003);
}

TEST(Session, PrerollSettlesTheBody) {
  Scene scene = short_scene();
  FrameRecord early, settled;
  spring_session(scene).advance(early);
  scene.frames.preroll = 2000;
  spring_session(scene).advance(settled);
  SkinnedBody skin(*tube(), SkinningMethod::linear);
  Drive drive;
  drive.pose = rest_pose(*tube());
  apply_clip(tube()->clips[0], tube()->clips[0].start(), drive.pose);
  drive.joints = global_matrices(tube()->skeleton, drive.pose);
  skin.step(drive, 0);
  BodyFrame target;
  skin.skin(target);
  for (size_t v = 0; v < target.positions.size(); ++v)
    EXPECT_LT((settled.body.positions[v] - target.positions[v]).norm(), 1e-4f);
}

TEST(Run, HooksAreCalledInOrder) {
  Scene scene = short_scene();
  scene.frames.last = 1005;
  Session session = spring_session(scene);
  std::string log;
  RunHooks hooks;
  hooks.interrupted = [&] { return log += "?", false; };
  hooks.frame = [&](const FrameRecord& r) { log += "f" + std::to_string(r.frame - 1000); };
  hooks.checkpoint = [&](const Chunk&, int last) { log += "c" + std::to_string(last - 1000); };
  hooks.progress = [&](const FrameReport& r) { log += "p" + std::to_string(r.frame - 1000); };
  const RunReport report = run(session, 2, hooks);
  EXPECT_EQ(log, "?f1p1?f2p2c2?f3p3?f4p4c4?f5p5c5");
  EXPECT_TRUE(session.done());
  EXPECT_FALSE(report.interrupted);
}

TEST(Run, InterruptedBeforeTheFirstFrameLeavesNoCheckpoint) {
  Session session = spring_session(short_scene());
  RunHooks hooks;
  hooks.interrupted = [] { return true; };
  hooks.checkpoint = [](const Chunk&, int) { ADD_FAILURE(); };
  EXPECT_TRUE(run(session, 1, hooks).interrupted);
}

TEST(Session, ReportsStagesAndWhatTheBodySays) {
  Scene scene;
  scene.frames.last = 5;
  Session session = spring_session(scene);
  const RunReport report = run(session, 0, {});
  ASSERT_EQ(report.frames.size(), 5u);
  std::vector<std::string> names;
  double sum = 0;
  for (const auto& [name, seconds] : report.frames[0].stages.stages()) {
    names.push_back(name);
    EXPECT_GE(seconds, 0);
    sum += seconds;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"pose", "drive", "step", "skin", "check"}));
  EXPECT_LE(sum, report.frames[0].seconds);
  EXPECT_LE(report.frames[0].seconds, report.seconds);
  EXPECT_EQ(report.frames[0].iterations, 3);
  EXPECT_EQ(report.frames[0].residual, 0.25);
  EXPECT_TRUE(report.frames[0].warnings.empty());
  EXPECT_EQ(report.frames[4].warnings, std::vector<std::string>{"at five"});
  // A tube of radius 0.25 m and height 2 m with 12 sides: 12/2 r^2 sin(2 pi / 12) h.
  EXPECT_NEAR(report.frames[0].volume, 6 * 0.0625 * 0.5 * 2, 0.02);
}

TEST(Session, PositionsThatAreNotNumbersStopTheRunAndNameTheFrame) {
  auto body = std::make_unique<SpringBody>(*tube(), nullptr);
  body->bad_frame = 1004;
  Session session(tube(), short_scene(), &tube()->clips[0], std::move(body), "s.json");
  Frames frames;
  RunHooks hooks = keep_frames(frames);
  int last_checkpoint = 0;
  hooks.checkpoint = [&](const Chunk&, int last) { last_checkpoint = last; };
  try {
    run(session, 1, hooks);
    ADD_FAILURE() << "ran through";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::simulation);
    EXPECT_NE(std::string(error.what()).find("frame 1004"), std::string::npos) << error.what();
  }
  EXPECT_EQ(frames.size(), 3u);
  EXPECT_EQ(last_checkpoint, 1003);
}

TEST(Session, CheckpointsOfOtherRunsAreRefused) {
  const auto state_at = [](int next) {
    Chunk state;
    const std::vector<int32_t> value = {next};
    state.add<int32_t>("session/next_frame", value);
    return state;
  };
  Session session = spring_session(short_scene());
  for (const int next : {1000, 1014, -5, 2147483647})
    EXPECT_THROW(session.load(state_at(next), "c.chunk"), Error) << next;
  EXPECT_THROW(session.load(state_at(1003), "c.chunk"), Error);  // the body's state is missing
  EXPECT_THROW(session.load(Chunk(), "c.chunk"), Error);
  EXPECT_EQ(session.next_frame(), 1001);
}

TEST(Session, FollowsTheClipAndTheRig) {
  Scene scene;
  scene.frames.rate = 10;
  Session session(tube(), scene, &tube()->clips[0], "s.json");
  EXPECT_EQ(session.range().count(), 21);
  FrameRecord record;
  while (!session.done()) session.advance(record);
  EXPECT_DOUBLE_EQ(record.time, 2);
  Pose pose = rest_pose(*tube());
  apply_clip(tube()->clips[0], 2, pose);
  const std::vector<Affine> joints = global_matrices(tube()->skeleton, pose);
  ASSERT_EQ(record.joints.size(), joints.size());
  for (size_t j = 0; j < joints.size(); ++j)
    EXPECT_TRUE(record.joints[j].isApprox(joints[j], 1e-14));
}

TEST(Session, UnknownJointsAndShapesAreRefusedWithASuggestion) {
  Scene scene;
  PoseSpaceSettings space;
  space.joints = {tube()->skeleton.joints.back().name + "x"};
  scene.character.pose_space.push_back(space);
  try {
    Session session(tube(), scene, &tube()->clips[0], "s.json");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(
        std::string(error.what()).find("did you mean '" + tube()->skeleton.joints.back().name),
        std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace supple
