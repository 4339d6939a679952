/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.jvm.NamedObjects;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The {@link Residence}s of this JVM's tasks by factorization and task. A miss is no error: what
 * was returned with a task is its R. Thread-safe.
 */
public final class ResidentFactors {

  private final NamedObjects all;

  /** Those of a factorization, by task. */
  private record Tasks(Map<Integer, Residence> residences) {}

  /** An empty registry. */
  public ResidentFactors() {
    this(new NamedObjects());
  }

  private ResidentFactors(NamedObjects all) {
    this.all = all;
  }

  /** The registry of this JVM. */
  public static ResidentFactors ofJvm() {
    return new ResidentFactors(NamedObjects.ofJvm());
  }

  private static NamedObjects.Name<Tasks> name(String factorization) {
    return new NamedObjects.Name<>(Tasks.class, factorization);
  }

  /** Takes ownership of a task's residence; that of an earlier attempt is freed. */
  public void put(String factorization, int task, Residence residence) {
    Tasks tasks = all.heldOr(name(factorization), () -> new Tasks(new ConcurrentHashMap<>()));
    Residence before = tasks.residences.put(task, residence);
    if (before != null) {
      before.close();
    }
  }

  /** The residence of a task. */
  public Residence find(String factorization, int task) {
    return all.find(name(factorization))
        .map(tasks -> tasks.residences.get(task))
        .orElseGet(() -> Residence.none("R was made in another process"));
  }

  /** Frees a task's R, which must not be used again. */
  public void drop(String factorization, int task, String reason) {
    put(factorization, task, Residence.none(reason));
  }

  /** Frees all of a factorization; idempotent. */
  public void drop(String factorization) {
    all.drop(name(factorization))
        .ifPresent(tasks -> tasks.residences.values().forEach(Residence::close));
  }

  /** Number of factorizations. */
  public int size() {
    return all.held(Tasks.class);
  }
}
