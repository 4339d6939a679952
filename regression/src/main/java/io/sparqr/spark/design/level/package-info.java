/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Levels of categorical columns: how they are collected, numbered and looked up. */
@NullMarked
package io.sparqr.spark.design.level;

import org.jspecify.annotations.NullMarked;
