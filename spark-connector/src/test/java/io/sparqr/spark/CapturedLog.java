/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;

/** The messages of the logger io.sparqr and those under it, from INFO on, until this is closed. */
public final class CapturedLog implements AutoCloseable {

  private static final String NAME = "io.sparqr";

  private final LoggerContext context = (LoggerContext) LogManager.getContext(false);
  private final List<LogEvent> events = new CopyOnWriteArrayList<>();

  /** Begins to listen. */
  public CapturedLog() {
    var appender =
        new AbstractAppender("captured", null, null, true, Property.EMPTY_ARRAY) {
          @Override
          public void append(LogEvent event) {
            events.add(event.toImmutable());
          }
        };
    appender.start();
    var config = new LoggerConfig(NAME, Level.INFO, false);
    config.addAppender(appender, Level.INFO, null);
    context.getConfiguration().addLogger(NAME, config);
    context.updateLoggers();
  }

  /** The messages of one level by the logger io.sparqr itself. */
  public List<String> lines(Level level) {
    return events.stream()
        .filter(e -> e.getLevel().equals(level) && e.getLoggerName().equals(NAME))
        .map(e -> e.getMessage().getFormattedMessage())
        .toList();
  }

  /** What was logged under the names of our classes, each with its logger's name. */
  public List<String> ofClasses() {
    return events.stream()
        .filter(e -> !e.getLoggerName().equals(NAME))
        .map(e -> e.getLoggerName() + ": " + e.getMessage().getFormattedMessage())
        .toList();
  }

  /** What the logger io.sparqr itself logged with an error, at one level. */
  public List<Throwable> errors(Level level) {
    return events.stream()
        .filter(e -> e.getLevel().equals(level) && e.getLoggerName().equals(NAME))
        .filter(e -> e.getThrown() != null)
        .map(LogEvent::getThrown)
        .toList();
  }

  @Override
  public void close() {
    context.getConfiguration().removeLogger(NAME);
    context.updateLoggers();
  }
}
