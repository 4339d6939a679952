/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Column tiles of bundles designed to break Factorize, and the checks of the result for any tile: plain C++ for host
// and device programs alike.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

/** A column tile of `size` row tiles, row-major with 32 columns, of which the first `columns` get a reflector. */
struct Tile {
  int size = 0, columns = 32;
  std::vector<double> a;
  std::string kind;

  int rows() const {
    return 32 * size;
  }
};

/** Tile `number` of the search with this seed, the same on every machine. */
class TileSearch {
 public:
  TileSearch(uint64_t seed, uint64_t number) : random(seed * 0x9e3779b97f4a7c15ull + number) {}

  Tile make() {
    static const int SIZES[] = {2, 2, 2, 3, 4, 4, 5, 8, 1, 6};
    Tile tile;
    tile.size = SIZES[pick(10)];
    tile.columns = pick(12) ? 32 : std::vector<int>{31, 7, 1}[pick(3)];
    m = tile.rows();
    tile.a.assign(m * 32, 0);
    exponent.assign(m * 32, 0);
    const std::string base = entries(tile.a);
    const std::string structure = holes(tile.a);
    const std::string dependence = dependent(tile.a);
    const std::string scales = scaled();
    for (size_t k = 0; k < tile.a.size(); k++) {
      // No column's norm may leave the range; right-hand sides are already scaled to within 1e+-100.
      const int limit = static_cast<int>(k % 32) < tile.columns ? 1010 : 332;
      int at = 0;
      std::frexp(tile.a[k], &at);
      tile.a[k] =
          std::ldexp(tile.a[k], std::max(std::min(exponent[k], limit - at), limit == 332 ? -332 - at : exponent[k]));
    }
    tile.kind = base + structure + dependence + scales;
    return tile;
  }

 private:
  std::mt19937_64 random;
  std::vector<int> exponent;
  int m = 0;

  int pick(int n) {
    return static_cast<int>(random() % n);
  }
  bool often(int of) {
    return pick(of) == 0;
  }
  double normal() {
    return std::normal_distribution<double>()(random);
  }

  std::string entries(std::vector<double>& a) {
    const int kind = pick(8);
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < 32; j++) {
        double& x = a[i * 32 + j];
        switch (kind) {
          case 0:
            x = pick(7) - 3;
            break;
          case 1:
            x = pick(2);
            break;
          case 2:
            x = i <= j ? normal() : 0;
            break;
          case 3:
            x = i < 32 ? double(i == j) : normal();
            break;
          case 4:
            x = j < i / 8 ? 0 : normal();
            break;
          case 5:
            x = 1 + std::ldexp(normal(), -10);
            break;
          default:
            x = normal();
        }
      }
    }
    static const char* NAMES[] = {"small integers", "zeros and ones",       "triangle", "identity on top",
                                  "staircase",      "nearly one direction", "normal",   "normal"};
    return NAMES[kind];
  }

  /** Rows and columns of zeros: fewer live rows than columns, as at the end of a front. */
  std::string holes(std::vector<double>& a) {
    const int kind = pick(8);
    if (kind > 2)
      return "";
    const int live = kind == 2 ? m : 1 + pick(40);
    std::vector<bool> row(m, live >= m), column(32, true);
    for (int k = 0; k < live && live < m; k++)
      row[often(2) ? std::min(k, m - 1) : pick(m)] = true;
    if (kind > 0)
      for (int j = 0; j < 32; j++)
        column[j] = !often(5);
    for (int i = 0; i < m; i++)
      for (int j = 0; j < 32; j++)
        if (!row[i] || !column[j])
          a[i * 32 + j] = 0;
    return kind == 2 ? ", columns of zeros" : kind == 1 ? ", rows and columns of zeros" : ", rows of zeros";
  }

  /** Columns that are combinations of others up to 2^-k. */
  std::string dependent(std::vector<double>& a) {
    const int kind = pick(8);
    if (kind > 2)
      return "";
    const int k = pick(54);
    for (int j = 1; j < 32; j++) {
      if (!often(kind == 0 ? 2 : 6))
        continue;
      const int p = pick(j), q = pick(j);
      const double f = kind == 2 ? 0 : pick(5) - 2;
      for (int i = 0; i < m; i++) {
        const double rest = k == 53 ? 0 : std::ldexp(normal(), -k);
        a[i * 32 + j] = a[i * 32 + p] + f * a[i * 32 + q] + (a[i * 32 + j] != 0 ? rest : 0);
      }
    }
    return ", dependent to 2^-" + std::to_string(k);
  }

  std::string scaled() {
    const int kind = pick(10);
    std::vector<int> column(32, 0), row(m, 0);
    std::string name;
    const int level[3] = {pick(2085) - 1074, pick(2085) - 1074, -pick(450)};
    switch (kind) {
      case 0:
        for (int& e : column)
          e = pick(2085) - 1074;
        name = ", columns 2^-1074..2^1010";
        break;
      case 1:
        for (int& e : row)
          e = pick(2085) - 1074;
        name = ", rows 2^-1074..2^1010";
        break;
      case 2:
        for (int& e : column)
          e = level[pick(3)];
        name = ", columns of three levels";
        break;
      case 3:
        for (int& e : column)
          e = often(2) ? 0 : -340 - pick(70);
        name = ", columns of 1 and 2^-340..2^-410";
        break;
      case 4:
        for (int& e : row)
          e = often(2) ? 0 : level[2];
        name = ", rows of two levels";
        break;
      case 5:
        for (int j = 0; j < 32; j++)
          column[j] = -j * (level[2] & 63);
        name = ", graded columns";
        break;
      case 6:
        for (int& e : column)
          e = level[0];
        name = ", all 2^" + std::to_string(level[0]);
        break;
      default:
        break;
    }
    for (int i = 0; i < m; i++)
      for (int j = 0; j < 32; j++)
        exponent[i * 32 + j] = row[i] + column[j];
    return name;
  }
};

/** Tiles that failed once, from a text file: "tile SIZE COLUMNS name", then lines "row column hexadecimal value". */
inline std::vector<Tile> read_tiles(const std::string& path) {
  std::ifstream in(path);
  std::vector<Tile> tiles;
  std::string line, word;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    if (line.empty() || line[0] == '#')
      continue;
    if (line.rfind("tile", 0) == 0) {
      Tile t;
      words >> word >> t.size >> t.columns;
      std::getline(words >> std::ws, t.kind);
      t.a.assign(t.rows() * 32, 0);
      tiles.push_back(t);
    } else {
      int i, j;
      words >> i >> j >> word;
      tiles.back().a.at(i * 32 + j) = std::strtod(word.c_str(), nullptr);
    }
  }
  return tiles;
}

/** In units of eps, each column relative to its own norm. */
struct Departure {
  double residual = 0;       // max_j ||(H'A - R)_j|| / ||a_j||
  double orthogonality = 0;  // largest entry of T + T' - T V'V T', which is 0 for an orthogonal H
  double gram = 0;           // max_ij |R'R - A'A| / (||a_i|| ||a_j||)
  double entries = 0;        // max_ij | |r_ij| - |exact r_ij| | / (||a_j|| ||(R D)^-1||_F), 0 where that is singular
  double applied = 0;        // max_j ||(H'A by Apply - R)_j|| / ||a_j||
};

/**
 * The errors of a factorized tile, in extended precision. a: the factorized tile; vt: V's first tile and T, or null to
 * check only R; applied: H'A from Apply, or null. Columns are first scaled by powers of two, so that all count equally.
 */
inline Departure departure(const Tile& before, const std::vector<double>& a, const double* vt, const double* applied) {
  using Real = long double;
  const int m = before.rows(), n = before.columns;
  const double eps = 0x1p-52;
  std::vector<Real> b(m * 32), r(m * 32), norm(32), slack(32);
  std::vector<int> exponent(32);
  for (int j = 0; j < 32; j++) {
    double largest = 0;
    for (int i = 0; i < m; i++)
      largest = std::max(largest, std::fabs(before.a[i * 32 + j]));
    int e = 0;
    std::frexp(largest, &e);
    exponent[j] = e;
    for (int i = 0; i < m; i++) {
      b[i * 32 + j] = std::ldexp(static_cast<Real>(before.a[i * 32 + j]), -e);
      const bool there = j >= n || (i < 32 && i <= j);
      r[i * 32 + j] = there ? std::ldexp(static_cast<Real>(a[i * 32 + j]), -e) : 0;
      norm[j] += b[i * 32 + j] * b[i * 32 + j];
    }
    norm[j] = largest == 0 ? 1 : std::sqrt(norm[j]);
    // results below the normal range are rounded to multiples of 2^-1074
    slack[j] = std::ldexp(static_cast<Real>(8), -1074 - e);
  }
  Departure d;
  auto worst = [](double& at, Real x) {
    const double size = std::fabs(static_cast<double>(x));
    at = std::max(at, size >= 0 ? size : INFINITY);
  };
  for (int i = 0; i < 32; i++) {
    for (int j = 0; j < i && j < n; j++)
      if (a[i * 32 + j] != 0)
        d.residual = INFINITY;
  }
  for (int i = 0; i < n; i++) {
    for (int j = i; j < 32; j++) {
      Real s = 0;
      for (int k = 0; k < m; k++)
        s += b[k * 32 + i] * b[k * 32 + j] - r[k * 32 + i] * r[k * 32 + j];
      const Real allowed = slack[i] * norm[j] + slack[j] * norm[i];
      worst(d.gram, std::max<Real>(0, std::fabs(s) - allowed) / (norm[i] * norm[j]) / eps + (s != s ? s : 0));
    }
  }
  for (int j = 0; j < 32 && applied != nullptr; j++) {
    Real sum = 0;
    for (int i = 0; i < m; i++) {
      Real s = std::ldexp(static_cast<Real>(applied[i * 32 + j]), -exponent[j]) - r[i * 32 + j];
      // Apply works on unscaled columns, so its products have these rounding errors too
      s = s != s ? s : std::max<Real>(0, std::fabs(s) - m * slack[j]);
      sum += s * s;
    }
    worst(d.applied, std::sqrt(sum) / norm[j] / eps);
  }
  if (vt != nullptr) {
    std::vector<Real> v(m * n), t(n * n), c(n * 32), g(n * n), tg(n * n);
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++)
        v[i * n + j] = i < 32 ? vt[i * 32 + j] : a[i * 32 + j];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        t[i * n + j] = vt[1024 + i * 32 + j];
    for (int i = 0; i < m; i++)
      for (int k = 0; k < n; k++) {
        if (v[i * n + k] == 0)
          continue;
        for (int j = 0; j < 32; j++)
          c[k * 32 + j] += v[i * n + k] * b[i * 32 + j];
        for (int j = 0; j < n; j++)
          g[k * n + j] += v[i * n + k] * v[i * n + j];
      }
    std::vector<Real> w(n * 32);
    for (int k = 0; k < n; k++)
      for (int l = 0; l < n; l++)
        for (int j = 0; j < 32; j++)
          w[k * 32 + j] += t[l * n + k] * c[l * 32 + j];
    for (int j = 0; j < 32; j++) {
      Real sum = 0;
      for (int i = 0; i < m; i++) {
        Real s = b[i * 32 + j] - r[i * 32 + j];
        for (int k = 0; k < n; k++)
          s -= v[i * n + k] * w[k * 32 + j];
        s = s != s ? s : std::max<Real>(0, std::fabs(s) - slack[j]);
        sum += s * s;
      }
      worst(d.residual, std::sqrt(sum) / norm[j] / eps);
    }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        for (int l = 0; l < n; l++)
          tg[i * n + j] += t[i * n + l] * g[l * n + j];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        Real s = -t[i * n + j] - t[j * n + i];
        for (int l = 0; l < n; l++)
          s += tg[i * n + l] * t[j * n + l];
        worst(d.orthogonality, s / eps);
      }
  }
  // R itself, by Householder in extended precision, where the columns (of norm 1) are independent enough for it to be determined
  std::vector<Real> q = b;
  for (int j = 0; j < 32; j++)
    for (int i = 0; i < m; i++)
      q[i * 32 + j] /= norm[j];
  for (int k = 0; k < std::min(n, m); k++) {
    Real s = 0;
    for (int i = k; i < m; i++)
      s += q[i * 32 + k] * q[i * 32 + k];
    s = std::sqrt(s);
    if (!(s > 0x1p-20L))
      return d;
    const Real alpha = q[k * 32 + k] > 0 ? -s : s, pivot = q[k * 32 + k] - alpha;
    for (int j = k + 1; j < 32; j++) {
      Real p = pivot * q[k * 32 + j];
      for (int i = k + 1; i < m; i++)
        p += q[i * 32 + k] * q[i * 32 + j];
      p /= alpha * pivot;
      q[k * 32 + j] += p * pivot;
      for (int i = k + 1; i < m; i++)
        q[i * 32 + j] += p * q[i * 32 + k];
    }
    q[k * 32 + k] = alpha;
  }
  std::vector<Real> x(n * n);
  Real size = 0;
  for (int j = 0; j < n; j++)
    for (int i = j; i >= 0; i--) {
      Real s = i == j;
      for (int k = i + 1; k <= j; k++)
        s -= q[i * 32 + k] * x[k * n + j];
      x[i * n + j] = s / q[i * 32 + i];
      size += x[i * n + j] * x[i * n + j];
    }
  Real rounded = 0;  // the effect of rounding to multiples of 2^-1074, for the columns that it affects
  for (int j = 0; j < n; j++)
    rounded = std::max(rounded, slack[j] / norm[j]);
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) {
      const Real difference =
          std::fabs(std::fabs(r[i * 32 + j]) / norm[j] - std::fabs(q[i * 32 + j])) / std::sqrt(size);
      worst(d.entries, difference != difference ? difference : std::max<Real>(0, difference - 32 * rounded) / eps);
    }
  return d;
}
