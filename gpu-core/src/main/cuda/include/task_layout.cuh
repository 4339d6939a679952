/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// The binary layout written by the host's scheduler and read by the kernels; the Java side is
// io.sparqr.backend.schedule.TaskLayout, and a test there reads the static_asserts below. Little-endian, records
// 16-byte aligned. io.sparqr.backend.reference.StageTasks specifies each task by straightforward sequential code.
//
// A front is ROW-MAJOR in the arena: entry (i, j) at arena[data + i * ld + j]; columns [0, fp) are
// pivots, [fp, fn) the tail, [fn, fn + rhs) the right-hand sides. A tiled front has ld and its rows
// padded to multiples of 32 (zeros, which stay zero); a small front (row_tiles = 0) has ld padded to a multiple of 4
// and no row padding. Before the first task the arena and the residual array are all zero, and the states are sound, or
// dead where there are fewer rows than pivots.
//
// H = I - V T V', A := H' A = A - V T' (V' A). Factorizing column tile c of a bundle leaves R in
// the upper triangle of the first row tile and ZEROS below it, the V tiles of the other row tiles
// in place (column tile c of these row tiles), and in the VT slot 2 x 1024 doubles, row-major: the
// first row tile's V, then T, zeros stored. H is orthogonal for either kind of V and T. By reflectors V's first tile is
// unit lower triangular and T upper triangular, a column without a reflector has v = e_j and tau = 0; the stage's field
// `reflectors` requests that everywhere, for readers of V. By Cholesky QR (cholesky_qr.cuh) both are full, a column of
// zeros has v = 0.
#pragma once
#include <cstddef>
#include <cstdint>

constexpr int SPARQR_TILE = 32;
constexpr int SPARQR_MAX_BUNDLE = 8;
constexpr int SPARQR_VT_DOUBLES = 2048;

// Kinds, in the order of a round's list.
enum SparqrKind : uint8_t {
  SPARQR_FACTORIZE = 0,        // qr: factorize tile[0..size) at `column`, VT to vt_write
  SPARQR_APPLY_FACTORIZE = 1,  // qr: apply vt_read to column + 1, then factorize there, VT to vt_write
  SPARQR_SMALL_FRONT = 2,      // small: a whole front in one thread block
  SPARQR_PACK_ASSEMBLE = 3,    // pack: rows of a front's contribution block into its parent
  SPARQR_ASSEMBLE_BLOCK = 4,   // pack: the same from a packed input block
  SPARQR_ASSEMBLE_S = 5,       // scatter: packed (index, value) entries into a front
  SPARQR_PACK_ROWS = 6,        // out: final rows of a front into the output buffer
  SPARQR_RESIDUAL = 7,         // out: sums of squares of right-hand sides that end in this front
  SPARQR_APPLY_NEAR = 8,       // qr: apply vt_read to column tiles [from, to)
  SPARQR_APPLY = 9,            // the same on columns that the next round does not factorize
  SPARQR_DROP = 10,            // out: drops the dead columns of a finished front (drop.cuh); several tasks
#ifdef SPARQR_SEVERAL
  SPARQR_KINDS_OF_ONE = 11,    // kinds below are those of lists for one device
  SPARQR_PULL = 11,            // pull: takes a part of a front from another device (several/peers.cuh)
  SPARQR_ANNOUNCE = 12,        // tells other devices that the front is as its counts say
  SPARQR_KINDS = 13
#else
  SPARQR_KINDS = 11
#endif
};

#ifdef SPARQR_SEVERAL
// Flag of several kinds, set only in lists for several devices. FACTORIZE, APPLY_FACTORIZE: counts as an announcement
// of its front too. SMALL_FRONT, DROP: the block leaves the device, so the task passes none on and counts as a bulk task
// of its own front. PACK_ASSEMBLE: of a block that has left its device or may; copies rows of a front whose dead columns
// are dropped as well.
constexpr uint8_t SPARQR_DEVICES = 128;

// Parts that a PULL takes, in its byte `applied`.
constexpr uint8_t SPARQR_PART_BUNDLE = 0;  // VT slot, and V in column tile `column` of the row tiles tile[0 .. size)
constexpr uint8_t SPARQR_PART_TILES = 1;   // final rows in the sender's column tiles from `column` on, and the state
constexpr uint8_t SPARQR_PART_BLOCK = 2;   // rows and columns of the contribution block, and the state
#endif

// Flags of FACTORIZE and APPLY_FACTORIZE.
constexpr uint8_t SPARQR_FINAL = 1;  // the triangle made here is final: test its pivots
// Flags of SMALL_FRONT: steps besides factorizing, in this order.
constexpr uint8_t SPARQR_SMALL_ASSEMBLE_S = 1;     // before: scatter S entries [s_from, s_to)
constexpr uint8_t SPARQR_SMALL_PACK_ASSEMBLE = 2;  // after: contribution block into the parent
constexpr uint8_t SPARQR_SMALL_PACK_ROWS = 4;      // after: rows [0, row_to) to out, out_rhs
constexpr uint8_t SPARQR_SMALL_RESIDUAL = 8;       // after: residual partial sums to slot

// States of a front, 32-bit; the end of this file describes their effect on tasks.
constexpr int32_t SPARQR_STATE_SOUND = 0;    // no dead pivot in it, and none below that affects it
constexpr int32_t SPARQR_STATE_DEAD = 1;     // a dead pivot in it, or leftover rows of a child without a planned place
constexpr int32_t SPARQR_STATE_PENDING = 2;  // a dead pivot below it
constexpr int32_t SPARQR_STATE_DROPPED = 3;  // its dead columns are dropped, otherwise like a sound front
constexpr int32_t SPARQR_STATE_PASSED = 4;   // the same, and the parent has leftover rows beyond its block
constexpr int32_t SPARQR_STATE_FAILED = 5;   // a pivot was too near the tolerance, or leftover rows had no place

// Minimum factors between pivots and the tolerance for dropping dead columns: of live pivots, of dead ones.
constexpr double SPARQR_MARGIN = 100;
constexpr double SPARQR_DEAD_MARGIN = 10;

struct alignas(16) SparqrTask {
  uint8_t kind;
  uint8_t size;     // qr: row tiles listed in tile[]
  uint8_t applied;  // APPLY_FACTORIZE: bit s - 1 set if tile[s], s >= 1, is in the applied bundle
  uint8_t flags;
  int32_t front;  // number within the stage; ASSEMBLE_BLOCK: the block's descriptor
  union {
    struct {
      int32_t column;    // column tile of the reflectors made (FACTORIZE) or applied (the others)
      int32_t vt_read;   // slot to apply; -1: none
      int32_t vt_write;  // slot to fill; -1: none
      int32_t from;      // APPLY: first column tile
      int32_t to;        // APPLY: end of the column tiles
      // Ascending row tiles. FACTORIZE, APPLY: the bundle, tile[0] becomes triangular.
      // APPLY_FACTORIZE: tile[0] = first row tile of the applied bundle (never factorized again
      // here), tile[1 .. size) = the next bundle; the applied bundle is tile[0] and those of
      // tile[1 .. size) whose bit is set in `applied`, the others are the delta (already up to
      // date in column + 1).
      int32_t tile[9];
    } qr;
    struct {
      int32_t parent;    // receiving front
      int32_t row_from;  // rows of the contribution block; row i is the front's row fp + i
      int32_t row_to;
      int32_t column_from;  // columns of the block, tail then right-hand sides: [0, cn + rhs);
      int32_t column_to;    // only entries with column >= row are read (below are V's remains)
    } pack;
    struct {
      int32_t unused[3];
      int32_t parent;  // SMALL_FRONT, besides `out`: front that takes its block, or -1
    } small;
#ifdef SPARQR_SEVERAL
    struct {
      int32_t from;       // device that has the values
      int32_t made;       // announcements of the front there that must have been made
      int32_t column;     // bundle: column tile; tiles: first column tile; block: first column
      int32_t slot;       // bundle: VT slot
      int32_t row_from;   // tiles: rows of the front; block: rows of the block
      int32_t row_to;     // bundle: from here on int32_t tile[7], at the place of qr.tile
      int32_t column_to;  // block: end of the columns
      int32_t home;       // tiles: column tile c belongs to device home + c / width % count
      int32_t count;
      int32_t width;
    } pull;
#endif
    struct {
      int32_t unused[2];
      int64_t from;  // S entries [from, to)
      int64_t to;
    } scatter;
    struct {
      int32_t slot;      // RESIDUAL: residual[slot * rhs + j] = sum of squares, rows [row_from, row_to)
      int32_t row_from;  // PACK_ROWS: row i has its fn - i values (negated, with its right-hand
      int32_t row_to;    // sides, if i < fp and R_ii < 0) at out..., rows one after the other;
      int32_t unused;
      int64_t out;      // PACK_ROWS: place of the values of row_from in the output buffer, doubles
      int64_t out_rhs;  // PACK_ROWS: place of its right-hand sides (rows x rhs, row-major)
      int32_t most;     // DROP: at most this many leftover rows go to the parent right after the pivots
    } out;              // SMALL_FRONT has both: rows [0, row_to), residual of rows [min(fm,fn), fm)
                        // DROP: the same; slot: of leftover rows, or -1; row_from: its first VT slot
  };
  // Finished tasks of `front` required before this one runs; unsigned.
  uint32_t need_chain;
  uint32_t need_bulk;
  int64_t unused;
};
static_assert(sizeof(SparqrTask) == 80, "task size");
static_assert(offsetof(SparqrTask, kind) == 0, "");
static_assert(offsetof(SparqrTask, size) == 1, "");
static_assert(offsetof(SparqrTask, applied) == 2, "");
static_assert(offsetof(SparqrTask, flags) == 3, "");
static_assert(offsetof(SparqrTask, front) == 4, "");
static_assert(offsetof(SparqrTask, qr.column) == 8, "");
static_assert(offsetof(SparqrTask, qr.vt_read) == 12, "");
static_assert(offsetof(SparqrTask, qr.vt_write) == 16, "");
static_assert(offsetof(SparqrTask, qr.from) == 20, "");
static_assert(offsetof(SparqrTask, qr.to) == 24, "");
static_assert(offsetof(SparqrTask, qr.tile) == 28, "");
static_assert(offsetof(SparqrTask, pack.parent) == 8, "");
static_assert(offsetof(SparqrTask, pack.row_from) == 12, "");
static_assert(offsetof(SparqrTask, pack.row_to) == 16, "");
static_assert(offsetof(SparqrTask, pack.column_from) == 20, "");
static_assert(offsetof(SparqrTask, pack.column_to) == 24, "");
#ifdef SPARQR_SEVERAL
static_assert(offsetof(SparqrTask, pull.from) == 8, "");
static_assert(offsetof(SparqrTask, pull.made) == 12, "");
static_assert(offsetof(SparqrTask, pull.column) == 16, "");
static_assert(offsetof(SparqrTask, pull.slot) == 20, "");
static_assert(offsetof(SparqrTask, pull.row_from) == 24, "");
static_assert(offsetof(SparqrTask, pull.row_to) == 28, "");
static_assert(offsetof(SparqrTask, pull.column_to) == 32, "");
static_assert(offsetof(SparqrTask, pull.home) == 36, "");
static_assert(offsetof(SparqrTask, pull.count) == 40, "");
static_assert(offsetof(SparqrTask, pull.width) == 44, "");
#endif
static_assert(offsetof(SparqrTask, scatter.from) == 16, "");
static_assert(offsetof(SparqrTask, scatter.to) == 24, "");
static_assert(offsetof(SparqrTask, out.slot) == 8, "");
static_assert(offsetof(SparqrTask, out.row_from) == 12, "");
static_assert(offsetof(SparqrTask, out.row_to) == 16, "");
static_assert(offsetof(SparqrTask, out.out) == 24, "");
static_assert(offsetof(SparqrTask, out.out_rhs) == 32, "");
static_assert(offsetof(SparqrTask, out.most) == 40, "");
static_assert(offsetof(SparqrTask, small.parent) == 20, "");
static_assert(offsetof(SparqrTask, need_chain) == 64, "");
static_assert(offsetof(SparqrTask, need_bulk) == 68, "");

// Counts of finished tasks, one 64-bit word per front: chain tasks in the low half, bulk tasks in the high half. Chain:
// FACTORIZE, APPLY_FACTORIZE and APPLY_NEAR of the front. Bulk: its APPLY and ASSEMBLE_S tasks, and the assembly from
// other fronts: PACK_ASSEMBLE, ASSEMBLE_BLOCK and DROP with this parent, SMALL_FRONT with this parent and
// SPARQR_SMALL_PACK_ASSEMBLE. A task may run when both counts of its front have reached need_chain and need_bulk (0: no
// dependencies, as for every ASSEMBLE_BLOCK, whose front is a block). The dependencies of a task precede it in the
// list, so in list order a task never waits for one that has not been started. A PULL of a bundle counts as a chain
// task, any other as a bulk task of its front. A PULL also waits for announcements on another device, which count in a
// word of their own for each front: marked FACTORIZE and APPLY_FACTORIZE tasks, and ANNOUNCE (several/peers.cuh).

// One per front of the stage, then one per input block (a contribution block from outside the stage, in the packing of
// io.sparqr.numeric.ContributionBlock).
struct alignas(16) SparqrFront {
  int64_t data;      // front: its first entry in the arena; block: its values in the input buffer
  int64_t data_rhs;  // block: its right-hand sides in the input buffer (cm x rhs); front: unused
  int64_t s_from;    // front: its S entries [s_from, s_to)
  int64_t s_to;
  int64_t row_map;     // Rimap: row i of the contribution block is row maps[row_map + i] of parent
  int64_t column_map;  // Rjmap: column j of [0, cn + rhs) is column maps[column_map + j] of parent
  int32_t ld;
  int32_t fm;  // rows; block: cm
  int32_t fn;  // columns, without right-hand sides; block: cn
  int32_t fp;  // pivot columns; block: 0
  int32_t rhs;
  int32_t cm;            // contribution rows: clamp(min(fm, fn) - fp, 0)
  int32_t row_tiles;     // 0 for a small front or a block
  int32_t column_tiles;  // of fn + rhs columns
  int32_t parent;        // receiving front; -1: none in this stage
  int32_t id;            // front number of the analysis
  int32_t drop;          // its drop record: progress + drop (drop.cuh); 0: its dead columns are not dropped here
};
static_assert(sizeof(SparqrFront) == 96, "front size");
static_assert(offsetof(SparqrFront, data) == 0, "");
static_assert(offsetof(SparqrFront, data_rhs) == 8, "");
static_assert(offsetof(SparqrFront, s_from) == 16, "");
static_assert(offsetof(SparqrFront, s_to) == 24, "");
static_assert(offsetof(SparqrFront, row_map) == 32, "");
static_assert(offsetof(SparqrFront, column_map) == 40, "");
static_assert(offsetof(SparqrFront, ld) == 48, "");
static_assert(offsetof(SparqrFront, fm) == 52, "");
static_assert(offsetof(SparqrFront, fn) == 56, "");
static_assert(offsetof(SparqrFront, fp) == 60, "");
static_assert(offsetof(SparqrFront, rhs) == 64, "");
static_assert(offsetof(SparqrFront, cm) == 68, "");
static_assert(offsetof(SparqrFront, row_tiles) == 72, "");
static_assert(offsetof(SparqrFront, column_tiles) == 76, "");
static_assert(offsetof(SparqrFront, parent) == 80, "");
static_assert(offsetof(SparqrFront, id) == 84, "");
static_assert(offsetof(SparqrFront, drop) == 88, "");

// S: s_index[k] is the entry's place in its front, i * ld + j, unsigned 32 bits; s_value[k] goes to arena[data +
// s_index[k]]. Places are distinct: plain stores.
//
// Factorizing column tile c makes reflectors for columns 32 c .. min(32 c + 32, fn) only; further
// columns of the tile (right-hand sides, padding) are just updated, so in the V tiles left in place these columns do
// not belong to V: T has zeros in their rows and columns.
//
// state[f]:
// - Pending: the front's tasks do nothing except pass the state on (see below).
// - Dead: the front is finished anyway (none of its tasks is skipped, so a round does not depend on the moment the
//   state is set), but its block is not passed on, and its rows in the output buffer are not used. They are fetched later
//   and triangularised again on the host; but if it has DROP tasks, these drop the dead columns, pass on rows and block,
//   and set one of the other states, and its PACK_ROWS and PACK_ASSEMBLE do nothing.
// - PACK_ASSEMBLE, and SMALL_FRONT with its PACK_ASSEMBLE flag, of a front that is not sound copy
//   nothing and set the parent pending. (A marked PACK_ASSEMBLE copies if the front is dropped, too.)
// - FACTORIZE or APPLY_FACTORIZE with SPARQR_FINAL, and SMALL_FRONT, set the front dead if
//   tolerance >= 0 and !(|R_jj| > tolerance) for a column j < min(fm, fp) of what they factorized.
//   A front with fm < fp is dead from the start.
