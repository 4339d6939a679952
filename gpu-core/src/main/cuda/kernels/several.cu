/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Rounds of a stage on several devices, or with a timeline: the kernels of rounds.cu, which then also know PULL, ANNOUNCE
// and marked tasks (docs/design/several-devices.md). An image of its own: what one device runs is compiled without a trace
// of it, and its evidence (fingerprint.sh) does not depend on it.
#define SPARQR_SEVERAL
#include "../kernels/rounds.cu"
