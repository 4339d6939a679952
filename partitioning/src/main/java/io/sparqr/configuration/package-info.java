/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** Every setting that has a name: {@link io.sparqr.configuration.Keys} is the one list of them. */
package io.sparqr.configuration;
