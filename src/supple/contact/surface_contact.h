// Collisions of many soft surfaces, packed into one array of vertices: with each other, each with
// itself, and with rigid things [Diziol 2011, section 3, step 3]. A vertex that has got behind the
// closest triangle of another object is put before it, both giving way by their masses; what is
// left of the speed at which they approach is taken away, and Coulomb friction acts.
//
// Boxes around patches of triangles (surface_patches.h) are put into a tree, pairs of patches that
// come close are searched vertex by vertex, with the triangles side by side in lanes. A vertex is
// inside by the closest triangle, and leaves by the closest one that faces it: of two boxes side by
// side on the same ground, none is pushed up. What moves far in a step is searched along its way,
// so that it does not pass through thin things. Contacts are then resolved (surface_response.cpp):
// first objects as wholes stop each other, then vertices, one after the other in
// a few rounds forth and back; momentum is kept. Results are the same for any number of threads.
//
// A surface meets itself where its patches are apart at rest, and only from the outside: a body
// that is pressed flat has one side behind the other and is not torn through itself.
//
// Not handled: edges that cross while no vertex is inside; vertices that got deeper inside than
// about one edge otherwise than by their way in one step.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "supple/contact/box_tree.h"
#include "supple/contact/closest_triangle_kernels.h"
#include "supple/contact/collider.h"
#include "supple/contact/surface_patches.h"

namespace supple {

/// How an object touches others.
struct SurfaceTouch {
  double friction = 0.3;  ///< Coulomb's coefficient; of two objects the mean counts
  double gap = 0.1;       ///< kept free between surfaces, in mean lengths of its edges
  bool self = true;       ///< whether it collides with itself
  double firmness = 0;    ///< part of an impact that the object takes as a whole, 0 to 1
};

/// The surfaces that collide. Vertices of one object are those with its number.
struct SurfaceCollisionModel {
  std::span<const Vec3f> rest;            ///< metres
  std::span<const Vec3i> triangles;       ///< counter-clockwise seen from outside
  std::span<const int32_t> objects;       ///< of the vertices
  std::span<const float> inverse_masses;  ///< 1/kg; 0 for vertices that are held
  std::span<const SurfaceTouch> touches;  ///< of the objects
};

/// How a step went.
struct SurfaceContactReport {
  size_t contacts = 0;        ///< of vertices with triangles
  size_t rigid_contacts = 0;  ///< of vertices with rigid things
  double deepest = 0;         ///< how far a vertex was inside something before, in metres
};

/// Finds and resolves contacts, step by step.
class SurfaceContact {
 public:
  /// Throws an input error naming `where` for friction or gaps that are negative or not finite.
  SurfaceContact(const SurfaceCollisionModel& model, const std::string& where);
  ~SurfaceContact();

  /// Moves vertices (metres) out of each other and of colliders and changes velocities (m/s) to
  /// fit. `x` is where velocities `v` have brought the vertices in `dt` seconds. `touching` is set
  /// to 2 for vertices that touch a rigid thing, to 1 for those in other contacts, else to 0. Never
  /// throws; vertices that are not finite are left alone.
  SurfaceContactReport resolve(std::span<const Collider* const> colliders, double dt,
                               std::span<Vec3f> x, std::span<Vec3f> v, std::span<uint8_t> touching);

  /// Whether each vertex met its own object in the last step: the state the next step depends on.
  std::span<uint8_t> self_touching() { return m_self_touching; }
  std::span<const uint8_t> self_touching() const { return m_self_touching; }

  /// Mean length of an object's edges at rest, in metres.
  double edge(size_t object) const { return static_cast<double>(m_edges[object]); }

  /// The distance of vertices from the closest collider, in metres, negative inside; for checks.
  static double distance(std::span<const Collider* const> colliders, const Vec3f& at);

 private:
  // A vertex behind a triangle.
  struct Contact {
    std::array<int32_t, 4> particles;  // the vertex, then the triangle's corners
    std::array<float, 4> shares;       // 1, then minus the weights of the corners
    Vec3f normal;                      // of the triangle's side
    float gap, friction, softness;     // softness: Σ w s² over inverse masses and shares, 1/kg
    float pushed = 0;                  // normal impulse so far, kg m/s
    Vec3f rubbed = Vec3f::Zero();      // tangential impulse so far
  };
  struct RigidTouch {
    int32_t vertex;
    float friction;
    Vec3f normal, surface, velocity;
  };
  // The motion of an object as a whole, and what contacts add to it.
  struct Whole {
    Vec3f centre = Vec3f::Zero(), velocity = Vec3f::Zero(), spin = Vec3f::Zero();
    Eigen::Matrix3f inverse_inertia = Eigen::Matrix3f::Zero();
    float inverse_mass = 0;  // 0 for objects that do not give way as a whole
    Vec3f kick = Vec3f::Zero(), turn = Vec3f::Zero();
  };
  // A contact of two objects as wholes, or of one with a rigid thing (-1).
  struct WholeContact {
    int32_t first, second;
    Vec3f first_arm, second_arm, normal, speed;  // speed without what contacts add
    float friction, softness;
    float pushed = 0;
    Vec3f rubbed = Vec3f::Zero();
  };
  // A patch that is near a collider.
  struct NearRigid {
    uint32_t patch, collider;
  };
  struct Near;

  void find_neighbours();
  void measure_patches(double dt, std::span<const Vec3f> x, std::span<const Vec3f> v);
  void find_pairs(float reach);
  void load_triangles(std::span<const Vec3f> x);
  void search_patch(size_t patch, const Near& near, std::vector<Contact>& out) const;
  void search_close(const SurfacePatch& own, std::span<const uint32_t> patches, float way,
                    const Near& near, std::vector<Contact>& out) const;
  ClosestTriangle closest_facing_in(uint32_t patch, const Vec3f& point,
                                    const Vec3f& direction) const;
  void add_contact(const Near& near, int32_t vertex, std::span<const uint32_t> patches,
                   const ClosestTriangle& closest, std::vector<Contact>& out) const;
  bool came_from_outside(const Near& near, int32_t vertex, const Vec3i& triangle) const;
  Vec3f vertex_normal(std::span<const Vec3f> x, int32_t vertex) const;
  void find_contacts(double dt, std::span<const Vec3f> x, std::span<const Vec3f> v);
  void push_apart(Contact& contact, double dt, std::span<Vec3f> x, std::span<Vec3f> v) const;
  bool add_crossing(const Near& near, int32_t vertex, std::span<const uint32_t> patches,
                    const Vec3f& way, std::vector<Contact>& out) const;
  Contact contact_of(int32_t vertex, const Vec3i& triangle, const Vec3f& weights,
                     const Vec3f& normal) const;
  float gap_between(size_t own, size_t other) const;
  void stop_wholes(double dt, std::span<Vec3f> x, std::span<Vec3f> v);
  void measure_whole(size_t object, std::span<const Vec3f> x, std::span<const Vec3f> v);
  void add_whole_contact(int32_t first, int32_t second, const Vec3f& at, const Vec3f& normal,
                         const Vec3f& rigid_velocity, float friction);
  void thin_whole_contacts();
  float whole_softness(const WholeContact& contact, const Vec3f& along) const;
  void push_whole(WholeContact& contact);
  void resolve_contacts(double dt, std::span<Vec3f> x, std::span<Vec3f> v);
  void find_near_rigid(std::span<const Collider* const> colliders);
  void find_rigid(std::span<const Collider* const> colliders, double dt, std::span<const Vec3f> x,
                  std::span<const Vec3f> v, bool is_first);
  void test_rigid(const Collider& collider, int32_t vertex, std::span<const Vec3f> x,
                  const Vec3f* way, std::vector<RigidTouch>& found) const;
  void leave_rigid(double dt, std::span<Vec3f> x, std::span<Vec3f> v) const;
  double deepest_rigid(std::span<const Vec3f> x) const;
  void mark(std::span<uint8_t> touching) const;

  SurfacePatches m_patches;
  std::vector<Vec3i> m_triangles;
  std::vector<int32_t> m_objects;
  std::vector<float> m_inverse_masses;
  std::vector<SurfaceTouch> m_touches;
  std::vector<float> m_edges;          // of objects
  std::vector<uint32_t> m_fan_starts;  // triangles of vertices
  std::vector<int32_t> m_fans;
  std::vector<uint32_t> m_neighbour_starts;  // patches close at rest, by patch
  std::vector<uint32_t> m_neighbours;
  std::vector<int32_t> m_loose;           // vertices of no patch
  std::vector<uint32_t> m_vertex_starts;  // vertices of objects
  std::vector<int32_t> m_vertices;
  float m_largest_edge = 0;
  BoxTree m_tree;

  // State: what a checkpoint holds.
  std::vector<uint8_t> m_self_touching;  // whether a vertex met its own object in the last step

  // Made anew in every step.
  std::vector<Box3f> m_boxes;              // of patches
  std::vector<PatchTriangles> m_searched;  // patches, with the same boxes
  std::vector<Box3f> m_kept_boxes;         // in the tree
  std::vector<Vec3f> m_velocities;         // of patches, the mean
  std::vector<float> m_ways;               // of patches: the longest of a vertex in this step
  std::vector<BoxTree::Pair> m_pairs;
  std::vector<uint32_t> m_other_starts, m_others;  // close patches, by patch
  std::vector<float> m_rows;                       // of patches' triangles
  std::vector<std::vector<Contact>> m_found;       // by block of patches
  std::vector<Contact> m_contacts;
  std::vector<std::vector<RigidTouch>> m_rigid_found;
  std::vector<RigidTouch> m_rigid;
  std::vector<std::vector<NearRigid>> m_near_found;
  std::vector<NearRigid> m_near_rigid;
  std::vector<Whole> m_wholes;   // objects
  std::vector<uint8_t> m_meets;  // of objects: whether they are in contact with anything
  std::vector<WholeContact> m_whole_contacts;
};

}  // namespace supple
