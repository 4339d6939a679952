/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.backend.reference.PlainDevice;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LoggerContext;
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
    // The level is a logger's configuration of its own, which other tests do not expect.
    var context = (LoggerContext) LogManager.getContext(false);
    context.getConfiguration().removeLogger(LOG);
    context.updateLoggers();
  }
}
