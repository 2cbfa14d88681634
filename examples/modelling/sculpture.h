// Solids for the examples' characters, sculpted stroke by stroke as a signed distance function:
// round cones, ellipsoids and bent rods, added or carved with smooth seams, and paint on top. A
// mirrored stroke is laid on both sides of the plane x = 0 at once, so that a sculpture of mirrored
// and centred strokes is symmetric to the last bit. Lengths are metres.
#pragma once

#include <utility>
#include <vector>

#include "supple/math/types.h"

namespace supple::modelling {

/// A colour as screens show it (sRGB, 0 to 1), in the linear values files hold.
Vec3d screen_colour(double red, double green, double blue);

/// A simple shape strokes are made of.
struct Shape {
  enum class Kind { round_cone, ellipsoid, arc, half_space };
  Kind kind = Kind::round_cone;
  Vec3d start = Vec3d::Zero();  ///< first end, or the centre, or a point of the plane
  Vec3d end = Vec3d::Zero();
  double start_radius = 0;            ///< radius at the first end, or of an arc's circle
  double end_radius = 0;              ///< radius at the other end, or of an arc's rod
  double half_angle = 0;              ///< of an arc, in radians
  Vec3d radii = Vec3d::Zero();        ///< half axes of an ellipsoid
  Mat3d to_axes = Mat3d::Identity();  ///< turns model directions into the shape's own

  /// Signed distance of a point, negative inside; a close estimate for ellipsoids.
  double distance(const Vec3d& point) const;

  /// True when a point is further than `reach` from a ball around the shape.
  bool is_beyond(double reach, const Vec3d& point) const;
};

/// A limb from `start` to `end`, round at both ends.
Shape round_cone(const Vec3d& start, double start_radius, const Vec3d& end, double end_radius);

/// An ellipsoid; `turn` rotates its axes.
Shape ellipsoid(const Vec3d& centre, const Vec3d& radii, const Mat3d& turn = Mat3d::Identity());

/// A ball.
Shape ball(const Vec3d& centre, double radius);

/// A rod of radius `thickness` bent along a circle about `centre`: it spans `half_angle` radians on
/// either side of the own +Y axis, in the own XY plane; `turn` rotates these axes.
Shape arc(const Vec3d& centre, double radius, double half_angle, double thickness,
          const Mat3d& turn = Mat3d::Identity());

/// Everything behind the plane through `point` with the outward unit `normal`; for carving only.
Shape half_space(const Vec3d& point, const Vec3d& normal);

/// The rotation by `angle` degrees about an axis.
Mat3d turn(double angle, const Vec3d& axis);

/// A region to be meshed finer: cells are smaller by `zoom` within `radius` of `centre`, and grow
/// to the usual size with the distance from it. The centre lies in the plane x = 0.
struct Focus {
  Vec3d centre = Vec3d::Zero();
  double radius = 0;
  double zoom = 1;
};

/// A solid with colours.
class Sculpture {
 public:
  /// Adds a shape; `seam` is the width over which it melts into what is there. Mirrored: also on
  /// the other side of x = 0.
  void add(const Shape& shape, double seam, bool mirrored = false);

  /// Takes a shape away, with a rounded rim.
  void carve(const Shape& shape, double seam, bool mirrored = false);

  /// Where meshes are finer.
  void set_focus(const Focus& focus) { m_focus = focus; }
  const Focus& focus() const { return m_focus; }

  /// Colours everything that has no paint.
  void set_ground_colour(const Vec3d& colour) { m_ground = colour; }

  /// Paints the surface inside a shape, fading over `softness` at its border; later paint covers
  /// earlier paint by `strength` (0 to 1).
  void paint(const Shape& shape, const Vec3d& colour, double softness, double strength = 1,
             bool mirrored = false);

  /// Signed distance of a point to the surface, negative inside. Exact far away, smooth near seams.
  double distance(const Vec3d& point) const;

  /// Distance and unit outward normal at a point, by differences over `step`.
  std::pair<double, Vec3d> distance_and_normal(const Vec3d& point, double step = 1e-4) const;

  /// Linear colour of a surface point.
  Vec3d colour(const Vec3d& point) const;

  /// A box that holds the solid.
  Box3d box() const;

  /// Whether the solid is its own mirror image in x = 0: all its strokes are mirrored or centred.
  bool is_symmetric() const;

 private:
  struct Stroke {
    Shape shape;
    double seam;
    bool mirrored;
    bool carved;
  };
  struct Paint {
    Shape shape;
    Vec3d colour;
    double softness;
    double strength;
    bool mirrored;
  };

  std::vector<Stroke> m_strokes;
  std::vector<Paint> m_paints;
  Focus m_focus;
  Vec3d m_ground = Vec3d::Constant(0.8);
};

}  // namespace supple::modelling
