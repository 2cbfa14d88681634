// An animated mesh as its file tells it, before what the file does not say is filled in; and how
// numbered frames follow from times in seconds.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "supple/io/animated_skin.h"

namespace supple {

/// Frames per second where neither the file nor a cache beside it says.
inline constexpr double usual_rate = 24;

/// An animated mesh in metres, its axes still those of the file.
struct FileAnimation {
  AnimatedSkin skin;         ///< rest is the first frame where the file has no rest shape
  std::optional<UpAxis> up;  ///< where the file says so
  bool has_rest = false;     ///< skin.rest comes from the file
};

/// How frame numbers and times belong together: frame n is at n / rate seconds.
struct FrameClock {
  double rate = usual_rate;
  int first_frame = 0;
};

/// What a file says about its frames' times.
struct FrameTimes {
  std::vector<double> seconds;      ///< one per frame, at least one
  bool single_precision = false;    ///< they were stored as float32
  std::optional<int> first_number;  ///< number of the first frame, where it is known
};

/// The simplest rate that gives the file's times (`likely_rate` when that does), and the number of
/// its first frame; where no even rate gives them, the rate follows from the first two. Throws an
/// input error when times do not increase or are out of range.
FrameClock clock_from_times(const FrameTimes& times, double likely_rate, const std::string& file);

/// Throws an input error that names `file` and `frame` when a position is not finite.
void check_finite(const std::vector<Vec3f>& positions, const std::string& file, int64_t frame);

/// Parts from the part number of every triangle: one part per run of equal numbers. Each gets the
/// vertices up to the next part's where the parts use separate runs of them, else all `vertices`.
std::vector<Part> parts_of_triangles(const std::vector<int>& part_of_triangle,
                                     const std::vector<Vec3i>& triangles, size_t vertices);

}  // namespace supple
