/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.device;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sparqr.backend.DeviceKey;
import io.sparqr.symbolic.TileBundles;
import io.sparqr.symbolic.TileModel;
import io.sparqr.symbolic.Tuning;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Tunings of devices as a JSON file, one for each device, driver and kernels:
 *
 * <pre>
 * {"format": 1, "tunings": [
 *   {"device": "NVIDIA H200", "driver": "13.0 (580.65.06)", "kernels": "0123456789abcdef",
 *    "date": "2026-11-30T20:00:00Z",
 *    "bundles": {"tall": 8, "narrow": 8, "much": 8, "others": 4},
 *    "smallFronts": {"doubles": 8192, "columns": 64},
 *    "apply": {"tasks": 4, "tiles": 8},
 *    "pipelining": true,
 *    "chunkDoubles": 4194304}]}
 * </pre>
 *
 * Exactly these keys. What differs is another program's, or damaged, and nothing of it is used.
 */
public final class TuningFile {

  private static final int FORMAT = 1;

  /** A file of more bytes is none of ours: one entry takes 500. */
  private static final long MOST_BYTES = 1 << 20;

  private static final ObjectMapper JSON =
      new ObjectMapper()
          .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private TuningFile() {}

  /**
   * A tuning of the file.
   *
   * @param key what it was measured on
   * @param date when
   */
  public record Entry(DeviceKey key, Instant date, Tuning tuning) {}

  /**
   * What a file has.
   *
   * @param fault why nothing of it can be used, in one line without its name; empty: it can
   */
  public record Content(List<Entry> entries, Optional<String> fault) {}

  /** Reads a file; one that cannot be read, or is not such a file in every detail, has a fault. */
  public static Content read(Path file) {
    try {
      if (!Files.isRegularFile(file)) {
        return unusable(Files.exists(file) ? "it is no file" : "there is no such file");
      }
      long bytes = Files.size(file);
      if (bytes > MOST_BYTES) {
        return unusable("%,d bytes are no tuning".formatted(bytes));
      }
      return new Content(entries(JSON.readTree(Files.readAllBytes(file))), Optional.empty());
    } catch (JsonProcessingException e) {
      String what = String.valueOf(e.getOriginalMessage()).lines().findFirst().orElse("");
      return unusable("it is damaged: " + what);
    } catch (IOException e) {
      return unusable("it cannot be read: " + reason(e));
    } catch (IllegalArgumentException e) {
      return unusable(String.valueOf(e.getMessage()));
    }
  }

  private static Content unusable(String reason) {
    return new Content(List.of(), Optional.of(reason));
  }

  private static String reason(IOException e) {
    return e instanceof FileSystemException f && f.getReason() != null
        ? f.getReason()
        : e.getClass().getSimpleName();
  }

  private static List<Entry> entries(JsonNode root) {
    requireKeys(root, "the file", Set.of("format", "tunings"));
    int format = number(root, "format");
    if (format != FORMAT) {
      throw new IllegalArgumentException("its format is %d, this is %d".formatted(format, FORMAT));
    }
    if (!root.get("tunings").isArray()) {
      throw new IllegalArgumentException("'tunings' is no list");
    }
    var entries = new ArrayList<Entry>();
    var keys = new HashSet<DeviceKey>();
    for (JsonNode node : root.get("tunings")) {
      Entry entry = entry(node);
      if (!keys.add(entry.key)) {
        throw new IllegalArgumentException("it has two tunings for " + entry.key);
      }
      entries.add(entry);
    }
    return entries;
  }

  private static Entry entry(JsonNode node) {
    requireKeys(
        node,
        "a tuning",
        Set.of(
            "device",
            "driver",
            "kernels",
            "date",
            "bundles",
            "smallFronts",
            "apply",
            "pipelining",
            "chunkDoubles"));
    JsonNode bundles = node.get("bundles");
    requireKeys(bundles, "'bundles'", Set.of("tall", "narrow", "much", "others"));
    JsonNode small = node.get("smallFronts");
    requireKeys(small, "'smallFronts'", Set.of("doubles", "columns"));
    JsonNode apply = node.get("apply");
    requireKeys(apply, "'apply'", Set.of("tasks", "tiles"));
    if (!node.get("pipelining").isBoolean()) {
      throw new IllegalArgumentException("'pipelining' is neither true nor false");
    }
    try {
      var its =
          new TileBundles(
              number(bundles, "tall"),
              number(bundles, "narrow"),
              number(bundles, "much"),
              number(bundles, "others"));
      var tuning =
          new Tuning(
              new TileModel(its, number(small, "doubles"), number(small, "columns")),
              node.get("pipelining").booleanValue(),
              number(apply, "tasks"),
              number(apply, "tiles"),
              number(node, "chunkDoubles"));
      var key = new DeviceKey(text(node, "device"), text(node, "driver"), text(node, "kernels"));
      return new Entry(key, Instant.parse(text(node, "date")), tuning);
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException("'date' is no time: " + e.getParsedString(), e);
    }
  }

  private static void requireKeys(JsonNode node, String what, Set<String> keys) {
    if (!node.isObject()) {
      throw new IllegalArgumentException(what + " is no JSON object");
    }
    for (String key : keys) {
      if (!node.has(key)) {
        throw new IllegalArgumentException("%s has no '%s'".formatted(what, key));
      }
    }
    for (var names = node.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!keys.contains(name)) {
        throw new IllegalArgumentException("%s has '%s', which is unknown".formatted(what, name));
      }
    }
  }

  private static int number(JsonNode node, String key) {
    JsonNode value = node.get(key);
    if (!value.isIntegralNumber() || !value.canConvertToInt()) {
      throw new IllegalArgumentException("'%s' is no whole number: %s".formatted(key, value));
    }
    return value.intValue();
  }

  private static String text(JsonNode node, String key) {
    JsonNode value = node.get(key);
    if (!value.isTextual()) {
      throw new IllegalArgumentException("'%s' is no text: %s".formatted(key, value));
    }
    return value.textValue();
  }

  /**
   * Adds a tuning to a file, in place of an earlier one for the same device, driver and kernels. A
   * reader finds the file before or the file after, and nothing in between; a file that cannot be
   * used is replaced.
   *
   * @throws IOException if it cannot be written; the file is then what it was
   */
  public static void add(Path file, Entry entry) throws IOException {
    Map<DeviceKey, Entry> all = new LinkedHashMap<>();
    read(file).entries().forEach(e -> all.put(e.key, e));
    all.put(entry.key, entry);
    Path folder = Objects.requireNonNull(file.toAbsolutePath().getParent());
    Files.createDirectories(folder);
    Path written = Files.createTempFile(folder, ".tuning-", ".json");
    try {
      Files.write(written, json(List.copyOf(all.values())));
      Files.move(
          written,
          file.toAbsolutePath(),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(written);
    }
  }

  private static byte[] json(List<Entry> entries) throws JsonProcessingException {
    ObjectNode root = JSON.createObjectNode();
    root.put("format", FORMAT);
    ArrayNode list = root.putArray("tunings");
    for (Entry e : entries) {
      ObjectNode node = list.addObject();
      node.put("device", e.key.device());
      node.put("driver", e.key.driver());
      node.put("kernels", e.key.kernels());
      node.put("date", e.date.truncatedTo(ChronoUnit.SECONDS).toString());
      Tuning t = e.tuning;
      TileBundles b = t.tiles().bundles();
      node.putObject("bundles")
          .put("tall", b.tall())
          .put("narrow", b.narrow())
          .put("much", b.much())
          .put("others", b.others());
      node.putObject("smallFronts")
          .put("doubles", t.tiles().smallFrontDoubles())
          .put("columns", t.tiles().smallFrontColumns());
      node.putObject("apply").put("tasks", t.applyTasks()).put("tiles", t.applyTiles());
      node.put("pipelining", t.pipelining());
      node.put("chunkDoubles", t.chunkDoubles());
    }
    return JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(root);
  }
}
