/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Stand-alone check and timing of Factorize on single bundles, without a JVM: by Cholesky QR where it accepts the bundle,
// otherwise by reflectors; with any argument only the check. H'A = R and T + T' = T V'V T' in extended precision.
// nvcc -arch=sm_90 -O3 -std=c++17 -I ../../main/cuda/include -o factorize_bench factorize_bench.cu
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>
#include "cholesky_qr.cuh"
#include "householder_qr.cuh"

#define CHECK(x)                                                                \
  do {                                                                          \
    cudaError_t e_ = (x);                                                       \
    if (e_ != cudaSuccess) {                                                    \
      printf("%s:%d %s: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_)); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

constexpr int SHARED_BYTES = (8 * 1024 + 3072) * 8;
__device__ int accepted;

template <int B>
__device__ void body(double* arena, double* slots, int size, int columns, bool reflectors) {
  extern __shared__ __align__(16) double shared[];
  __shared__ Bundle bundle;
  __shared__ CholeskyShared cholesky;
  const long long block = blockIdx.x;
  if (threadIdx.x < size)
    bundle.row[threadIdx.x] = arena + (block * size + threadIdx.x) * 1024;
  if (threadIdx.x == 0)
    bundle.size = size;
  __syncthreads();
  double* vt = slots + block * SPARQR_VT_DOUBLES;
  if (columns == 32 && !reflectors && cholesky_factorize<B>(shared, cholesky, bundle, 32, 0, vt)) {
    if (threadIdx.x == 0 && block == 0)
      accepted = 1;
    return;
  }
  householder_factorize<B>(*reinterpret_cast<HouseholderShared*>(shared), bundle, 32, 0, columns, vt);
}
__global__ void __launch_bounds__(128, 2) bundles_of_8(double* a, double* vt, int size, int columns, bool reflectors) {
  body<8>(a, vt, size, columns, reflectors);
}
__global__ void __launch_bounds__(128, 2) bundles_of_4(double* a, double* vt, int size, int columns, bool reflectors) {
  body<4>(a, vt, size, columns, reflectors);
}
static void launch(int blocks, double* a, double* vt, int size, int columns, bool reflectors) {
  auto kernel = size > 4 ? bundles_of_8 : bundles_of_4;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
  kernel<<<blocks, 128, SHARED_BYTES>>>(a, vt, size, columns, reflectors);
}

struct Errors {
  double residual, orthogonality;
};

static Errors errors(const std::vector<double>& a0, const std::vector<double>& a, const double* vt, int m, int n) {
  std::vector<long double> v(m * n), t(n * n), c(n * 32), g(n * n), tg(n * n);
  double largest = 0;
  Errors e{0, 0};
  auto worst = [](double& at, long double d) {
    double x = std::fabs((double)d);
    at = std::max(at, x >= 0 ? x : INFINITY);
  };
  for (double x : a0)
    largest = std::max(largest, std::fabs(x));
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      v[i * n + j] = i < 32 ? vt[i * 32 + j] : a[i * 32 + j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      t[i * n + j] = vt[1024 + i * 32 + j];
  for (int k = 0; k < n; k++)
    for (int j = 0; j < 32; j++)
      for (int i = 0; i < m; i++)
        c[k * 32 + j] += v[i * n + k] * a0[i * 32 + j];
  for (int i = 0; i < m; i++)
    for (int j = 0; j < 32; j++) {
      long double s = a0[i * 32 + j];
      for (int k = 0; k < n; k++)
        for (int l = 0; l < n; l++)
          s -= v[i * n + k] * t[l * n + k] * c[l * 32 + j];
      worst(e.residual, (s - (i < 32 || j >= n ? a[i * 32 + j] : 0.0)) / (largest > 0 ? largest : 1));
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int r = 0; r < m; r++)
        g[i * n + j] += v[r * n + i] * v[r * n + j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int l = 0; l < n; l++)
        tg[i * n + j] += t[i * n + l] * g[l * n + j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      long double s = -t[i * n + j] - t[j * n + i];
      for (int l = 0; l < n; l++)
        s += tg[i * n + l] * t[j * n + l];
      worst(e.orthogonality, s);
    }
  return e;
}

struct Kind {
  const char* name;
  double (*value)(double x, double before, int i, int j);
};
static const Kind KINDS[] = {
    {"random", [](double x, double, int, int) { return x; }},
    {"parallel pairs", [](double x, double b, int, int j) { return j % 2 ? b + 1e-9 * x : x; }},
    {"pairs 0.03 apart", [](double x, double b, int, int j) { return j % 2 ? b + 0.03 * x : x; }},
    {"pairs 0.2 apart", [](double x, double b, int, int j) { return j % 2 ? b + 0.2 * x : x; }},
    {"equal columns", [](double x, double b, int, int j) { return j > 0 && j % 3 == 0 ? b : x; }},
    {"nearly one direction", [](double x, double, int, int) { return 1 + 1e-3 * x; }},
    {"zero columns", [](double x, double, int, int j) { return j % 5 == 2 ? 0.0 : x; }},
    {"zeros on the left", [](double x, double, int, int j) { return j < 7 ? 0.0 : x; }},
    {"all zero", [](double, double, int, int) { return 0.0; }},
    {"1e-200", [](double x, double, int, int) { return 1e-200 * x; }},
    {"1e200, a third of the rows", [](double x, double, int i, int) { return i % 3 == 0 ? 1e200 * x : 0.0; }},
    {"1e-170 beside 1", [](double x, double, int, int j) { return j % 4 == 1 ? 1e-170 * x : x; }},
    {"graded", [](double x, double, int, int j) { return std::pow(10., -j) * x; }},
    {"triangle", [](double x, double, int i, int j) { return i <= j ? x : 0.0; }},
    {"triangle on top", [](double x, double, int i, int j) { return i < 32 && i > j ? 0.0 : x; }},
    {"identity on top", [](double x, double, int i, int j) { return i < 32 ? double(i == j) : x; }},
    {"staircase", [](double x, double, int i, int j) { return j < i / 8 ? 0.0 : x; }},
    {"zeros and ones", [](double, double, int i, int j) { return double((i * 7 + j * 13) % 5 == 0); }},
};

int main(int argc, char**) {
  int bad = 0;
  Errors most[2] = {{0, 0}, {0, 0}};
  int count[2] = {0, 0};
  for (int size : {1, 2, 3, 4, 5, 8})
    for (const Kind& kind : KINDS)
      for (int columns : {32, 31, 7, 1}) {
        const int m = 32 * size;
        std::vector<double> a(m * 32), vt(SPARQR_VT_DOUBLES);
        std::mt19937_64 random(size * 100 + (&kind - KINDS));
        std::normal_distribution<double> normal;
        for (int i = 0; i < m; i++)
          for (int j = 0; j < 32; j++)
            a[i * 32 + j] = kind.value(normal(random), j ? a[i * 32 + j - 1] : 0, i, j);
        const std::vector<double> a0 = a;
        double *da, *dv;
        CHECK(cudaMalloc(&da, a.size() * 8));
        CHECK(cudaMalloc(&dv, vt.size() * 8));
        CHECK(cudaMemcpy(da, a.data(), a.size() * 8, cudaMemcpyHostToDevice));
        CHECK(cudaMemset(dv, 0xff, vt.size() * 8));
        int how = 0;
        CHECK(cudaMemcpyToSymbol(accepted, &how, sizeof how));
        launch(1, da, dv, size, columns, false);
        CHECK(cudaMemcpyFromSymbol(&how, accepted, sizeof how));
        CHECK(cudaMemcpy(a.data(), da, a.size() * 8, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(vt.data(), dv, vt.size() * 8, cudaMemcpyDeviceToHost));
        const Errors e = errors(a0, a, vt.data(), m, columns);
        most[how].residual = std::max(most[how].residual, e.residual);
        most[how].orthogonality = std::max(most[how].orthogonality, e.orthogonality);
        count[how]++;
        if (!(e.residual < 4e-15 * std::sqrt(m)) || !(e.orthogonality < 2e-14)) {
          bad++;
          printf("%d row tiles, %s, %d columns: H'A - R %.1e, T + T' %.1e WRONG\n", size, kind.name, columns,
                 e.residual, e.orthogonality);
        }
        CHECK(cudaFree(da));
        CHECK(cudaFree(dv));
      }
  for (int how : {1, 0})
    printf("%s: %d bundles, H'A - R at most %.1e of the largest entry, T + T' - T V'V T' %.1e\n",
           how ? "Cholesky QR" : "reflectors", count[how], most[how].residual, most[how].orthogonality);
  printf("%d wrong\n", bad);
  if (argc > 1)
    return bad != 0;
  for (bool reflectors : {false, true})
    for (int size : {2, 4, 6, 8})
      for (int blocks : {1, 132, 264, 2640}) {
        const size_t doubles = (size_t)blocks * size * 1024;
        std::vector<double> a(doubles);
        std::mt19937_64 random(1);
        std::normal_distribution<double> normal;
        for (double& x : a)
          x = normal(random);
        double *da, *d0, *dv;
        CHECK(cudaMalloc(&da, doubles * 8));
        CHECK(cudaMalloc(&d0, doubles * 8));
        CHECK(cudaMalloc(&dv, (size_t)blocks * SPARQR_VT_DOUBLES * 8));
        CHECK(cudaMemcpy(d0, a.data(), doubles * 8, cudaMemcpyHostToDevice));
        cudaEvent_t e0, e1;
        CHECK(cudaEventCreate(&e0));
        CHECK(cudaEventCreate(&e1));
        float best = 1e9;
        for (int r = 0; r < 12; r++) {
          CHECK(cudaMemcpy(da, d0, doubles * 8, cudaMemcpyDeviceToDevice));
          CHECK(cudaDeviceSynchronize());
          CHECK(cudaEventRecord(e0));
          launch(blocks, da, dv, size, 32, reflectors);
          CHECK(cudaEventRecord(e1));
          CHECK(cudaEventSynchronize(e1));
          float ms;
          CHECK(cudaEventElapsedTime(&ms, e0, e1));
          best = std::min(best, ms);
        }
        printf("%s, %d row tiles, %4d bundles: %7.2f us, %5.2f TFLOP/s\n", reflectors ? "reflectors " : "Cholesky QR",
               size, blocks, best * 1e3, blocks * (2.0 * 1024 * (32 * size - 32 / 3.0)) / best * 1e-9);
        CHECK(cudaFree(da));
        CHECK(cudaFree(d0));
        CHECK(cudaFree(dv));
      }
  return bad != 0;
}
