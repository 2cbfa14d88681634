#include "actors/pomelo_stance.h"

#include <cmath>
#include <numbers>

#include "actors/pomelo_parts.h"

namespace supple::actors {

using namespace modelling;

namespace {

constexpr double radians = std::numbers::pi / 180;

}  // namespace

void Routine::turn(const std::string& joint, const std::string& freedom, const Curve& degrees) {
  m_choreography.move(joint, freedom, scaled(degrees, radians));
}

void Routine::turn_pair(const std::string& joint, const std::string& freedom,
                        const Curve& degrees) {
  turn("left_" + joint, freedom, degrees);
  turn("right_" + joint, freedom, degrees);
}

void Routine::slide(const std::string& freedom, const Curve& metres) {
  m_choreography.move("pelvis", freedom, metres);
}

void Routine::curl(const std::string& hand, const Curve& amount) {
  for (const char* finger : {"index", "middle", "little"}) {
    turn(hand + "_" + finger, "curl", scaled(amount, 80));
    turn(hand + "_" + finger + "_tip", "curl", scaled(amount, 70));
  }
  turn(hand + "_thumb", "curl", scaled(amount, 50));
}

void Routine::stand(const std::string& foot, const Step& step) {
  const double sign = foot == "left" ? 1 : -1;
  const Vec3d ball(sign * toe_ball[0], toe_ball[1], toe_ball[2]);
  Footing footing;
  footing.pivot = ball;
  // The toes move on a circle about the middle while the stance turns.
  const auto place = [=](double time) {
    const double angle = radians * step.turn(time);
    const Vec3d stands = ball + Vec3d(sign * step.side(time), 0, step.ahead(time));
    return Vec3d(Eigen::AngleAxisd(angle, Vec3d::UnitY()) * stands - ball);
  };
  footing.x = [=](double time) { return place(time)[0]; };
  footing.z = [=](double time) { return place(time)[2]; };
  footing.y = step.height;
  footing.pitch = scaled(step.heel, radians);
  footing.yaw = scaled(step.turn, radians);
  m_choreography.place_foot(foot + "_hip", foot + "_knee", foot + "_ankle", footing);
}

}  // namespace supple::actors
