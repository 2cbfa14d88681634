// What drives a body at one time, and the ways between such times.
#pragma once

#include "supple/rig/character.h"
#include "supple/sim/script.h"

namespace supple {

/// Rig and scripts at one time.
struct Instant {
  Moment moment;
  Pose pose;
  std::vector<Affine> joints;  ///< joint-to-model matrices
};

/// A time between two; `part` goes from 0 to 1. Without a rig only the moment matters.
Instant instant_between(const Character& character, const Instant& from, const Instant& to,
                        double part, bool rigged);

/// In how many parts a body goes from one equilibrium to another, so that no joint turns further
/// than half a radian in one of them.
int parts_of_path(const Instant& from, const Instant& to);

/// The bind pose at the moment of another instant.
Instant bind_instant(const Character& character, const Instant& when);

/// Whether a joint turns, or all of them move, further than bodies do in a frame: a cut in the
/// animation, or a pose that capture begins with. `length` is the body's.
bool is_cut(const Character& character, const Instant& from, const Instant& to, double length);

/// Adds an instant to a checkpoint, under names that begin with `name`.
void save_instant(const Instant& instant, const std::string& name, Chunk& state);

/// Takes back what save_instant() wrote; `file` names the source in messages.
Instant load_instant(const Chunk& state, const std::string& name, const Character& character,
                     bool rigged, std::string_view file);

/// Throws an input error naming `file` and `field` when one of the numbers is not finite.
void require_finite(std::span<const double> numbers, std::string_view file, std::string_view field);

/// Vectors as numbers for a checkpoint, and back.
std::span<const double> as_doubles(const std::vector<Vec3d>& vectors);
std::vector<Vec3d> as_vectors(std::span<const double> numbers);

}  // namespace supple
