/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
/** The cut of the assembly tree into subtree tasks and memory stages. */
package io.sparqr.partition;
