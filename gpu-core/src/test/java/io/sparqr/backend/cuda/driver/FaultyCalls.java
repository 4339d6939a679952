/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.driver;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** Driver calls, some of which fail as a test demands. */
public final class FaultyCalls {

  /** Decides what a call returns; null means the result of the real call. */
  @FunctionalInterface
  public interface Fault {
    Integer code(String call, Object[] arguments);
  }

  private FaultyCalls() {}

  /** Calls to real, or, if that is null, success without effect. */
  public static CudaCalls of(CudaCalls real, Fault fault) {
    return (CudaCalls)
        Proxy.newProxyInstance(
            CudaCalls.class.getClassLoader(),
            new Class<?>[] {CudaCalls.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("errorName")) {
                return "CUDA_ERROR_" + arguments[0];
              }
              Integer code = fault.code(method.getName(), arguments);
              if (code != null) {
                return code;
              }
              if (real == null) {
                return 0;
              }
              try {
                return method.invoke(real, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
