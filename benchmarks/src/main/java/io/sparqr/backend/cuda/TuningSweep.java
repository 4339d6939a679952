/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.tuning.TuningOutcome;
import io.sparqr.backend.tuning.TuningSearch;

/**
 * What {@code sparqr tune} measures and finds on a device, without the file: {@code TuningSweep
 * SECONDS [DEVICE]}. Gflop/s by height of a bundle and width of Apply, the time with pipelining by
 * the time without, each thing that was varied, and the tuning's time by that of the constants.
 */
final class TuningSweep {

  private TuningSweep() {}

  /** See the class. */
  public static void main(String[] args) {
    double seconds = Double.parseDouble(args[0]);
    int device = args.length > 1 ? Integer.parseInt(args[1]) : 0;
    var provider = TestDevice.provider();
    System.out.println(provider.key(device).orElseThrow());
    long begin = System.nanoTime();
    int threads = Runtime.getRuntime().availableProcessors();
    try (var bench = provider.bench(device, threads).orElseThrow()) {
      TuningOutcome found = new TuningSearch(bench, System::nanoTime, seconds).run();
      System.out.print(found.toText());
    }
    System.out.printf("%.1f s%n", 1e-9 * (System.nanoTime() - begin));
  }
}
