/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.design.Design;
import io.sparqr.spark.wire.OwnObjects;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * A model in a file on the driver, for the process that wrote it: a Spark Connect server stores
 * models there and reads them back after evicting them from memory. The summary, which refers to
 * the training data, is not restored.
 */
final class LocalModel {

  private static final String FILE = "model.bin";

  private LocalModel() {}

  static void write(SparseQRRegressionModel model, Path folder) throws IOException {
    Files.createDirectories(folder);
    try (var out = new ObjectOutputStream(Files.newOutputStream(folder.resolve(FILE)))) {
      // Without its parent, the estimator, which no client requests from the server.
      out.writeObject(model);
      out.writeObject(model.design());
    }
  }

  /** Whether a path, or the URI of another file system, is a folder with such a file. */
  static boolean isIn(String path) {
    try {
      return Files.isRegularFile(Path.of(path, FILE));
    } catch (InvalidPathException e) {
      return false;
    }
  }

  static SparseQRRegressionModel read(Path folder) {
    try (var in = OwnObjects.input(Files.newInputStream(folder.resolve(FILE)))) {
      var model = (SparseQRRegressionModel) in.readObject();
      return model.withDesign((Design) in.readObject());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("a model that this server wrote cannot be read", e);
    }
  }
}
