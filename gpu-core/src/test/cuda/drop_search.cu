/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// DROP tasks of two fronts, a child and its parent, on the host (host/host_instructions.h), one worker each:
//   g++ -x c++ -std=c++17 -O1 -march=native -DSPARQR_HOST -I host -I ../../main/cuda/include -o drop drop_search.cu
// drop COUNT [SEED]: COUNT random pairs with dead columns anywhere. The oracles are Heath's method in extended
// precision on the input rows, for the set of dead columns, and their Gram matrix, for the remaining rows. Exit code 1
// if one is wrong.
#include "drop.cuh"
#include <cstdio>
#include <random>
#include <set>

constexpr int SHARED_DOUBLES = 8 * 1024 + 3072;
constexpr double TOLERANCE = 1e-9, JUNK = 1e300;

typedef std::vector<std::vector<double>> Rows;

static std::mt19937_64 generator;

static int pick(int n) {
  return static_cast<int>(generator() % n);
}

static double normal() {
  static std::normal_distribution<double> d;
  return d(generator);
}

/** A front: sizes, and its own rows in its columns and right-hand sides. */
struct TestFront {
  int fm, fn, fp, rhs;
  Rows own;
  std::set<int> dead;
};

/** Makes some columns of the rows dependent on those before them, in this front. */
static void spoil(TestFront& f, int way) {
  for (int j = 0; j < f.fp; j++) {
    bool dead = false;
    switch (way) {
      case 0:
        break;
      case 1:
        dead = j == 0;
        break;
      case 2:
        dead = j == f.fp - 1;
        break;
      case 3:
        dead = j % 2 == 1;
        break;
      case 4:
        dead = j / 32 == (f.fp / 2) / 32;
        break;
      case 5:
        dead = true;
        break;
      default:
        dead = pick(way) == 0;
    }
    const int from = j > 0 && pick(3) ? pick(j) : -1;
    for (auto& row : f.own) {
      row[j] = dead ? (from < 0 ? 0 : 2 * row[from]) : row[j];
    }
  }
}

/** Heath's method on all rows of a front: its dead columns, and the rows passed on. */
static std::set<int> heath(std::vector<std::vector<long double>> rows, int fp, int fn, Rows& on) {
  std::set<int> dead;
  size_t g = 0;
  for (int k = 0; k < fn; k++) {
    long double sum = 0;
    for (size_t i = g; i < rows.size(); i++)
      sum += rows[i][k] * rows[i][k];
    const long double norm = sqrtl(sum);
    if (k < fp && norm <= TOLERANCE) {
      dead.insert(k);
      for (size_t i = g; i < rows.size(); i++)
        rows[i][k] = 0;
      continue;
    }
    if (k >= fp) {
      break;
    }
    const long double beta = rows[g][k] < 0 ? norm : -norm, pivot = rows[g][k] - beta;
    for (size_t j = k + 1; j < rows[g].size(); j++) {
      long double s = rows[g][j] * pivot;
      for (size_t i = g + 1; i < rows.size(); i++)
        s += rows[i][k] * rows[i][j];
      s /= beta * pivot;
      rows[g][j] += s * pivot;
      for (size_t i = g + 1; i < rows.size(); i++)
        rows[i][j] += s * rows[i][k];
    }
    for (size_t i = g + 1; i < rows.size(); i++)
      rows[i][k] = 0;
    g++;
  }
  for (size_t i = g; i < rows.size(); i++)
    on.push_back(std::vector<double>(rows[i].begin() + fp, rows[i].end()));
  return dead;
}

/** Householder QR of a front in the arena, as left by its tasks: no zeros, junk below the diagonal. */
static void factor(double* a, int ld, const TestFront& f) {
  for (int k = 0; k < std::min(f.fm, f.fn); k++) {
    double sum = 0;
    for (int i = k; i < f.fm; i++)
      sum += a[i * ld + k] * a[i * ld + k];
    const double norm = std::sqrt(sum);
    if (norm > 0) {
      const double beta = a[k * ld + k] < 0 ? norm : -norm, pivot = a[k * ld + k] - beta;
      for (int j = k + 1; j < f.fn + f.rhs; j++) {
        double s = a[k * ld + j] * pivot;
        for (int i = k + 1; i < f.fm; i++)
          s += a[i * ld + k] * a[i * ld + j];
        s /= beta * pivot;
        a[k * ld + j] += s * pivot;
        for (int i = k + 1; i < f.fm; i++)
          a[i * ld + j] += s * a[i * ld + k];
      }
      a[k * ld + k] = beta;
    }
    // Below the diagonal, the tile itself has zeros.
    for (int i = k + 1; i < f.fm; i++)
      a[i * ld + k] = i / 32 == k / 32 ? 0 : JUNK;
  }
}

struct Stage {
  SparqrFront front[2] = {};
  std::vector<double> arena, vt, out, residual;
  std::vector<int32_t> maps, state = {1, 1};
  std::vector<unsigned long long> progress;
  std::vector<double> shared;
  SparqrStage s = {};
  std::vector<long long> out_start = {0, 0};
};

static void place(Stage& st, int k, const TestFront& f) {
  SparqrFront& d = st.front[k];
  d.fm = f.fm;
  d.fn = f.fn;
  d.fp = f.fp;
  d.rhs = f.rhs;
  d.cm = std::max(0, std::min(f.fm, f.fn) - f.fp);
  d.row_tiles = (f.fm + 31) / 32;
  d.column_tiles = (f.fn + f.rhs + 31) / 32;
  d.ld = 32 * d.column_tiles;
  d.data = st.arena.size();
  d.parent = k == 0 ? 1 : -1;
  d.drop = st.progress.size();
  st.arena.resize(st.arena.size() + 32 * (d.row_tiles + 1) * d.ld);
  st.progress.resize(st.progress.size() + (DROP_ARRAYS + 5 * d.column_tiles + 1) / 2);
  st.out_start[k] = st.out.size();
  const int rows = std::min(f.fm, f.fp) + (k == 0 ? 0 : d.cm);
  st.out.resize(st.out.size() + rows * (f.fn + f.rhs) - rows * (rows - 1) / 2);
}

/** A single worker does all the work. */
static void run(Stage& st, int k, int bundle, int rows, int most) {
  const SparqrFront& d = st.front[k];
  st.s.arena = st.arena.data();
  st.s.vt = st.vt.data();
  st.s.fronts = st.front;
  st.s.maps = st.maps.data();
  st.s.out = st.out.data();
  st.s.residual = st.residual.data();
  st.s.state = st.state.data();
  st.s.progress = st.progress.data();
  st.s.tolerance = TOLERANCE;
  SparqrTask task = {};
  task.kind = SPARQR_DROP;
  task.front = k;
  task.out.slot = d.fm >= d.fn && d.rhs > 0 ? k : -1;
  task.out.row_from = 0;
  task.out.most = most;
  task.out.row_to = rows;
  task.out.out = st.out_start[k];
  task.out.out_rhs = st.out_start[k] + rows * d.fn - rows * (rows - 1) / 2;
  task.small.parent = d.parent;
  std::fill(st.shared.begin(), st.shared.end(), NAN);
  double* shared = st.shared.data() + (reinterpret_cast<uintptr_t>(st.shared.data()) & 15 ? 1 : 0);
  host::Block block;
  block.run([&] { bundle == 8 ? drop_task<8>(shared, st.s, task, d) : drop_task<4>(shared, st.s, task, d); });
}

/** Adds r r' to a Gram matrix, r starting at place `first`. */
static void add(std::vector<long double>& gram, int n, const double* r, const std::vector<int>& at, int first) {
  for (size_t i = first; i < at.size(); i++)
    for (size_t j = first; j < at.size(); j++)
      gram[at[i] * n + at[j]] += static_cast<long double>(r[i]) * r[j];
}

static int wrong(uint64_t seed, int number, bool show) {
  generator.seed(seed * 1000003 + number);
  TestFront f[2];
  const int most = number % 8 == 0 ? 300 : 110;
  f[0].rhs = f[1].rhs = pick(4);
  f[1].fn = 1 + pick(most);
  f[1].fp = 1 + pick(f[1].fn);
  f[1].fm = f[1].fn + (pick(2) ? 0 : pick(100));
  const int tail = pick(f[1].fn + 1);
  f[0].fp = 1 + pick(most);
  f[0].fn = f[0].fp + tail;
  f[0].fm = pick(2) ? f[0].fp + pick(tail + 1) : f[0].fn + pick(40);
  const int passed = std::max(0, std::min(f[0].fm, f[0].fn) - f[0].fp);
  f[1].fm = std::max(f[1].fm, passed);
  std::vector<int> column(f[1].fn);
  for (int j = 0; j < f[1].fn; j++)
    column[j] = j;
  std::shuffle(column.begin(), column.end(), generator);
  column.resize(tail);
  std::sort(column.begin(), column.end());
  for (int k = 0; k < 2; k++) {
    f[k].own.assign(k == 0 ? f[0].fm : f[1].fm - passed, std::vector<double>(f[k].fn + f[k].rhs));
    for (auto& row : f[k].own)
      for (double& x : row)
        x = normal();
    spoil(f[k], pick(12));
  }
  if (pick(3) == 0) {
    // the rows passed on by the child are rank deficient too
    for (auto& row : f[0].own)
      for (int j = f[0].fp; j < f[0].fn; j++)
        row[j] = pick(2) ? row[j] : 0;
  }
  // the oracle
  Rows on, none;
  std::set<int> expected[2];
  std::vector<std::vector<long double>> all;
  for (auto& row : f[0].own)
    all.emplace_back(row.begin(), row.end());
  expected[0] = heath(all, f[0].fp, f[0].fn, on);
  all.clear();
  for (auto& row : f[1].own)
    all.emplace_back(row.begin(), row.end());
  for (auto& row : on) {
    all.emplace_back(f[1].fn + f[1].rhs);
    for (int j = 0; j < tail; j++)
      all.back()[column[j]] = row[j];
    for (int j = 0; j < f[1].rhs; j++)
      all.back()[f[1].fn + j] = row[tail + j];
  }
  expected[1] = heath(all, f[1].fp, f[1].fn, none);
  // columns of the whole problem: the child's pivots, the parent's columns, right-hand sides
  const int n = f[0].fp + f[1].fn + f[0].rhs;
  std::vector<int> at[2];
  for (int j = 0; j < f[0].fn + f[0].rhs; j++)
    at[0].push_back(j < f[0].fp ? j : f[0].fp + (j < f[0].fn ? column[j - f[0].fp] : f[1].fn + j - f[0].fn));
  for (int j = 0; j < f[1].fn + f[1].rhs; j++)
    at[1].push_back(f[0].fp + j);
  std::vector<long double> in(n * n), got(n * n);
  for (int k = 0; k < 2; k++)
    for (auto& row : f[k].own)
      add(in, n, row.data(), at[k], 0);
  // the stage
  Stage st;
  st.progress.resize(3);
  place(st, 0, f[0]);
  place(st, 1, f[1]);
  st.vt.assign(2ll * ((std::max(st.front[0].column_tiles, st.front[1].column_tiles) + 2) / 3 + 1) * SPARQR_VT_DOUBLES, NAN);
  st.residual.assign(2 * std::max(1, f[0].rhs), 0);
  st.shared.assign(SHARED_DOUBLES + 1, 0);
  for (int j = 0; j < passed; j++)
    st.maps.push_back(f[1].own.size() + j);
  st.front[0].row_map = 0;
  st.front[0].column_map = st.maps.size();
  for (int j = 0; j < tail + f[0].rhs; j++)
    st.maps.push_back(j < tail ? column[j] : f[1].fn + j - tail);
  const int bundle = pick(2) ? 8 : 4;
  const int few = pick(2) ? 0 : pick(40);
  for (int k = 0; k < 2; k++) {
    double* a = st.arena.data() + st.front[k].data;
    for (size_t i = 0; i < f[k].own.size(); i++)
      std::copy(f[k].own[i].begin(), f[k].own[i].end(), a + i * st.front[k].ld);
    if (k == 1 && st.state[0] == SPARQR_STATE_FAILED) {
      break;
    }
    factor(a, st.front[k].ld, f[k]);
    const int rows = std::min(f[k].fm, f[k].fp) + (k == 0 ? 0 : st.front[k].cm);
    run(st, k, bundle, rows, k == 0 ? few : 0);
  }
  char what[200];
  snprintf(what, sizeof what, "pair %d: child %d x %d, %d pivots, %zu dead, parent %d x %d, %d pivots, %zu dead, %d rhs, states %d %d",
           number, f[0].fm, f[0].fn, f[0].fp, expected[0].size(), f[1].fm, f[1].fn, f[1].fp, expected[1].size(), f[0].rhs,
           st.state[0], st.state[1]);
  if (st.state[0] == SPARQR_STATE_FAILED || st.state[1] == SPARQR_STATE_FAILED) {
    printf("%s: no room\n", what);
    return 2;
  }
  bool bad = false;
  for (int k = 0; k < 2; k++) {
    const SparqrFront& d = st.front[k];
    const int rows = std::min(f[k].fm, f[k].fp) + (k == 0 ? 0 : d.cm);
    const double* r = st.out.data() + st.out_start[k];
    const double* right = r + rows * d.fn - rows * (rows - 1) / 2;
    std::set<int> dead;
    for (int i = 0; i < rows; i++) {
      std::vector<double> row(d.fn + d.rhs);
      std::copy(r, r + d.fn - i, row.begin() + i);
      std::copy(right, right + d.rhs, row.begin() + d.fn);
      if (i < d.fp && !(row[i] > TOLERANCE))
        dead.insert(i);
      add(got, n, row.data(), at[k], i);
      r += d.fn - i;
      right += d.rhs;
    }
    if (dead != expected[k]) {
      printf("%s: dead columns of front %d differ: %zu\n", what, k, dead.size());
      bad = true;
    }
    // right-hand sides that end here: below the trapezoid, and of leftover rows
    for (int j = 0; j < d.rhs; j++) {
      const int place = f[0].fp + f[1].fn + j;
      for (int i = std::min(d.fm, d.fn); i < d.fm; i++) {
        const long double x = st.arena[d.data + i * d.ld + d.fn + j];
        got[place * n + place] += x * x;
      }
      got[place * n + place] += st.residual[k * d.rhs + j];
    }
  }
  long double worst = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (i != j && i >= n - f[0].rhs && j >= n - f[0].rhs)
        continue;  // products of different residuals are not recorded
      const long double scale = sqrtl((in[i * n + i] + 1) * (in[j * n + j] + 1));
      const long double e = fabsl(in[i * n + j] - got[i * n + j]) / scale;
      worst = e <= worst ? worst : e;
    }
  if (!(worst <= 1e-11L) || bad || show)
    printf("%s: Gram matrices differ by %.2Lg\n", what, worst);
  return bad || !(worst <= 1e-11L) ? 1 : 0;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 100;
  const uint64_t seed = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1;
  const int only = argc > 3 ? atoi(argv[3]) : -1;
  int bad = 0, full = 0;
  for (int k = 0; k < count; k++) {
    if (only >= 0 && k != only)
      continue;
    const int w = wrong(seed, k, only >= 0);
    bad += w == 1;
    full += w == 2;
  }
  printf("%d wrong of %d, %d without room\n", bad, count, full);
  return bad > 0;
}
