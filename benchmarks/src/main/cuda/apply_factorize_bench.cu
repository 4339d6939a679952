/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Microseconds of an Apply/Factorize task, and of its two parts alone, without a JVM: what it could gain if the column tile
// that Apply has made did not go through memory on its way to Factorize (SQR 3.2.3, "saves two global memory operations").
// Compiled with other headers in front it times what they make of it; that Cholesky QR has taken the tile is checked.
// With any argument the whole task alone.
// nvcc -arch=sm_90 -O3 -std=c++17 -I ../../../../gpu-core/src/main/cuda/include -o apply_factorize_bench apply_factorize_bench.cu
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>
#include "apply.cuh"
#include "cholesky_qr.cuh"

#define CHECK(x)                                                                \
  do {                                                                          \
    cudaError_t e_ = (x);                                                       \
    if (e_ != cudaSuccess) {                                                    \
      printf("%s:%d %s: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_)); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

constexpr int LD = 64;  // two column tiles: the reflectors', and the one that Apply makes
constexpr int SHARED_BYTES = SPARQR_SHARED_DOUBLES_8 * 8;
__device__ int declined;

enum Way { BOTH, APPLY_ONLY, FACTORIZE_ONLY };
static const char* const NAMES[] = {"Apply/Factorize", "Apply alone", "Factorize alone"};

/** size: row tiles. */
__global__ void __launch_bounds__(128, 2) task(double* arena, double* slots, int size, Way way) {
  extern __shared__ __align__(16) double shared[];
  __shared__ Bundle bundle;
  __shared__ CholeskyShared cholesky;
  const long long block = blockIdx.x;
  if (threadIdx.x < size) {
    bundle.row[threadIdx.x] = arena + (block * size + threadIdx.x) * SPARQR_TILE * LD;
  }
  if (threadIdx.x == 0) {
    bundle.size = size;
  }
  __syncthreads();
  double* vt = slots + 2 * block * SPARQR_VT_DOUBLES;
  if (way != FACTORIZE_ONLY) {
    load_vt(shared, bundle, LD, 0, SPARQR_TILE, vt);
    apply_columns<4, 2>(shared, bundle, LD, SPARQR_TILE, 2 * SPARQR_TILE);
  }
  __syncthreads();
  if (way == APPLY_ONLY) {
    return;
  }
  const bool taken = cholesky_factorize<8>(shared, cholesky, bundle, LD, 1, vt + SPARQR_VT_DOUBLES);
  if (!taken && threadIdx.x == 0) {
    declined = 1;
  }
}

int main(int argc, char**) {
  const int last = argc > 1 ? BOTH : FACTORIZE_ONLY;
  CHECK(cudaFuncSetAttribute(task, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
  for (int size : {4, 8}) {
    for (int blocks : {1, 132, 264}) {
      const size_t doubles = static_cast<size_t>(blocks) * size * SPARQR_TILE * LD;
      const size_t slots = static_cast<size_t>(blocks) * 2 * SPARQR_VT_DOUBLES;
      std::vector<double> a(doubles), vt(slots);
      std::mt19937_64 random(1);
      std::normal_distribution<double> normal;
      for (double& x : a) {
        x = normal(random);
      }
      for (double& x : vt) {
        x = 1e-3 * normal(random);  // so that C stays what it is, about
      }
      double *da, *d0, *dv, *dv0;
      CHECK(cudaMalloc(&da, doubles * 8));
      CHECK(cudaMalloc(&d0, doubles * 8));
      CHECK(cudaMalloc(&dv, slots * 8));
      CHECK(cudaMalloc(&dv0, slots * 8));
      CHECK(cudaMemcpy(d0, a.data(), doubles * 8, cudaMemcpyHostToDevice));
      CHECK(cudaMemcpy(dv0, vt.data(), slots * 8, cudaMemcpyHostToDevice));
      cudaEvent_t from, to;
      CHECK(cudaEventCreate(&from));
      CHECK(cudaEventCreate(&to));
      std::vector<float> times[3];
      int refused = 0;
      for (int round = 0; round < 60; round++) {
        for (int way = BOTH; way <= last; way++) {
          CHECK(cudaMemcpy(da, d0, doubles * 8, cudaMemcpyDeviceToDevice));
          CHECK(cudaMemcpy(dv, dv0, slots * 8, cudaMemcpyDeviceToDevice));
          CHECK(cudaMemcpyToSymbol(declined, &refused, sizeof refused));
          CHECK(cudaDeviceSynchronize());
          CHECK(cudaEventRecord(from));
          task<<<blocks, 128, SHARED_BYTES>>>(da, dv, size, static_cast<Way>(way));
          CHECK(cudaEventRecord(to));
          CHECK(cudaEventSynchronize(to));
          float ms;
          CHECK(cudaEventElapsedTime(&ms, from, to));
          times[way].push_back(ms * 1e3f);
          int no = 0;
          CHECK(cudaMemcpyFromSymbol(&no, declined, sizeof no));
          if (no) {
            printf("%s: declined\n", NAMES[way]);
            return 1;
          }
        }
      }
      for (auto& t : times) {
        std::sort(t.begin(), t.end());
      }
      printf("%d row tiles, %d tasks:", size, blocks);
      for (int way = BOTH; way <= last; way++) {
        printf(" %s %.2f us (least %.2f)%s", NAMES[way], times[way][30], times[way][0],
               way == last ? "\n" : ",");
      }
      CHECK(cudaFree(da));
      CHECK(cudaFree(d0));
      CHECK(cudaFree(dv));
      CHECK(cudaFree(dv0));
    }
  }
  return 0;
}
