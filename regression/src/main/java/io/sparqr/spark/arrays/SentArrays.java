/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.arrays;

import static java.util.Objects.requireNonNull;

import io.sparqr.error.WireFormatException;
import io.sparqr.jvm.LostOwners;
import io.sparqr.spark.engine.LocalFolder;
import io.sparqr.spark.model.SparseRow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.jspecify.annotations.Nullable;

/**
 * Matrices and right-hand sides that come from another machine as a table, in the folder of their
 * arrays as {@link ArrayFolder} describes it: from there on their way is that of arrays written on
 * the driver's machine.
 *
 * <p>A row of the table is a piece: some consecutive rows of one matrix. Its columns are
 *
 * <ul>
 *   <li>{@code name}: of the matrix
 *   <li>{@code part}, {@code parts}: number of the piece, from 0, and how many there are; those of
 *       a matrix come in order
 *   <li>{@code columns}: n, or of right-hand sides alone their number
 *   <li>{@code indptr}, {@code indices}, {@code data}, {@code labels}, {@code weights}: the pieces
 *       of the arrays, little-endian; the starts are those of the whole matrix, with the end of the
 *       last row. Null where there is none; right-hand sides alone have only labels
 * </ul>
 */
public final class SentArrays implements AutoCloseable {

  /** Bytes of a partition of {@link #table} from which there are more partitions than asked for. */
  private static final long MOST_BYTES = 32L << 20;

  private static final String[] ARRAYS = {
    ArrayFolder.INDPTR,
    ArrayFolder.INDICES,
    ArrayFolder.DATA,
    ArrayFolder.LABELS,
    ArrayFolder.WEIGHTS
  };

  private final JavaSparkContext context;
  private final Path folder;
  private final Map<String, Arrived> all = new HashMap<>();
  private final List<ArrayRows> opened = new ArrayList<>();

  /** What has come of a matrix. */
  private static final class Arrived {
    private long rows;
    private int columns;
    private int rhs;
    private boolean weighted;
    private int parts;
    private int expected;
  }

  private SentArrays(JavaSparkContext context, Path folder) {
    this.context = context;
    this.folder = folder;
    LostOwners.whenLost(this, () -> remove(folder));
  }

  /**
   * Receives all pieces of a table; the driver holds them once more meanwhile.
   *
   * @throws WireFormatException if a piece is missing
   * @throws IllegalStateException if Spark is to encrypt its files, which these would not be
   * @throws IOException if a file cannot be written
   */
  public static SentArrays receive(Dataset<?> pieces) throws IOException {
    var context = JavaSparkContext.fromSparkContext(pieces.sparkSession().sparkContext());
    if (context.getConf().getBoolean("spark.io.encryption.enabled", false)) {
      throw new IllegalStateException(
          "spark.io.encryption.enabled is set on the server, and arrays go to Spark by files that "
              + "would not be encrypted: use sparqr.solve with a DataFrame");
    }
    Path local = LocalFolder.path();
    Files.createDirectories(local);
    var made = new SentArrays(context, Files.createTempDirectory(local, "sparqr-"));
    try {
      for (Row piece : pieces.toDF().collectAsList()) {
        made.add(piece);
      }
      made.all.forEach((name, a) -> requireAll(name, a.parts, a.expected));
      return made;
    } catch (RuntimeException | IOException e) {
      made.close();
      throw e;
    }
  }

  private void add(Row piece) throws IOException {
    String name = piece.getAs("name");
    if (!name.matches("\\w+")) {
      // It becomes a folder's name on the server, and comes from a client.
      throw new WireFormatException("the name of a matrix: " + name, name);
    }
    Arrived a = all.computeIfAbsent(name, n -> new Arrived());
    Path place = folder.resolve(name);
    Files.createDirectories(place);
    requireNext(name, a.parts++, piece);
    a.expected = piece.<Integer>getAs("parts");
    a.columns = piece.<Integer>getAs("columns");
    byte[][] arrays = arrays(piece);
    for (int k = 0; k < ARRAYS.length; k++) {
      // the start of the first row is the end of the last one of the piece before
      int from = k == 0 && a.rows > 0 ? Math.min(Long.BYTES, arrays[0].length) : 0;
      append(place.resolve(ARRAYS[k]), ByteBuffer.wrap(arrays[k]).position(from));
    }
    if (arrays[0].length > 0) {
      var slice = new ArraySlice(a.columns, arrays);
      a.rows += slice.size();
      a.rhs = slice.rhs();
      a.weighted = slice.weighted();
    } else {
      a.rows += arrays[3].length / Double.BYTES / a.columns;
    }
  }

  private static void append(Path file, ByteBuffer bytes) throws IOException {
    try (var out = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      while (bytes.hasRemaining()) {
        out.write(bytes);
      }
    }
  }

  private static byte[][] arrays(Row piece) {
    byte[][] arrays = new byte[ARRAYS.length][];
    for (int k = 0; k < ARRAYS.length; k++) {
      byte @Nullable [] found = piece.getAs(ARRAYS[k]);
      arrays[k] = found == null ? new byte[0] : found;
    }
    return arrays;
  }

  private static void requireNext(String name, int expected, Row piece) {
    int part = piece.<Integer>getAs("part");
    if (part != expected) {
      throw new WireFormatException(
          "piece %d of %s where %d should be".formatted(part, name, expected), name);
    }
  }

  private static void requireAll(String name, int arrived, int expected) {
    if (arrived != expected) {
      throw new WireFormatException(
          "%d of %d pieces of %s have come".formatted(arrived, expected, name), name);
    }
  }

  /** Whether there is a matrix of this name. */
  public boolean has(String name) {
    return all.containsKey(name);
  }

  private Arrived of(String name) {
    return requireNonNull(all.get(name), () -> "nothing sent under the name " + name);
  }

  /**
   * The rows of a matrix, until closed here.
   *
   * @param partitions 0: as many as the cluster has cores
   * @throws IOException if a file cannot be read
   */
  public ArrayRows rows(String name, int partitions) throws IOException {
    ArrayRows rows = ArrayRows.open(context, source(name), partitions);
    opened.add(rows);
    return rows;
  }

  private ArrayFolder source(String name) {
    Arrived a = of(name);
    String place = folder.resolve(name).toString();
    return new ArrayFolder(place, a.rows, a.columns, a.rhs, a.weighted);
  }

  /** All rows of a small matrix, here on the driver. */
  public List<SparseRow> few(String name) {
    ArrayFolder from = source(name);
    List<SparseRow> found = new ArrayList<>();
    try (RowIterator rows = RowIterator.of(from, 0, from.rows())) {
      rows.forEachRemaining(found::add);
    }
    return found;
  }

  /**
   * Right-hand sides alone, aligned with rows.
   *
   * @throws WireFormatException if they are not as many
   * @throws IOException if a file cannot be read
   */
  public ArrayLabels labels(String name, ArrayRows with) throws IOException {
    String file = folder.resolve(name).resolve(ArrayFolder.LABELS).toString();
    return ArrayLabels.open(context, file, of(name).columns, with.cuts());
  }

  /** Right-hand sides alone, here on the driver: k vectors. */
  public double[][] vectors(String name) {
    Arrived a = of(name);
    double[][] found = new double[a.columns][Math.toIntExact(a.rows)];
    try (Numbers numbers = Numbers.of(folder.resolve(name).resolve(ArrayFolder.LABELS), 0)) {
      for (int i = 0; i < a.rows; i++) {
        for (double[] vector : found) {
          vector[i] = numbers.nextDouble();
        }
      }
    }
    return found;
  }

  /**
   * The pieces of one matrix as a table such as {@link ArrayRows#table}, with its rows in order;
   * the pieces are parts of the tasks of every pass over the rows. No job.
   *
   * @param partitions 0: as many as the cluster has cores; never more than pieces, and at least one
   *     per 32 MB
   * @throws WireFormatException if a piece is missing
   */
  public static Dataset<Row> table(Dataset<?> pieces, int partitions) {
    List<Row> all = pieces.toDF().collectAsList();
    List<byte[][]> slices = new ArrayList<>(all.size());
    long bytes = 0;
    for (Row piece : all) {
      requireNext(piece.getAs("name"), slices.size(), piece);
      byte[][] arrays = arrays(piece);
      slices.add(arrays);
      for (byte[] array : arrays) {
        bytes += array.length;
      }
    }
    Row first = all.get(0);
    requireAll(first.getAs("name"), all.size(), first.<Integer>getAs("parts"));
    int n = first.<Integer>getAs("columns");
    var of = new ArraySlice(n, slices.get(0));
    var context = JavaSparkContext.fromSparkContext(pieces.sparkSession().sparkContext());
    int wanted = partitions > 0 ? partitions : context.defaultParallelism();
    int parts = (int) Math.min(slices.size(), Math.max(wanted, 1 + bytes / MOST_BYTES));
    JavaRDD<SparseRow> rows =
        context.parallelize(slices, parts).flatMap(a -> new ArraySlice(n, a).rows());
    return ArrayRows.table(pieces.sparkSession(), rows, of.rhs(), of.weighted());
  }

  /** Releases all rows and deletes the files; idempotent. */
  @Override
  public void close() {
    opened.forEach(ArrayRows::close);
    opened.clear();
    remove(folder);
  }

  private static void remove(Path folder) {
    if (!Files.exists(folder)) {
      return;
    }
    try (var within = Files.walk(folder)) {
      for (Path path : within.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
