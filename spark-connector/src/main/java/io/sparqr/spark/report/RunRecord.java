/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import io.sparqr.spark.internals.SparkProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;

/**
 * When, where and by what a report was made: {@code run} in the JSON form of every report.
 *
 * @param startedAt when the work began, in UTC, as ISO 8601: {@code 2026-11-28T07:50:21Z}; empty if
 *     unknown
 * @param versions of sparqr, spark and java, by these names
 * @param host of the driver
 * @param hosts of the executors, sorted; in one JVM that of the driver
 * @param applicationId of Spark; empty without Spark
 * @param input the name of the matrix or table; empty if it has none
 * @param options that are not at their defaults, by name
 */
public record RunRecord(
    String startedAt,
    Map<String, String> versions,
    String host,
    List<String> hosts,
    String applicationId,
    String input,
    Map<String, String> options)
    implements Serializable {

  /** What is unknown: reports that are put together by hand. */
  public static final RunRecord NONE = new RunRecord("", Map.of(), "", List.of(), "", "", Map.of());

  private static final String VERSION = readVersion();

  /** Copies the maps and the list. */
  public RunRecord {
    versions = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(versions));
    hosts = List.copyOf(hosts);
    options = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(options));
  }

  /**
   * The record of this JVM, so far without an application.
   *
   * @param seconds ago that the work began
   */
  public static RunRecord here(double seconds) {
    Instant began = Instant.now().minusMillis(Math.round(1000 * seconds));
    var versions = new LinkedHashMap<String, String>();
    versions.put("sparqr", version());
    versions.put("spark", org.apache.spark.package$.MODULE$.SPARK_VERSION());
    versions.put("java", System.getProperty("java.version"));
    String host = hostName();
    return new RunRecord(
        began.truncatedTo(ChronoUnit.SECONDS).toString(),
        versions,
        host,
        List.of(host),
        "",
        "",
        Map.of());
  }

  /** A copy for an application of Spark. */
  public RunRecord of(String application, List<String> executorHosts) {
    List<String> all =
        executorHosts.isEmpty() ? hosts : executorHosts.stream().distinct().sorted().toList();
    return new RunRecord(startedAt, versions, host, all, application, input, options);
  }

  /** A copy with a name of the matrix. */
  public RunRecord withInput(String name) {
    return new RunRecord(startedAt, versions, host, hosts, applicationId, name, options);
  }

  /** A copy with options. */
  public RunRecord withOptions(Map<String, String> given) {
    return new RunRecord(startedAt, versions, host, hosts, applicationId, input, given);
  }

  /** The version of this library. */
  public static String version() {
    return VERSION;
  }

  private static String readVersion() {
    var properties = new Properties();
    try (InputStream in = RunRecord.class.getResourceAsStream("version.properties")) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version", "unknown");
  }

  private static String hostName() {
    return SparkProcess.host().orElseGet(RunRecord::hostWithoutSpark);
  }

  private static String hostWithoutSpark() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown";
    }
  }

  /** Keys and values in the order of the JSON form. */
  public Map<String, Object> toMap() {
    var map = new LinkedHashMap<String, Object>();
    map.put("startedAt", startedAt);
    map.put("versions", versions);
    map.put("host", host);
    map.put("hosts", hosts);
    map.put("applicationId", applicationId);
    map.put("input", input);
    map.put("options", options);
    return map;
  }

  /** One line; empty for {@link #NONE}. */
  public String toText() {
    if (startedAt.isEmpty()) {
      return "";
    }
    var parts = new ArrayList<String>();
    parts.add(startedAt);
    parts.add(
        String.format(
            Locale.ROOT,
            "sparqr %s, Spark %s, Java %s",
            versions.getOrDefault("sparqr", "?"),
            versions.getOrDefault("spark", "?"),
            versions.getOrDefault("java", "?")));
    parts.add(hosts.equals(List.of(host)) ? host : host + " and " + String.join(" ", hosts));
    if (!applicationId.isEmpty()) {
      parts.add(applicationId);
    }
    return String.join(", ", parts);
  }
}
