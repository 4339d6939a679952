/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.configuration;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The mounted file systems of this process, from Linux' /proc/self/mountinfo (proc(5)); none
 * elsewhere.
 */
public final class Mounts {

  private static final Path FILE = Path.of("/proc/self/mountinfo");

  /** A character of a path, escaped: space, tab, line feed, backslash. */
  private static final Pattern OCTAL = Pattern.compile("\\\\([0-7]{3})");

  private final List<Mount> list;

  /**
   * One of them.
   *
   * @param options of the mount, such as "rw,noexec"
   */
  private record Mount(Path at, List<String> options) {}

  private Mounts(List<Mount> list) {
    this.list = list;
  }

  /** Those of now; none where the list cannot be read. */
  public static Mounts ofThisProcess() {
    try {
      return Files.exists(FILE)
          ? parse(Files.readAllLines(FILE, StandardCharsets.UTF_8))
          : new Mounts(List.of());
    } catch (IOException e) {
      return new Mounts(List.of());
    }
  }

  /** Those of the lines of such a file. */
  public static Mounts parse(List<String> lines) {
    var found = new ArrayList<Mount>();
    for (String line : lines) {
      String[] field = line.split(" ");
      if (field.length > 5) {
        Matcher m = OCTAL.matcher(field[4]);
        String at =
            m.replaceAll(
                r ->
                    Matcher.quoteReplacement(
                        String.valueOf((char) Integer.parseInt(r.group(1), 8))));
        found.add(new Mount(Path.of(at), List.of(field[5].split(","))));
      }
    }
    return new Mounts(found);
  }

  /**
   * The mount of the longest path above; of several at the same place the last, which hides them.
   */
  private Optional<Mount> of(Path path) {
    Mount best = null;
    for (Mount m : list) {
      if (path.startsWith(m.at)
          && (best == null || m.at.getNameCount() >= best.at.getNameCount())) {
        best = m;
      }
    }
    return Optional.ofNullable(best);
  }

  /**
   * Where the file system is mounted that forbids native code under a path; empty if it may run.
   */
  public Optional<Path> noexec(Path path) {
    return of(real(path)).filter(m -> m.options.contains("noexec")).map(Mount::at);
  }

  /** Links resolved, of the part that exists. */
  private static Path real(Path path) {
    Path absolute = path.toAbsolutePath().normalize();
    for (Path p = absolute; p != null; p = p.getParent()) {
      try {
        return p.toRealPath().resolve(p.relativize(absolute)).normalize();
      } catch (IOException e) {
        // does not exist yet: its parent decides
      }
    }
    return absolute;
  }
}
