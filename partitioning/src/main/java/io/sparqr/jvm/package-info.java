/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * What exists once in a JVM and changes: one owner of all registries, budgets, counters, caches and
 * scratch space of the other packages, which have no static variables of their own.
 */
@NullMarked
package io.sparqr.jvm;

import org.jspecify.annotations.NullMarked;
