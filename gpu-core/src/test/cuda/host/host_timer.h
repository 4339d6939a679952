/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// The device's timer under an ordinary compiler: what a test sets. One block at a time, so atomic operations are plain.
#pragma once
#include "host_instructions.h"

namespace host {
inline unsigned long long nanos = 0;
}

inline unsigned long long timer_nanos() {
  return host::nanos;
}

inline unsigned long long atomicMin(unsigned long long* at, unsigned long long value) {
  const unsigned long long before = *at;
  *at = std::min(before, value);
  return before;
}

inline unsigned long long atomicMax(unsigned long long* at, unsigned long long value) {
  const unsigned long long before = *at;
  *at = std::max(before, value);
  return before;
}

inline unsigned long long atomicAdd(unsigned long long* at, unsigned long long value) {
  const unsigned long long before = *at;
  *at += value;
  return before;
}
