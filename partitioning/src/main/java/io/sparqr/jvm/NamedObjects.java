/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.jvm;

import java.io.Serializable;
import java.lang.ref.SoftReference;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The objects that driver and tasks hand to each other as they are within one JVM: a serialized
 * task carries only a name. An object is held until it is dropped, or remembered until the heap is
 * short of memory. Thread-safe.
 */
public final class NamedObjects {

  private static final JvmPart<NamedObjects> OF_JVM =
      JvmPart.holding("objects by name", NamedObjects::new, NamedObjects::held);

  /** By name; remembered ones behind a soft reference. */
  private final Map<Name<?>, Object> all = new ConcurrentHashMap<>();

  private final AtomicLong last = new AtomicLong();

  /**
   * The name of an object.
   *
   * @param type of the object, by which users of the registry are told apart as well
   * @param key names it among those of its type: a string or a number
   */
  public record Name<T>(Class<T> type, Serializable key) {}

  /** An empty registry. */
  public NamedObjects() {}

  /** The registry of this JVM. */
  public static NamedObjects ofJvm() {
    return OF_JVM.get();
  }

  /** A number that names no other object of this JVM. */
  public long newNumber() {
    return last.incrementAndGet();
  }

  /** Holds an object until {@link #drop}, in place of an earlier one. */
  public <T> void hold(Name<T> name, T object) {
    all.put(name, object);
  }

  /** The object that is held under a name; made and held if there is none. */
  public <T> T heldOr(Name<T> name, Supplier<T> make) {
    return name.type.cast(all.computeIfAbsent(name, n -> make.get()));
  }

  /** Keeps an object as long as the heap has room for it, or until {@link #drop}. */
  public <T> void remember(Name<T> name, T object) {
    remember(name, object, () -> true);
  }

  /**
   * As above, for objects that nobody drops: the next one to be remembered takes the place of those
   * that are no longer wanted.
   *
   * @param wanted whether the object is still of use; must not refer to it
   */
  public <T> void remember(Name<T> name, T object, BooleanSupplier wanted) {
    all.values()
        .removeIf(o -> o instanceof Remembered r && (r.get() == null || !r.wanted.getAsBoolean()));
    all.put(name, new Remembered(object, wanted));
  }

  /** An object behind a soft reference. */
  private static final class Remembered extends SoftReference<Object> {
    private final BooleanSupplier wanted;

    Remembered(Object object, BooleanSupplier wanted) {
      super(object);
      this.wanted = wanted;
    }
  }

  /** The object with a name, if it is held or still remembered. */
  public <T> Optional<T> find(Name<T> name) {
    Object found = all.get(name);
    Object object = found instanceof SoftReference<?> r ? r.get() : found;
    return Optional.ofNullable(name.type.cast(object));
  }

  /**
   * The object with a name; read and remembered if there is none, by one thread at a time.
   *
   * @param wanted as for {@link #remember(Name, Object, BooleanSupplier)}
   */
  public <T> T rememberedOr(Name<T> name, Supplier<T> read, BooleanSupplier wanted) {
    Optional<T> found = find(name);
    if (found.isPresent()) {
      return found.get();
    }
    synchronized (all) {
      T object = find(name).orElseGet(read);
      remember(name, object, wanted);
      return object;
    }
  }

  /** Drops an object, and returns it if it was held; idempotent. */
  public <T> Optional<T> drop(Name<T> name) {
    Object gone = all.remove(name);
    return gone instanceof SoftReference
        ? Optional.empty()
        : Optional.ofNullable(name.type.cast(gone));
  }

  /** Number of objects held. */
  public long held() {
    return all.values().stream().filter(o -> !(o instanceof SoftReference)).count();
  }

  /** Number of objects of a type held. */
  public int held(Class<?> type) {
    return (int) all.values().stream().filter(type::isInstance).count();
  }
}
