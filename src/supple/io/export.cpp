#include "supple/io/export.h"

#include <algorithm>
#include <optional>

#include "supple/core/error.h"
#include "supple/core/file.h"
#include "supple/core/log.h"
#include "supple/io/gltf_writer.h"
#include "supple/io/mdd_writer.h"
#include "supple/io/obj_sequence_writer.h"
#include "supple/io/pc2_writer.h"
#include "supple/io/split_files.h"
#include "supple/io/staging_folder.h"
#include "supple/io/usda_writer.h"
#include "supple/io/vtu_writer.h"

namespace supple {
namespace {

namespace fs = std::filesystem;

std::string kind_of(const fs::path& path) {
  if (!path.has_filename()) return "folder";  // a trailing slash
  const std::string extension = lower_extension(path);
  return extension.empty() ? "folder" : extension;
}

void refuse_unknown(const std::string& file, const std::string& kind) {
  static const std::vector<std::string> known = {".supple", ".glb", ".pc2", ".mdd",  ".usda",
                                                 ".pvd",    ".vtu", ".obj", "folder"};
  if (std::find(known.begin(), known.end(), kind) != known.end()) return;
  std::string hint;
  if (kind == ".abc")
    hint = "Alembic is not available; .pc2 serves the same purpose in Blender and 3ds Max";
  if (kind == ".gltf") hint = "write .glb instead";
  if (kind == ".usd" || kind == ".usdc" || kind == ".usdz") hint = "write .usda instead";
  if (kind == ".fbx") hint = "FBX can only be read; write .glb instead";
  if (hint.empty())
    hint = "choose .supple, .glb, .pc2, .mdd, .usda, .pvd or a folder for OBJ files";
  throw Error(ErrorKind::usage, fmt::format("cannot write {}: {}", file, hint));
}

std::string size_text(const fs::path& path) {
  std::error_code code;
  const auto bytes = fs::file_size(path, code);
  if (code) return "";
  if (bytes < 1'000'000) return fmt::format(", {:.0f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format(", {:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// The character file as a glTF document, when it is one and has not changed since.
std::optional<GltfDocument> source_document(const CacheReader& cache) {
  const fs::path source = cache.source_path();
  const std::string kind = kind_of(source);
  if (kind != ".glb" && kind != ".gltf") return std::nullopt;
  std::error_code code;
  if (!fs::is_regular_file(source, code) ||
      checksum(read_file(source)) != cache.info().source_sum) {
    log_warning(
        "{} is gone or has changed: the .glb gets the bare meshes, without materials and hierarchy",
        source.string());
    return std::nullopt;
  }
  return read_gltf_document(source);
}

// True when an OBJ sequence would be written among the files of the one that is read.
bool is_inside_sequence(const fs::path& output, const fs::path& input) {
  std::error_code code;
  if (lower_extension(output) != ".obj" || !fs::is_directory(input, code)) return false;
  const fs::path folder = output.parent_path();
  return fs::equivalent(folder.empty() ? "." : folder, input, code);
}

}  // namespace

fs::path cache_beside(fs::path output, const std::string& name) {
  const bool folder = kind_of(output) == "folder";
  if (!output.has_filename()) output = output.parent_path();
  if (output.filename().empty() || output.filename() == "." || output.filename() == "..")
    return output / (name + ".supple");
  if (folder) return output += ".supple";
  return output.replace_extension(".supple");
}

OutputPlan plan_outputs(const std::vector<std::string>& files, const std::string& name) {
  OutputPlan plan;
  for (const std::string& file : files) {
    const std::string kind = kind_of(file);
    refuse_unknown(file, kind);
    if (kind != ".supple") {
      plan.exports.emplace_back(file);
      continue;
    }
    if (!plan.cache.empty())
      throw Error(ErrorKind::usage,
                  fmt::format("two caches named: {} and {}", plan.cache.string(), file));
    plan.cache = file;
  }
  if (plan.cache.empty() && !plan.exports.empty()) {
    plan.cache = cache_beside(plan.exports.front(), name);
  }
  if (plan.cache.empty()) plan.cache = name + ".supple";
  return plan;
}

void check_export(const fs::path& path, const std::vector<std::string>& inputs) {
  const std::string kind = kind_of(path);
  refuse_unknown(path.string(), kind);
  std::error_code code;
  const fs::path written = kind == ".vtu" ? fs::path(path).replace_extension(".pvd") : path;
  for (const std::string& input : inputs)
    if (fs::equivalent(written, input, code) || is_inside_sequence(written, input))
      throw Error(
          ErrorKind::usage,
          fmt::format("cannot write {}: it is the input; choose another name", path.string()));
  if (!needs_triangles(path))
    for (const std::string& input : inputs)
      if (fs::equivalent(split_mesh_beside(path), input, code))
        throw Error(ErrorKind::usage,
                    fmt::format("cannot write {}: its mesh would replace the input {}; choose "
                                "another name",
                                path.string(), input));
  const bool folder = kind == "folder";
  if (!folder && fs::is_directory(path, code))
    throw_output_error(path.string(), "a folder has that name");
  if (folder && fs::exists(path, code) && !fs::is_directory(path, code))
    throw_output_error(path.string(), "a file has that name; OBJ files need a folder");
  const StagingFolder probe(folder ? path : path.parent_path());
}

std::string export_cache(const CacheReader& cache, const fs::path& path,
                         const ExportOptions& options) {
  const std::string kind = kind_of(path);
  if (kind == ".supple")
    throw Error(ErrorKind::usage, fmt::format("{} is a cache already: copy the folder instead",
                                              cache.folder().string()));
  refuse_unknown(path.string(), kind);
  const AnimatedSkin skin = cache.animated_skin();
  if (skin.frame_count == 0)
    throw_input_error(cache.folder().string(), "frames", "the cache has no frames yet");
  if (kind != ".glb") return export_skin(skin, path, options);
  const std::optional<GltfDocument> source = source_document(cache);
  return export_skin(skin, path, options, source ? &*source : nullptr);
}

bool needs_triangles(const fs::path& path) {
  const std::string kind = kind_of(path);
  return kind != ".pc2" && kind != ".mdd";
}

std::string export_skin(const AnimatedSkin& skin, const fs::path& path,
                        const ExportOptions& options, const GltfDocument* source) {
  const std::string kind = kind_of(path);
  refuse_unknown(path.string(), kind);
  if (kind == ".supple")
    throw Error(
        ErrorKind::usage,
        fmt::format("cannot write {}: caches are made by 'supple simulate' only", path.string()));
  if (kind != "folder" && path.has_parent_path()) make_folder(path.parent_path());
  std::string detail;
  if (kind == ".glb") {
    const BakeReport report = write_glb(path, skin, options, source);
    detail = report.compressed
                 ? fmt::format(", {} morph targets by principal components, largest error {:.2g} m",
                               report.targets, report.largest_error)
                 : fmt::format(", {} morph targets, exact", report.targets);
  } else if (kind == ".pc2" || kind == ".mdd") {
    if (kind == ".pc2")
      write_pc2(path, skin, options);
    else
      write_mdd(path, skin, options);
    if (!skin.split_map.empty()) detail = write_split_files(path, skin, options);
  } else if (kind == ".usda") {
    write_usda(path, skin, options);
  } else if (kind == ".pvd" || kind == ".vtu") {
    write_vtu(path, skin, options);
  } else {
    write_obj_sequence(path, skin, options);
  }
  return fmt::format("{}: {} frames, {} vertices{}{}", path.string(), skin.frame_count,
                     skin.rest.size(), size_text(path), detail);
}

}  // namespace supple
