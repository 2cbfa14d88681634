// An exhibit: one thing the page can show, as JSON facts and chunks. docs/viewer-protocol.md lists
// what they hold.
#pragma once

#include <memory>
#include <string>

#include "supple/core/bytes.h"
#include "supple/io/json_field.h"

namespace supple::viewer {

/// How much of an exhibit can be shown at the moment.
struct Availability {
  int frames = 0;               ///< whole frames, counted from the first one
  std::string status = "done";  ///< "running", "done", "interrupted" or "failed: ..."

  bool operator==(const Availability&) const = default;
};

/// One thing to show. Members are called by one thread at a time; those that read files throw
/// supple::Error when a file is missing or damaged.
class Exhibit {
 public:
  virtual ~Exhibit() = default;

  /// The exhibit's object of exhibits.json, without `available` and `status`.
  virtual Json facts() const = 0;

  /// What can be shown now; never throws.
  virtual Availability availability() const = 0;

  /// The bytes of static.chunk.
  virtual Bytes static_chunk() const = 0;

  /// The bytes of the chunk of a frame.
  virtual Bytes frame_chunk(int frame) const = 0;

  /// The report of the run, its frames from number `from_frame` on; null when there is none.
  virtual Json report(int from_frame) const = 0;
};

}  // namespace supple::viewer
