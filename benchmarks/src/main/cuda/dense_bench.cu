/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Stand-alone check and timing of the überkernel on dense fronts, without a JVM: a compact greedy
// bucket schedule, one launch a round as a CUDA graph. nvcc -arch=sm_90 -I ../../main/cuda/include
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <algorithm>
#include <chrono>
#include <random>
#include <vector>
#include "../kernels/rounds.cu"

#define CHECK(x)                                                                \
  do {                                                                          \
    cudaError_t e_ = (x);                                                       \
    if (e_ != cudaSuccess) {                                                    \
      printf("%s:%d %s: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_)); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

struct Schedule {
  std::vector<SparqrTask> tasks;
  std::vector<long long> roundStart{0};
  std::vector<long long> urgent;  // Factorize and ApplyFactorize tasks of each round
  int slots = 0;
};
struct Pending {
  int front, column, slot;
  std::vector<int> tiles;
};

static SparqrTask qrTask(int kind, int front, int column, const std::vector<int>& tiles) {
  SparqrTask t;
  memset(&t, 0, sizeof t);
  t.kind = kind;
  t.front = front;
  t.size = tiles.size();
  t.qr.column = column;
  t.qr.vt_read = t.qr.vt_write = -1;
  for (size_t i = 0; i < tiles.size(); i++)
    t.qr.tile[i] = tiles[i];
  return t;
}

static Schedule buildSchedule(const std::vector<SparqrFront>& fronts, int B, int chunk) {
  Schedule s;
  size_t nf = fronts.size();
  std::vector<std::vector<std::vector<int>>> idle(nf);
  std::vector<std::vector<char>> tri(nf);
  std::vector<std::vector<Pending>> pending(nf);
  for (size_t f = 0; f < nf; f++) {
    idle[f].resize(fronts[f].column_tiles + 1);
    tri[f].assign(fronts[f].row_tiles, 0);
    for (int i = 0; i < fronts[f].row_tiles; i++)
      idle[f][0].push_back(i);
  }
  bool any = true;
  while (any) {
    any = false;
    std::vector<SparqrTask> first, bulk;
    for (size_t f = 0; f < nf; f++) {
      const SparqrFront& fr = fronts[f];
      int K = (std::min(fr.fn, fr.fm) + 31) / 32, C = fr.column_tiles;
      std::vector<Pending> next;
      std::vector<std::vector<Pending>> hosts(C + 1);
      for (auto& p : pending[f]) {
        any = true;
        idle[f][p.column].push_back(p.tiles[0]);
        tri[f][p.tiles[0]] = 1;
        int from = p.column + 1;
        if (p.tiles.size() > 1 && p.column + 1 < K) {
          hosts[p.column + 1].push_back(p);
          from++;
        }
        for (int c = from; c < C; c += chunk) {
          SparqrTask t = qrTask(SPARQR_APPLY, f, p.column, p.tiles);
          t.qr.vt_read = p.slot;
          t.qr.from = c;
          t.qr.to = std::min(C, c + chunk);
          bulk.push_back(t);
        }
      }
      for (int j = 0; j < K; j++) {
        auto& id = idle[f][j];
        std::sort(id.begin(), id.end());
        for (auto& p : hosts[j]) {
          std::vector<int> rest(p.tiles.begin() + 1, p.tiles.end());
          std::vector<int> nb = rest;
          while ((int)nb.size() < B && !id.empty()) {
            nb.push_back(id.front());
            id.erase(id.begin());
          }
          std::sort(nb.begin(), nb.end());
          SparqrTask t = qrTask(SPARQR_APPLY_FACTORIZE, f, p.column, p.tiles);
          t.qr.tile[0] = p.tiles[0];
          t.size = 1 + nb.size();
          t.applied = 0;
          for (size_t i = 0; i < nb.size(); i++) {
            t.qr.tile[i + 1] = nb[i];
            if (std::find(rest.begin(), rest.end(), nb[i]) != rest.end())
              t.applied |= 1 << i;
          }
          t.qr.vt_read = p.slot;
          t.qr.vt_write = s.slots++;
          first.push_back(t);
          next.push_back({(int)f, j, t.qr.vt_write, nb});
        }
        while (!id.empty()) {
          int n = std::min<int>(B, id.size());
          std::vector<int> nb(id.begin(), id.begin() + n);
          if (n == 1 && tri[f][nb[0]])
            break;
          id.erase(id.begin(), id.begin() + n);
          SparqrTask t = qrTask(SPARQR_FACTORIZE, f, j, nb);
          t.qr.vt_write = s.slots++;
          first.push_back(t);
          next.push_back({(int)f, j, t.qr.vt_write, nb});
          any = true;
        }
      }
      pending[f] = next;
    }
    // Tiles that advance lose their triangle.
    for (size_t f = 0; f < nf; f++)
      for (auto& p : pending[f])
        for (int i : p.tiles)
          tri[f][i] = 0;
    if (first.empty() && bulk.empty())
      break;
    s.tasks.insert(s.tasks.end(), first.begin(), first.end());
    s.tasks.insert(s.tasks.end(), bulk.begin(), bulk.end());
    s.urgent.push_back(first.size());
    s.roundStart.push_back(s.tasks.size());
  }
  return s;
}

static double relError(const std::vector<double>& a0, const std::vector<double>& a, const SparqrFront& f) {
  // R'R against A'A over all fn + rhs columns of the original; rows beyond fn count for rhs only.
  int n = f.fn + f.rhs;
  double worst = 0, scale = 0;
  for (int j = 0; j < n; j++)
    for (int k = j; k < n; k++) {
      double s = 0, r = 0;
      for (int i = 0; i < f.fm; i++)
        s += a0[(size_t)i * f.ld + j] * a0[(size_t)i * f.ld + k];
      int top = j < f.fn ? std::min(j + 1, f.fm) : f.fm;
      for (int i = 0; i < top; i++)
        r += a[(size_t)i * f.ld + j] * a[(size_t)i * f.ld + k];
      worst = std::max(worst, std::fabs(s - r));
      scale = std::max(scale, std::fabs(s));
      if (!(std::fabs(s - r) >= 0))
        return NAN;
    }
  return worst / scale;
}

struct Problem {
  int m, n, rhs, count;
};

static void run(const Problem& p, int B, int chunk, bool check, int mode) {
  int ld = (p.n + p.rhs + 31) / 32 * 32, mt = (p.m + 31) / 32;
  size_t size = (size_t)mt * 32 * ld;
  std::vector<SparqrFront> fronts(p.count);
  for (int i = 0; i < p.count; i++) {
    SparqrFront f;
    memset(&f, 0, sizeof f);
    f.data = size * i;
    f.ld = ld;
    f.fm = p.m;
    f.fn = p.n;
    f.fp = p.n;
    f.rhs = p.rhs;
    f.row_tiles = mt;
    f.column_tiles = ld / 32;
    f.parent = -1;
    fronts[i] = f;
  }
  auto clock0 = std::chrono::steady_clock::now();
  Schedule s = buildSchedule(fronts, B, chunk);
  double schedMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - clock0).count();
  std::vector<double> a(size, 0.0);
  std::mt19937_64 rng(7);
  std::uniform_real_distribution<double> u(-1, 1);
  for (int i = 0; i < p.m; i++)
    for (int j = 0; j < p.n + p.rhs; j++)
      a[(size_t)i * ld + j] = u(rng);
  SparqrStage st = {};
  memset(&st, 0, sizeof st);
  double *arena, *orig, *vt;
  SparqrTask* tasks;
  SparqrFront* fr;
  int32_t* state;
  CHECK(cudaMalloc(&arena, size * p.count * 8));
  CHECK(cudaMalloc(&orig, size * 8));
  CHECK(cudaMalloc(&vt, (size_t)s.slots * 2048 * 8));
  CHECK(cudaMemset(vt, 0xff, (size_t)s.slots * 2048 * 8));
  CHECK(cudaMalloc(&tasks, s.tasks.size() * sizeof(SparqrTask)));
  CHECK(cudaMalloc(&fr, fronts.size() * sizeof(SparqrFront)));
  CHECK(cudaMalloc(&state, p.count * 4));
  CHECK(cudaMemset(state, 0, p.count * 4));
  CHECK(cudaMemcpy(orig, a.data(), size * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(tasks, s.tasks.data(), s.tasks.size() * sizeof(SparqrTask), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(fr, fronts.data(), fronts.size() * sizeof(SparqrFront), cudaMemcpyHostToDevice));
  st.tasks = tasks;
  st.fronts = fr;
  st.arena = arena;
  st.vt = vt;
  st.state = state;
  st.tolerance = 1e-14;
  int sh = ((B > 4 ? 8 : 4) * 1024 + 1024 + 2048) * 8;
  st.shared_doubles = sh / 8;
  st.wait_nanos = 60'000'000'000ull;
  auto kernel = B > 4 ? sparqr_round_8 : sparqr_round_4;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sh));
  auto reset = [&](cudaStream_t q) {
    for (int i = 0; i < p.count; i++)
      CHECK(cudaMemcpyAsync(arena + size * i, orig, size * 8, cudaMemcpyDeviceToDevice, q));
  };
  cudaStream_t q, hi, lo;
  int least, greatest;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(cudaStreamCreateWithFlags(&q, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithPriority(&hi, cudaStreamNonBlocking, greatest));
  CHECK(cudaStreamCreateWithPriority(&lo, cudaStreamNonBlocking, least));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  size_t rounds = s.urgent.size();
  std::vector<cudaEvent_t> ev(2 * rounds + 2);
  for (auto& e : ev)
    CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  if (mode == 0) {
    CHECK(cudaStreamBeginCapture(q, cudaStreamCaptureModeThreadLocal));
    for (size_t r = 0; r < rounds; r++)
      kernel<<<s.roundStart[r + 1] - s.roundStart[r], 128, sh, q>>>(st, s.roundStart[r]);
    CHECK(cudaStreamEndCapture(q, &graph));
  } else {
    // urgent of round r on hi, bulk on lo; each round waits for both of the one before.
    CHECK(cudaStreamBeginCapture(hi, cudaStreamCaptureModeThreadLocal));
    for (size_t r = 0; r < rounds; r++) {
      long long u0 = s.urgent[r], n = s.roundStart[r + 1] - s.roundStart[r];
      if (n > u0) {
        CHECK(cudaEventRecord(ev[2 * r], hi));
        CHECK(cudaStreamWaitEvent(lo, ev[2 * r], 0));
        kernel<<<n - u0, 128, sh, lo>>>(st, s.roundStart[r] + u0);
      }
      if (u0)
        kernel<<<u0, 128, sh, hi>>>(st, s.roundStart[r]);
      if (n > u0) {
        CHECK(cudaEventRecord(ev[2 * r + 1], lo));
        CHECK(cudaStreamWaitEvent(hi, ev[2 * r + 1], 0));
      }
    }
    CHECK(cudaStreamEndCapture(hi, &graph));
  }
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  cudaEvent_t e0, e1;
  CHECK(cudaEventCreate(&e0));
  CHECK(cudaEventCreate(&e1));
  std::vector<float> ms;
  for (int it = 0; it < 7; it++) {
    reset(q);
    CHECK(cudaEventRecord(e0, q));
    CHECK(cudaGraphLaunch(exec, q));
    CHECK(cudaEventRecord(e1, q));
    CHECK(cudaStreamSynchronize(q));
    float t;
    CHECK(cudaEventElapsedTime(&t, e0, e1));
    ms.push_back(t);
  }
  std::sort(ms.begin(), ms.end());
  double k = std::min(p.m, p.n);
  double flops = p.count * (4.0 * p.m * p.n * k - 2.0 * (p.m + p.n) * k * k + 4.0 / 3 * k * k * k);
  double err = -1;
  if (check) {
    std::vector<double> b(size);
    CHECK(cudaMemcpy(b.data(), arena + size * (p.count - 1), size * 8, cudaMemcpyDeviceToHost));
    err = relError(a, b, fronts[0]);
  }
  std::vector<int32_t> hs(p.count);
  CHECK(cudaMemcpy(hs.data(), state, p.count * 4, cudaMemcpyDeviceToHost));
  printf(
      "%6d x %5d rhs %d count %3d B %d chunk %2d mode %d: %9.3f ms (best %.3f) %6.2f TFLOP/s rounds %zu tasks %zu "
      "sched %.1f ms err %.1e%s\n",
      p.m, p.n, p.rhs, p.count, B, chunk, mode, ms[ms.size() / 2], ms[0], flops / ms[ms.size() / 2] * 1e-9, rounds,
      s.tasks.size(), schedMs, err, err > 1e-13 || err != err ? " WRONG" : "");
  fflush(stdout);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  for (auto& e : ev)
    cudaEventDestroy(e);
  cudaFree(arena);
  cudaFree(orig);
  cudaFree(vt);
  cudaFree(tasks);
  cudaFree(fr);
  cudaFree(state);
  cudaStreamDestroy(q);
  cudaStreamDestroy(hi);
  cudaStreamDestroy(lo);
}

static void micro(int B, int count, int kind, int cols) {
  int ld = 32 + 32 * cols;
  size_t size = (size_t)B * 32 * ld;
  std::vector<SparqrFront> fronts(count);
  std::vector<SparqrTask> tasks;
  for (int i = 0; i < count; i++) {
    SparqrFront f;
    memset(&f, 0, sizeof f);
    f.data = size * i;
    f.ld = ld;
    f.fm = 32 * B;
    f.fn = 32;
    f.fp = 32;
    f.rhs = 32 * cols;
    f.row_tiles = B;
    f.column_tiles = ld / 32;
    fronts[i] = f;
    std::vector<int> t;
    for (int b = 0; b < B; b++)
      t.push_back(b);
    SparqrTask k = qrTask(kind, i, 0, t);
    k.qr.vt_write = k.qr.vt_read = i;
    k.qr.from = 1;
    k.qr.to = 1 + cols;
    tasks.push_back(k);
  }
  std::vector<double> a(size);
  std::mt19937_64 rng(7);
  std::uniform_real_distribution<double> u(-1, 1);
  for (auto& x : a)
    x = u(rng);
  double *arena, *vt;
  SparqrTask* dt;
  SparqrFront* fr;
  int32_t* state;
  CHECK(cudaMalloc(&arena, size * count * 8));
  CHECK(cudaMalloc(&vt, (size_t)count * 2048 * 8));
  for (int i = 0; i < count; i++)
    CHECK(cudaMemcpy(arena + size * i, a.data(), size * 8, cudaMemcpyHostToDevice));
  for (int i = 0; i < count; i++)
    CHECK(cudaMemcpy(vt + 2048ll * i, a.data(), 2048 * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMalloc(&dt, count * sizeof(SparqrTask)));
  CHECK(cudaMalloc(&fr, count * sizeof(SparqrFront)));
  CHECK(cudaMalloc(&state, count * 4));
  CHECK(cudaMemset(state, 0, count * 4));
  CHECK(cudaMemcpy(dt, tasks.data(), count * sizeof(SparqrTask), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(fr, fronts.data(), count * sizeof(SparqrFront), cudaMemcpyHostToDevice));
  SparqrStage st = {};
  memset(&st, 0, sizeof st);
  st.tasks = dt;
  st.fronts = fr;
  st.arena = arena;
  st.vt = vt;
  st.state = state;
  st.tolerance = -1;
  int sh = ((B > 4 ? 8 : 4) * 1024 + 1024 + 2048) * 8;
  auto kernel = B > 4 ? sparqr_round_8 : sparqr_round_4;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sh));
  cudaEvent_t e0, e1;
  CHECK(cudaEventCreate(&e0));
  CHECK(cudaEventCreate(&e1));
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, sh));
  std::vector<float> ms;
  for (int it = 0; it < 9; it++) {
    CHECK(cudaEventRecord(e0));
    for (int r = 0; r < 10; r++)
      kernel<<<count, 128, sh>>>(st, 0);
    CHECK(cudaEventRecord(e1));
    CHECK(cudaDeviceSynchronize());
    float t;
    CHECK(cudaEventElapsedTime(&t, e0, e1));
    ms.push_back(t / 10);
  }
  std::sort(ms.begin(), ms.end());
  double m = 32.0 * B;
  double flops = kind == SPARQR_FACTORIZE ? count * (2 * m * 32 * 32 - 2.0 / 3 * 32 * 32 * 32)
                                          : count * (4.0 * m * 32 * 32 * cols);
  printf("%s B %d x %d cols %d: %.2f us, %.2f TFLOP/s, blocks/SM %d\n",
         kind == SPARQR_FACTORIZE ? "factorize" : "apply", B, count, cols, ms[4] * 1e3, flops / ms[4] * 1e-9, blocks);
  cudaFree(arena);
  cudaFree(vt);
  cudaFree(dt);
  cudaFree(fr);
  cudaFree(state);
}

int main(int argc, char** argv) {
  if (argc > 1 && !strcmp(argv[1], "micro")) {
    micro(4, 1, SPARQR_FACTORIZE, 0);
    return 0;
  }
  for (int B : {1, 2, 4, 6, 8}) {
    micro(B, 1, SPARQR_FACTORIZE, 0);
    micro(B, 132 * 16, SPARQR_FACTORIZE, 0);
  }
  for (int B : {2, 4, 6, 8}) {
    micro(B, 1, SPARQR_APPLY, 1);
    micro(B, 132 * 8, SPARQR_APPLY, 4);
    micro(B, 132 * 8, SPARQR_APPLY, 8);
  }
  for (int B : {2, 3, 4, 6, 8})
    for (Problem p : {Problem{1, 1, 0, 1}, Problem{31, 5, 1, 2}, Problem{33, 32, 1, 1}, Problem{97, 95, 3, 2},
                      Problem{300, 150, 1, 3}, Problem{20, 70, 1, 1}, Problem{513, 257, 5, 1}})
      run(p, B, 4, true, 0);
  run({300, 150, 1, 3}, 8, 2, true, 1);
  const bool all = argc > 1;
  for (int mode : {0, 1})
    for (int B : {4, 6, 8})
      for (int chunk : {2, 4, 8}) {
        if (!all && (mode == 1 || B == 6 || chunk != 4))
          continue;
        run({300, 150, 1, 500}, B, chunk, false, mode);
        run({1024, 1024, 0, 1}, B, chunk, false, mode);
        run({2048, 2048, 0, 1}, B, chunk, false, mode);
        run({4096, 4096, 0, 1}, B, chunk, false, mode);
        run({8192, 8192, 0, 1}, B, chunk, false, mode);
        run({100000, 192, 0, 1}, B, chunk, false, mode);
      }
  return 0;
}
