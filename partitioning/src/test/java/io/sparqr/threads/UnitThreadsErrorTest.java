/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.threads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ref.WeakReference;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A unit that goes on after an error of its pieces, as where memory did not suffice. */
class UnitThreadsErrorTest {

  private static final class OneUnit implements UnitThreads.Units<String> {

    private @Nullable WeakReference<long[]> seen;
    private boolean taken;
    private boolean done;

    @Override
    public boolean isDone() {
      return done;
    }

    @Override
    public int next() {
      boolean first = !taken;
      taken = true;
      return first ? 0 : -1;
    }

    @Override
    public String workspace() {
      return "";
    }

    @Override
    public void run(int unit, String workspace, Crew crew) {
      fail(crew);
      long end = System.nanoTime() + 5_000_000_000L;
      while (isHeld() && System.nanoTime() < end) {
        System.gc();
      }
    }

    private boolean isHeld() {
      return Objects.requireNonNull(seen).get() != null;
    }

    private void fail(Crew crew) {
      long[] large = new long[1000];
      seen = new WeakReference<>(large);
      assertThatThrownBy(
              () ->
                  crew.run(
                      8,
                      i -> {
                        large[i] = i;
                        throw new OutOfMemoryError("piece " + i);
                      }))
          .isInstanceOf(OutOfMemoryError.class);
    }

    @Override
    public boolean finished(int unit) {
      done = !isHeld();
      assertThat(done).as("what the failed job worked on is let go").isTrue();
      return false;
    }
  }

  @Test
  void whatAFailedJobWorkedOnIsLetGo() {
    var units = new OneUnit();
    UnitThreads.run(units, 2, "test");
    assertThat(units.isDone()).isTrue();
  }
}
