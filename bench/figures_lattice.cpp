// Draws the plots of docs/lattice.md: how good inexact linearisations are, when the backward Euler
// matrix turns indefinite, how residuals fall, and what one-point quadrature does to a patch.
//
//   figures_lattice FOLDER
#include <Eigen/Eigenvalues>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "lattice/lattice_cases.h"
#include "supple/solve/newton.h"

namespace supple {
namespace {

using testing::LatticeCase;
using testing::make_case;

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

const char* const colours[] = {"#c8553d", "#2a6f97", "#588157", "#8e6bbf", "#b08900"};

// A line plot as SVG; a logarithmic y axis where `log`.
void write_plot(const std::filesystem::path& file, const std::string& title,
                const std::string& x_name, const std::string& y_name, bool log,
                const std::vector<Series>& all) {
  double x0 = 1e300, x1 = -1e300, y0 = 1e300, y1 = -1e300;
  const auto height = [&](double y) { return log ? std::log10(std::max(y, 1e-300)) : y; };
  for (const Series& s : all)
    for (const auto& [x, y] : s.points) {
      x0 = std::min(x0, x);
      x1 = std::max(x1, x);
      y0 = std::min(y0, height(y));
      y1 = std::max(y1, height(y));
    }
  if (log) y0 = std::floor(y0), y1 = std::ceil(y1);
  const double w = 560, h = 300, left = 64, top = 34;
  const auto px = [&](double x) { return left + (x - x0) / (x1 - x0) * w; };
  const auto py = [&](double y) { return top + h - (height(y) - y0) / (y1 - y0) * h; };
  std::ofstream out(file);
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 780 390' font-family='sans-serif' "
         "font-size='12'><rect width='780' height='390' fill='white'/>\n";
  out << "<text x='" << left << "' y='20' font-size='14'>" << title << "</text>\n";
  for (int i = 0; i <= 5; ++i) {
    const double x = x0 + (x1 - x0) * i / 5;
    const double v = log ? y0 + std::round((y1 - y0) * i / 5) : y0 + (y1 - y0) * i / 5;
    const double y = top + h - (v - y0) / (y1 - y0) * h;
    char label[32];
    std::snprintf(label, sizeof label, log ? "1e%g" : "%.3g", v);
    out << "<line x1='" << left << "' x2='" << left + w << "' y1='" << y << "' y2='" << y
        << "' stroke='#ddd'/><text x='" << left - 6 << "' y='" << y + 4 << "' text-anchor='end'>"
        << label << "</text>\n";
    std::snprintf(label, sizeof label, "%.3g", x);
    out << "<text x='" << px(x) << "' y='" << top + h + 18 << "' text-anchor='middle'>" << label
        << "</text>\n";
  }
  out << "<text x='" << left + w / 2 << "' y='" << top + h + 40 << "' text-anchor='middle'>"
      << x_name << "</text><text x='14' y='" << top + h / 2 << "' transform='rotate(-90 14 "
      << top + h / 2 << ")' text-anchor='middle'>" << y_name << "</text>\n";
  for (size_t s = 0; s < all.size(); ++s) {
    out << "<polyline fill='none' stroke-width='2' stroke='" << colours[s % 5] << "' points='";
    for (const auto& [x, y] : all[s].points) out << px(x) << ',' << py(y) << ' ';
    out << "'/><line x1='" << left + w + 14 << "' x2='" << left + w + 34 << "' y1='"
        << top + 16 + 20 * static_cast<double>(s) << "' y2='"
        << top + 16 + 20 * static_cast<double>(s) << "' stroke-width='2' stroke='" << colours[s % 5]
        << "'/><text x='" << left + w + 40 << "' y='" << top + 20 + 20 * static_cast<double>(s)
        << "'>" << all[s].name << "</text>\n";
  }
  out << "</svg>\n";
}

// A box of cells of side h with the nodes at both ends in x held.
LatticeSystem make_bar(const Vec3i& size, double h, double poisson, double young = 1) {
  std::vector<Vec3i> cells;
  for (int z = 0; z < size[2]; ++z)
    for (int y = 0; y < size[1]; ++y)
      for (int x = 0; x < size[0]; ++x) cells.emplace_back(x, y, z);
  const CellMaterial material = lame_moduli(young, poisson);
  return LatticeSystem(
      SparseLattice(cells), h, [&](const Vec3i&) { return material; },
      [&](const Vec3i& n) { return n[0] == 0 || n[0] == size[0]; });
}

template <class Visit>
void for_nodes(const SparseLattice& l, const Visit& visit) {
  for (size_t b = 0; b < l.block_count(); ++b)
    for (int32_t i = 0; i < 64; ++i)
      if (l.nodes[b] >> i & 1) visit(LatticePlace{static_cast<int32_t>(b), i});
}

// The free part of a linearised operator as a dense matrix.
Eigen::MatrixXd dense_matrix(LatticeSystem& system) {
  const SparseLattice& l = system.lattice();
  const Level& level = system.hierarchy().finest();
  std::vector<size_t> dofs;
  for_nodes(l, [&](LatticePlace at) {
    if (level.free[static_cast<size_t>(at.block)] >> at.local & 1)
      for (size_t c = 0; c < 3; ++c)
        dofs.push_back(BlockVector<double>::index(at) + c * block_cells);
  });
  const auto n = static_cast<Eigen::Index>(dofs.size());
  Eigen::MatrixXd k(n, n);
  BlockVector<double> unit = system.zero(), column = system.zero();
  for (Eigen::Index j = 0; j < n; ++j) {
    unit[dofs[static_cast<size_t>(j)]] = 1;
    system.apply(unit, column);
    unit[dofs[static_cast<size_t>(j)]] = 0;
    for (Eigen::Index i = 0; i < n; ++i) k(i, j) = column[dofs[static_cast<size_t>(i)]];
  }
  return (k + k.transpose()) / 2;
}

NewtonReport solve(LatticeSystem& system, BlockVector<double>& x, double tolerance) {
  NewtonWork<LatticeSystem> work(system);
  NewtonOptions<LinearOptions> options;
  options.tolerance = tolerance;
  options.iterations = 100;
  options.linear.limits.tolerance = 1e-3;
  return solve_newton(system, x, work, options);
}

// Spectral radius of I - J'^-1 J for inexact J' at the equilibrium of a stretched bar [McAdams
// 2011, fig. 2 and §5].
void draw_radii(const std::filesystem::path& folder) {
  const Vec3i size(12, 4, 4);
  LatticeSystem bar = make_bar(size, 0.25, 0.3);
  BlockVector<double> x = bar.rest();
  const BlockVector<double> rest = x;
  const std::pair<const char*, Differential> kinds[] = {{"warped stiffness", Differential::warped},
                                                        {"Zhu 2010", Differential::zhu},
                                                        {"ours", Differential::projected}};
  std::vector<Series> all(3);
  double before = 1;
  for (double stretch = 1.1; stretch < 3.05; stretch += 0.1) {
    for_nodes(bar.lattice(), [&](LatticePlace at) {
      Vec3d p = x.at(at);
      p[0] *= stretch / before;
      x.set(at, p);
    });
    before = stretch;
    solve(bar, x, 1e-8);
    bar.linearise(x, Differential::exact);
    const Eigen::MatrixXd exact = dense_matrix(bar);
    for (size_t k = 0; k < 3; ++k) {
      bar.linearise(x, kinds[k].second);
      const Eigen::MatrixXd change = dense_matrix(bar).ldlt().solve(exact);
      const Eigen::VectorXcd values = change.eigenvalues();
      double radius = 0;
      for (const auto& v : values) radius = std::max(radius, std::abs(1.0 - v));
      all[k].name = kinds[k].first;
      all[k].points.emplace_back(stretch, std::max(radius, 1e-4));
      std::printf("radius at %.1fx, %s: %.4f\n", stretch, kinds[k].first, radius);
    }
  }
  write_plot(folder / "lattice_radii.svg",
             "Spectral radius Q of inexact linearisations (below 1e-4 drawn as 1e-4)",
             "stretch of the bar", "Q", true, all);
}

// Extreme eigenvalues of a symmetric operator by Lanczos with full reorthogonalisation.
std::pair<double, double> extreme_eigenvalues(const LatticeSystem& system, int steps) {
  std::vector<BlockVector<double>> basis;
  BlockVector<double> v = system.zero(), w = system.zero();
  const Level& level = const_cast<LatticeSystem&>(system).hierarchy().finest();
  std::mt19937 random(7);
  std::normal_distribution<double> part;
  for_nodes(system.lattice(), [&](LatticePlace at) {
    if (level.free[static_cast<size_t>(at.block)] >> at.local & 1)
      v.set(at, {part(random), part(random), part(random)});
  });
  const auto scale = [](BlockVector<double>& a, double f) {
    for (size_t i = 0; i < a.size(); ++i) a[i] *= f;
  };
  scale(v, 1 / std::sqrt(dot(v, v)));
  Eigen::MatrixXd t = Eigen::MatrixXd::Zero(steps, steps);
  int n = 0;
  for (; n < steps; ++n) {
    basis.push_back(v);
    system.apply(v, w);
    for (int twice = 0; twice < 2; ++twice)
      for (size_t i = 0; i < basis.size(); ++i) {
        const double along = dot(basis[i], w);
        if (twice == 0 && (static_cast<int>(i) == n)) t(n, n) = along;
        add_scaled(-along, basis[i], w);
      }
    const double length = std::sqrt(dot(w, w));
    if (n + 1 == steps || length < 1e-12) {
      ++n;
      break;
    }
    t(n, n + 1) = t(n + 1, n) = length;
    v = w;
    scale(v, 1 / length);
  }
  const Eigen::VectorXd values =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(t.topLeftCorner(n, n)).eigenvalues();
  return {values.minCoeff(), values.maxCoeff()};
}

// Smallest over largest eigenvalue of the backward Euler matrix while a bar of flesh (2 x 3 x 10.5,
// 10 cm wide) is squeezed between its ends in 12 steps of 1/30 s [McAdams 2011, fig. 4].
void draw_eigenvalues(const std::filesystem::path& folder) {
  std::vector<Series> all;
  constexpr double dt = 1.0 / 30, young = 2e4, density = 1000;
  for (const int fine : {1, 2, 4}) {
    const Vec3i size(21 * fine, 6 * fine, 4 * fine);
    const double h = 0.1 / size[2];
    LatticeSystem bar = make_bar(size, h, 0.4, young);
    const SparseLattice& l = bar.lattice();
    std::vector<float> masses(l.block_count() * block_cells, 0);
    for (size_t b = 0; b < l.block_count(); ++b)
      for (int32_t i = 0; i < 64; ++i)
        if (l.cells[b] >> i & 1)
          for (const LatticePlace& c : l.corners(static_cast<int32_t>(b), i))
            masses[static_cast<size_t>(c.block) * block_cells + static_cast<size_t>(c.local)] +=
                static_cast<float>(density * h * h * h / 8);
    BlockVector<double> x = bar.rest(), velocity = bar.zero();
    const BlockVector<double> rest = x;
    const std::string name =
        std::to_string(size[2]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[0]);
    Series exact{name, {}}, projected{name + ", projected", {}};
    for (int step = 1; step <= 12; ++step) {
      const double squeeze = 1 - 0.045 * step;
      BlockVector<double> predicted = x;
      add_scaled(dt, velocity, predicted);
      BlockVector<double> next = predicted;
      for_nodes(l, [&](LatticePlace at) {
        if (bar.hierarchy().finest().free[static_cast<size_t>(at.block)] >> at.local & 1) return;
        Vec3d p = rest.at(at);
        p[0] *= squeeze;
        next.set(at, p);
      });
      bar.set_inertia(masses, dt, predicted);
      solve(bar, next, 1e-4);
      for (size_t i = 0; i < x.size(); ++i) velocity[i] = (next[i] - x[i]) / dt;
      x = next;
      const int lanczos = 160;
      bar.linearise(x, Differential::exact);
      const auto [low, high] = extreme_eigenvalues(bar, lanczos);
      exact.points.emplace_back(step, low / high);
      bar.linearise(x, Differential::projected);
      const auto [low_projected, high_projected] = extreme_eigenvalues(bar, lanczos);
      projected.points.emplace_back(step, low_projected / high_projected);
      std::printf("eigenvalues %s step %d: exact %.3e, projected %.3e\n", name.c_str(), step,
                  low / high, low_projected / high_projected);
    }
    all.push_back(exact);
    if (fine == 4) all.push_back(projected);
  }
  write_plot(folder / "lattice_eigenvalues.svg",
             "Smallest over largest eigenvalue of the backward Euler matrix", "time step", "ratio",
             false, all);
}

// Residuals per iteration [McAdams 2011, fig. 7].
void draw_residuals(const std::filesystem::path& folder, const std::string& name, int n) {
  LatticeCase c = make_case(name, n);
  c.system->linearise(c.interpolated, Differential::projected);
  LinearSolver<double> solver(c.system->hierarchy());
  const std::pair<const char*, LinearMethod> methods[] = {
      {"V-cycles", LinearMethod::v_cycle},
      {"multigrid CG", LinearMethod::multigrid_cg},
      {"Jacobi CG", LinearMethod::jacobi_cg},
      {"plain CG", LinearMethod::plain_cg}};
  std::vector<Series> all;
  for (const auto& [label, method] : methods) {
    BlockVector<double> b = c.system->zero(), x = c.system->zero();
    c.system->force(c.interpolated, b);
    LinearOptions options;
    options.method = method;
    options.limits = {.tolerance = 1e-8, .iterations = 40};
    options.keep_residuals = true;
    const LinearReport report = solver.solve(b, x, options);
    Series s{label, {{0, 1}}};
    for (size_t i = 0; i < report.residuals.size(); ++i)
      s.points.emplace_back(static_cast<double>(i + 1), report.residuals[i]);
    all.push_back(s);
  }
  write_plot(folder / ("lattice_residuals_" + name + ".svg"),
             "Residual of " + name + ", " + std::to_string(n) + " cells along the domain",
             "iteration", "relative residual", true, all);
}

// A patch pulled at its four corners, with one-point quadrature and with ours [McAdams 2011, fig.
// 3].
void draw_patch(const std::filesystem::path& folder) {
  constexpr int n = 16;
  std::ofstream out(folder / "lattice_hourglass.svg");
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 900 440' font-family='sans-serif' "
         "font-size='14'><rect width='900' height='440' fill='white'/>\n";
  for (const int ours : {0, 1}) {
    std::vector<Vec3i> cells;
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) cells.emplace_back(x, y, 0);
    const CellMaterial material = lame_moduli(1, 0.3);
    const auto corner = [](const Vec3i& p) {
      return (p[0] == 0 || p[0] == n) && (p[1] == 0 || p[1] == n);
    };
    LatticeSystem patch(
        SparseLattice(cells), 1, [&](const Vec3i&) { return material; }, corner);
    for (size_t l = 0; l < patch.hierarchy().levels(); ++l)
      patch.hierarchy().level(l).hourglass = static_cast<float>(ours);
    BlockVector<double> x = patch.rest();
    for_nodes(patch.lattice(), [&](LatticePlace at) {
      const Vec3i p = patch.lattice().coordinates(at.block, at.local);
      // Pulled apart evenly to begin with; the corners stay there, the rest relaxes.
      x.set(at, Vec3d(p[0] * 1.6 - 0.3 * n, p[1] * 1.3 - 0.15 * n, p[2]));
    });
    NewtonWork<LatticeSystem> work(patch);
    NewtonOptions<LinearOptions> options;
    options.tolerance = 1e-4;
    options.linear.method = LinearMethod::jacobi_cg;
    options.linear.limits = {.tolerance = 1e-2, .iterations = 500};
    solve_newton(patch, x, work, options);
    const double left = ours == 0 ? 225 : 675;
    const auto point = [&](int i, int j) {
      const Vec3d p = x.at(patch.lattice().place({i, j, 0}));
      char text[48];
      std::snprintf(text, sizeof text, "%.1f,%.1f", left + (p[0] - n / 2.0) * 15,
                    215 - (p[1] - n / 2.0) * 15);
      return std::string(text);
    };
    for (int i = 0; i <= n; ++i) {
      std::string rows, columns;
      for (int j = 0; j <= n; ++j) {
        rows += point(j, i) + " ";
        columns += point(i, j) + " ";
      }
      out << "<polyline fill='none' stroke='#2a6f97' points='" << rows
          << "'/><polyline fill='none' stroke='#2a6f97' points='" << columns << "'/>\n";
    }
    out << "<text x='" << left << "' y='425' text-anchor='middle'>"
        << (ours == 0 ? "one-point quadrature" : "ours") << "</text>\n";
  }
  out << "</svg>\n";
}

}  // namespace
}  // namespace supple

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: figures_lattice FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  supple::draw_patch(folder);
  for (const char* name : {"twist_030", "sphere_045", "tube_045"})
    supple::draw_residuals(folder, name, 64);
  supple::draw_radii(folder);
  supple::draw_eigenvalues(folder);
}
