/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The {@link Residence}s of this JVM's tasks by factorization and task. A miss is no error: what
 * was returned with a task is its R. Thread-safe.
 */
public final class ResidentFactors {

  private static final ResidentFactors OF_JVM = new ResidentFactors();

  private final Map<String, Map<Integer, Residence>> all = new ConcurrentHashMap<>();

  /** An empty registry. */
  public ResidentFactors() {}

  /** The registry of this JVM. */
  public static ResidentFactors ofJvm() {
    return OF_JVM;
  }

  /** Takes ownership of a task's residence; that of an earlier attempt is freed. */
  public void put(String factorization, int task, Residence residence) {
    Residence before =
        all.computeIfAbsent(factorization, f -> new ConcurrentHashMap<>()).put(task, residence);
    if (before != null) {
      before.close();
    }
  }

  /** The residence of a task. */
  public Residence find(String factorization, int task) {
    Map<Integer, Residence> tasks = all.get(factorization);
    Residence found = tasks == null ? null : tasks.get(task);
    return found != null ? found : Residence.none("R was made in another process");
  }

  /** Frees a task's R, which must not be used again. */
  public void drop(String factorization, int task, String reason) {
    put(factorization, task, Residence.none(reason));
  }

  /** Frees all of a factorization; idempotent. */
  public void drop(String factorization) {
    Map<Integer, Residence> tasks = all.remove(factorization);
    if (tasks != null) {
      tasks.values().forEach(Residence::close);
    }
  }

  /** Number of factorizations. */
  public int size() {
    return all.size();
  }
}
