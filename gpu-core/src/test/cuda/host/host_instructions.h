/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// An emulation of CUDA for the kernels' headers under an ordinary C++ compiler: one thread block of 128 threads as 128
// fibers on one host thread. A fiber runs until it meets the others of its warp (shuffles, votes, mma) or of its block
// (barriers), so warps and lanes interleave only there. Device instructions follow the PTX ISA; where it leaves bits
// open (approximate reciprocals), the 20 leading bits are kept. Compile with -DSPARQR_HOST, and with fused multiply-add
// if available.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#define __device__
#define __forceinline__ inline
#define __shared__ static thread_local

struct alignas(16) double2 {
  double x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
inline double2 make_double2(double x, double y) {
  return {x, y};
}
using std::max;
using std::min;

namespace host {

constexpr int THREADS = 128, LANES = 32, WARPS = 4;

/** A stack and its suspended state. */
struct Fiber {
#if defined(__x86_64__)
  void* stack_pointer;
#else
  ucontext_t context;
#endif
  std::vector<char> stack;
};

#if defined(__x86_64__)
extern "C" void sparqr_switch(void** from, void* to);
asm(R"(
.text
.globl sparqr_switch
.type sparqr_switch,@function
sparqr_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size sparqr_switch,.-sparqr_switch
)");
#endif

/** A block: runs a function in 128 fibers until all have returned. One per host thread. */
class Block {
 public:
  Block() {
    for (Fiber& f : fibers)
      f.stack.resize(256 << 10);
  }

  void run(const std::function<void()>& work) {
    body = &work;
    std::fill(done, done + THREADS, false);
    std::fill(warp_waits, warp_waits + WARPS, 0);
    block_waits = left = 0;
    for (int i = 0; i < THREADS; i++)
      prepare(i);
    enter(0);
  }

  int thread() const {
    return current;
  }

  /**
   * Every lane of the warp contributes a value; returns the array of all 32, valid until the meeting after the next.
   */
  template <typename T>
  const T* meet(const T& mine) {
    static_assert(sizeof(T) <= sizeof(Slot), "");
    const int warp = current / LANES, lane = current % LANES;
    const int side = warp_meetings[warp] & 1;
    T* all = reinterpret_cast<T*>(exchange[warp][side]);
    all[lane] = mine;
    const unsigned meeting = warp_meetings[warp];
    if (++warp_waits[warp] == LANES) {
      warp_waits[warp] = 0;
      warp_meetings[warp]++;
    } else {
      while (warp_meetings[warp] == meeting)
        leave(warp * LANES + (lane + 1) % LANES);
    }
    return all;
  }

  /** Barrier of the block; true if `any` of the threads says so. */
  bool barrier(bool any) {
    const unsigned meeting = barriers;
    votes[meeting & 1] |= any;
    if (++block_waits == THREADS) {
      block_waits = 0;
      votes[(meeting + 1) & 1] = false;
      barriers++;
    } else {
      while (barriers == meeting)
        leave((current + 1) % THREADS);
    }
    return votes[meeting & 1];
  }

  static Block*& mine() {
    static thread_local Block* block = nullptr;
    return block;
  }

 private:
  struct alignas(16) Slot {
    double value[32];
  };
  Fiber fibers[THREADS];
  Fiber caller;
  const std::function<void()>* body = nullptr;
  bool done[THREADS];
  int warp_waits[WARPS] = {};
  unsigned warp_meetings[WARPS] = {}, barriers = 0;
  int block_waits = 0, left = 0, current = 0;
  bool votes[2] = {false, false};
  Slot exchange[WARPS][2][LANES];

  static void start() {
    Block* b = mine();
    (*b->body)();
    b->finish();
  }

  void prepare(int i) {
    Fiber& f = fibers[i];
#if defined(__x86_64__)
    auto* top =
        reinterpret_cast<uint64_t*>((reinterpret_cast<uintptr_t>(f.stack.data()) + f.stack.size()) & ~uintptr_t{15});
    *--top = 0;
    *--top = reinterpret_cast<uint64_t>(&Block::start);
    for (int k = 0; k < 6; k++)
      *--top = 0;
    f.stack_pointer = top;
#else
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.data();
    f.context.uc_stack.ss_size = f.stack.size();
    f.context.uc_link = nullptr;
    makecontext(&f.context, &Block::start, 0);
#endif
  }

  void swap(Fiber& from, Fiber& to) {
#if defined(__x86_64__)
    sparqr_switch(&from.stack_pointer, to.stack_pointer);
#else
    swapcontext(&from.context, &to.context);
#endif
  }

  void enter(int i) {
    current = i;
    mine() = this;
    swap(caller, fibers[i]);
  }

  /** Switches to another fiber; a finished one is replaced by the next. */
  void leave(int next) {
    const int self = current;
    while (done[next])
      next = (next + 1) % THREADS;
    if (next == self)
      return;
    current = next;
    swap(fibers[self], fibers[next]);
    current = self;
  }

  void finish() {
    const int self = current;
    done[self] = true;
    left++;
    int next = (self + 1) % THREADS;
    while (left < THREADS && done[next])
      next = (next + 1) % THREADS;
    if (left == THREADS) {
      swap(fibers[self], caller);
    } else {
      current = next;
      swap(fibers[self], fibers[next]);
    }
    std::abort();
  }
};

inline Block& block() {
  return *Block::mine();
}

/** threadIdx.x as the kernels write it. */
struct ThreadIndex {
  struct X {
    operator unsigned() const {
      return static_cast<unsigned>(block().thread());
    }
  } x;
};

}  // namespace host

static host::ThreadIndex threadIdx;

inline void __syncthreads() {
  host::block().barrier(false);
}
inline int __syncthreads_or(int any) {
  return host::block().barrier(any != 0);
}
inline int __syncthreads_and(int all) {
  return !host::block().barrier(all == 0);
}
inline void __syncwarp() {
  host::block().meet(0);
}

template <typename T>
inline T __shfl_sync(unsigned, T value, int lane) {
  return host::block().meet(value)[lane & 31];
}

template <typename T>
inline T __shfl_xor_sync(unsigned, T value, int mask) {
  const int lane = host::block().thread() & 31;
  return host::block().meet(value)[lane ^ mask];
}

template <typename T>
inline int __any_sync(unsigned, T value) {
  const int* all = host::block().meet(static_cast<int>(value != 0));
  return std::any_of(all, all + 32, [](int x) { return x != 0; });
}

inline unsigned __reduce_max_sync(unsigned, unsigned value) {
  const unsigned* all = host::block().meet(value);
  return *std::max_element(all, all + 32);
}

inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}

inline int atomicMax(int* at, int value) {
  const int before = *at;
  *at = std::max(before, value);
  return before;
}

inline int __double2hiint(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, 8);
  return static_cast<int>(bits >> 32);
}

inline double __hiloint2double(int high, int low) {
  const uint64_t bits = static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 | static_cast<uint32_t>(low);
  double x;
  std::memcpy(&x, &bits, 8);
  return x;
}

/**
 * rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: subnormal inputs and results become zero, 20 bits of the mantissa are
 * kept.
 */
inline double host_approximate(double y, double x, bool root) {
  const double tiny = 0x1p-1022;
  if (std::isnan(x))
    return x;
  if (std::fabs(x) < tiny)
    return std::copysign(INFINITY, x);
  if (root && x < 0)
    return NAN;
  if (std::isinf(x) || std::fabs(y) < tiny)
    return std::copysign(0.0, x);
  return __hiloint2double(__double2hiint(y), 0);
}

inline double approximate_reciprocal(double x) {
  return host_approximate(1 / x, x, false);
}
inline double approximate_rsqrt(double x) {
  return host_approximate(1 / std::sqrt(x), x, true);
}
inline double choose(bool first, double a, double b) {
  return first ? a : b;
}

/** D (16 x 8) += A (16 x 16) B (16 x 8), fragments as in mma.cuh. */
inline void mma_16x8x16(double (&d)[4], const double (&a)[8], const double (&b)[4]) {
  struct Lane {
    double a[8], b[4];
  } mine;
  std::copy(a, a + 8, mine.a);
  std::copy(b, b + 4, mine.b);
  const Lane* all = host::block().meet(mine);
  const int lane = host::block().thread() & 31, g = lane >> 2, t = lane & 3;
  for (int k = 0; k < 16; k++) {
    const Lane& column0 = all[4 * (2 * t) + (k & 3)];
    const Lane& column1 = all[4 * (2 * t + 1) + (k & 3)];
    const double* row = all[4 * g + (k & 3)].a + 2 * (k >> 2);
    d[0] = std::fma(row[0], column0.b[k >> 2], d[0]);
    d[1] = std::fma(row[0], column1.b[k >> 2], d[1]);
    d[2] = std::fma(row[1], column0.b[k >> 2], d[2]);
    d[3] = std::fma(row[1], column1.b[k >> 2], d[3]);
  }
}

/** D (8 x 8) += A (8 x 4) B (4 x 8). */
inline void mma_8x8x4(double (&d)[2], double a, double b) {
  struct Lane {
    double a, b;
  };
  const Lane* all = host::block().meet(Lane{a, b});
  const int lane = host::block().thread() & 31, g = lane >> 2, t = lane & 3;
  for (int k = 0; k < 4; k++) {
    const double x = all[4 * g + k].a;
    d[0] = std::fma(x, all[4 * (2 * t) + k].b, d[0]);
    d[1] = std::fma(x, all[4 * (2 * t + 1) + k].b, d[1]);
  }
}

inline void copy_async_8(double* shared, const double* global, bool live) {
  *shared = live ? *global : 0.0;
}
inline void copy_async_wait() {}
