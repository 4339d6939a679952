/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.configuration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Another process, perhaps of another user, that uses the folder and prints the outcome. */
final class PrivateFolderProcess {

  static final String FILE = "library.so";

  private PrivateFolderProcess() {}

  static byte[] content() {
    byte[] content = new byte[1 << 20];
    for (int k = 0; k < content.length; k++) {
      content[k] = (byte) (k * 31 >>> 7);
    }
    return content;
  }

  /** "put", or "write" a number of times. */
  public static void main(String[] args) throws IOException {
    try {
      PrivateFolder folder = PrivateFolder.open();
      if (args[0].equals("put")) {
        System.out.println("written " + folder.put(FILE, content()) + " " + folder.path());
        return;
      }
      Path target = folder.path().resolve(FILE);
      for (int k = 0; k < 60; k++) {
        folder.write(target, content());
        if (!Arrays.equals(Files.readAllBytes(target), content()) || folder.put(FILE, content())) {
          System.out.println("torn");
          return;
        }
      }
      System.out.println("whole");
    } catch (IOException e) {
      System.out.println("refused " + e.getMessage());
    }
  }
}
