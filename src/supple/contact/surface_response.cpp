// How contacts of soft surfaces are resolved, and those with rigid things found.
#include <Eigen/LU>

#include <algorithm>
#include <cmath>

#include "supple/contact/surface_contact.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr int rounds = 5;
constexpr int whole_rounds = 20;
constexpr size_t most_of_pair = 12;  // contacts of two objects as wholes
constexpr size_t patch_block = 16, vertex_block = 1024, whole_block = 64;
// What moves less than this in a step is not searched along its way, in mean edges.
constexpr double short_way = 0.02;

size_t at(int32_t i) { return static_cast<size_t>(i); }

}  // namespace

SurfaceContactReport SurfaceContact::resolve(std::span<const Collider* const> colliders, double dt,
                                             std::span<Vec3f> x, std::span<Vec3f> v,
                                             std::span<uint8_t> touching) {
  find_contacts(dt, x, v);
  find_rigid(colliders, dt, x, v, true);
  SurfaceContactReport report;
  report.contacts = m_contacts.size();
  report.rigid_contacts = m_rigid.size();
  for (const Contact& c : m_contacts) {
    Vec3f apart = Vec3f::Zero();
    for (size_t k = 0; k < 4; ++k) apart += c.shares[k] * x[at(c.particles[k])];
    report.deepest = std::max(report.deepest, -static_cast<double>(apart.dot(c.normal)));
  }
  report.deepest = std::max(report.deepest, deepest_rigid(x));
  std::fill(touching.begin(), touching.end(), uint8_t{0});
  mark(touching);
  std::fill(m_self_touching.begin(), m_self_touching.end(), uint8_t{0});
  for (const Contact& c : m_contacts)
    if (m_objects[at(c.particles[0])] == m_objects[at(c.particles[1])])
      m_self_touching[at(c.particles[0])] = 1;
  stop_wholes(dt, x, v);
  resolve_contacts(dt, x, v);
  // What others have pushed into rigid things comes out of them last: these do not give way. Out
  // of one may be into another.
  const bool may_have_entered = !m_contacts.empty() || colliders.size() > 1;
  m_contacts.clear();
  double depth = may_have_entered && !m_near_rigid.empty() ? 1 : 0;
  const double small = 1e-4 * static_cast<double>(m_largest_edge);
  for (int again = 0; again < rounds && depth > small; ++again) {
    find_rigid(colliders, dt, x, v, false);
    mark(touching);
    depth = deepest_rigid(x);
    leave_rigid(dt, x, v);
  }
  return report;
}

double SurfaceContact::deepest_rigid(std::span<const Vec3f> x) const {
  float depth = 0;
  for (const RigidTouch& r : m_rigid)
    depth = std::max(depth, (r.surface - x[at(r.vertex)]).dot(r.normal));
  return static_cast<double>(depth);
}

void SurfaceContact::mark(std::span<uint8_t> touching) const {
  for (const Contact& c : m_contacts)
    for (const int32_t p : c.particles) touching[at(p)] = std::max(touching[at(p)], uint8_t{1});
  for (const RigidTouch& r : m_rigid) touching[at(r.vertex)] = 2;
}

// Objects stop approaching each other and rigid things as wholes, with friction, as rigid bodies
// would. Single vertices are too light to stop what is behind them: that would push them deep into
// each other first, and come back as a bounce.
void SurfaceContact::stop_wholes(double dt, std::span<Vec3f> x, std::span<Vec3f> v) {
  std::fill(m_meets.begin(), m_meets.end(), uint8_t{0});
  bool any = false;
  const auto meets = [&](int32_t vertex) {
    const size_t object = at(m_objects[at(vertex)]);
    m_meets[object] = m_touches[object].firmness > 0;
    any = any || m_meets[object];
  };
  for (const Contact& c : m_contacts) {
    meets(c.particles[0]);
    meets(c.particles[1]);
  }
  for (const RigidTouch& r : m_rigid) meets(r.vertex);
  if (!any) return;
  parallel_for(m_wholes.size(), 1, [&](size_t begin, size_t end) {
    for (size_t o = begin; o < end; ++o) measure_whole(o, x, v);
  });
  m_whole_contacts.clear();
  for (const Contact& c : m_contacts)
    add_whole_contact(m_objects[at(c.particles[0])], m_objects[at(c.particles[1])],
                      x[at(c.particles[0])], c.normal, Vec3f::Zero(), c.friction);
  for (const RigidTouch& r : m_rigid)
    add_whole_contact(m_objects[at(r.vertex)], -1, x[at(r.vertex)], r.normal, r.velocity,
                      r.friction);
  thin_whole_contacts();
  for (int round = 0; round < whole_rounds; ++round) {
    if (round % 2 == 0)
      for (WholeContact& c : m_whole_contacts) push_whole(c);
    else
      for (auto c = m_whole_contacts.rbegin(); c != m_whole_contacts.rend(); ++c) push_whole(*c);
  }
  parallel_for(x.size(), vertex_block, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t object = at(m_objects[i]);
      const Whole& whole = m_wholes[object];
      if (!m_meets[object] || whole.inverse_mass == 0) continue;
      const Vec3f kick = static_cast<float>(m_touches[object].firmness) *
                         (whole.kick + whole.turn.cross(x[i] - whole.centre));
      if (!kick.allFinite()) continue;
      v[i] += kick;
      x[i] += static_cast<float>(dt) * kick;
    }
  });
}

// Mass, inertia and motion of an object that meets something. Objects that are held somewhere do
// not give way as a whole.
void SurfaceContact::measure_whole(size_t object, std::span<const Vec3f> x,
                                   std::span<const Vec3f> v) {
  Whole& whole = m_wholes[object];
  whole = Whole();
  if (!m_meets[object]) return;
  const auto own =
      std::span<const int32_t>(m_vertices)
          .subspan(m_vertex_starts[object], m_vertex_starts[object + 1] - m_vertex_starts[object]);
  double mass = 0;
  Vec3d first = Vec3d::Zero(), linear = first, angular = first;
  Mat3d second = Mat3d::Zero();
  const Vec3f& origin = x[at(own.front())];
  bool is_free = true;
  // Few at a time in single precision, all together in double.
  for (size_t begin = 0; begin < own.size(); begin += whole_block) {
    float m = 0, yy[6] = {};
    Vec3f my = Vec3f::Zero(), mv = my, l = my;
    for (const int32_t i : own.subspan(begin, std::min(whole_block, own.size() - begin))) {
      const float inverse = m_inverse_masses[at(i)];
      is_free = is_free && inverse > 0;
      const float own_mass = inverse > 0 ? 1 / inverse : 0;
      const Vec3f y = x[at(i)] - origin, weighed = own_mass * y;
      m += own_mass;
      my += weighed;
      mv += own_mass * v[at(i)];
      l += weighed.cross(v[at(i)]);
      yy[0] += weighed[0] * y[0];
      yy[1] += weighed[1] * y[1];
      yy[2] += weighed[2] * y[2];
      yy[3] += weighed[1] * y[2];
      yy[4] += weighed[0] * y[2];
      yy[5] += weighed[0] * y[1];
    }
    mass += static_cast<double>(m);
    first += my.cast<double>();
    linear += mv.cast<double>();
    angular += l.cast<double>();
    Eigen::Matrix3f block;
    block << yy[0], yy[5], yy[4], yy[5], yy[1], yy[3], yy[4], yy[3], yy[2];
    second += block.cast<double>();
  }
  if (!is_free || !(mass > 0)) return;
  const Vec3d centre = first / mass;
  const Mat3d moments = second - mass * centre * centre.transpose();
  Mat3d inertia = moments.trace() * Mat3d::Identity() - moments;
  inertia.diagonal().array() += 1e-4 * moments.trace() + 1e-30;
  const Mat3d inverse = inertia.inverse();
  const Vec3d spin = inverse * (angular - centre.cross(linear));
  if (!inverse.allFinite() || !spin.allFinite() || !centre.allFinite()) return;
  whole.centre = origin + centre.cast<float>();
  whole.velocity = (linear / mass).cast<float>();
  whole.spin = spin.cast<float>();
  whole.inverse_inertia = inverse.cast<float>();
  whole.inverse_mass = static_cast<float>(1 / mass);
}

void SurfaceContact::add_whole_contact(int32_t first, int32_t second, const Vec3f& place,
                                       const Vec3f& normal, const Vec3f& rigid_velocity,
                                       float friction) {
  if (first == second) return;
  const Whole& a = m_wholes[at(first)];
  WholeContact contact{first,  second,        place - a.centre, Vec3f::Zero(),
                       normal, Vec3f::Zero(), friction,         0};
  contact.speed = a.velocity + a.spin.cross(contact.first_arm) - rigid_velocity;
  if (second >= 0) {
    const Whole& b = m_wholes[at(second)];
    contact.second_arm = place - b.centre;
    contact.speed -= b.velocity + b.spin.cross(contact.second_arm);
  }
  contact.softness = whole_softness(contact, normal);
  if (contact.softness > 0 && contact.speed.allFinite()) m_whole_contacts.push_back(contact);
}

// A few contacts of each two objects are enough, spread over all of them.
void SurfaceContact::thin_whole_contacts() {
  const auto key = [](const WholeContact& c) {
    return std::pair(std::min(c.first, c.second), std::max(c.first, c.second));
  };
  std::stable_sort(m_whole_contacts.begin(), m_whole_contacts.end(),
                   [&](const WholeContact& a, const WholeContact& b) { return key(a) < key(b); });
  size_t kept = 0;
  for (size_t begin = 0, end = 0; begin < m_whole_contacts.size(); begin = end) {
    while (end < m_whole_contacts.size() &&
           key(m_whole_contacts[end]) == key(m_whole_contacts[begin]))
      ++end;
    const size_t count = end - begin, few = std::min(count, most_of_pair);
    for (size_t k = 0; k < few; ++k)
      m_whole_contacts[kept++] = m_whole_contacts[begin + k * count / few];
  }
  m_whole_contacts.erase(m_whole_contacts.begin() + static_cast<std::ptrdiff_t>(kept),
                         m_whole_contacts.end());
}

// How much faster the contact opens along a direction for an impulse of one, 1/kg.
float SurfaceContact::whole_softness(const WholeContact& c, const Vec3f& along) const {
  const auto of = [&](int32_t object, const Vec3f& arm) {
    if (object < 0) return 0.0f;
    const Whole& whole = m_wholes[at(object)];
    const Vec3f moment = arm.cross(along);
    return whole.inverse_mass + moment.dot(whole.inverse_inertia * moment);
  };
  return of(c.first, c.first_arm) + of(c.second, c.second_arm);
}

void SurfaceContact::push_whole(WholeContact& c) {
  Whole& a = m_wholes[at(c.first)];
  Vec3f speed = c.speed + a.kick + a.turn.cross(c.first_arm);
  if (c.second >= 0) {
    const Whole& b = m_wholes[at(c.second)];
    speed -= b.kick + b.turn.cross(c.second_arm);
  }
  const float approach = speed.dot(c.normal);
  const float pushed = std::max(0.0f, c.pushed - approach / c.softness);
  Vec3f rubbed = c.rubbed;
  const Vec3f along = speed - approach * c.normal;
  const float slip = along.norm();
  if (slip > 0) rubbed -= along / whole_softness(c, along / slip);
  const float most = c.friction * pushed, length = rubbed.norm();
  if (length > most) rubbed *= most / length;
  const Vec3f impulse = (pushed - c.pushed) * c.normal + rubbed - c.rubbed;
  c.pushed = pushed;
  c.rubbed = rubbed;
  if (!impulse.allFinite()) return;
  a.kick += a.inverse_mass * impulse;
  a.turn += a.inverse_inertia * c.first_arm.cross(impulse);
  if (c.second < 0) return;
  Whole& b = m_wholes[at(c.second)];
  b.kick -= b.inverse_mass * impulse;
  b.turn -= b.inverse_inertia * c.second_arm.cross(impulse);
}

void SurfaceContact::resolve_contacts(double dt, std::span<Vec3f> x, std::span<Vec3f> v) {
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0)
      for (Contact& c : m_contacts) push_apart(c, dt, x, v);
    else
      for (auto c = m_contacts.rbegin(); c != m_contacts.rend(); ++c) push_apart(*c, dt, x, v);
    leave_rigid(dt, x, v);
  }
}

// Resolves one contact as far as it goes: depth, speed towards each other, speed along each other.
void SurfaceContact::push_apart(Contact& c, double dt, std::span<Vec3f> x,
                                std::span<Vec3f> v) const {
  if (!(c.softness > 0)) return;
  Vec3f apart = Vec3f::Zero(), speed = Vec3f::Zero();
  for (size_t k = 0; k < 4; ++k) {
    apart += c.shares[k] * x[at(c.particles[k])];
    speed += c.shares[k] * v[at(c.particles[k])];
  }
  const float depth = c.gap - apart.dot(c.normal), approach = speed.dot(c.normal);
  const float pushed = std::max(0.0f, c.pushed - approach / c.softness);
  Vec3f rubbed = c.rubbed - (speed - approach * c.normal) / c.softness;
  const float most = c.friction * pushed, length = rubbed.norm();
  if (length > most) rubbed *= most / length;
  const Vec3f friction = rubbed - c.rubbed;
  const Vec3f impulse = (pushed - c.pushed) * c.normal + friction;
  // Friction takes back the way along the surface that the speed it stops has gone already.
  const Vec3f shift =
      std::max(0.0f, depth) / c.softness * c.normal + static_cast<float>(dt) * friction;
  c.pushed = pushed;
  c.rubbed = rubbed;
  for (size_t k = 0; k < 4; ++k) {
    const size_t p = at(c.particles[k]);
    const float gives = m_inverse_masses[p] * c.shares[k];
    x[p] += gives * shift;
    v[p] += gives * impulse;
  }
}

// Patches near rigid things, with room for what contacts may still move.
void SurfaceContact::find_near_rigid(std::span<const Collider* const> colliders) {
  const size_t patches = m_patches.patches.size();
  m_near_found.resize((patches + patch_block - 1) / patch_block);
  m_near_rigid.clear();
  parallel_for(patches, patch_block, [&](size_t begin, size_t end) {
    std::vector<NearRigid>& found = m_near_found[begin / patch_block];
    found.clear();
    for (size_t p = begin; p < end; ++p) {
      if (m_boxes[p].isEmpty()) continue;
      const Vec3d middle = m_boxes[p].center().cast<double>();
      const double radius = 0.5 * m_boxes[p].diagonal().cast<double>().norm() +
                            static_cast<double>(m_ways[p] + m_largest_edge);
      for (uint32_t c = 0; c < colliders.size(); ++c)
        if (colliders[c]->distance(middle) <= radius)
          found.push_back({static_cast<uint32_t>(p), c});
    }
  });
  for (const std::vector<NearRigid>& found : m_near_found)
    m_near_rigid.insert(m_near_rigid.end(), found.begin(), found.end());
}

// Vertices inside rigid things; at first also those that have passed them on their way.
void SurfaceContact::find_rigid(std::span<const Collider* const> colliders, double dt,
                                std::span<const Vec3f> x, std::span<const Vec3f> v, bool is_first) {
  if (is_first) find_near_rigid(colliders);
  m_rigid.clear();
  m_rigid_found.resize((m_near_rigid.size() + patch_block - 1) / patch_block);
  parallel_for(m_near_rigid.size(), patch_block, [&](size_t begin, size_t end) {
    std::vector<RigidTouch>& found = m_rigid_found[begin / patch_block];
    found.clear();
    for (size_t k = begin; k < end; ++k) {
      const SurfacePatch& patch = m_patches.patches[m_near_rigid[k].patch];
      for (uint32_t i = patch.first_own; i < patch.last_own; ++i) {
        const int32_t vertex = m_patches.own[i];
        const Vec3f way = static_cast<float>(dt) * v[at(vertex)];
        test_rigid(*colliders[m_near_rigid[k].collider], vertex, x, is_first ? &way : nullptr,
                   found);
      }
    }
  });
  for (const std::vector<RigidTouch>& found : m_rigid_found)
    m_rigid.insert(m_rigid.end(), found.begin(), found.end());
  for (const Collider* collider : colliders)
    for (const int32_t vertex : m_loose) {
      const Vec3f way = static_cast<float>(dt) * v[at(vertex)];
      test_rigid(*collider, vertex, x, is_first ? &way : nullptr, m_rigid);
    }
}

namespace {

// Where the way from outside a rigid thing, or from its surface, first meets it: goes on by the
// distance there is, as nothing can be closer.
std::optional<Vec3d> entry(const Collider& collider, const Vec3d& from, const Vec3d& to,
                           double close) {
  const Vec3d way = to - from;
  const double length = way.norm();
  double gone = 0;
  for (int step = 0; step < 64 && gone < length; ++step) {
    const Vec3d here = from + gone / length * way;
    const double distance = collider.distance(here);
    if (step == 0 && !(distance > -100 * close)) return std::nullopt;
    if (distance < close) return here;
    gone += distance;
  }
  return std::nullopt;
}

}  // namespace

void SurfaceContact::test_rigid(const Collider& collider, int32_t vertex, std::span<const Vec3f> x,
                                const Vec3f* way, std::vector<RigidTouch>& found) const {
  if (m_inverse_masses[at(vertex)] == 0) return;
  const Vec3d to = x[at(vertex)].cast<double>();
  const double distance = collider.distance(to);
  const auto edge = static_cast<double>(m_edges[at(m_objects[at(vertex)])]);
  std::optional<RigidContact> contact;
  if (way != nullptr) {
    // It can only have met what is closer than its way is long.
    const Vec3d from = collider.moved_along(to - way->cast<double>());
    const double length = (to - from).norm();
    if (!(distance < length) && !(distance <= 0)) return;
    if (length > short_way * edge) {
      const double close = 1e-4 * edge;
      if (const std::optional<Vec3d> met = entry(collider, from, to, close))
        contact = collider.test(*met + (4 * close / length) * (to - from));
    }
  }
  if (!contact && distance <= 0) contact = collider.test(to);
  if (!contact) return;
  found.push_back({vertex, static_cast<float>(collider.options().friction),
                   contact->normal.cast<float>(), contact->surface.cast<float>(),
                   contact->velocity.cast<float>()});
}

void SurfaceContact::leave_rigid(double dt, std::span<Vec3f> x, std::span<Vec3f> v) const {
  for (const RigidTouch& r : m_rigid) {
    Vec3f &place = x[at(r.vertex)], &velocity = v[at(r.vertex)];
    place += std::max(0.0f, (r.surface - place).dot(r.normal)) * r.normal;
    const Vec3f speed = velocity - r.velocity;
    const float approach = -speed.dot(r.normal);
    if (!(approach > 0)) continue;
    // Coulomb: friction takes at most so much of the speed along the surface.
    const Vec3f along = speed + approach * r.normal;
    const float length = along.norm(), most = r.friction * approach;
    const Vec3f kept = along * (length > most ? 1 - most / length : 0);
    velocity = r.velocity + kept;
    // So much of the way along it was not gone.
    place += static_cast<float>(dt) * (kept - along);
  }
}

double SurfaceContact::distance(std::span<const Collider* const> colliders, const Vec3f& at) {
  double least = std::numeric_limits<double>::infinity();
  for (const Collider* collider : colliders)
    least = std::min(least, collider->distance(at.cast<double>()));
  return least;
}

}  // namespace supple
