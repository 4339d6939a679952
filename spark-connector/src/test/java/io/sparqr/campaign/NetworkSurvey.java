/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.campaign.Networks.Network;
import io.sparqr.error.SparseQrException;
import io.sparqr.matrix.MatrixMarketWriter;
import io.sparqr.numeric.Tolerances;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * The default rank of many random networks without a fixed node, against the rank that they have by
 * construction: levelling networks and pose graphs of 3 to 60,000 unknowns, most of them small,
 * weights of 10^-4 to 10^4. Where the rank is wrong, LAPACK's SVD is asked too.
 *
 * @param seed of all networks
 */
record NetworkSurvey(long seed) {

  /** A dense SVD takes some seconds at this number of unknowns. */
  private static final int MOST_DENSE = 300;

  /** One network in this number has up to 3,000 unknowns. */
  private static final int MEDIUM_EVERY = 250;

  /** One in this number has up to 60,000. */
  private static final int LARGE_EVERY = 5000;

  private static final int POSES_OF_THE_REPORT = 6000;

  /** Arguments: the number of networks, the seed. */
  public static void main(String[] arguments) {
    long count = Long.parseLong(arguments[0]);
    long seed = Long.parseLong(arguments[1]);
    long begin = System.nanoTime();
    NetworkTally tally = new NetworkSurvey(seed).run(count);
    System.out.printf(
        "networks, seed %d, %.0f s%n%s", seed, (System.nanoTime() - begin) * 1e-9, tally);
  }

  /** Surveys the first {@code count} networks of the seed, on all cores. */
  NetworkTally run(long count) {
    return run(IntStream.range(0, Math.toIntExact(count)));
  }

  /** Surveys networks of these numbers, on all cores. */
  NetworkTally run(IntStream numbers) {
    var tally = new NetworkTally();
    int[] all = numbers.toArray();
    var next = new AtomicInteger();
    CampaignSetting setting = new CampaignSetting();
    try (setting) {
      IntStream.range(0, Runtime.getRuntime().availableProcessors())
          .parallel()
          .forEach(
              worker -> {
                for (int i = next.getAndIncrement(); i < all.length; i = next.getAndIncrement()) {
                  survey(all[i], tally);
                }
              });
    }
    return tally;
  }

  /** Surveys one network, and writes its rows to a folder as A.mtx for other solvers. */
  NetworkTally one(long index, String folder) throws IOException {
    if (!folder.isEmpty()) {
      MatrixMarketWriter.writeCoordinate(Path.of(folder, "A.mtx"), network(index).a());
    }
    var tally = new NetworkTally();
    survey(index, tally);
    return tally;
  }

  /** Network number {@code index}. */
  Network network(long index) {
    var random = new Random(CampaignProblem.mix(seed + CampaignProblem.mix(index)));
    int nodes = 3 + random.nextInt(58);
    int kind = random.nextInt(3);
    if (index % LARGE_EVERY == LARGE_EVERY - 1) {
      nodes = kind == 0 ? 3000 + random.nextInt(57_000) : 1000 + random.nextInt(19_000);
    } else if (index % MEDIUM_EVERY == MEDIUM_EVERY - 1) {
      nodes = kind == 0 ? 60 + random.nextInt(2940) : 20 + random.nextInt(980);
    } else if (index % 4 == 0) {
      nodes = 3 + random.nextInt(6);
    } else if (kind > 0) {
      nodes = 2 + random.nextInt(19);
    }
    boolean first = index == LARGE_EVERY - 1;
    double spread = first ? 4 : 4 * random.nextDouble();
    return kind == 0 && !first
        ? Networks.levelling(nodes, spread, random)
        : Networks.poses(first ? POSES_OF_THE_REPORT : nodes, spread, kind == 1, random);
  }

  private void survey(long index, NetworkTally tally) {
    Network network = network(index);
    var random = new Random(CampaignProblem.mix(~seed + index));
    double[][] b = {random.doubles(network.a().rows(), -1, 1).toArray()};
    var problem = new CampaignProblem(network.kind(), index, Family.Kind.NETWORK, network.a(), b);
    String name = problem.toString();
    Answer answer;
    try {
      answer = OptionSet.DEFAULT.solve(problem, random).get(0);
    } catch (SparseQrException e) {
      tally.error(network, name + ": " + e);
      return;
    }
    double printed = answer.solution().residualNorm();
    Scaled norm = ExactResidual.norm(network.a(), answer.solution().x(), b[0], answer.weights());
    double off = Math.abs(printed - norm.value());
    double[] zero = new double[network.a().columns()];
    double ofB = ExactResidual.norm(network.a(), zero, b[0], answer.weights()).value();
    if (!(off <= Tolerances.PRINTED_NORM * norm.value()
        || off <= Tolerances.PRINTED_NORM_OF_B * ofB)) {
      tally.falseNorm(network, "%s: printed %.6g, true %s".formatted(name, printed, norm));
    }
    int rank = answer.solution().rank();
    if (rank == network.rank()) {
      tally.right(network);
      return;
    }
    String ranks = "%s: rank %d, right %d".formatted(name, rank, network.rank());
    tally.wrong(network, answer.warned(), dense(network), ranks);
  }

  /** Whether an SVD finds the rank, of A or with equal columns; unknown for a large network. */
  private static NetworkTally.Svd dense(Network network) {
    if (network.a().columns() > MOST_DENSE) {
      return NetworkTally.Svd.NOT_TRIED;
    }
    boolean right =
        List.of(DenseSvd.plain(network.a()), DenseSvd.equilibrated(network.a())).stream()
            .anyMatch(s -> s.rank() == network.rank());
    return right ? NetworkTally.Svd.RIGHT : NetworkTally.Svd.WRONG;
  }
}
