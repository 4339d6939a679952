/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Plans that finished tasks leave for later ones of the same structure: the last {@value #MOST} of
 * them, as long as the heap has room. A plan that is taken is its taker's alone until it is kept
 * again. Thread-safe.
 *
 * @param <T> of plans
 */
public final class KeptPlans<T> {

  /** As many as a solve may have tasks on one device, each with a structure of its own. */
  static final int MOST = 8;

  /** The one kept last comes first. */
  private final List<SoftReference<T>> plans = new ArrayList<>();

  /**
   * Takes the plan kept last of those that serve.
   *
   * @param serves must not depend on what a taker may change
   */
  public Optional<T> take(Predicate<T> serves) {
    // Not under the monitor: comparing two structures takes time.
    for (SoftReference<T> reference : there()) {
      T plan = reference.get();
      if (plan != null && serves.test(plan) && removed(reference)) {
        return Optional.of(plan);
      }
    }
    return Optional.empty();
  }

  private synchronized List<SoftReference<T>> there() {
    plans.removeIf(r -> Objects.isNull(r.get()));
    return List.copyOf(plans);
  }

  /** False: another taker was faster. */
  private synchronized boolean removed(SoftReference<T> reference) {
    return plans.remove(reference);
  }

  /** Keeps a plan that its task no longer uses. */
  public synchronized void keep(T plan) {
    plans.add(0, new SoftReference<>(plan));
    if (plans.size() > MOST) {
      plans.remove(MOST);
    }
  }

  /** Forgets all of them. */
  public synchronized void clear() {
    plans.clear();
  }
}
