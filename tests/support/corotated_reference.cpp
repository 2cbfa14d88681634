#include "support/corotated_reference.h"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <Eigen/SparseCholesky>

#include <bit>
#include <cmath>

#include "supple/core/parallel.h"

namespace supple::testing::reference {
namespace {

Vec3i corner(const Vec3i& cell, int i) { return cell + Vec3i(i & 1, i >> 1 & 1, i >> 2); }

// d vec(F) / d vec(x) for F = x g.
Eigen::MatrixXd gradient_operator(const Gradients& g) {
  Eigen::MatrixXd b = Eigen::MatrixXd::Zero(9, 24);
  for (int i = 0; i < 8; ++i)
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 3; ++c) b(3 * a + c, 3 * i + c) = g(i, a);
  return b;
}

// The matrix of the edge springs: E = mu h³ / 4 sum over edges |dx / h|².
Eigen::MatrixXd edge_matrix(double mu, double h) {
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(24, 24);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      if (std::popcount(static_cast<unsigned>(i ^ j)) == 1)
        for (int c = 0; c < 3; ++c) {
          k(3 * i + c, 3 * i + c) += mu * h / 2;
          k(3 * i + c, 3 * j + c) -= mu * h / 2;
        }
  return k;
}

void add_point(const Corners& x, const Moduli& m, const Gradients& g, double volume, Want want,
               Element& e) {
  const Mat3d f = x * g;
  e.energy += volume * density(f, m);
  if (want == Want::energy) return;
  const Mat3d p = stress(f, m);
  for (int i = 0; i < 8; ++i) e.gradient.segment<3>(3 * i) += volume * p * g.row(i).transpose();
  if (want == Want::gradient) return;
  const Eigen::MatrixXd b = gradient_operator(g), d = stress_derivative(f, m);
  e.matrix += volume * (b.transpose() * (d * b));
}

}  // namespace

SignedSvd signed_svd(const Mat3d& f) {
  const Eigen::JacobiSVD<Mat3d> svd(f, Eigen::ComputeFullU | Eigen::ComputeFullV);
  SignedSvd r{svd.matrixU(), svd.matrixV(), svd.singularValues()};
  if (r.u.determinant() < 0) r.u.col(2) *= -1, r.sigma[2] *= -1;
  if (r.v.determinant() < 0) r.v.col(2) *= -1, r.sigma[2] *= -1;
  return r;
}

double density(const Mat3d& f, const Moduli& m) {
  const Vec3d s = signed_svd(f).sigma - Vec3d::Ones();
  return m.mu * s.squaredNorm() + m.lambda / 2 * s.sum() * s.sum();
}

Mat3d stress(const Mat3d& f, const Moduli& m) {
  const SignedSvd svd = signed_svd(f);
  const Mat3d r = svd.rotation();
  return 2 * m.mu * (f - r) + m.lambda * (svd.sigma.sum() - 3) * r;
}

// With psi the density as a function of the singular values: psi_ij on stretches, 2 mu on symmetric
// and (psi_i + psi_j) / (s_i + s_j) on antisymmetric pairs.
Matrix9 stress_derivative(const Mat3d& f, const Moduli& m) {
  const SignedSvd svd = signed_svd(f);
  const auto direction = [&](const Mat3d& d) {
    const Mat3d turned = svd.u * d * svd.v.transpose();
    return Vector9(Eigen::Map<const Vector9>(turned.data()));
  };
  Matrix9 h = Matrix9::Zero();
  const Vector9 trace = direction(Mat3d::Identity());
  h += m.lambda * trace * trace.transpose();
  const double excess = svd.sigma.sum() - 3;
  for (int i = 0; i < 3; ++i) {
    Mat3d stretch = Mat3d::Zero();
    stretch(i, i) = 1;
    h += 2 * m.mu * direction(stretch) * direction(stretch).transpose();
    for (int j = i + 1; j < 3; ++j) {
      Mat3d flip = Mat3d::Zero(), twist = Mat3d::Zero();
      flip(i, j) = flip(j, i) = twist(i, j) = std::sqrt(0.5);
      twist(j, i) = -std::sqrt(0.5);
      const double sum = svd.sigma[i] + svd.sigma[j];
      const double turning = (2 * m.mu * (sum - 2) + 2 * m.lambda * excess) / sum;
      h += 2 * m.mu * direction(flip) * direction(flip).transpose() +
           turning * direction(twist) * direction(twist).transpose();
    }
  }
  return h;
}

Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& m) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(m, Eigen::EigenvaluesOnly).eigenvalues();
}

Eigen::MatrixXd projected(const Eigen::MatrixXd& m) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(m);
  return solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).asDiagonal() *
         solver.eigenvectors().transpose();
}

Eigen::VectorXd solve_directly(const Sparse& k, const Eigen::VectorXd& b) {
  return Eigen::SimplicialLDLT<Sparse>(k).solve(b);
}

Gradients shape_gradients(const Vec3d& at, double h) {
  Gradients g;
  for (int i = 0; i < 8; ++i)
    for (int a = 0; a < 3; ++a) {
      double w = (i >> a & 1 ? 1 : -1) / h;
      for (int o = 0; o < 3; ++o)
        if (o != a) w *= i >> o & 1 ? at[o] : 1 - at[o];
      g(i, a) = w;
    }
  return g;
}

// The Laplace part mu |F|² moves from the centre to the edges.
Matrix24 stabilised_matrix(const Matrix9& derivative, double mu, double h) {
  const Eigen::MatrixXd b = gradient_operator(shape_gradients(Vec3d::Constant(0.5), h));
  const Eigen::MatrixXd rest = derivative - 2 * mu * Matrix9::Identity();
  return h * h * h * (b.transpose() * (rest * b)) + edge_matrix(mu, h);
}

Element element(const Corners& x, const Moduli& m, double h, Quadrature rule, Want want) {
  Element e;
  const double volume = h * h * h;
  if (rule == Quadrature::gauss) {
    for (int q = 0; q < 8; ++q) {
      const Vec3d signs(q & 1 ? 1 : -1, q >> 1 & 1 ? 1 : -1, q >> 2 ? 1 : -1);
      const Vec3d at = Vec3d::Constant(0.5) + signs * (0.5 / std::sqrt(3.0));
      add_point(x, m, shape_gradients(at, h), volume / 8, want, e);
    }
    return e;
  }
  add_point(x, m, shape_gradients(Vec3d::Constant(0.5), h), volume, want, e);
  if (rule == Quadrature::stabilised) {
    const Eigen::MatrixXd laplace = stabilised_matrix(Matrix9::Zero(), m.mu, h);
    const Vector24 u = Eigen::Map<const Vector24>(x.data()), pull = laplace * u;
    e.energy += u.dot(pull) / 2;
    e.gradient += pull;
    e.matrix += laplace;
  }
  return e;
}

Body::Body(std::vector<Vec3i> cells, double h, std::function<Moduli(const Vec3i&)> moduli,
           const std::function<bool(const Vec3i&)>& is_fixed)
    : m_cells(std::move(cells)), m_h(h), m_moduli(std::move(moduli)) {
  for (const Vec3i& cell : m_cells)
    for (int i = 0; i < 8; ++i) {
      const Vec3i n = corner(cell, i);
      m_index.emplace(std::array{n[0], n[1], n[2]}, 0);
    }
  for (auto& [at, index] : m_index) {
    index = static_cast<int>(m_nodes.size());
    m_nodes.emplace_back(at[0], at[1], at[2]);
    m_free.push_back(!is_fixed(m_nodes.back()));
  }
}

Body::Vector Body::rest() const {
  Vector x(size());
  for (size_t n = 0; n < m_nodes.size(); ++n)
    x.segment<3>(3 * static_cast<Eigen::Index>(n)) = m_nodes[n].cast<double>() * m_h;
  return x;
}

Corners Body::corners(const Vec3i& cell, const Vector& x) const {
  Corners result;
  for (int i = 0; i < 8; ++i) result.col(i) = x.segment<3>(3 * index(corner(cell, i)));
  return result;
}

std::vector<Element> Body::elements(const Vector& x, Quadrature rule, Want want) const {
  std::vector<Element> result(m_cells.size());
  parallel_for(m_cells.size(), 16, [&](size_t begin, size_t end) {
    for (size_t c = begin; c < end; ++c)
      result[c] = element(corners(m_cells[c], x), m_moduli(m_cells[c]), m_h, rule, want);
  });
  return result;
}

double Body::energy(const Vector& x, Quadrature rule) const {
  double sum = 0;
  for (const Element& e : elements(x, rule, Want::energy)) sum += e.energy;
  return sum;
}

Body::Vector Body::force(const Vector& x, Quadrature rule) const {
  Vector f = Vector::Zero(size());
  const std::vector<Element> all = elements(x, rule, Want::gradient);
  for (size_t c = 0; c < all.size(); ++c)
    for (int i = 0; i < 8; ++i)
      f.segment<3>(3 * index(corner(m_cells[c], i))) -= all[c].gradient.segment<3>(3 * i);
  return without_fixed(f);
}

Sparse Body::matrix(const Vector& x, Quadrature rule, Definite definite) const {
  std::vector<Element> all = elements(x, rule, Want::matrix);
  if (definite == Definite::yes)
    parallel_for(all.size(), 16, [&](size_t begin, size_t end) {
      for (size_t c = begin; c < end; ++c) all[c].matrix = projected(all[c].matrix);
    });
  std::vector<Eigen::Triplet<double>> entries;
  for (size_t e = 0; e < all.size(); ++e)
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        const int a = index(corner(m_cells[e], i)), b = index(corner(m_cells[e], j));
        if (!m_free[static_cast<size_t>(a)] || !m_free[static_cast<size_t>(b)]) continue;
        for (int c = 0; c < 3; ++c)
          for (int d = 0; d < 3; ++d)
            entries.emplace_back(3 * a + c, 3 * b + d, all[e].matrix(3 * i + c, 3 * j + d));
      }
  for (size_t n = 0; n < m_nodes.size(); ++n)
    for (int c = 0; c < 3 && !m_free[n]; ++c)
      entries.emplace_back(3 * static_cast<int>(n) + c, 3 * static_cast<int>(n) + c, 1);
  Sparse k(size(), size());
  k.setFromTriplets(entries.begin(), entries.end());
  return k;
}

Body::Vector Body::without_fixed(Vector v) const {
  for (size_t n = 0; n < m_nodes.size(); ++n)
    if (!m_free[n]) v.segment<3>(3 * static_cast<Eigen::Index>(n)).setZero();
  return v;
}

double equilibrium(const Body& body, Quadrature rule, double tolerance, Eigen::VectorXd& x) {
  Eigen::VectorXd f = body.force(x, rule);
  const double start = f.norm();
  for (int iteration = 0; iteration < 100 && f.norm() > tolerance * start; ++iteration) {
    const bool near = f.norm() < 1e-2 * start;
    const Eigen::VectorXd dx =
        solve_directly(body.matrix(x, rule, near ? Definite::no : Definite::yes), f);
    const double energy = body.energy(x, rule);
    double step = 1;
    while (step > 1e-6 && body.energy(x + step * dx, rule) > energy + 1e-12 * std::abs(energy))
      step /= 2;
    x += step * dx;
    f = body.force(x, rule);
  }
  return f.norm() / start;
}

}  // namespace supple::testing::reference
