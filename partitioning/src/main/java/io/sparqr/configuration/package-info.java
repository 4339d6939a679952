/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * All named settings, listed in {@link io.sparqr.configuration.Keys}, and the private folder that
 * one of them configures.
 */
@NullMarked
package io.sparqr.configuration;

import org.jspecify.annotations.NullMarked;
