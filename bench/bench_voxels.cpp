// Voxel bodies: a step with its skin at the sizes of [Nesme 2006, table 1], skins alone beside a
// copy of as many bytes, preprocessing, and iterations and tips of cells that know where their
// matter is beside those of evenly filled ones.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <map>

#include "supple/io/load.h"
#include "supple/mesh/cell_skin.h"
#include "supple/mesh/primitives.h"
#include "supple/voxels/voxel_system.h"
#include "voxel_tips.h"

namespace supple {
namespace {

namespace fs = std::filesystem;

// A block of cells, all full, and points on and in it.
struct Block {
  Block(const Vec3i& size, size_t points) {
    std::vector<Vec3i> cells;
    for (int z = 0; z < size[2]; ++z)
      for (int y = 0; y < size[1]; ++y)
        for (int x = 0; x < size[0]; ++x) cells.emplace_back(x, y, z);
    solid.lattice = SparseLattice(cells);
    solid.spacing = 0.1;
    mesh = LatticeMesh(solid.lattice);
    const CellMatrices full{cell_stiffness(lame_moduli(2e4, 0.4), solid.spacing),
                            Vector8::Constant(1.0 / 8), EdgeWeights::Constant(0.25)};
    matrices.assign(mesh.cells.size(), full);
    for (const LatticePlace& node : mesh.nodes)
      rest.push_back(solid.position(solid.lattice.coordinates(node.block, node.local)));
    // The skin of a ball in them, in the order its mesh has; of small ones as many points as asked.
    const Vec3d far = solid.spacing * size.cast<double>();
    const double radius = far.minCoeff() / 2;
    const double edge =
        radius * std::sqrt(4 * 3.1416 / (0.866 * 1.05 * static_cast<double>(points)));
    this->points = sphere_surface(radius, edge).positions;
    for (Vec3f& p : this->points)
      p = (p.cast<double>().cwiseProduct(far / (2 * radius)) + far / 2).cast<float>();
    while (this->points.size() < points)
      this->points.push_back(this->points[this->points.size() / 2]);
    this->points.resize(points);
    skin = CellSkin(solid, mesh, this->points);
    moved.resize(points);
  }

  SolidLattice solid;
  LatticeMesh mesh;
  std::vector<CellMatrices> matrices;
  std::vector<Vec3d> rest;
  std::vector<Vec3f> points, moved;
  CellSkin skin;
};

// One step of ten iterations, and the skin.
void step(benchmark::State& state, const Vec3i& size, size_t points) {
  Block block(size, points);
  VoxelSystem system(block.mesh, block.solid.spacing, block.matrices);
  const double dt = 1.0 / 60;
  std::vector<double> pulls;
  std::vector<Vec3d> forces;
  for (const double m : system.masses()) {
    pulls.push_back(m / (dt * dt));
    forces.emplace_back(0, -9.81 * m, 0);
  }
  system.set_pulls(pulls);
  std::vector<Vec3d> x = block.rest, before = x, v(x.size()), goals(x.size());
  for (size_t n = 0; n < x.size(); ++n) v[n] = Vec3d(0, std::sin(9 * x[n][0]), 0);
  int iterations = 0;
  for (auto _ : state) {
    before = x;
    for (size_t n = 0; n < x.size(); ++n) x[n] = goals[n] = before[n] + dt * v[n];
    iterations += system.solve({before, goals, forces}, {0, 10}, x).iterations;
    for (size_t n = 0; n < x.size(); ++n) v[n] = (x[n] - before[n]) / dt;
    block.skin.interpolate(x, block.moved);
    benchmark::DoNotOptimize(block.moved.data());
  }
  state.counters["cells"] = static_cast<double>(block.mesh.cells.size());
  state.counters["nodes"] = static_cast<double>(block.mesh.nodes.size());
  state.counters["points"] = static_cast<double>(points);
  state.counters["iterations"] = benchmark::Counter(iterations, benchmark::Counter::kAvgIterations);
}

// Reads three numbers and a place per point, writes three numbers.
constexpr size_t bytes_per_point = 28;

void skin(benchmark::State& state, size_t points) {
  Block block({5, 5, 5}, points);
  for (auto _ : state) {
    block.skin.interpolate(block.rest, block.moved);
    benchmark::DoNotOptimize(block.moved.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * points * bytes_per_point));
}

// A copy of as many bytes, on as many threads.
void copy(benchmark::State& state, size_t points) {
  const size_t bytes = points * bytes_per_point / 2;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  for (auto _ : state) {
    parallel_for(bytes, 1 << 18, [&](size_t begin, size_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, end - begin);
    });
    benchmark::DoNotOptimize(to.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * 2 * bytes));
}

// A mesh of ../shared/assets, or one of our own where there is none, one metre long.
const TriangleMesh& mesh_named(const std::string& name) {
  static std::map<std::string, TriangleMesh> meshes;
  TriangleMesh& mesh = meshes[name];
  if (!mesh.positions.empty()) return mesh;
  if (name == "tube") {
    mesh = tube_surface({.ring = 0.47, .radius = 0.11, .angle = 5}, 0.02);
    return mesh;
  }
  const Character character = read_character(fs::path("../shared/assets/mesh") / (name + ".obj"));
  mesh = {character.skin.positions, character.skin.triangles};
  const float scale = 1 / bounding_box(mesh.positions).sizes().maxCoeff();
  for (Vec3f& p : mesh.positions) p *= scale;
  return mesh;
}

// A step of a body at rest that is thrown about, to a residual of 1e-3; and the equilibrium of one
// that stands under its weight.
void solve(benchmark::State& state, const std::string& name, int cells, int levels,
           StiffnessLaw law) {
  const TriangleMesh& mesh = mesh_named(name);
  const VoxelSolid voxels =
      voxelise_solid(mesh.positions, mesh.triangles, {.cells = cells, .levels = levels});
  const std::vector<VoxelMaterial> material{{lame_moduli(2e4, 0.4), 1000}};
  std::vector<CellMatrices> matrices(voxels.mesh.cells.size());
  parallel_for(matrices.size(), 4, [&](size_t begin, size_t end) {
    for (size_t c = begin; c < end; ++c) matrices[c] = gather_cell(voxels, c, law, material);
  });
  std::vector<Vec3d> rest;
  for (const LatticePlace& node : voxels.mesh.nodes)
    rest.push_back(voxels.solid.position(voxels.solid.lattice.coordinates(node.block, node.local)));
  VoxelSystem system(voxels.mesh, voxels.solid.spacing, matrices);
  const auto iterations = [&](bool standing) {
    constexpr double dt = 1.0 / 24;
    double low = rest[0][1];
    for (const Vec3d& p : rest) low = std::min(low, p[1]);
    std::vector<uint8_t> held;
    std::vector<double> pulls;
    std::vector<Vec3d> forces;
    for (size_t n = 0; n < rest.size(); ++n) {
      const double m = system.masses()[n];
      const Vec3d& p = rest[n];
      held.push_back(standing && p[1] < low + voxels.solid.spacing / 2 ? 1 : 0);
      pulls.push_back(standing ? 0 : m / (dt * dt));
      forces.emplace_back(
          standing ? Vec3d(0, -9.81 * m, 0)
                   : 10 * m * Vec3d(std::sin(9 * p[1]), std::cos(7 * p[0] + 2 * p[2]), 0));
    }
    system.hold(standing ? held : std::vector<uint8_t>(), {});
    system.set_pulls(pulls);
    std::vector<Vec3d> x = rest;
    const LinearReport report = system.solve({rest, rest, forces}, {1e-3, 3000}, x);
    return report.residual <= 1e-3 ? report.iterations : 3000;
  };
  int moving = 0;
  for (auto _ : state) moving = iterations(false);
  state.counters["iterations_1e3"] = moving;
  state.counters["iterations_1e3_standing"] = iterations(true);
  state.counters["cells"] = static_cast<double>(voxels.mesh.cells.size());
}

// Errors of matter that is spread evenly, that moves trilinearly, and that bends, to the finest
// lattice and to what finer and finer ones tend to.
void tip(benchmark::State& state, const std::string& name, int cells, int levels, size_t axis) {
  const TipCase& is = tip_case(name);
  const TipReference& reference = tip_reference(name);
  static std::map<std::tuple<std::string, int, StiffnessLaw>, TipMotions> found;
  const auto motion = [&](StiffnessLaw law) {
    const auto [at, first] = found.try_emplace({name, cells, law});
    if (first) at->second = tips_of_cells(is, cells, levels, law);
    return at->second[axis];
  };
  Vec3d even = Vec3d::Zero(), trilinear = even, bending = even;
  for (auto _ : state) {
    even = motion(StiffnessLaw::uniform);
    trilinear = motion(StiffnessLaw::nonuniform);
    bending = motion(StiffnessLaw::bending);
  }
  const Vec3d &fine = reference.fine[axis], limit = reference.limit(axis);
  state.counters["even"] = even.norm();
  state.counters["trilinear"] = trilinear.norm();
  state.counters["bending"] = bending.norm();
  state.counters["coarse"] = reference.coarse[axis].norm();
  state.counters["middle"] = reference.middle[axis].norm();
  state.counters["fine"] = fine.norm();
  state.counters["limit"] = limit.norm();
  state.counters["ratio_trilinear"] = (even - fine).norm() / (trilinear - fine).norm();
  state.counters["ratio"] = (even - fine).norm() / (bending - fine).norm();
  state.counters["ratio_to_limit"] = (even - limit).norm() / (bending - limit).norm();
}

// From a mesh to the matrices of its cells.
void preprocess(benchmark::State& state, const std::string& name, int cells, int levels,
                StiffnessLaw law) {
  const TriangleMesh& mesh = mesh_named(name);
  const std::vector<VoxelMaterial> material{{lame_moduli(2e4, 0.4), 1000}};
  size_t count = 0;
  for (auto _ : state) {
    const VoxelSolid voxels =
        voxelise_solid(mesh.positions, mesh.triangles, {.cells = cells, .levels = levels});
    count = voxels.mesh.cells.size();
    std::vector<CellMatrices> matrices(count);
    parallel_for(count, 4, [&](size_t begin, size_t end) {
      for (size_t c = begin; c < end; ++c) matrices[c] = gather_cell(voxels, c, law, material);
    });
    benchmark::DoNotOptimize(CellSkin(voxels.solid, voxels.mesh, mesh.positions).size());
  }
  state.counters["cells"] = static_cast<double>(count);
  state.counters["points"] = static_cast<double>(mesh.positions.size());
}

constexpr std::array<std::pair<StiffnessLaw, const char*>, 3> laws = {
    {{StiffnessLaw::bending, "bending"},
     {StiffnessLaw::nonuniform, "nonuniform"},
     {StiffnessLaw::uniform, "uniform"}}};

void add_all() {
  const auto us = benchmark::kMicrosecond;
  const auto sized = [&](const char* name, const Vec3i& size, size_t points) {
    benchmark::RegisterBenchmark(name, step, size, points)->Unit(us)->UseRealTime();
  };
  sized("step/8", {2, 2, 2}, 453);
  sized("step/33", {11, 3, 1}, 2151);
  sized("step/30", {5, 3, 2}, 8564);
  sized("step/125", {5, 5, 5}, 21507);
  sized("step/1000", {10, 10, 10}, 100000);
  sized("step/8000", {20, 20, 20}, 1000000);
  for (const size_t points : {453, 2151, 8564, 21507, 100000, 1000000, 4000000}) {
    const std::string number = std::to_string(points);
    benchmark::RegisterBenchmark(("skin/" + number).c_str(), skin, points)->Unit(us)->UseRealTime();
    benchmark::RegisterBenchmark(("copy/" + number).c_str(), copy, points)->Unit(us)->UseRealTime();
  }
  for (const auto& [name, cells, levels] : {std::tuple{"letter", 1, 5},
                                            {"letter", 4, 5},
                                            {"letter", 8, 4},
                                            {"rabbit", 6, 5},
                                            {"rabbit", 10, 3},
                                            {"rabbit", 12, 3}})
    for (size_t axis = 0; axis < 3; ++axis)
      benchmark::RegisterBenchmark(fmt::format("tip/{}/{}/{}", name, cells, "xyz"[axis]).c_str(),
                                   tip, std::string(name), cells, levels, axis)
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
  std::vector<std::string> names{"tube"};
  for (const char* name : {"armadillo", "bunny", "spot"})
    if (fs::exists(fs::path("../shared/assets/mesh") / (std::string(name) + ".obj")))
      names.emplace_back(name);
  const auto ms = benchmark::kMillisecond;
  for (const std::string& name : names) {
    for (const auto& [law, word] : laws)
      for (const int depth : {5, 6})
        benchmark::RegisterBenchmark(
            fmt::format("preprocess/{}/{}/depth{}", word, name, depth).c_str(), preprocess, name,
            1 << (depth - 3), 3, law)
            ->Unit(ms)
            ->UseRealTime();
    for (const int cells : {5, 10, 20})
      for (int levels = 1; levels <= 4; ++levels)
        for (const auto& [law, word] : laws)
          benchmark::RegisterBenchmark(
              fmt::format("solve/{}/{}/{}/{}", word, name, cells, levels).c_str(), solve, name,
              cells, levels, law)
              ->Unit(us)
              ->UseRealTime();
  }
}

const bool added = (add_all(), true);

}  // namespace
}  // namespace supple
