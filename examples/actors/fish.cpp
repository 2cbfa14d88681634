#include <algorithm>
#include <cmath>
#include <numbers>

#include "actors/self_propelled.h"
#include "modelling/choreography.h"
#include "modelling/quilt.h"
#include "modelling/sculpture.h"
#include "supple/math/smooth_step.h"

namespace supple::actors {
namespace {

using namespace modelling;

constexpr double length = 0.4;                     // metres
constexpr double fin = 0.005;                      // half the thickness of fins
constexpr double hinges[] = {0.06, -0.03, -0.11};  // along x
// At detail 1: rings along the body and vertices around it; quads along the root of a side fin,
// around its edge, and from root to tip.
constexpr int rings = 33, around = 26, chord = 4, span = 5;
constexpr int fin_ring = 10, fin_column = 8;  // where a side fin begins
constexpr int eye_ring = 5, eye_column = 5;   // an eye is round a vertex

// The body over a fraction s of its length, from the snout to the end of the tail.
struct Outline {
  // Half height and half width of the flesh, without fins and without the roundness of the head.
  Curve flesh = through(
      2, {{0, 0.040, 0.10}, {0.15, 0.057}, {0.36, 0.066}, {0.78, 0.017}, {1, 0.008, -0.03}});
  Curve width = through(
      2, {{0, 0.025, 0.05}, {0.15, 0.034}, {0.33, 0.037}, {0.78, 0.010}, {1, 0.0045, -0.01}});
  // How far fins stand out above, below, and at the tail on both sides.
  Curve above = through(2, {{0, 0}, {0.26, 0}, {0.42, 0.042}, {0.58, 0.026}, {0.70, 0}, {1, 0}});
  Curve below = through(2, {{0, 0}, {0.52, 0}, {0.62, 0.022}, {0.72, 0}, {1, 0}});
  Curve tail = through(2, {{0, 0}, {0.74, 0}, {0.90, 0.040}, {1, 0.068, 0.12}});

  // Fades in from the tip of the snout like an ellipse.
  static double head(double s) {
    const double t = std::max(0.0, 1 - s / 0.14);
    return std::sqrt(1 - t * t);
  }
  double top(double s) const { return flesh(s) * head(s) + above(s) + tail(s); }
  double bottom(double s) const { return -flesh(s) * head(s) - below(s) - tail(s); }

  // Half the thickness at a height.
  double thickness(double s, double y) const {
    const double rise = y / (flesh(s) * head(s));
    const double body = width(s) * head(s) * std::sqrt(std::max(0.0, 1 - rise * rise));
    // The edge of a fin is round.
    const double thin = std::min(fin, width(s) * head(s));
    const double inside = std::min({top(s) - y, y - bottom(s), thin});
    const double edge = 1 - inside / thin;
    const double sheet = thin * std::sqrt(std::max(0.0, 1 - edge * edge));
    // Both melt into each other within a few millimetres.
    const double seam = 0.004, gap = std::max(0.0, seam - std::abs(body - sheet)) / seam;
    return std::max(body, sheet) + 0.25 * seam * gap * gap * std::min(1.0, sheet / fin);
  }

  // A point of the right side (+Z); v from 0 at the top to 1 at the bottom.
  Vec3d side(double s, double v) const {
    const double part = 0.5 + 0.5 * std::cos(std::numbers::pi * v);
    const double y = bottom(s) + part * (top(s) - bottom(s));
    const double t = y / std::max(top(s), -bottom(s));
    // The tail is forked: its middle ends further ahead than its corners.
    const double fork = 0.032 * std::pow(std::clamp((s - 0.7) / 0.3, 0.0, 1.0), 2) * (1 - t * t);
    return {length * (0.5 - s) + fork, y, v <= 0 || v >= 1 ? 0 : thickness(s, y)};
  }
};

// Fractions of the length where rings lie: evenly along the outline, the last at the very end.
std::vector<double> stations(const Outline& outline, int count) {
  std::vector<double> fractions;
  for (int i = 0; i < count; ++i) fractions.push_back((i + 0.5) / (count - 0.5));
  const auto profile = [&](double q) {
    const double s = q * q;  // closer where the snout is round
    return Vec3d(length * s, outline.flesh(s) * Outline::head(s), 0);
  };
  std::vector<double> result;
  for (const double q : at_lengths(profile, fractions)) result.push_back(q * q);
  return result;
}

struct Sewn {
  Quilt quilt;
  std::vector<double> anchors;  // along x, where the body carries each vertex
  std::vector<double> fins;     // how much of a fin each is, 0 to 1
  double middle = 0;            // height of the snout
  int eye = 0;                  // the vertex in the right one
};

class Tailor {
 public:
  explicit Tailor(int detail) : m_detail(detail) {}

  Sewn sew() {
    add_rings();
    const Patch right = patch(fin_column * m_detail);
    const Patch left = patch((around - fin_column - 1) * m_detail);
    add_body();
    add_side_fin(right, 1);
    add_side_fin(left, -1);
    m_sewn.middle = m_sewn.quilt.put_on_ground();
    m_sewn.eye = m_rings[static_cast<size_t>(eye_ring * m_detail)]
                        [static_cast<size_t>(eye_column * m_detail)];
    return std::move(m_sewn);
  }

 private:
  int sides() const { return around * m_detail; }

  // Notes of a vertex what carries it, and how much of a fin it is.
  void note(int vertex, double anchor, double fin_share) {
    const auto v = static_cast<size_t>(vertex);
    m_sewn.anchors.resize(std::max(m_sewn.anchors.size(), v + 1));
    m_sewn.fins.resize(m_sewn.anchors.size());
    m_sewn.anchors[v] = anchor;
    m_sewn.fins[v] = fin_share;
  }

  // A ring goes from the top down the right side and up the left one.
  void add_rings() {
    const int half = sides() / 2;
    std::vector<double> fractions;
    for (int j = 0; j <= half; ++j) fractions.push_back(static_cast<double>(j) / half);
    for (const double s : stations(m_outline, rings * m_detail)) {
      std::vector<double> heights =
          at_lengths([&](double v) { return m_outline.side(s, v); }, fractions);
      heights.front() = 0;
      heights.back() = 1;
      const double flesh = m_outline.flesh(s) * Outline::head(s);
      std::vector<int> ring;
      for (int k = 0; k < sides(); ++k) {
        const int j = k <= half ? k : sides() - k;
        Vec3d p = m_outline.side(s, heights[static_cast<size_t>(j)]);
        if (k > half) p[2] = -p[2];
        ring.push_back(m_sewn.quilt.add_vertex(p));
        const double out = (std::abs(p[1]) - flesh + 0.004) / 0.022;
        note(ring.back(), p[0], std::max(smooth_step(out), smooth_step((s - 0.80) / 0.08)));
      }
      ring.push_back(ring.front());
      m_rings.push_back(std::move(ring));
    }
  }

  // The quads a side fin grows from, with their first column.
  Patch patch(int column) const {
    Patch result;
    for (int r = fin_ring * m_detail; r <= (fin_ring + chord) * m_detail; ++r) {
      const auto from = m_rings[static_cast<size_t>(r)].begin() + column;
      result.emplace_back(from, from + m_detail + 1);
    }
    return result;
  }

  bool is_in_fin(int ring, int column) const {
    const int r = ring / m_detail, c = column / m_detail;
    return r >= fin_ring && r < fin_ring + chord &&
           (c == fin_column || c == around - fin_column - 1);
  }

  void add_body() {
    Quilt& quilt = m_sewn.quilt;
    for (int i = 0; i + 1 < static_cast<int>(m_rings.size()); ++i) {
      const std::vector<int>&a = m_rings[static_cast<size_t>(i)],
            &b = m_rings[static_cast<size_t>(i) + 1];
      for (size_t k = 0; k + 1 < a.size(); ++k)
        if (!is_in_fin(i, static_cast<int>(k))) quilt.add_quad(a[k], b[k], b[k + 1], a[k + 1]);
    }
    close(m_rings.front(), true);
    close(m_rings.back(), false);
  }

  // Sews the two sides of an end ring together.
  void close(const std::vector<int>& ring, bool is_snout) {
    const size_t half = ring.size() / 2, last = ring.size() - 1;
    const auto triangle = [&](int a, int b, int c) {
      is_snout ? m_sewn.quilt.add_triangle(a, b, c) : m_sewn.quilt.add_triangle(a, c, b);
    };
    triangle(ring[0], ring[1], ring[last - 1]);
    triangle(ring[half], ring[half + 1], ring[half - 1]);
    for (size_t k = 1; k + 1 < half; ++k) {
      const int a = ring[k], b = ring[k + 1], c = ring[last - k - 1], d = ring[last - k];
      is_snout ? m_sewn.quilt.add_quad(a, b, c, d) : m_sewn.quilt.add_quad(d, c, b, a);
    }
  }

  // A fin that leans back and down; its front edge is the longer one.
  void add_side_fin(const Patch& patch, double side) {
    Quilt& quilt = m_sewn.quilt;
    // Middle and half height of the root, from front to rear.
    std::vector<Vec3d> root, upright;
    for (const std::vector<int>& row : patch) {
      const Vec3d &a = quilt.place(row.front()), &b = quilt.place(row.back());
      root.push_back(0.5 * (a + b));
      upright.push_back(0.5 * (a - b));
    }
    const Vec3d out = Vec3d(-0.62, -0.38, 0.69 * side).normalized();
    const Vec3d up = (side * out.cross(Vec3d::UnitX())).normalized();
    const auto place = [&](int vertex, double r, double c, double level) -> Vec3d {
      const auto row = static_cast<size_t>(std::lround(r * static_cast<double>(root.size() - 1)));
      note(vertex, root[row][0], 1);
      const double reach = 0.078 * (1 - 0.38 * r * r) * (1 - 0.2 * std::pow(2 * r - 1, 4));
      const Vec3d narrowed = root[row] + 0.22 * level * (root.front() - root[row]);
      // It comes out of the body as its skin lies there, and soon turns to its own plane.
      const double turned = smooth_step(level / 0.5);
      const Vec3d thick = side * fin * (1 - 0.16 * level) * up;
      const Vec3d half = upright[row] + turned * (thick - upright[row]);
      return narrowed + level * reach * out + (1 - 2 * c) * half;
    };
    quilt.pull_out(patch, span * m_detail, place);
  }

  int m_detail;
  Outline m_outline;
  Sewn m_sewn;
  std::vector<std::vector<int>> m_rings;
};

// A blue back, a silver belly, and golden fins.
Vec3d colour(const Vec3d& p, double middle, const Vec3d& right_eye, double fin_share) {
  const double back = smooth_step(0.5 + (p[1] - middle - 0.012) / 0.07);
  Vec3d skin =
      screen_colour(0.90, 0.93, 0.93) * (1 - back) + screen_colour(0.16, 0.42, 0.62) * back;
  skin = skin * (1 - fin_share) + screen_colour(0.95, 0.66, 0.22) * fin_share;
  const double eye = (Vec3d(p[0], p[1], std::abs(p[2])) - right_eye).norm();
  const double dark = smooth_step(2 - eye / 0.005);
  return skin * (1 - dark) + screen_colour(0.06, 0.07, 0.09) * dark;
}

Motors make_motors(double middle) {
  Motors motors;
  const auto at = [middle](double x) { return Vec3d(x, middle, 0); };
  const TurnLimits limits{-70, 70};
  motors.add_root("head", at(0.165));
  motors.add("spine1", "head", at(hinges[0]), {{"bend", Vec3d::UnitY()}}, {limits});
  motors.add("spine2", "spine1", at(hinges[1]), {{"bend", Vec3d::UnitY()}}, {limits});
  motors.add("spine3", "spine2", at(hinges[2]), {{"bend", Vec3d::UnitY()}}, {limits});
  return motors;
}

// Weights pass from bone to bone within 40 mm of the hinge.
BoneShares shares(double x) {
  const auto beyond = [x](int hinge) { return smooth_step((hinges[hinge] - x + 0.04) / 0.08); };
  return {
      {0, 1 - beyond(0)}, {1, beyond(0) - beyond(1)}, {2, beyond(1) - beyond(2)}, {3, beyond(2)}};
}

Clip swim(const Armature& armature) {
  Choreography choreography(armature, "swim", 1);
  const double bends[] = {0.14, 0.30, 0.45};
  for (int j = 0; j < 3; ++j)
    choreography.move("spine" + std::to_string(j + 1), "bend", wave(1, bends[j], 0.16 * j));
  return choreography.clip();
}

}  // namespace

SelfPropelled fish(int detail) {
  const Sewn sewn = Tailor(std::max(1, detail)).sew();
  const Motors motors = make_motors(sewn.middle);
  const auto paint = [&](int v) {
    return colour(sewn.quilt.place(v), sewn.middle, sewn.quilt.place(sewn.eye),
                  sewn.fins[static_cast<size_t>(v)]);
  };
  SelfPropelled fish{sewn.quilt.character("fish", paint), motors.joints()};
  std::vector<BoneShares> all;
  for (const double x : sewn.anchors) all.push_back(shares(x));
  rig(fish.character, motors, all);
  fish.character.clips.push_back(swim(motors.armature()));
  return fish;
}

}  // namespace supple::actors
