// Options of pictures from their words on the command line.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viewer/pictures.h"

namespace supple::viewer {

/// The camera's named views.
const std::vector<std::string>& camera_names();

/// Width and height from "1280x720", each 16 to 8192; throws a usage error naming `option`.
std::pair<int, int> parse_size(const std::string& text, const std::string& option);

/// Frames from "1001", "1001-1048", "-5:20" or several of these with commas between them; throws a
/// usage error naming `option`.
std::vector<int> parse_frame_list(const std::string& text, const std::string& option);

/// Puts a camera into `options` from a named view or "AZIMUTH,ELEVATION" with an optional ",ZOOM";
/// throws a usage error naming `option`.
void parse_camera(const std::string& text, const std::string& option, PictureOptions& options);

/// Smallest and largest value from "MIN,MAX"; throws a usage error naming `option`.
std::pair<double, double> parse_range(const std::string& text, const std::string& option);

/// Layers from words of picture_layers() with commas between them; throws a usage error naming
/// `option`.
std::vector<std::string> parse_layers(const std::string& text, const std::string& option);

/// The page's name of a colouring: "surface", "part" and "distance" as they are, anything else is a
/// map's name.
std::string colour_name(const std::string& text);

}  // namespace supple::viewer
