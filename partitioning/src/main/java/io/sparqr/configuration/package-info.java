/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/**
 * Every setting that has a name: {@link io.sparqr.configuration.Keys} is the one list of them; and
 * the folder that one of them is about.
 */
package io.sparqr.configuration;
