/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.apache.hadoop.yarn.server.api.AuxiliaryService;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.server.TransportServer;
import org.apache.spark.network.shuffle.ExternalBlockHandler;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/**
 * Spark's external shuffle service inside a node manager, for yarn.sh: Spark's own handler and
 * transport on port 7337, as {@code org.apache.spark.network.yarn.YarnShuffleService} has them. That
 * class is in Spark's distributions, but neither on Maven Central nor in PySpark. Without its
 * authentication, its recovery after a restart and its metrics.
 */
public final class ShuffleAuxiliary extends AuxiliaryService {

  private static final int PORT = 7337;

  private ExternalBlockHandler handler;
  private TransportContext context;
  private TransportServer server;

  public ShuffleAuxiliary() {
    super("spark_shuffle");
  }

  @Override
  protected void serviceInit(Configuration configuration) throws Exception {
    var transport = new TransportConf("shuffle", new MapConfigProvider(Map.of()));
    handler = new ExternalBlockHandler(transport, null);
    context = new TransportContext(transport, handler, true);
    server = context.createServer(PORT, List.of());
  }

  @Override
  protected void serviceStop() {
    server.close();
    context.close();
    handler.close();
  }

  @Override
  public void initializeApplication(ApplicationInitializationContext application) {
    System.err.println("shuffle service: " + application.getApplicationId() + " begins");
  }

  @Override
  public void stopApplication(ApplicationTerminationContext application) {
    // YARN deletes the files of the application with its local folders
    handler.applicationRemoved(application.getApplicationId().toString(), false);
  }

  @Override
  public ByteBuffer getMetaData() {
    return ByteBuffer.allocate(0);
  }
}
