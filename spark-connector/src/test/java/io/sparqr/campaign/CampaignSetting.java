/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.backend.reference.PlainDevice;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;

/**
 * While this is open the plain executor of task lists passes for a device, unless {@code
 * -Dsparqr.test.device=cuda} leaves that to a real one, and failed solves, which are counted, are
 * not logged.
 */
final class CampaignSetting implements AutoCloseable {

  private static final String LOG = "io.sparqr";

  CampaignSetting() {
    if (!"cuda".equals(System.getProperty("sparqr.test.device"))) {
      System.setProperty(PlainDevice.ON, "true");
    }
    Configurator.setLevel(LOG, Level.OFF);
  }

  @Override
  public void close() {
    System.clearProperty(PlainDevice.ON);
    Configurator.setLevel(LOG, Level.WARN);
  }
}
