/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.backend.staged.solve.SolveLists;

/** The lists of a stage's solves, which must have been announced while its rounds ran. */
final class AnnouncedSolves {

  /** Null: none. */
  private SolveLists lists;

  private boolean both;

  /** Forgets what was announced: there is a new stage. */
  void forget() {
    lists = null;
  }

  /** Announces solves with R, or with R' and R. */
  void announce(StageProgram program, boolean withBoth) {
    lists = withBoth ? SolveLists.both(program, 1) : SolveLists.backOnly(program, 1);
    both = withBoth;
  }

  /** The lists for solves with R, or with R' and R. */
  SolveLists lists(boolean withBoth) {
    if (lists == null || both != withBoth) {
      throw new IllegalStateException("solves of a stage that were not announced");
    }
    return lists;
  }
}
