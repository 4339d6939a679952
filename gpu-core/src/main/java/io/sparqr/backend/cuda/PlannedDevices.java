/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.schedule.FrontDevices;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.layout.DeviceStage;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.partition.DeviceMapping;
import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.DeviceWork;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.Later;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The devices of a task's fronts by the plan's model ({@link DeviceMapping#choose}). */
final class PlannedDevices implements DeviceChoice {

  private final int devices;
  private final DeviceModel model;
  private final DeviceWork.Link link;
  private final SchedulerOptions options;

  /** The task that {@link #mapping} is of. */
  private @Nullable SymbolicAnalysis analysis;

  private int[] fronts = new int[0];
  private int rhs;

  /** Its mapping, made while the host lays out the first stage. */
  private @Nullable Later<DeviceMapping> mapping;

  /**
   * A choice of up to {@code devices} devices of one kind.
   *
   * @param options by which tasks are cut
   */
  PlannedDevices(int devices, DeviceModel model, DeviceWork.Link link, SchedulerOptions options) {
    this.devices = devices;
    this.model = model;
    this.link = link;
    this.options = options;
  }

  /** Begins to map the task's fronts, unless the last task was of the same structure. */
  @Override
  @SuppressWarnings("ReferenceEquality")
  public void task(SubtreeProblem problem) {
    int itsRhs = problem.rows().rhsCount();
    if (mapping != null
        && analysis == problem.analysis()
        && rhs == itsRhs
        && Arrays.equals(fronts, problem.fronts())) {
      return;
    }
    SymbolicAnalysis itsAnalysis = problem.analysis();
    int[] itsFronts = problem.fronts().clone();
    analysis = itsAnalysis;
    fronts = itsFronts;
    rhs = itsRhs;
    var later =
        new Later<>(
            () -> {
              DeviceWork work =
                  DeviceWork.of(itsAnalysis, itsFronts, itsRhs, options.tileModel(), model, link);
              return DeviceMapping.choose(work, devices).mapping();
            });
    mapping = later;
    later.begin();
  }

  @Override
  public Optional<FrontDevices> of(StageProgram stage) {
    Later<DeviceMapping> later = mapping;
    if (later == null) {
      return Optional.empty();
    }
    DeviceMapping m = later.get();
    return m.devices() == 1 ? Optional.empty() : Optional.of(DeviceStage.devices(m, fronts, stage));
  }
}
