#include "supple/io/obj_sequence_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <memory>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/core/input_file.h"
#include "supple/io/obj_reader.h"
#include "supple/io/text_scanner.h"

namespace supple {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool separates(char c) { return c == '.' || c == '_' || c == '-'; }

// "walk.-0012" as "walk." and -12; nothing when there is no number at the end.
struct NumberedName {
  std::string prefix;
  int number = 0;
};

std::optional<NumberedName> numbered_name(const std::string& stem) {
  constexpr size_t most_digits = 9;
  size_t first = stem.size();
  while (first > 0 && is_digit(stem[first - 1])) --first;
  const size_t digits = stem.size() - first;
  if (digits == 0 || digits > most_digits) return std::nullopt;
  // A minus sign only where it does not join words ("walk-12").
  const bool negative =
      first > 0 && stem[first - 1] == '-' && (first == 1 || separates(stem[first - 2]));
  int number = 0;
  std::from_chars(stem.data() + first, stem.data() + stem.size(), number);
  return NumberedName{stem.substr(0, negative ? first - 1 : first), negative ? -number : number};
}

std::string without_separator(std::string prefix) {
  while (!prefix.empty() && separates(prefix.back())) prefix.pop_back();
  return prefix;
}

using NumberedFiles = std::vector<std::pair<int, fs::path>>;

// The numbered OBJ files of a folder by their name without the number.
std::map<std::string, NumberedFiles> numbered_files(const fs::path& folder) {
  std::map<std::string, NumberedFiles> result;
  std::error_code code;
  fs::directory_iterator entry(folder.empty() ? "." : folder, code);
  for (; !code && entry != fs::directory_iterator(); entry.increment(code)) {
    const fs::path& path = entry->path();
    if (lower_extension(path) != ".obj") continue;
    if (const auto name = numbered_name(path.stem().string()))
      result[name->prefix].emplace_back(name->number, folder / path.filename());
  }
  if (code) throw_input_error(folder.string(), "", "cannot read the folder: " + code.message());
  return result;
}

// The files of the one sequence `path` names, or none.
std::pair<std::string, NumberedFiles> chosen_files(const fs::path& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) {
    auto groups = numbered_files(path);
    if (groups.empty()) return {};
    if (groups.size() > 1) {
      const std::string a = without_separator(groups.begin()->first);
      const std::string b = without_separator(std::next(groups.begin())->first);
      throw_input_error(path.string(), "",
                        fmt::format("holds several sequences ('{}', '{}'): name one, such as {}",
                                    printable(a), printable(b), (path / (a + ".obj")).string()));
    }
    return {without_separator(groups.begin()->first), std::move(groups.begin()->second)};
  }
  const fs::path folder = path.parent_path();
  if (lower_extension(path) != ".obj" || fs::exists(path, code)) return {};
  if (!fs::is_directory(folder.empty() ? "." : folder, code)) return {};
  const std::string stem = path.stem().string();
  for (auto& [prefix, files] : numbered_files(folder))
    if (without_separator(prefix) == stem) return {stem, std::move(files)};
  return {};
}

void check_numbers(const std::string& place, const NumberedFiles& files) {
  for (size_t i = 1; i < files.size(); ++i) {
    const auto& [before, file_before] = files[i - 1];
    const auto& [number, file] = files[i];
    if (number == before)
      throw_input_error(place, fmt::format("frame {}", number),
                        fmt::format("is there twice: {} and {}", file_before.filename().string(),
                                    file.filename().string()));
    if (number != before + 1)
      throw_input_error(place, fmt::format("frame {}", before + 1),
                        fmt::format("is missing between {} and {}", file_before.filename().string(),
                                    file.filename().string()));
  }
}

Bytes file_content(const fs::path& path) {
  const InputFile file(path);
  return file.read(0, file.size());
}

}  // namespace

bool is_obj_sequence(const fs::path& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) return !chosen_files(path).second.empty();
  return !numbered_files(path).empty();
}

ObjSequence find_obj_sequence(const fs::path& path) {
  auto [name, files] = chosen_files(path);
  if (files.empty())
    throw_input_error(path.string(), "", "has no numbered OBJ files (such as walk.0001.obj)");
  std::sort(files.begin(), files.end());
  check_numbers(path.string(), files);
  ObjSequence sequence;
  sequence.name = name.empty() ? "skin" : clean_name(name);
  sequence.first_frame = files.front().first;
  for (auto& [number, file] : files) sequence.files.push_back(std::move(file));
  return sequence;
}

std::vector<Vec3f> parse_obj_positions(ByteView bytes, const std::string& file) {
  TextScanner scanner(bytes, file, {.comment = '#', .continuation = true});
  std::vector<Vec3f> positions;
  while (const auto keyword = scanner.try_token()) {
    if (*keyword == "v") {
      Vec3f position;
      for (int k = 0; k < 3; ++k)
        position[k] =
            scanner.to_float(scanner.token_on_line("a number of a vertex"), "a number of a vertex");
      positions.push_back(position);
    }
    scanner.skip_line();
  }
  return positions;
}

FileAnimation read_obj_sequence(const fs::path& path, double rate) {
  const auto sequence = std::make_shared<const ObjSequence>(find_obj_sequence(path));
  const fs::path& first = sequence->files.front();
  Character mesh = parse_obj(file_content(first), first.string());
  FileAnimation animation;
  AnimatedSkin& skin = animation.skin;
  skin.name = sequence->name;
  skin.first_frame = sequence->first_frame;
  skin.frame_count = static_cast<int>(sequence->files.size());
  skin.rate = rate;
  skin.rest = std::move(mesh.skin.positions);
  skin.triangles = std::move(mesh.skin.triangles);
  skin.parts = std::move(mesh.parts);
  skin.attributes = std::move(mesh.attributes);
  skin.frame = [sequence, vertices = skin.rest.size()](int index) {
    const fs::path& file = sequence->files[static_cast<size_t>(index)];
    SkinFrame frame{parse_obj_positions(file_content(file), file.string()), {}};
    if (frame.positions.size() != vertices)
      throw_input_error(file.string(), "vertices",
                        fmt::format("has {}, the first frame ({}) has {}", frame.positions.size(),
                                    sequence->files.front().filename().string(), vertices));
    return frame;
  };
  return animation;
}

}  // namespace supple
