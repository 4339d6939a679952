/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.SpoiledTasks;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.RoundExecutor;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Nested;

/** On the plain executor, round by round and as the counts allow. */
class UnknownTaskTest {

  @Nested
  class RoundByRound extends OnLists {
    RoundByRound() {
      super(false);
    }
  }

  @Nested
  class AsCountsAllow extends OnLists {
    AsCountsAllow() {
      super(true);
    }
  }

  /** Lists as scheduled, but for the planted kind. */
  private abstract static class OnLists extends UnknownTaskContract {

    private final boolean free;
    private int place;
    private boolean due;

    OnLists(boolean free) {
      this.free = free;
    }

    @Override
    protected RoundExecutor executor() {
      return new TaskListExecutor(
          SchedulerOptions.defaults(),
          Runtime.getRuntime().maxMemory() / 2,
          null,
          free ? count -> count - 1 : null,
          this::list);
    }

    @Override
    protected void plant(int at) {
      place = at;
      due = true;
    }

    private ByteBuffer list(StageSchedule schedule, int from, int to) {
      ByteBuffer list = TaskListExecutor.written(schedule, from, to);
      long start = schedule.roundStart(from);
      if (due && place >= start && place < schedule.roundStart(to)) {
        due = false;
        SpoiledTasks.kind(list, (int) (place - start) * TaskLayout.TASK_BYTES, KIND);
      }
      return list;
    }
  }
}
