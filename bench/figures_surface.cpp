// Draws the figures of docs/surface.md: paths over surfaces, a scrambled body on its way back, and
// a twirled bar with and without its volume.
//
//   figures_surface FOLDER
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "surface/meshes.h"

namespace supple {
namespace {

const char* const colours[] = {"#c8553d", "#2a6f97", "#588157", "#8e6bbf", "#b08900",
                               "#3a86a8", "#a44a3f", "#6a994e", "#bc6c25", "#5e548e"};

// A mesh to draw: where it is, and a colour per triangle.
struct Panel {
  std::string title;
  std::vector<Vec3f> positions;
  std::vector<Vec3i> triangles;
  std::vector<int> colour;
};

// Triangles from behind to the front, lit from the upper left.
void draw(const Panel& panel, double left, double size, const Box3f& box, std::ofstream& out) {
  Eigen::Matrix3f view;
  view = Eigen::AngleAxisf(0.45f, Vec3f::UnitX()) * Eigen::AngleAxisf(-0.6f, Vec3f::UnitY());
  const float scale = static_cast<float>(0.8 * size) / box.diagonal().norm();
  const auto at = [&](int32_t v) -> Vec3f {
    return scale * (view * (panel.positions[static_cast<size_t>(v)] - box.center()));
  };
  std::vector<std::pair<float, size_t>> order;
  for (size_t t = 0; t < panel.triangles.size(); ++t) {
    const Vec3i& c = panel.triangles[t];
    order.emplace_back(at(c[0])[2] + at(c[1])[2] + at(c[2])[2], t);
  }
  std::sort(order.begin(), order.end());
  const double x0 = left + size / 2, y0 = 26 + size / 2;
  for (const auto& [depth, t] : order) {
    const Vec3i& c = panel.triangles[t];
    const Vec3f a = at(c[0]), b = at(c[1]), d = at(c[2]);
    const Vec3f normal = (b - a).cross(d - a).stableNormalized();
    if (normal[2] < 0) continue;
    const float light = 0.45f + 0.55f * std::max(0.0f, normal.dot(Vec3f(-0.4f, 0.6f, 0.7f)));
    unsigned rgb = 0;
    std::sscanf(colours[static_cast<size_t>(panel.colour[t]) % 10] + 1, "%x", &rgb);
    const auto part = [&](int shift) {
      const float raw = static_cast<float>((rgb >> shift) & 255u);
      return std::min(255, static_cast<int>(raw * light + 40 * light));
    };
    char line[200];
    std::snprintf(
        line, sizeof line, "<path d='M%.1f %.1fL%.1f %.1fL%.1f %.1fZ' fill='#%02x%02x%02x'/>\n",
        x0 + static_cast<double>(a[0]), y0 - static_cast<double>(a[1]),
        x0 + static_cast<double>(b[0]), y0 - static_cast<double>(b[1]),
        x0 + static_cast<double>(d[0]), y0 - static_cast<double>(d[1]), part(16), part(8), part(0));
    out << line;
  }
  out << "<text x='" << x0 << "' y='18' text-anchor='middle'>" << panel.title << "</text>\n";
}

void write_panels(const std::filesystem::path& file, const std::vector<Panel>& panels,
                  bool common_box) {
  constexpr double size = 240;
  Box3f all;
  for (const Panel& panel : panels) all.extend(bounding_box(panel.positions));
  std::ofstream out(file);
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 "
      << size * static_cast<double>(panels.size()) << " " << size + 30
      << "' font-family='sans-serif' font-size='13'><rect width='100%' height='100%' "
         "fill='white'/>\n<g stroke='#ffffff' stroke-opacity='0.25' stroke-width='0.3'>\n";
  for (size_t p = 0; p < panels.size(); ++p)
    draw(panels[p], size * static_cast<double>(p), size,
         common_box ? all : bounding_box(panels[p].positions), out);
  out << "</g></svg>\n";
  std::printf("%s\n", file.c_str());
}

// Every triangle in the colour of the path of its first corner.
Panel paths_panel(const std::string& title, const TriangleMesh& mesh) {
  const SurfaceModel model = test::model_of(mesh);
  Panel panel{title, model.rest, model.triangles, {}};
  for (const Vec3i& t : model.triangles)
    panel.colour.push_back(
        static_cast<int>(std::upper_bound(model.path_starts.begin(), model.path_starts.end(),
                                          static_cast<uint32_t>(t[0])) -
                         model.path_starts.begin()));
  return panel;
}

Panel state_panel(const std::string& title, const SurfaceModel& model, const SurfaceState& state,
                  int colour) {
  return {title,
          {state.positions.begin(), state.positions.end() - 1},
          model.triangles,
          std::vector<int>(model.triangles.size(), colour)};
}

void draw_paths(const std::filesystem::path& folder) {
  write_panels(folder / "surface_paths.svg",
               {paths_panel("cube", test::cube(1500)), paths_panel("ball", test::ball(1500)),
                paths_panel("bent rod", test::rod(0.1))},
               false);
}

void draw_recovery(const std::filesystem::path& folder) {
  const SurfaceModel model = test::model_of(test::rod(0.12), {.region_width = 3});
  SurfaceState state(model);
  std::mt19937 random(3);
  std::uniform_real_distribution<float> any(-1, 1);
  for (size_t i = 0; i < model.size(); ++i)
    state.positions[i] = Vec3f(any(random), any(random), 0.3f * any(random));
  SurfaceSolver solver(model);
  std::vector<Panel> panels{state_panel("scrambled", model, state, 1)};
  for (int step = 1; step <= 200; ++step) {
    solver.step(state, 0.005, Vec3d::Zero());
    if (step == 10 || step == 30 || step == 200) {
      char title[32];
      std::snprintf(title, sizeof title, "after %.2f s", 0.005 * step);
      panels.push_back(state_panel(title, model, state, 1));
    }
  }
  write_panels(folder / "surface_recovery.svg", panels, true);
}

// Both ends are held, one of them turns.
SurfaceState twirl(const SurfaceModel& model, double turns) {
  SurfaceState state(model);
  std::vector<Vec3f> targets(model.rest);
  std::vector<float> held;
  for (const Vec3f& p : model.rest) held.push_back(std::abs(p[1]) > 1.7f ? 1.0f : 0.0f);
  SurfaceSolver solver(model);
  constexpr int steps = 600;
  for (int step = 0; step < steps; ++step) {
    const double angle = turns * 6.2832 * std::min(1.0, 1.2 * step / steps);
    const Eigen::Matrix3f turn =
        Eigen::AngleAxisf(static_cast<float>(angle), Vec3f::UnitY()).toRotationMatrix();
    for (size_t i = 0; i < model.size(); ++i)
      if (model.rest[i][1] > 1.7f) targets[i] = turn * model.rest[i];
    solver.set_pulls({targets, held});
    solver.step(state, 0.005, Vec3d::Zero());
  }
  return state;
}

void draw_twirl(const std::filesystem::path& folder) {
  const TriangleMesh bar = test::welded(box_surface({1, 4, 1}, 0.125));
  std::vector<Panel> panels;
  for (const bool keep : {true, false}) {
    SurfaceParameters parameters{.region_width = 2, .damping = 0.3, .keep_volume = keep};
    const SurfaceModel model = test::model_of(bar, parameters);
    const SurfaceState state = twirl(model, 0.5);
    char title[64];
    std::snprintf(title, sizeof title, "%s: %.1f %% of its volume", keep ? "kept" : "without",
                  100 * signed_volume(state.positions, model.triangles) /
                      signed_volume(model.rest, model.triangles));
    panels.push_back(state_panel(title, model, state, keep ? 1 : 0));
  }
  write_panels(folder / "surface_twirl.svg", panels, true);
}

}  // namespace
}  // namespace supple

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : ".";
  supple::draw_paths(folder);
  supple::draw_recovery(folder);
  supple::draw_twirl(folder);
  return 0;
}
