/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend;

/** A device held open for tasks to come; it computes nothing itself. */
@FunctionalInterface
public interface OpenDevice extends AutoCloseable {

  /** Lets it go: it stays open for its users, and as long as the backend keeps an idle one. */
  @Override
  void close();
}
