/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparqr.configuration.Keys;
import io.sparqr.configuration.Mounts;
import io.sparqr.numeric.dense.NativeVersions;
import io.sparqr.spark.doctor.Finding.Level;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each check on both sides of its limit. */
class DoctorTest {

  private static final long GB = 1L << 30;

  @TempDir Path folder;

  private static Findings findings() {
    return new Findings("check", "driver");
  }

  private static Finding only(Findings findings) {
    assertThat(findings.list()).hasSize(1);
    return findings.list().get(0);
  }

  private static Finding versions(int java, String spark, String scala) {
    Findings f = findings();
    VersionCheck.look(java, spark, scala, f);
    return only(f);
  }

  @Test
  void versionsAreThoseOfTheGuide() throws IOException {
    assertThat(versions(17, "4.0.1", "2.13.16").level()).isEqualTo(Level.OK);
    assertThat(versions(16, "4.0.1", "2.13.16").level()).isEqualTo(Level.ERROR);
    assertThat(versions(17, "3.5.1", "2.13.16").level()).isEqualTo(Level.ERROR);
    assertThat(versions(17, "4.0.1", "2.12.18").level()).isEqualTo(Level.ERROR);
    assertThat(versions(17, "4.9.0", "2.13.16").level()).isEqualTo(Level.WARNING);
    Path guide = Path.of(System.getProperty("basedir", "."), "..", "docs/guide/versions.md");
    var rows = new ArrayList<String>();
    var row = Pattern.compile("(?m)^\\| (\\d\\.\\d) \\|").matcher(Files.readString(guide));
    while (row.find()) {
      rows.add(row.group(1));
    }
    assertThat(rows).isEqualTo(VersionCheck.SPARK);
  }

  @Test
  void blasIsJudgedByWhatItIsAndByItsSpeed() {
    Findings f = findings();
    BlasCheck.judge(true, "OpenBLAS", 2.1e10 / BlasCheck.SLOW, 2e10, f);
    BlasCheck.judge(true, "OpenBLAS", 1.9e10 / BlasCheck.SLOW, 2e10, f);
    BlasCheck.judge(false, "pure Java BLAS (asked for by sparqr.blas=java)", 5e9, 2e10, f);
    BlasCheck.judge(false, "pure Java BLAS (no native BLAS: x)", 5e9, 2e10, f);
    BlasCheck.judge(false, "no native BLAS: OPENBLAS_CORETYPE=SKYLAKEX, but", 5e9, 2e10, f);
    assertThat(f.list())
        .extracting(Finding::level)
        .containsExactly(Level.OK, Level.WARNING, Level.WARNING, Level.WARNING, Level.WARNING);
    assertThat(f.list().get(1).remedy()).startsWith(Keys.CORE_FLOPS.name() + "=");
    assertThat(f.list().get(2).remedy()).contains("unset sparqr.blas");
    assertThat(f.list().get(3).remedy()).doesNotContain("unset");
    assertThat(f.list().get(4).remedy()).isEqualTo("unset OPENBLAS_CORETYPE");
  }

  /** The mount with the longest path decides, and of two at one place the later. */
  @Test
  void nativeCodeIsForbiddenByTheMountThatAFolderIsOn() throws IOException {
    Path there = Files.createDirectory(folder.resolve("a b")).toRealPath();
    String escaped = there.toString().replace(" ", "\\040");
    Mounts mounts =
        Mounts.parse(
            List.of(
                "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
                "22 21 0:5 / " + escaped + " rw,nosuid,noexec,relatime - tmpfs tmpfs rw"));
    assertThat(mounts.noexec(there)).contains(there);
    assertThat(mounts.noexec(there.resolve("not/yet"))).contains(there);
    assertThat(mounts.noexec(folder)).isEmpty();
    Mounts remounted =
        Mounts.parse(
            List.of(
                "22 21 0:5 / " + escaped + " rw,noexec - tmpfs tmpfs rw",
                "23 21 0:6 / " + escaped + " rw - tmpfs tmpfs rw"));
    assertThat(remounted.noexec(there)).isEmpty();

    Findings f = findings();
    var check = new FolderCheck(mounts);
    check.look(there.resolve("cache"), "java.io.tmpdir", "OpenBLAS", f);
    check.look(folder, "java.io.tmpdir", "OpenBLAS", f);
    assertThat(f.list()).extracting(Finding::level).containsExactly(Level.WARNING, Level.OK);
    assertThat(f.list().get(0).message()).contains("mounted noexec", there.toString());
    assertThat(f.list().get(0).remedy()).startsWith("-Djava.io.tmpdir=");
  }

  @Test
  void javaCppIsOfOneVersionAndThatOfOpenBlas() {
    String linux = "Linux amd64";
    Findings f = findings();
    NativeCheck.judge(linux, new NativeVersions(List.of("1.5.13"), List.of("0.3.31-1.5.13")), f);
    NativeCheck.judge(linux, new NativeVersions(List.of("1.5.9"), List.of("0.3.31-1.5.13")), f);
    NativeCheck.judge(
        linux, new NativeVersions(List.of("1.5.13", "1.5.9"), List.of("0.3.31-1.5.13")), f);
    NativeCheck.judge(linux, new NativeVersions(List.of("1.5.13"), List.of()), f);
    NativeCheck.judge("Mac OS X aarch64", new NativeVersions(List.of(), List.of()), f);
    assertThat(f.list())
        .extracting(Finding::level)
        .containsExactly(Level.OK, Level.WARNING, Level.WARNING, Level.OK, Level.NOTE);
  }

  @Test
  void aMachineWithoutADriverNeedsNone() {
    Findings f = findings();
    CudaCheck.judge(false, Optional.of("no CUDA driver"), List.of(), f);
    CudaCheck.judge(true, Optional.of("the CUDA driver is too old: 12.2"), List.of(), f);
    assertThat(f.list()).extracting(Finding::level).containsExactly(Level.NOTE, Level.WARNING);
    assertThat(f.list().get(1).remedy()).contains("580");
  }

  @Test
  void diskAndMemoryOnBothSidesOfTheirLimits() {
    Findings f = findings();
    DiskCheck.judge(folder, true, DiskCheck.SCARCE, f);
    DiskCheck.judge(folder, true, DiskCheck.SCARCE - 1, f);
    DiskCheck.judge(folder, true, DiskCheck.LEAST - 1, f);
    DiskCheck.judge(folder, false, DiskCheck.SCARCE, f);
    MemoryCheck.judge(4 * GB, OptionalLong.of(4 * GB + MemoryCheck.LEAST_OUTSIDE), f);
    MemoryCheck.judge(4 * GB, OptionalLong.of(4 * GB + MemoryCheck.LEAST_OUTSIDE - 1), f);
    MemoryCheck.judge(MemoryCheck.LEAST_HEAP - 1, OptionalLong.empty(), f);
    assertThat(f.list())
        .extracting(Finding::level)
        .containsExactly(
            Level.OK,
            Level.WARNING,
            Level.ERROR,
            Level.ERROR,
            Level.OK,
            Level.WARNING,
            Level.WARNING);
  }

  private static List<Finding> settings(SparkConf conf, String... options) {
    Findings f = findings();
    new SettingsCheck(true, List.of(options)).look(conf, f);
    return f.list();
  }

  @Test
  void settingsThatHurtAreNamed() {
    SparkConf none = new SparkConf(false);
    assertThat(settings(none)).extracting(Finding::level).containsExactly(Level.OK);
    var conf =
        new SparkConf(false)
            .set("spark.master", "local[2]")
            .set("spark.task.resource.gpu.amount", "1")
            .set("spark.task.cpus", "8")
            .set("spark.executor.cores", "4")
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .set("spark.kryo.registrationRequired", "true")
            .set("spark.shuffle.compress", "false")
            .set("spark.sparqr.model.coreFlop", "1")
            .set(Keys.CORE_FLOPS.name(), "fast");
    List<Finding> found = settings(conf, "-Xint");
    for (String name :
        List.of(
            "spark.task.resource.gpu.amount",
            "spark.task.cpus",
            "registrationRequired",
            "spark.shuffle.compress",
            "spark.sparqr.model.coreFlop is no setting",
            Keys.CORE_FLOPS.name() + " = fast",
            "-Xint")) {
      assertThat(found).as(name).anyMatch(x -> x.message().contains(name));
    }
    assertThat(found).hasSize(7).allMatch(x -> !x.remedy().isEmpty());
    conf.set("spark.kryo.registrator", "io.sparqr.spark.SparqrRegistrator");
    assertThat(settings(conf, "-Xint")).hasSize(6);
    Findings ofExecutor = findings();
    new SettingsCheck(false, List.of()).look(conf, ofExecutor);
    assertThat(only(ofExecutor).level()).isEqualTo(Level.OK);
  }

  private static Finding problem(String problem, long heap) {
    Findings f = findings();
    ProblemCheck.look(problem, heap, f);
    return only(f);
  }

  @Test
  void aProblemFitsOrNot() {
    String sizes = "1000000x1000x5000000";
    // a triangle and a chunk with a quarter more rows than columns: 2.25 n^2 numbers at least
    long least = (long) (2.25 * 8 * 1000 * 1000 / ProblemCheck.USABLE);
    assertThat(problem(sizes, GB).level()).isEqualTo(Level.OK);
    assertThat(problem(sizes, least).level()).isEqualTo(Level.WARNING);
    assertThat(problem(sizes, least).remedy()).contains("sparqr analyze", "LSQR");
    assertThat(problem("gen:cells2d40", GB).level()).isEqualTo(Level.OK);
    Finding small = problem("gen:cells2d40", 1 << 10);
    assertThat(small.level()).isEqualTo(Level.ERROR);
    assertThat(small.remedy()).startsWith("spark.executor.memory=");
    assertThatThrownBy(() -> problem("ten", GB)).hasMessageContaining("ROWSxCOLUMNSxNONZEROS");
    assertThatThrownBy(() -> problem("10x20x5", GB)).hasMessageContaining("needs one");
  }

  private static HostExam exam(String where, String blas, String python, long millis) {
    return new HostExam(where, List.of(), blas, "cpu", python, millis);
  }

  @Test
  void executorsAreCompared() {
    HostExam driver = exam("driver", "A", "3.11.4", 0);
    Findings f = findings();
    Comparison.look(
        driver,
        List.of(
            exam("executor 1", "A", "3.11.2", 2000),
            exam("executor 2", "A", "3.11.2", 3000 + Comparison.CLOCK_MILLIS)),
        2000,
        3000,
        f);
    assertThat(only(f).level()).isEqualTo(Level.OK);
    f = findings();
    Comparison.look(
        driver,
        List.of(
            exam("executor 1", "A", "3.12.0", 2000),
            exam("executor 2", "B", "3.11.2", 3001 + Comparison.CLOCK_MILLIS),
            exam("executor 3", "B", "3.11.2", 1999 - Comparison.CLOCK_MILLIS)),
        2000,
        3000,
        f);
    assertThat(f.list()).hasSize(4).allMatch(x -> x.level() == Level.WARNING);
    assertThat(f.list().get(0).message()).contains("different BLAS (A; B)");
    assertThat(f.list().get(1).message()).contains("Python 3.11.4 on the driver, 3.12.0");
  }

  /** What a check throws is a finding; an exam passes through texts as it is. */
  @Test
  void anExamSurvivesAFailingCheckAndTheWayToTheDriver() {
    HostCheck failing =
        new HostCheck() {
          @Override
          public String name() {
            return "failing";
          }

          @Override
          public void look(SparkConf conf, Findings findings) {
            throw new IllegalStateException("two\nlines");
          }
        };
    List<Finding> found = HostExam.run(failing, new SparkConf(false), "driver");
    assertThat(found).hasSize(1);
    assertThat(found.get(0).level()).isEqualTo(Level.ERROR);
    assertThat(found.get(0).message()).endsWith("two lines");
    var exam = new HostExam("executor 1 on h", found, "A", "cpu", "3.11.2", 17);
    assertThat(HostExam.of(exam.texts())).isEqualTo(exam);
  }

  @Test
  void thisMachineIsLookedAtByEveryCheck() throws IOException {
    Diagnosis d = Doctor.here(Optional.of("gen:cells2d12"));
    assertThat(d.findings())
        .extracting(Finding::check)
        .contains(
            "versions",
            "natives",
            "folders",
            "blas",
            "cuda",
            "memory",
            "disk",
            "python",
            "settings",
            "problem");
    assertThat(d.findings()).noneMatch(f -> f.message().contains("check itself failed"));
    JsonNode json = new ObjectMapper().readTree(d.toJson());
    assertThat(json.path("findings")).hasSize(d.findings().size());
    assertThat(json.path("worst").asText()).isEqualToIgnoringCase(d.worst().name());
    for (Finding f : d.findings()) {
      assertThat(d.toText()).contains(f.message(), f.remedy());
    }
  }
}
