/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Column sums over a stage's input rows and output rows (io.sparqr.backend.staged.executor.RoundExecutor): with w_k =
// r_k scale[number(k)] for a row r of a front, t = sum of w_k over the front's columns and g = `right` times the sum
// over its right-hand sides, the sums of w_k^2 and of w_k (t + g) for each column of the stage, of w_k^2 and of w_k t
// for each right-hand side. An orthogonal transformation preserves them all. The sums are fixed point, so that they do
// not depend on the order of the thread blocks: 64-bit integers, squares in units of 2^-56, probes in units chosen by
// the host, each with a second word in units 2^-40 times smaller, because one column may get a million equal terms.
// Sums of correct rows fit. A contribution that does not fit, or is not finite, marks its column, which then has no
// sum. Bound by memory, or by atomic additions to one word where many rows share a column: lanes of the same column
// are added first.
#pragma once
#include "task_layout.cuh"

constexpr int SPARQR_SUM_ROWS = 32;       // rows of a packed chunk at most
constexpr int SPARQR_SUM_ENTRIES = 2048;  // S entries of a chunk of several rows at most
constexpr double SPARQR_SUM_UNIT = 0x1p56;
constexpr double SPARQR_SUM_LIMIT = 64;

/** A part of a front's rows, or of a block's. */
struct alignas(16) SparqrSumChunk {
  int64_t from;    // packed rows: place of the values of row_from; S: first entry
  int64_t to;      // packed rows: place of the right-hand sides of row_from; S: end
  int64_t probes;  // S: place of the t of the front's row 0
  int32_t front;   // or fronts + number of the block
  int32_t row_from;
  int32_t row_to;  // packed rows [row_from, row_to)
  int32_t unused[3];
};
static_assert(sizeof(SparqrSumChunk) == 48, "chunk size");
static_assert(offsetof(SparqrSumChunk, from) == 0, "");
static_assert(offsetof(SparqrSumChunk, to) == 8, "");
static_assert(offsetof(SparqrSumChunk, probes) == 16, "");
static_assert(offsetof(SparqrSumChunk, front) == 24, "");
static_assert(offsetof(SparqrSumChunk, row_from) == 28, "");
static_assert(offsetof(SparqrSumChunk, row_to) == 32, "");

/** Device pointers; sizes in brackets. */
struct SparqrSums {
  const SparqrSumChunk* chunks;
  const SparqrFront* fronts;
  const double* values;  // packed rows: their buffer; S: s_value
  const uint32_t* s_index;
  const int32_t* start;      // [fronts + blocks]: first of the columns in `number`
  const int32_t* number;     // the stage's columns
  const double* scale;       // [columns + rhs]
  const int32_t* counts;     // [fronts + blocks]: 0 if these rows are excluded
  unsigned long long* sums;  // [4 (columns + rhs)]: squares in whole units, in 2^-40 of them, probes the same
  int32_t* marked;           // [columns + rhs]
  double* g;                 // [rows of the fronts], S: of rows of A, by rhs_sums; only if there are right-hand sides
  double* t;                 // the same; of rows with entries, by entry_sums, 0 before; only if there are several
  unsigned long long* bits;  // [1] sum over all values of mixed_bits
  double probe_unit;
  double right;  // weight of right-hand sides in g; a power of two, 1 if there is one
  int32_t columns;
  int32_t rhs;
};
static_assert(sizeof(SparqrSums) == 128, "sums size");

/** Adds a number of units to a sum. */
__device__ __forceinline__ void add_units(unsigned long long* sum, int all, double units) {
  const double whole = rint(units);
  atomicAdd(sum, static_cast<unsigned long long>(__double2ll_rn(whole)));
  atomicAdd(sum + all, static_cast<unsigned long long>(__double2ll_rn((units - whole) * 0x1p40)));
}

/** The value of a sum in units. */
__device__ __forceinline__ double units_of(const unsigned long long* sum, int all) {
  return static_cast<double>(static_cast<long long>(sum[0])) +
         static_cast<double>(static_cast<long long>(sum[all])) * 0x1p-40;
}

/** Adds to the sums of a column. */
__device__ __forceinline__ void add_sums(const SparqrSums& sums, int column, double squares, double probe) {
  const double p = probe * sums.probe_unit;
  // written so that NaN marks the column
  if (squares <= SPARQR_SUM_LIMIT && fabs(p) <= SPARQR_SUM_LIMIT * SPARQR_SUM_UNIT) {
    if (squares != 0 || p != 0) {
      const int all = sums.columns + sums.rhs;
      add_units(sums.sums + column, all, squares * SPARQR_SUM_UNIT);
      add_units(sums.sums + 2ll * all + column, all, p);
    }
  } else {
    sums.marked[column] = 1;
  }
}

/** The sum of a block's values on thread 0, in a fixed order. Called by all threads; `shared`: 4 values. */
template <typename T>
__device__ __forceinline__ T block_sum(T value, T* shared) {
  for (int step = 16; step > 0; step >>= 1) {
    value += __shfl_xor_sync(~0u, value, step);
  }
  __syncthreads();
  if ((threadIdx.x & 31) == 0) {
    shared[threadIdx.x >> 5] = value;
  }
  __syncthreads();
  return (shared[0] + shared[1]) + (shared[2] + shared[3]);
}

/** Mixes bits so that a sum reveals a changed word; the host's BitChecksum does the same. */
__device__ __forceinline__ unsigned long long mixed_word(unsigned long long bits) {
  const unsigned long long z = bits * 0x9E3779B97F4A7C15ull;
  return z ^ (z >> 29);
}

/** A value's contribution to a sum of bits. */
__device__ __forceinline__ unsigned long long mixed_bits(double x) {
  return mixed_word(static_cast<unsigned long long>(__double_as_longlong(x)));
}

/** The contribution of the place of S entry e. */
__device__ __forceinline__ unsigned long long mixed_place(uint32_t place, long long e) {
  return mixed_word(static_cast<unsigned long long>(e) << 32 ^ place);
}

/**
 * Packed upper trapezoids: rows of R and blocks in the output buffer, blocks in the input buffer. Grid: chunks.
 *
 * @param all whether the bits of excluded rows are summed too
 */
__device__ __forceinline__ void packed_sums(const SparqrSums& sums, bool all) {
  __shared__ double t[SPARQR_SUM_ROWS];     // for right-hand sides
  __shared__ double both[SPARQR_SUM_ROWS];  // t + g, for columns
  __shared__ unsigned long long words[4];
  const SparqrSumChunk chunk = sums.chunks[blockIdx.x];
  const bool counts = sums.counts[chunk.front] != 0;
  if (!counts && !all) {
    return;
  }
  const int fn = sums.fronts[chunk.front].fn, rhs = sums.fronts[chunk.front].rhs;
  const int rows = chunk.row_to - chunk.row_from, first = chunk.row_from;
  const int32_t* number = sums.number + sums.start[chunk.front];
  // row i of the chunk: column first + j at values[i * width - i (i - 1) / 2 + j - i]
  const double* values = sums.values + chunk.from;
  const int width = fn - first;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  unsigned long long bits = 0;
  for (int i = warp; i < rows; i += 4) {
    const double* row = values + static_cast<long long>(i) * width - i * (i + 1) / 2;
    double sum = 0;
#pragma unroll 4
    for (int j = i + lane; j < width; j += 32) {
      const double x = row[j];
      sum = fma(x, sums.scale[number[first + j]], sum);
      bits += mixed_bits(x);
    }
    double g = 0;
    for (int q = lane; q < rhs; q += 32) {
      g = fma(sums.values[chunk.to + static_cast<long long>(i) * rhs + q], sums.scale[sums.columns + q], g);
    }
    for (int step = 16; step > 0; step >>= 1) {
      sum += __shfl_xor_sync(~0u, sum, step);
    }
    // with one right-hand side lane 0 has all of it
    for (int step = 16; step > 0 && rhs > 1; step >>= 1) {
      g += __shfl_xor_sync(~0u, g, step);
    }
    if (lane == 0) {
      t[i] = sum;
      both[i] = fma(g, sums.right, sum);
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < width && counts; j += 128) {
    const int column = number[first + j];
    const double scale = sums.scale[column];
    const int end = min(rows, j + 1);
    double squares = 0, probe = 0;
#pragma unroll 8
    for (int i = 0; i < end; i++) {
      const double w = values[static_cast<long long>(i) * width - i * (i + 1) / 2 + j] * scale;
      squares = fma(w, w, squares);
      probe = fma(w, both[i], probe);
    }
    add_sums(sums, column, squares, probe);
  }
  for (int q = threadIdx.x; q < rhs; q += 128) {
    const double scale = sums.scale[sums.columns + q];
    double squares = 0, probe = 0;
    for (int i = 0; i < rows; i++) {
      const double x = sums.values[chunk.to + static_cast<long long>(i) * rhs + q];
      const double w = x * scale;
      squares = fma(w, w, squares);
      probe = fma(w, t[i], probe);
      bits += mixed_bits(x);
    }
    if (counts) {
      add_sums(sums, sums.columns + q, squares, probe);
    }
  }
  bits = block_sum(bits, words);
  if (threadIdx.x == 0) {
    atomicAdd(sums.bits, bits);
  }
}

/**
 * Combines lanes of the same column before they add to its sums. Called by all lanes of the warp; column -1: nothing to
 * add.
 */
__device__ __forceinline__ void add_together(const SparqrSums& sums, int column, double squares, double probe) {
  const int leader = __shfl_sync(~0u, column, 0);
  if (__all_sync(~0u, column == leader)) {
    for (int step = 16; step > 0; step >>= 1) {
      squares += __shfl_xor_sync(~0u, squares, step);
      probe += __shfl_xor_sync(~0u, probe, step);
    }
    if ((threadIdx.x & 31) == 0 && column >= 0) {
      add_sums(sums, column, squares, probe);
    }
  } else if (column >= 0) {
    add_sums(sums, column, squares, probe);
  }
}

/** g of a row of S. */
__device__ __forceinline__ double row_g(const SparqrSums& sums, long long place) {
  return sums.rhs > 0 ? sums.g[place] : 0;
}

/** Keeps t of a row of S for the probes of several right-hand sides. */
__device__ __forceinline__ void keep_t(const SparqrSums& sums, long long place, double t) {
  if (sums.rhs > 1) {
    sums.t[place] = t;
  }
}

/** Row of an S entry in its front. */
__device__ __forceinline__ int row_of(const SparqrSums& sums, long long e, unsigned ld) {
  return static_cast<int>(sums.s_index[e] / ld);
}

/**
 * S entries [from, to) of a front, whole rows, without right-hand sides, after rhs_sums, which computes their g: t of
 * each row, and its columns' sums. One thread per row; all threads share a chunk of one row. It adds the probe of a
 * single right-hand side too, whose scaled entry is g; for several it leaves t to rhs_probe_sums. Grid: chunks.
 */
__device__ __forceinline__ void entry_sums(const SparqrSums& sums) {
  __shared__ int head[SPARQR_SUM_ENTRIES + 1];
  __shared__ int heads[5];
  __shared__ double parts[4];
  __shared__ unsigned long long words[4];
  const SparqrSumChunk chunk = sums.chunks[blockIdx.x];
  const bool counts = sums.counts[chunk.front] != 0;
  const unsigned ld = static_cast<unsigned>(sums.fronts[chunk.front].ld);
  const int32_t* number = sums.number + sums.start[chunk.front];
  const long long from = chunk.from;
  const long long length = chunk.to - from;
  unsigned long long bits = 0;
  double right_probe = 0;  // parts of the sum of g t
  const int first_row = row_of(sums, from, ld);
  if (length > SPARQR_SUM_ENTRIES || row_of(sums, chunk.to - 1, ld) == first_row) {
    const double g = row_g(sums, chunk.probes + first_row);
    double sum = 0;
    for (long long e = threadIdx.x; e < length; e += 128) {
      const double x = sums.values[from + e];
      const unsigned place = sums.s_index[from + e];
      sum = fma(x, sums.scale[number[place - first_row * ld]], sum);
      bits += mixed_bits(x) + mixed_place(place, from + e);
    }
    const double t = block_sum(sum, parts);
    for (long long e = threadIdx.x; e < length && counts; e += 128) {
      const int column = number[sums.s_index[from + e] - first_row * ld];
      const double w = sums.values[from + e] * sums.scale[column];
      add_sums(sums, column, w * w, w * (t + g));
    }
    if (threadIdx.x == 0) {
      right_probe = g * t;
      keep_t(sums, chunk.probes + first_row, t);
    }
  } else {
    // the starts of rows, in order
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    int count = 0;
    for (int base = 0; base < length; base += 128) {
      const int e = base + threadIdx.x;
      const int row = e < length ? row_of(sums, from + e, ld) : -1;
      int before = __shfl_up_sync(~0u, row, 1);
      if (lane == 0) {
        before = e == 0 || e >= length ? -1 : row_of(sums, from + e - 1, ld);
      }
      const bool begins = row != before && e < length;
      const unsigned vote = __ballot_sync(~0u, begins);
      if (lane == 0) {
        heads[warp] = __popc(vote);
      }
      __syncthreads();
      int place = count;
      for (int k = 0; k < warp; k++) {
        place += heads[k];
      }
      if (begins) {
        head[place + __popc(vote & ((1u << lane) - 1))] = e;
      }
      count += heads[0] + heads[1] + heads[2] + heads[3];
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      head[count] = static_cast<int>(length);
    }
    __syncthreads();
    // long rows: one warp per row
    const bool few = 32 * count <= length;
    for (int k = warp; k < count && few; k += 4) {
      const int begin = head[k], end = head[k + 1];
      const int row = row_of(sums, from + begin, ld);
      const double g = row_g(sums, chunk.probes + row);
      double t = 0;
      for (int e = begin + lane; e < end; e += 32) {
        const double x = sums.values[from + e];
        const unsigned place = sums.s_index[from + e];
        t = fma(x, sums.scale[number[place - row * ld]], t);
        bits += mixed_bits(x) + mixed_place(place, from + e);
      }
      for (int step = 16; step > 0; step >>= 1) {
        t += __shfl_xor_sync(~0u, t, step);
      }
      if (lane == 0) {
        right_probe = fma(g, t, right_probe);
        keep_t(sums, chunk.probes + row, t);
      }
      for (int e = begin + lane; e < end && counts; e += 32) {
        const int column = number[sums.s_index[from + e] - row * ld];
        const double w = sums.values[from + e] * sums.scale[column];
        add_sums(sums, column, w * w, w * (t + g));
      }
    }
    for (int base = 0; base < count && !few; base += 128) {
      const int k = base + threadIdx.x;
      const int begin = k < count ? head[k] : 0, end = k < count ? head[k + 1] : 0;
      const int row = k < count ? row_of(sums, from + begin, ld) : 0;
      double t = 0;
      for (int e = begin; e < end; e++) {
        const double x = sums.values[from + e];
        const unsigned place = sums.s_index[from + e];
        t = fma(x, sums.scale[number[place - row * ld]], t);
        bits += mixed_bits(x) + mixed_place(place, from + e);
      }
      double both = t;
      if (k < count) {
        const double g = row_g(sums, chunk.probes + row);
        both += g;
        right_probe = fma(g, t, right_probe);
        keep_t(sums, chunk.probes + row, t);
      }
      const int steps = counts ? __reduce_max_sync(~0u, static_cast<unsigned>(end - begin)) : 0;
      // backwards from the last entry: columns shared by all rows tend to be last in a front
      for (int s = 1; s <= steps; s++) {
        const int e = end - s;
        int column = -1;
        double w = 0;
        if (e >= begin && k < count) {
          column = number[sums.s_index[from + e] - row * ld];
          w = sums.values[from + e] * sums.scale[column];
        }
        add_together(sums, column, w * w, w * both);
      }
    }
  }
  if (sums.rhs == 1 && counts) {
    // `right` is 1 then
    right_probe = block_sum(right_probe, parts);
    if (threadIdx.x == 0) {
      add_sums(sums, sums.columns, 0, right_probe);
    }
  }
  bits = block_sum(bits, words);
  if (threadIdx.x == 0) {
    atomicAdd(sums.bits, bits);
  }
}

/**
 * Right-hand sides in S, [from, to) of a front, rhs per row: their squares, and g of each row. Before entry_sums. A
 * thread has the same rows for every right-hand side, and no other thread has them. Grid: chunks.
 */
__device__ __forceinline__ void rhs_sums(const SparqrSums& sums) {
  __shared__ double parts[4];
  __shared__ unsigned long long words[4];
  const SparqrSumChunk chunk = sums.chunks[blockIdx.x];
  const bool counts = sums.counts[chunk.front] != 0;
  const unsigned ld = static_cast<unsigned>(sums.fronts[chunk.front].ld);
  const int rhs = sums.fronts[chunk.front].rhs;
  unsigned long long bits = 0;
  for (int q = 0; q < rhs; q++) {
    const double scale = sums.scale[sums.columns + q];
    double squares = 0;
    for (long long e = chunk.from + q + static_cast<long long>(threadIdx.x) * rhs; e < chunk.to; e += 128ll * rhs) {
      const double x = sums.values[e];
      const unsigned place = sums.s_index[e];
      const double w = x * scale;
      double* const g = sums.g + chunk.probes + place / ld;
      *g = fma(w, sums.right, q == 0 ? 0 : *g);
      squares = fma(w, w, squares);
      bits += mixed_bits(x) + mixed_place(place, e);
    }
    squares = block_sum(squares, parts);
    if (threadIdx.x == 0 && counts) {
      add_sums(sums, sums.columns + q, squares, 0);
    }
  }
  bits = block_sum(bits, words);
  if (threadIdx.x == 0) {
    atomicAdd(sums.bits, bits);
  }
}

/** Their probes, if there are several: after entry_sums, which computes their t. Grid: the chunks of rhs_sums. */
__device__ __forceinline__ void rhs_probe_sums(const SparqrSums& sums) {
  __shared__ double parts[4];
  const SparqrSumChunk chunk = sums.chunks[blockIdx.x];
  if (sums.counts[chunk.front] == 0) {
    return;
  }
  const unsigned ld = static_cast<unsigned>(sums.fronts[chunk.front].ld);
  const int rhs = sums.fronts[chunk.front].rhs;
  for (int q = 0; q < rhs; q++) {
    const double scale = sums.scale[sums.columns + q];
    double probe = 0;
    for (long long e = chunk.from + q + static_cast<long long>(threadIdx.x) * rhs; e < chunk.to; e += 128ll * rhs) {
      probe = fma(sums.values[e] * scale, sums.t[chunk.probes + row_of(sums, e, ld)], probe);
    }
    probe = block_sum(probe, parts);
    if (threadIdx.x == 0) {
      add_sums(sums, sums.columns + q, 0, probe);
    }
  }
}

/** Input and result of the comparison of sums. */
struct SparqrDepartures {
  const unsigned long long* in;   // sums over the input, [4 all]
  const unsigned long long* out;  // sums over the output
  const int32_t* marked_in;
  const int32_t* marked_out;
  const double* residual;  // [slots * rhs]: parts of the squares of right-hand sides that end here
  const double* scale;     // [columns + rhs]
  double* ended;           // [rhs]: their sums, unscaled
  double* result;          // the largest departure, parts of t'(t + g), g't
  double probe_unit;
  double right;          // as in SparqrSums
  double right_squares;  // g'g at most
  int32_t columns;
  int32_t rhs;
  int32_t slots;
  int32_t unused;
};
static_assert(sizeof(SparqrDepartures) == 104, "departures size");

constexpr int SPARQR_NORM_PARTS = 64;

/**
 * Parts of t'(t + g), the sum of the columns' probes, and g't, that of the right-hand sides'; then the ended squares of
 * each right-hand side. Grid: SPARQR_NORM_PARTS + rhs.
 */
__device__ __forceinline__ void probe_norm(const SparqrDepartures& d) {
  __shared__ double parts[4];
  const int all = d.columns + d.rhs;
  double sum = 0;
  if (blockIdx.x >= SPARQR_NORM_PARTS) {
    const int q = blockIdx.x - SPARQR_NORM_PARTS;
    // Compensated, as on the host: rounding errors of equal terms all have one sign.
    double low = 0;
    for (int k = threadIdx.x; k < d.slots; k += 128) {
      const double x = d.residual[static_cast<long long>(k) * d.rhs + q];
      const double t = sum + x;
      const double z = t - sum;
      low += (sum - (t - z)) + (x - z);
      sum = t;
    }
    sum = block_sum(sum + low, parts);
    if (threadIdx.x == 0) {
      d.ended[q] = sum;
    }
    return;
  }
  for (int j = blockIdx.x * 128 + threadIdx.x; j < d.columns; j += SPARQR_NORM_PARTS * 128) {
    sum += units_of(d.in + 2ll * all + j, all);
  }
  sum = block_sum(sum, parts);
  if (threadIdx.x == 0) {
    d.result[1 + blockIdx.x] = sum / d.probe_unit;
  }
  if (blockIdx.x == 0) {
    double right = 0;
    for (int q = threadIdx.x; q < d.rhs; q += 128) {
      right += units_of(d.in + 2ll * all + d.columns + q, all);
    }
    right = block_sum(right, parts);
    if (threadIdx.x == 0) {
      d.result[1 + SPARQR_NORM_PARTS] = right / d.probe_unit * d.right;
      d.result[0] = 0;
    }
  }
}

/**
 * The largest relative departure of a column (the same as io.sparqr.numeric.integrity.Balance); NaN where there is no
 * sum. The bits of nonnegative doubles are ordered like the doubles, with NaN above all.
 */
__device__ __forceinline__ void departures(const SparqrDepartures& d) {
  const int all = d.columns + d.rhs;
  double norm = 0;
  for (int k = 1; k <= SPARQR_NORM_PARTS; k++) {
    norm += d.result[k];
  }
  norm += fabs(d.result[1 + SPARQR_NORM_PARTS]) + d.right_squares;
  const double weight = sqrt(fmax(1.0, norm)) + sqrt(static_cast<double>(d.columns + min(d.rhs, 1)));
  double worst = 0;
  for (int j = blockIdx.x * 128 + threadIdx.x; j < all; j += gridDim.x * 128) {
    const double in = units_of(d.in + j, all) / SPARQR_SUM_UNIT;
    double out = units_of(d.out + j, all) / SPARQR_SUM_UNIT;
    if (j >= d.columns) {
      out += d.ended[j - d.columns] * d.scale[j] * d.scale[j];
    }
    const double probe = units_of(d.in + 2ll * all + j, all) - units_of(d.out + 2ll * all + j, all);
    const double squares = fabs(in - out) / fmax(in, 0.0625);
    const double product = fabs(probe / d.probe_unit) / (fmax(sqrt(fmax(in, 0.0)), 0.25) * weight);
    double here = fmax(squares, product);
    if (d.marked_in[j] != 0 || d.marked_out[j] != 0 || !(squares + product >= 0)) {
      here = __longlong_as_double(0x7ff8000000000000ll);
    }
    worst = here > worst || here != here ? here : worst;
  }
  if (worst != 0) {
    atomicMax(reinterpret_cast<unsigned long long*>(d.result),
              static_cast<unsigned long long>(__double_as_longlong(worst)));
  }
}
