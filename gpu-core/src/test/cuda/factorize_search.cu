/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Searches for column tiles on which Factorize, Apply or a small front's task fails. On the device, thousands at a
// time: nvcc -arch=sm_90 -O3 -std=c++17 -Xcompiler -fopenmp -I ../../main/cuda/include -o search factorize_search.cu
// and with the same headers on the host, without a device (host/host_instructions.h): g++ -x c++ -std=c++17 -O2
// -march=native -fopenmp -DSPARQR_HOST -I host -I ../../main/cuda/include -o search factorize_search.cu
// search COUNT [SEED [FILE ...]]: COUNT tiles of the search, and those of the files. Exit code 1 if one is wrong.
#include "front_tasks.cuh"
#include "small_front.cuh"
#include "bundles.h"
#include <omp.h>

// Bounds in units of eps. Reflectors (Higham 2002, Accuracy and Stability of Numerical Algorithms, Theorem 19.4): 32 of
// them, each a product and an update of a few eps of the column's norm. Cholesky QR: eps times its growth, at most 16
// per entry.
constexpr double RESIDUAL = 128, ORTHOGONALITY = 128, GRAM = 256, ENTRIES = 256, APPLIED = 128;

constexpr int SHARED_DOUBLES = 8 * 1024 + 3072;
constexpr int LD = 64;  // the tile, and beside it a copy for Apply

/** The treatment of a tile. */
enum How { TILED = 0, REFLECTORS = 1, R_ALONE = 2, SMALL = 3 };

/** A tile in an arena. */
struct Job {
  long long at;
  int size, columns, how;
};

/** The überkernel's work on a tile, by the same functions. */
template <int TILES>
__device__ void run_tile(const Job& job, double* shared, Bundle& bundle, double* arena, double* slot, int32_t* state) {
  SparqrStage stage = {};
  stage.arena = arena;
  stage.vt = slot;
  stage.state = state;
  stage.tolerance = -1;
  stage.shared_doubles = SHARED_DOUBLES;
  stage.reflectors = job.how == REFLECTORS;
  SparqrFront front = {};
  front.data = job.at;
  front.ld = LD;
  front.fm = 32 * job.size;
  front.fn = job.columns;
  front.fp = job.columns;
  front.rhs = (job.how == SMALL ? 32 : LD) - job.columns;
  SparqrTask task = {};
  task.qr.vt_write = job.how == R_ALONE ? -1 : 0;
  if (job.how == SMALL) {
    small_front_task(shared, stage, task, front, 0);
    return;
  }
  if (threadIdx.x < job.size) {
    bundle.row[threadIdx.x] = row_tile(stage, front, threadIdx.x);
  }
  if (threadIdx.x == 0) {
    bundle.size = job.size;
  }
  __syncthreads();
  factorize_task<TILES>(shared, stage, task, front, bundle, 0);
  __syncthreads();
  if (job.how != R_ALONE) {
    apply_task<TILES, true>(shared, front, bundle, 0, slot, 1, 2);
  }
}

/** A tile, factorized. */
struct Result {
  std::vector<double> a, applied, vt;
};

static Result result(const Job& job, const double* arena, const double* slot) {
  Result r;
  for (int i = 0; i < 32 * job.size; i++) {
    const double* row = arena + job.at + i * LD;
    for (int j = 0; j < 32; j++) {
      // the task of a small front leaves its reflectors in place
      r.a.push_back(job.how == SMALL && j < i && j < job.columns ? 0 : row[j]);
      r.applied.push_back(row[32 + j]);
    }
  }
  r.vt.assign(slot, slot + SPARQR_VT_DOUBLES);
  return r;
}

#ifdef SPARQR_HOST
/** Doubles aligned for loads of two at a time. */
struct Aligned {
  explicit Aligned(size_t n) : all(n + 2, NAN) {}
  double* data() {
    return reinterpret_cast<double*>((reinterpret_cast<uintptr_t>(all.data()) + 15) & ~uintptr_t{15});
  }
  std::vector<double> all;
};

static std::vector<Result> run(const std::vector<Job>& jobs, const std::vector<double>& arena) {
  std::vector<Result> results(jobs.size());
#pragma omp parallel
  {
    host::Block block;
    Aligned shared(SHARED_DOUBLES), slot(SPARQR_VT_DOUBLES), part(8 * 32 * LD);
#pragma omp for schedule(dynamic, 16)
    for (size_t k = 0; k < jobs.size(); k++) {
      Job job = jobs[k];
      std::copy(arena.begin() + job.at, arena.begin() + job.at + 32 * job.size * LD, part.data());
      job.at = 0;
      std::fill(shared.all.begin(), shared.all.end(), NAN);
      Bundle bundle;
      int32_t state = 0;
      block.run([&] {
        if (job.size > 4) {
          run_tile<8>(job, shared.data(), bundle, part.data(), slot.data(), &state);
        } else {
          run_tile<4>(job, shared.data(), bundle, part.data(), slot.data(), &state);
        }
      });
      results[k] = result(job, part.data(), slot.data());
    }
  }
  return results;
}
#else
#define CHECK(x)                                                                \
  do {                                                                          \
    cudaError_t e_ = (x);                                                       \
    if (e_ != cudaSuccess) {                                                    \
      printf("%s:%d %s: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_)); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

__global__ void __launch_bounds__(128, 2) run_jobs(const Job* jobs, double* arena, double* slots, int32_t* state) {
  extern __shared__ __align__(16) double shared[];
  __shared__ Bundle bundle;
  const Job job = jobs[blockIdx.x];
  double* slot = slots + static_cast<long long>(blockIdx.x) * SPARQR_VT_DOUBLES;
  if (job.size > 4) {
    run_tile<8>(job, shared, bundle, arena, slot, state);
  } else {
    run_tile<4>(job, shared, bundle, arena, slot, state);
  }
}

static std::vector<Result> run(const std::vector<Job>& jobs, std::vector<double> arena) {
  const size_t count = jobs.size();
  std::vector<double> vt(count * SPARQR_VT_DOUBLES);
  Job* djobs;
  double *da, *dv;
  int32_t* ds;
  CHECK(cudaMalloc(&djobs, count * sizeof(Job)));
  CHECK(cudaMalloc(&da, arena.size() * 8));
  CHECK(cudaMalloc(&dv, vt.size() * 8));
  CHECK(cudaMalloc(&ds, 4));
  CHECK(cudaMemcpy(djobs, jobs.data(), count * sizeof(Job), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(da, arena.data(), arena.size() * 8, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(dv, 0xff, vt.size() * 8));
  CHECK(cudaFuncSetAttribute(run_jobs, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_DOUBLES * 8));
  run_jobs<<<count, 128, SHARED_DOUBLES * 8> > >(djobs, da, dv, ds);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(arena.data(), da, arena.size() * 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(vt.data(), dv, vt.size() * 8, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(djobs));
  CHECK(cudaFree(da));
  CHECK(cudaFree(dv));
  CHECK(cudaFree(ds));
  std::vector<Result> results(count);
#pragma omp parallel for
  for (size_t k = 0; k < count; k++)
    results[k] = result(jobs[k], arena.data(), vt.data() + k * SPARQR_VT_DOUBLES);
  return results;
}
#endif

/** The worst departures of some tiles, and their tiles. */
struct Worst {
  long count = 0, wrong = 0;
  double most[5] = {};
  std::string where[5];

  void add(const Departure& d, const std::string& name) {
    static const double BOUND[5] = {RESIDUAL, ORTHOGONALITY, GRAM, ENTRIES, APPLIED};
    const double here[5] = {d.residual, d.orthogonality, d.gram, d.entries, d.applied};
    bool good = true;
    count++;
    for (int k = 0; k < 5; k++) {
      good = good && here[k] <= BOUND[k];
      if (here[k] > most[k]) {
        most[k] = here[k];
        where[k] = name;
      }
    }
    if (!good && ++wrong <= 20) {
      printf("WRONG %s: residual %.3g, orthogonality %.3g, R'R %.3g, R %.3g, by Apply %.3g eps\n", name.c_str(),
             here[0], here[1], here[2], here[3], here[4]);
    }
  }
};

/** V of reflectors is lower triangular. */
static bool by_reflectors(const std::vector<double>& vt) {
  for (int i = 0; i < 32; i++)
    for (int j = i + 1; j < 32; j++)
      if (vt[i * 32 + j] != 0)
        return false;
  return true;
}

int main(int argc, char** argv) {
  const uint64_t count = argc > 1 ? strtoull(argv[1], nullptr, 10) : 10000,
                 seed = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1;
  std::vector<Tile> given;
  for (int k = 3; k < argc; k++) {
    for (Tile& t : read_tiles(argv[k]))
      given.push_back(t);
  }
  static const char* WAYS[] = {"Cholesky QR", "reflectors", "R alone", "small fronts"};
  Worst worst[4];
  const uint64_t total = given.size() + count, batch = 8192;
  for (uint64_t from = 0; from < total; from += batch) {
    const uint64_t n = std::min(batch, total - from);
    std::vector<Tile> tiles(n);
    std::vector<Job> jobs(n);
    std::vector<double> arena;
#pragma omp parallel for schedule(dynamic, 64)
    for (uint64_t k = 0; k < n; k++) {
      const uint64_t number = from + k;
      tiles[k] = number < given.size() ? given[number] : TileSearch(seed, number - given.size()).make();
    }
    for (uint64_t k = 0; k < n; k++) {
      static const int TURN[] = {TILED, TILED, TILED, TILED, REFLECTORS, TILED, R_ALONE, SMALL};
      jobs[k] = {static_cast<long long>(arena.size()), tiles[k].size, tiles[k].columns,
                 from + k < given.size() ? TILED : TURN[(from + k) % 8]};
      for (int i = 0; i < tiles[k].rows(); i++) {
        for (int j = 0; j < LD; j++)
          arena.push_back(tiles[k].a[i * 32 + j % 32]);
      }
    }
    const std::vector<Result> results = run(jobs, arena);
    std::vector<Departure> found(n);
#pragma omp parallel for schedule(dynamic, 64)
    for (uint64_t k = 0; k < n; k++) {
      const bool whole = jobs[k].how < R_ALONE;
      found[k] = departure(tiles[k], results[k].a, whole ? results[k].vt.data() : nullptr,
                           whole ? results[k].applied.data() : nullptr);
    }
    for (uint64_t k = 0; k < n; k++) {
      const uint64_t number = from + k;
      const int way = jobs[k].how == TILED && by_reflectors(results[k].vt) ? REFLECTORS : jobs[k].how;
      worst[way].add(
          found[k],
          (number < given.size() ? "given " + std::to_string(number)
                                 : "seed " + std::to_string(seed) + " tile " + std::to_string(number - given.size())) +
              " (" + std::to_string(tiles[k].size) + " row tiles, " + std::to_string(tiles[k].columns) + " columns, " +
              tiles[k].kind + ") by " + WAYS[way]);
    }
  }
  long wrong = 0;
  for (int way = 0; way < 4; way++) {
    const Worst& w = worst[way];
    wrong += w.wrong;
    printf("%s: %ld tiles, in eps: residual %.3g, orthogonality %.3g, R'R %.3g, R %.3g, by Apply %.3g\n", WAYS[way],
           w.count, w.most[0], w.most[1], w.most[2], w.most[3], w.most[4]);
    for (int k = 0; k < 5; k++)
      if (!w.where[k].empty())
        printf("  %s\n", w.where[k].c_str());
  }
  printf("%ld wrong of %llu\n", wrong, static_cast<unsigned long long>(total));
  return wrong != 0;
}
