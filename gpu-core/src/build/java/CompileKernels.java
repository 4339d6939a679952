/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Compiles the kernels by NVRTC where there is no CUDA toolkit; the build runs this program from
 * its source. For each source file machine code for some chips and PTX for later ones go to
 * separate files, because NVRTC does not build fat binaries; the backend loads the file for its
 * device.
 *
 * <p>Arguments: the folder of libnvrtc and its builtins, the folder of the kernels' sources, the
 * folder for the files, the chips as in "sm_80 sm_90 sm_100", then the names of the source files,
 * without suffix. The options are those of nvcc in build.sh: NVRTC optimizes device code as nvcc
 * -O3 does by default.
 *
 * @see <a href="https://docs.nvidia.com/cuda/nvrtc/">NVRTC</a>
 */
public final class CompileKernels {

  private static final String LATER = "compute_100";

  /** The kernels' only standard headers, normally supplied by a host compiler. */
  private static final String[] HEADER_NAMES = {"cstddef", "cstdint"};

  private static final String[] HEADERS = {
    """
    #pragma once
    #define offsetof(type, member) ((decltype(sizeof(0)))__INTADDR__(&(((type*)0)->member)))
    namespace std { using size_t = decltype(sizeof(0)); using ptrdiff_t = decltype((char*)0 - (char*)0); }
    """,
    """
    #pragma once
    using int8_t = signed char;
    using int16_t = short;
    using int32_t = int;
    using int64_t = long;
    using uint8_t = unsigned char;
    using uint16_t = unsigned short;
    using uint32_t = unsigned int;
    using uint64_t = unsigned long;
    using intptr_t = long;
    using uintptr_t = unsigned long;
    """
  };

  private final NativeLibrary nvrtc;
  private final Path sources;

  private CompileKernels(Path libraries, Path sources) throws IOException {
    // NVRTC looks for this library by name alone, and finds it if it is already loaded.
    load(libraries, "libnvrtc-builtins.so.");
    nvrtc = load(libraries, "libnvrtc.so.");
    this.sources = sources;
  }

  /** See the class comment. */
  public static void main(String[] args) throws IOException {
    var compiler = new CompileKernels(Path.of(args[0]), Path.of(args[1]));
    Path target = Path.of(args[2]);
    List<String> chips = List.of(args[3].split(" "));
    List<String> names = List.of(args).subList(4, args.length);
    // Programs are independent of each other, and NVRTC compiles them at the same time.
    names.stream()
        .flatMap(
            name ->
                Stream.concat(chips.stream(), Stream.of(LATER))
                    .map(architecture -> new Image(name, architecture)))
        .parallel()
        .forEach(
            image -> {
              try {
                Files.write(target.resolve(image.file()), compiler.compile(image));
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
  }

  /** A source file, without its suffix, for an architecture. */
  private record Image(String name, String architecture) {

    boolean machine() {
      return architecture.startsWith("sm_");
    }

    String file() {
      return name + "." + architecture + (machine() ? ".cubin" : ".ptx");
    }
  }

  private static NativeLibrary load(Path folder, String start) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      Path file =
          files.filter(f -> f.getFileName().toString().startsWith(start)).findAny().orElseThrow();
      return NativeLibrary.getInstance(file.toString());
    }
  }

  private byte[] compile(Image image) throws IOException {
    String file = image.name + ".cu";
    String source = Files.readString(sources.resolve("kernels").resolve(file));
    var reference = new PointerByReference();
    call("nvrtcCreateProgram", reference, source, file, 2, HEADERS, HEADER_NAMES);
    Pointer program = reference.getValue();
    try {
      String[] options = {
        "--std=c++17",
        "--gpu-architecture=" + image.architecture,
        "--include-path=" + sources.resolve("include"),
      };
      int code = invoke("nvrtcCompileProgram", program, options.length, options);
      String log = text(get(program, "ProgramLog"));
      if (!log.isBlank()) {
        System.err.println(log);
      }
      check("nvrtcCompileProgram of " + image.file(), code);
      return get(program, image.machine() ? "CUBIN" : "PTX");
    } finally {
      call("nvrtcDestroyProgram", reference);
    }
  }

  /** The result of nvrtcGetKind, nvrtcGetKindSize bytes. */
  private byte[] get(Pointer program, String kind) {
    var size = new LongByReference();
    call("nvrtcGet" + kind + "Size", program, size);
    byte[] bytes = new byte[Math.toIntExact(size.getValue())];
    call("nvrtcGet" + kind, program, bytes);
    return bytes;
  }

  private static String text(byte[] bytes) {
    int end = bytes.length;
    while (end > 0 && bytes[end - 1] == 0) {
      end--;
    }
    return new String(Arrays.copyOf(bytes, end), StandardCharsets.UTF_8);
  }

  private int invoke(String name, Object... arguments) {
    return nvrtc.getFunction(name).invokeInt(arguments);
  }

  private void call(String name, Object... arguments) {
    check(name, invoke(name, arguments));
  }

  private void check(String what, int code) {
    if (code != 0) {
      String error =
          nvrtc.getFunction("nvrtcGetErrorString").invokeString(new Object[] {code}, false);
      throw new IllegalStateException(what + ": " + error);
    }
  }
}
