/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.cuda.driver.CudaModule;
import io.sparqr.backend.staged.layout.StageProgram;

/**
 * A stage on the device.
 *
 * @param program the stage's task lists and layout
 * @param memory the stage's parts of the device's memory
 * @param module the kernels
 */
public record LoadedStage(StageProgram program, StageMemory memory, CudaModule module) {}
