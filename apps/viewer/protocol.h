// The protocol's words: addresses, messages of the page, messages to it. Pure functions over text,
// without any network. docs/viewer-protocol.md is the specification.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "viewer/exhibit.h"
#include "viewer/page_assets.h"

namespace supple::viewer {

/// What an address stands for.
enum class Place { page, exhibits, static_chunk, report, socket };

/// An address the server knows.
struct Address {
  Place place = Place::page;
  const PageAsset* asset = nullptr;                  ///< of a page's file
  int exhibit = 0;                                   ///< of static_chunk and report
  int from_frame = std::numeric_limits<int>::min();  ///< of report
};

/// The place a request's target names, or nothing when it is not an address of a server with that
/// token and number of exhibits. Nothing is decoded: known addresses have only plain characters.
std::optional<Address> parse_address(std::string_view target, std::string_view token,
                                     int exhibit_count);

/// The page asks for frames, to be sent in this order.
struct FramesMessage {
  int exhibit = 0;
  std::vector<int> frames;
};

/// The page no longer wants the frames that wait.
struct CancelMessage {};

using Message = std::variant<FramesMessage, CancelMessage>;

/// What a page's text message says; throws an input error when it is not understood, names an
/// exhibit that is not there or more than `most_frames` frames.
Message parse_message(std::string_view text, int exhibit_count, int most_frames);

/// The 64 bytes before a frame's chunk.
std::array<std::byte, 64> frame_header(int exhibit, int frame);

/// Text of the message that a frame cannot be shown.
std::string frame_error_message(int exhibit, int frame, std::string_view problem);

/// Text of the message that an exhibit has grown or ended.
std::string changed_message(int exhibit, const Availability& availability);

/// Text of the message that something was not understood.
std::string error_message(std::string_view problem);

/// JSON as text; bytes that are not UTF-8, as in names of files, are replaced.
std::string json_text(const Json& json);

}  // namespace supple::viewer
