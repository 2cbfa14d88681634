#include "actors/forearm.h"

#include <cmath>
#include <numbers>

#include "modelling/choreography.h"

namespace supple::actors {
namespace {

using namespace modelling;

constexpr double radians = std::numbers::pi / 180;

// The upper arm lies along +X, the forearm rises a little from the elbow; the palm looks up and the
// thumb points to +Z. Metres.
const Vec3d stump(0.02, 0.055, 0), elbow(0.20, 0.045, 0);
const double rise = 18 * radians;
const Vec3d along(std::cos(rise), std::sin(rise), 0);
const Vec3d palm(-std::sin(rise), std::cos(rise), 0);
const Vec3d thumb_side = Vec3d::UnitZ();

// A point of forearm and hand: along it from the elbow, towards the thumb, out of the palm.
Vec3d at(double forward, double to_thumb = 0, double out = 0) {
  return elbow + forward * along + to_thumb * thumb_side + out * palm;
}

Mat3d hand_axes() {
  Mat3d axes;
  axes << along, palm, thumb_side;
  return axes;
}

// A finger runs straight from its knuckle at an angle to the middle one.
struct Finger {
  const char* name;
  double place;    // of the knuckle, towards the thumb
  double forward;  // of the knuckle, from the elbow
  double length;
  double angle;  // towards the thumb, radians
  double radius;

  Vec3d point(double from_knuckle) const {
    return at(forward + from_knuckle * std::cos(angle), place + from_knuckle * std::sin(angle));
  }
};
const Finger fingers[] = {{"index", 0.037, 0.350, 0.082, 0.10, 0.0118},
                          {"middle", 0.012, 0.356, 0.090, 0.02, 0.0120},
                          {"ring", -0.013, 0.350, 0.084, -0.06, 0.0116},
                          {"little", -0.036, 0.338, 0.066, -0.15, 0.0105}};
constexpr double joints_along[] = {0, 0.45, 0.75};  // of a finger's three hinges, in its length

// The thumb: base, knuckle, top hinge and tip.
const Vec3d thumb[] = {at(0.270, 0.022, 0.004), at(0.305, 0.054, 0.014), at(0.335, 0.075, 0.018),
                       at(0.362, 0.090, 0.019)};
// Once it stands out of the palm, its hinges turn it across.
const Vec3d thumb_hinge = (0.4 * palm + 0.7 * thumb_side - 0.5 * along).normalized();

Sculpture sculpt() {
  Sculpture s;
  s.add(round_cone(stump, 0.050, elbow, 0.041), 0);
  s.add(ellipsoid({0.09, 0.077, 0.004}, {0.075, 0.034, 0.036}), 0.03);  // biceps
  s.add(ellipsoid({0.09, 0.035, 0}, {0.080, 0.030, 0.038}), 0.03);      // triceps
  s.add(ball(elbow + Vec3d(0.006, -0.022, 0), 0.022), 0.02);            // tip of the elbow
  s.add(round_cone(at(0.0), 0.041, at(0.250), 0.024), 0.02);
  s.add(ellipsoid(at(0.085, 0.018, 0.006), {0.085, 0.034, 0.028}, hand_axes()), 0.03);
  s.add(ellipsoid(at(0.085, -0.016, 0.004), {0.090, 0.030, 0.028}, hand_axes()), 0.03);
  s.add(ellipsoid(at(0.250), {0.040, 0.019, 0.027}, hand_axes()), 0.03);  // wrist
  s.add(ellipsoid(at(0.308, 0.0, -0.002), {0.058, 0.018, 0.046}, hand_axes()), 0.02);
  s.add(ellipsoid(at(0.290, -0.026, 0.010), {0.034, 0.014, 0.016}, hand_axes()), 0.015);
  s.add(ellipsoid(at(0.290, 0.030, 0.010), {0.030, 0.017, 0.020}, hand_axes()), 0.015);
  for (const Finger& f : fingers) {
    s.add(round_cone(f.point(-0.040), 0.013, f.point(0), f.radius * 1.08), 0.012);
    s.add(round_cone(f.point(0), f.radius * 1.04, f.point(f.length), f.radius * 0.84), 0.006);
  }
  s.add(round_cone(thumb[0], 0.018, thumb[1], 0.0155), 0.012);
  s.add(round_cone(thumb[1], 0.0150, thumb[3], 0.0118), 0.008);
  return s;
}

// A warm skin, redder where blood shows: knuckles, finger tips and the elbow.
void paint(Sculpture& s) {
  const Vec3d red = screen_colour(0.88, 0.47, 0.40);
  s.set_ground_colour(screen_colour(0.93, 0.68, 0.55));
  s.paint(ellipsoid(at(0.305, 0, 0.024), {0.058, 0.016, 0.044}, hand_axes()),
          screen_colour(0.97, 0.76, 0.66), 0.02);
  s.paint(ball(elbow + Vec3d(0.006, -0.034, 0), 0.034), red, 0.04, 0.5);
  for (const Finger& f : fingers) {
    s.paint(ball(f.point(f.length), 0.019), red, 0.02, 0.55);
    for (const double joint : joints_along)
      s.paint(ball(f.point(joint * f.length) - 0.010 * palm, 0.010), red, 0.014, 0.45);
    s.paint(
        ellipsoid(f.point(f.length - 0.002) - 0.0095 * palm, {0.0085, 0.0045, 0.0068}, hand_axes()),
        screen_colour(1.0, 0.87, 0.82), 0.004);
  }
  s.paint(ball(thumb[3], 0.021), red, 0.02, 0.5);
}

Armature rig() {
  Armature a;
  const Freedom curl{"curl", Vec3d::UnitZ()};
  a.add("upper_arm", "", stump, {{"twist", Vec3d::UnitX()}});
  a.add("elbow", "upper_arm", elbow, {curl});
  a.add("wrist", "elbow", at(0.250), {curl, {"tilt", palm}});
  for (const Finger& f : fingers) {
    std::string parent = "wrist";
    const char* parts[] = {"", "_middle", "_top"};
    for (int j = 0; j < 3; ++j) {
      const std::string name = std::string(f.name) + parts[j];
      a.add(name, parent, f.point(joints_along[j] * f.length),
            j == 0 ? std::vector<Freedom>{curl, {"spread", palm}} : std::vector<Freedom>{curl});
      parent = name;
    }
    a.add(std::string(f.name) + "_end", parent, f.point(0.97 * f.length));
  }
  a.add("thumb", "wrist", thumb[0], {{"curl", thumb_hinge}, {"across", -along}});
  a.add("thumb_middle", "thumb", thumb[1], {{"curl", thumb_hinge}});
  a.add("thumb_top", "thumb_middle", thumb[2], {{"curl", thumb_hinge}});
  a.add("thumb_end", "thumb_top", thumb[3]);
  return a;
}

// The arm bends while the fingers close from the little one on, the thumb beside them; it stretches
// while they open.
Clip fist(const Armature& armature) {
  constexpr double length = 3;
  Choreography c(armature, "fist", length);
  const auto move = [&](const std::string& joint, const char* freedom, const Curve& amount,
                        double degrees) {
    c.move(joint, freedom, scaled(amount, degrees * radians));
  };
  const Curve bend = through(length, {{0.1, 0}, {1.15, 1.0}, {1.9, 1.0}, {2.85, 0}});
  const Curve close = through(length, {{0.10, 0}, {0.22, -0.08}, {1.05, 1}, {1.95, 1}, {2.75, 0}});
  move("elbow", "curl", bend, 92);
  move("upper_arm", "twist", bend, -8);
  move("wrist", "curl", through(length, {{0.2, -0.4}, {1.2, 1}, {1.8, 1}, {2.6, -0.4}}), 16);
  double delay = 0.15;
  for (const Finger& f : fingers) {
    const Curve own = late(close, delay - 0.15);
    const std::string name = f.name;
    move(name, "curl", own, 78);
    move(name + "_middle", "curl", own, 92);
    move(name + "_top", "curl", own, 58);
    move(name, "spread", own, f.angle / radians);
    delay -= 0.04;
  }
  const Curve beside = late(close, 0.10);
  move("thumb", "across", beside, 20);
  move("thumb", "curl", beside, -26);
  move("thumb_middle", "curl", beside, 45);
  move("thumb_top", "curl", beside, 15);
  return c.clip();
}

}  // namespace

Actor forearm() {
  Actor actor;
  actor.name = "forearm";
  actor.armature = rig();
  Sculpture sculpture = sculpt();
  paint(sculpture);
  actor.pieces.push_back({"arm", sculpture, 1, ""});
  actor.clips.push_back(fist(actor.armature));
  return actor;
}

}  // namespace supple::actors
