// Collisions of a body of tetrahedra with itself [McAdams 2011, section 7]: points of its skin that
// have got into flesh elsewhere, and where on the surface they should be.
//
// An element that holds a point now gives the point's place at rest, X. Where X lies inside the
// skin at rest, the closest place of the skin there is where the point should be. Elements that
// share a node with the point's own are left out, and so are places of the skin in such: flesh that
// is squashed flat is no collision. Of several places the one least deep is taken, of those that
// face the point: two sides of a thin ear do not stand for each other, and where rims meet a point
// does not leave along its own side. And of those before which the point was at the beginning of
// the step, if there are any: what came in fast does not leave on the other side. Where its way
// within the step led steeply through the skin, it leaves there.
//
// Which elements are near which points is found now and then; until a node has moved as far as
// they were near, those alone are tested.
//
// Elements that are turned inside out are passed over. Not handled: points that pass through a thin
// part within one step, or lie more than two edges deep; sheets, which have no inside.
#pragma once

#include "supple/contact/box_tree.h"
#include "supple/contact/contact_points.h"
#include "supple/mesh/tet_locate.h"
#include "supple/tets/contact_terms.h"
#include "supple/tets/skin_contact.h"

namespace supple {

/// A place of the skin: a triangle and the weights of its corners.
struct SkinSpot {
  int32_t triangle = -1;
  Vec3d weights = Vec3d::Zero();
};

/// A point of the skin in flesh elsewhere.
struct TetSelfContact {
  int32_t point = -1;             ///< number of the contact point
  SkinSpot spot;                  ///< where it should be
  Vec3d normal = Vec3d::UnitZ();  ///< the way out at rest, of unit length
  double rest_depth = 0;          ///< how deep at rest, m
};

/// What bodies collide with themselves by; all must outlive the collisions.
struct TetSelfModel {
  const TetMesh& mesh;                  ///< at rest, m
  const SkinSurface& skin;              ///< at rest
  std::span<const TetTie> ties;         ///< of the skin's vertices
  std::span<const TetLocation> places;  ///< of the same
  double spacing = 0;                   ///< about the length of an element's edge, m
};

/// Finds the collisions of one body with itself.
class TetSelfCollision {
 public:
  TetSelfCollision(const TetSelfModel& model, std::vector<ContactPoint> points);

  /// Finds all contacts with nodes at x that were at `before` when the step began, by contact
  /// point, at most one for each.
  void find(const TetVector& x, const TetVector& before, std::vector<TetSelfContact>& out);

  /// The contact points.
  std::span<const ContactPoint> points() const { return m_points; }

  /// Adds a place of the skin to a sum, times a factor.
  void add_spot(const SkinSpot& spot, double factor, NodeSum& sum) const;

  /// Where a contact point is on the skin.
  const SkinSpot& spot_of(size_t point) const { return m_spots[point]; }

  /// A direction at rest that is normal to the skin at a spot, as it is with nodes at x.
  Vec3d carried_normal(const SkinSpot& spot, const Vec3d& normal, const TetVector& x) const;

 private:
  void find_near(const TetVector& x);
  bool test(const TetVector& x, const TetVector& before, size_t point, TetSelfContact& best) const;
  // A point in an element: where both are at rest, the point now and when the step began, and the
  // point's normal there.
  struct Entry {
    size_t point;
    int32_t tet;
    Vec3d rest, rest_before, facing;
  };
  // A place of the skin at rest.
  struct WayOut {
    uint32_t piece = 0;
    bool found = false;
    Vec3d place = Vec3d::Zero();
    double distance = 0;
  };
  bool consider(const TetVector& before, const Entry& entry, TetSelfContact& best) const;
  WayOut crossed(const Entry& entry) const;
  WayOut closest(const Entry& entry, const TetVector* before) const;
  bool was_before(const TetVector& before, const Vec3d& point, const SkinPiece& piece,
                  const Vec3d& place) const;
  SkinSpot spot_at(const SkinPiece& piece, const Vec3d& place) const;
  Vec3d at(const SkinSpot& spot, const TetVector& x) const;
  int32_t tet_of(const SkinSpot& spot) const;
  bool meet(int32_t tet, int32_t other) const;
  bool meets_spot(int32_t tet, const SkinSpot& spot) const;

  TetSelfModel m_model;
  std::vector<ContactPoint> m_points;
  std::vector<SkinSpot> m_spots;  // of the contact points
  std::vector<int32_t> m_own;     // their elements
  std::vector<uint8_t> m_copied;  // of elements: whether others are at the same place at rest
  std::vector<Mat3d> m_inverse;   // of elements' edges at rest
  double m_margin;                // m
  BoxTree m_tree;                 // of deformed elements
  BoxTree m_piece_tree;           // of the skin at rest
  TetVector m_near_at;            // nodes when near elements were found; empty if never
  std::vector<std::vector<int32_t>> m_near;          // elements, by contact point
  std::vector<std::vector<TetSelfContact>> m_found;  // by block of contact points
};

}  // namespace supple
