/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// PULL: what a device takes from another one, over NVLink or PCIe (docs/design/several-devices.md). Who takes it makes the
// copy, because whoever made it does not know when there is room.
//
// Waiting. Besides its front's counts on its own device a PULL waits for announcements on the other one, which are made
// with system scope (finish_task). Whatever an announcing block has waited for with device scope is released with it,
// since causality order passes through scopes (PTX ISA, memory consistency model): so an ANNOUNCE, which waits for all
// of its device's tasks of a front, releases what they have written.
//
// No deadlock: a PULL comes in its list before the tasks of its round and waits for announcements of earlier rounds, or
// of its own, in which they come before anything that waits for another device. So of all unfinished tasks of all devices
// the first by round and place waits for nothing, and has begun, since each device's blocks take its tasks in order.
#pragma once
#ifdef SPARQR_HOST
// First, because it includes the emulation of CUDA for an ordinary compiler.
#include "apply.cuh"
#include "several/timeline.cuh"
#define SPARQR_APART inline

inline bool await_peer(const SparqrStage&, const SparqrPeer& peer, int front, unsigned long long made, SparqrClock&) {
  return peer.announced[front] >= made;
}
#else
#include "waiting.cuh"
#define SPARQR_APART __device__ __noinline__

/** Waits for a PULL's announcements; false if this stage, or the other device's, is given up. One thread calls it. */
__device__ __forceinline__ bool await_peer(const SparqrStage& stage, const SparqrPeer& peer, int front,
                                           unsigned long long made, SparqrClock& clock) {
  unsigned long long since = 0;
  while (true) {
    unsigned long long have, tickets;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(have) : "l"(peer.announced + front) : "memory");
    if (have >= made) {
      if (since != 0 && stage.timeline != nullptr) {
        end_device_wait(clock);
      }
      return true;
    }
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(tickets) : "l"(peer.progress));
    if (tickets >= SPARQR_GIVEN_UP) {
      atomicOr(stage.progress, SPARQR_GIVEN_UP);
      return false;
    }
    if (given_up(stage, since)) {
      return false;
    }
  }
}

#endif

/** Copies `items` values, each from where and to where place(k, from, to) says; IN_FLIGHT loads of a thread at a time. */
template <int IN_FLIGHT, typename T, typename Place>
__device__ __forceinline__ void copy_items(int items, Place place) {
  for (int base = threadIdx.x; base < items; base += IN_FLIGHT * SPARQR_THREADS) {
    T value[IN_FLIGHT];
    T* to[IN_FLIGHT];
#pragma unroll
    for (int u = 0; u < IN_FLIGHT; u++) {
      const int k = base + u * SPARQR_THREADS;
      if (k < items) {
        const T* from;
        place(k, from, to[u]);
        value[u] = *from;
      }
    }
#pragma unroll
    for (int u = 0; u < IN_FLIGHT; u++) {
      if (base + u * SPARQR_THREADS < items) {
        *to[u] = value[u];
      }
    }
  }
}

/**
 * PULL and ANNOUNCE. False: the stage is given up. Called by all threads of the block, by address.
 *
 * Entries of tiled fronts are moved two at a time: their places in the arena and their leading dimensions are even.
 */
SPARQR_APART bool peer_task(const SparqrStage& stage, const SparqrTask& task, const SparqrFront& front,
                            SparqrClock& clock) {
  if (task.kind == SPARQR_ANNOUNCE) {
    return true;
  }
  const SparqrPeer& peer = stage.peers[task.pull.from];
  bool there = true;
  if (threadIdx.x == 0) {
    there = await_peer(stage, peer, task.front, static_cast<unsigned>(task.pull.made), clock);
  }
  if (!__syncthreads_and(there)) {
    return false;
  }
  const double* from = peer.arena + peer.fronts[task.front].data;
  const int from_ld = peer.fronts[task.front].ld;
  double* to = stage.arena + front.data;
  const int to_ld = front.ld;
  if (task.applied == SPARQR_PART_BUNDLE) {
    constexpr int VT = SPARQR_VT_DOUBLES / 2, TILE = SPARQR_TILE * SPARQR_TILE / 2;
    const double* from_vt = peer.vt + static_cast<long long>(task.pull.slot) * SPARQR_VT_DOUBLES;
    double* to_vt = stage.vt + static_cast<long long>(task.pull.slot) * SPARQR_VT_DOUBLES;
    copy_items<8, double2>(VT + task.size * TILE, [&](int k, const double2*& a, double2*& b) {
      if (k < VT) {
        a = reinterpret_cast<const double2*>(from_vt) + k;
        b = reinterpret_cast<double2*>(to_vt) + k;
        return;
      }
      const int e = k - VT;
      const long long row = static_cast<long long>(task.qr.tile[e / TILE]) * SPARQR_TILE + e % TILE / 16;
      const int column = task.pull.column * SPARQR_TILE + e % 16 * 2;
      a = reinterpret_cast<const double2*>(from + row * from_ld + column);
      b = reinterpret_cast<double2*>(to + row * to_ld + column);
    });
    return true;
  }
  const int rows = task.pull.row_to - task.pull.row_from;
  if (task.applied == SPARQR_PART_TILES) {
    for (int c = task.pull.column; c < front.column_tiles; c++) {
      if (task.pull.home + c / task.pull.width % task.pull.count != task.pull.from) {
        continue;
      }
      copy_items<8, double2>(16 * rows, [&](int k, const double2*& a, double2*& b) {
        const long long row = task.pull.row_from + k / 16;
        const int column = c * SPARQR_TILE + k % 16 * 2;
        a = reinterpret_cast<const double2*>(from + row * from_ld + column);
        b = reinterpret_cast<double2*>(to + row * to_ld + column);
      });
    }
    if (threadIdx.x == 0) {
      atomicMax(stage.state + task.front, peer.state[task.front]);
    }
    return true;
  }
  // Columns from the row's on are read, so those before the first row's need not be here.
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  for (int i = task.pull.row_from + warp; i < task.pull.row_to; i += SPARQR_WARPS) {
    constexpr int IN_FLIGHT = 8;
    const double* source = from + static_cast<long long>(front.fp + i) * from_ld + front.fp;
    double* target = to + static_cast<long long>(front.fp + i) * to_ld + front.fp;
    for (int base = task.pull.column + lane; base < task.pull.column_to; base += 32 * IN_FLIGHT) {
      double value[IN_FLIGHT];
#pragma unroll
      for (int u = 0; u < IN_FLIGHT; u++) {
        value[u] = base + 32 * u < task.pull.column_to ? source[base + 32 * u] : 0.0;
      }
#pragma unroll
      for (int u = 0; u < IN_FLIGHT; u++) {
        if (base + 32 * u < task.pull.column_to) {
          target[base + 32 * u] = value[u];
        }
      }
    }
  }
  if (threadIdx.x == 0) {
    stage.state[task.front] = peer.state[task.front];
  }
  return true;
}
