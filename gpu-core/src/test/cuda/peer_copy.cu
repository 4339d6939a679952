/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// PULL tasks of random fronts on the host (host/host_instructions.h): what has to be copied is, bit for bit, and nothing
// else is touched.  peer_copy COUNT SEED
#define SPARQR_SEVERAL
#include "several/peers.cuh"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

static std::mt19937_64 generator;

static int pick(int n) {
  return static_cast<int>(generator() % n);
}

/** A device's part: arena, VT slots, states, descriptors. */
struct Part {
  std::vector<double> arena, vt;
  std::vector<int32_t> state = std::vector<int32_t>(3);
  std::vector<unsigned long long> announced = {9, 9, 9};
  SparqrFront front[3] = {};

  void fill(size_t doubles, int slots) {
    arena.resize(doubles);
    vt.resize(slots * SPARQR_VT_DOUBLES);
    for (auto* values : {&arena, &vt})
      for (double& x : *values)
        x = static_cast<double>(generator());
    for (int32_t& s : state)
      s = pick(6);
  }
};

static int wrong(uint64_t seed, int number) {
  generator.seed(seed * 1000003 + number);
  const int f = pick(3), slots = 1 + pick(5), kind = pick(3);
  SparqrFront d = {};
  d.row_tiles = 1 + pick(12);
  d.column_tiles = 1 + pick(9);
  d.rhs = pick(3);
  d.fn = std::max(1, 32 * d.column_tiles - d.rhs - pick(30));
  d.fm = std::max(1, 32 * d.row_tiles - pick(31));
  d.fp = 1 + pick(std::min(d.fm, d.fn));
  d.cm = std::max(0, std::min(d.fm, d.fn) - d.fp);
  d.ld = 32 * d.column_tiles;
  Part from, to;
  from.front[f] = to.front[f] = d;
  from.front[f].data = 32 * pick(7);
  to.front[f].data = 32 * pick(7);
  const size_t whole = 32ull * d.row_tiles * d.ld + 32 * 8;
  size_t there = whole;
  const int cn = d.fn - d.fp + d.rhs;
  if (kind == SPARQR_PART_BLOCK && pick(3) > 0) {
    // an image: the block alone
    const long long at = 32 * pick(7);
    to.front[f].ld = cn;
    to.front[f].data = at - static_cast<long long>(d.fp) * cn - d.fp;
    there = at + static_cast<size_t>(cn) * d.cm + 64;
  }
  from.fill(whole, slots);
  to.fill(there, slots);
  SparqrTask task = {};
  task.kind = SPARQR_PULL;
  task.applied = static_cast<uint8_t>(kind);
  task.front = f;
  task.pull.from = 1 + pick(3);
  task.pull.made = pick(9);
  SparqrPeer peers[4] = {};
  peers[task.pull.from] = {from.front, from.arena.data(), from.vt.data(), from.state.data(), nullptr,
                           from.announced.data()};
  std::vector<double> arena = to.arena, vt = to.vt;
  std::vector<int32_t> state = to.state;
  auto copy = [&](int row, int column) {
    arena[to.front[f].data + static_cast<long long>(row) * to.front[f].ld + column] =
        from.arena[from.front[f].data + static_cast<long long>(row) * d.ld + column];
  };
  if (kind == SPARQR_PART_BUNDLE) {
    task.pull.column = pick(d.column_tiles);
    task.pull.slot = pick(slots);
    for (int i = 0; i < d.row_tiles && task.size < 7; i++)
      if (pick(2))
        task.qr.tile[task.size++] = i;
    for (int k = 0; k < SPARQR_VT_DOUBLES; k++)
      vt[task.pull.slot * SPARQR_VT_DOUBLES + k] = from.vt[task.pull.slot * SPARQR_VT_DOUBLES + k];
    for (int k = 0; k < task.size; k++)
      for (int e = 0; e < 1024; e++)
        copy(32 * task.qr.tile[k] + e / 32, 32 * task.pull.column + e % 32);
  } else if (kind == SPARQR_PART_TILES) {
    task.pull.column = pick(d.column_tiles);
    task.pull.row_from = 32 * pick(d.row_tiles);
    task.pull.row_to = std::min(32 * d.row_tiles, task.pull.row_from + 32 * (1 + pick(8)));
    task.pull.count = 1 + pick(4);
    task.pull.home = std::max(0, task.pull.from - pick(task.pull.count));
    task.pull.width = 1 + pick(4);
    for (int c = task.pull.column; c < d.column_tiles; c++)
      for (int row = task.pull.row_from; row < task.pull.row_to; row++)
        for (int e = 0; e < 32; e++)
          if (task.pull.home + c / task.pull.width % task.pull.count == task.pull.from)
            copy(row, 32 * c + e);
    state[f] = std::max(state[f], from.state[f]);
  } else {
    task.pull.row_from = pick(d.cm + 1);
    task.pull.row_to = task.pull.row_from + pick(d.cm - task.pull.row_from + 1);
    task.pull.column = pick(cn + 1);
    task.pull.column_to = task.pull.column + pick(cn - task.pull.column + 1);
    for (int i = task.pull.row_from; i < task.pull.row_to; i++)
      for (int j = task.pull.column; j < task.pull.column_to; j++)
        copy(d.fp + i, d.fp + j);
    state[f] = from.state[f];
  }
  SparqrStage stage = {};
  stage.fronts = to.front;
  stage.arena = to.arena.data();
  stage.vt = to.vt.data();
  stage.state = to.state.data();
  stage.peers = peers;
  bool done = false;
  host::Block block;
  SparqrClock clock = {};
  block.run([&] {
    const bool mine = peer_task(stage, task, to.front[f], clock);
    if (threadIdx.x == 0)
      done = mine;
  });
  const bool right = done && arena == to.arena && vt == to.vt && state == to.state;
  if (!right)
    printf("pull %d: part %d of front %d\n", number, kind, f);
  return right ? 0 : 1;
}

int main(int count, char** arguments) {
  const int pulls = count > 1 ? atoi(arguments[1]) : 100;
  const uint64_t seed = count > 2 ? strtoull(arguments[2], nullptr, 10) : 1;
  int bad = 0;
  for (int k = 0; k < pulls; k++)
    bad += wrong(seed, k);
  printf("%d wrong of %d\n", bad, pulls);
  return bad != 0;
}
