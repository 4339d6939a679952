package io.sparqr.numeric.gram;
import io.sparqr.numeric.dense.*;
import io.sparqr.threads.Crew;
import java.util.*;
import java.util.stream.IntStream;
public class GramTry {
  public static void main(String[] a) {
    int workers = Integer.parseInt(a[0]), firms = Integer.parseInt(a[1]), years = 10;
    var r = new SplittableRandom(5);
    // rows demeaned: after QR of each worker
    List<int[]> cols = new ArrayList<>(); List<double[]> vals = new ArrayList<>(); List<Integer> rws = new ArrayList<>(); List<double[]> rhss = new ArrayList<>();
    int n = firms + 2;
    for (int w = 0; w < workers; w++) {
      int f = r.nextInt(firms);
      TreeSet<Integer> set = new TreeSet<>(); int[] fs = new int[years];
      for (int y = 0; y < years; y++) { if (r.nextDouble() < 0.15) f = r.nextInt(firms); fs[y] = f; set.add(f); }
      int[] c = new int[set.size() + 2]; int k = 0; for (int x : set) c[k++] = x; c[k++] = firms; c[k++] = firms + 1;
      int m = c.length;
      double[] d = new double[(years) * (m + 3)];
      int ld = years;
      for (int y = 0; y < years; y++) {
        d[y] = 1;
        for (int q = 0; q < m - 2; q++) if (c[q] == fs[y]) d[y + (q + 1) * ld] = 1;
        d[y + (m - 1) * ld] = y + r.nextDouble(); d[y + m * ld] = r.nextGaussian(); d[y + (m + 1) * ld] = r.nextGaussian();
      }
      // householder: eliminates first column, then triangle of the others
      int[] stair = new int[m + 1]; Arrays.fill(stair, years); int[] piv = new int[m + 2];
      new StaircaseQr(K).factor(d, ld, m + 1, 1, 0, -1, stair, piv, Crew.ALONE);
      int rows = Math.min(years - 1, m);
      double[] v = new double[rows * m - rows * (rows - 1) / 2]; double[] b = new double[rows]; int at = 0;
      for (int i = 0; i < rows; i++) { for (int q = i; q < m; q++) v[at++] = d[i + 1 + (q + 1) * ld]; b[i] = d[i + 1 + (m + 1) * ld]; }
      cols.add(c); vals.add(v); rws.add(rows); rhss.add(b);
    }
    RowPieces p = new RowPieces() {
      public int count() { return workers; }
      public void piece(int i, RowPiece x) { x.size(rws.get(i), cols.get(i).length).columnsAt(cols.get(i), 0).valuesAt(vals.get(i), 0).rhsAt(rhss.get(i), 0); }
    };
    final Crew two = (count, task) -> IntStream.range(0, count).parallel().forEach(task);
    { double ss=0, worst=0; int wi=-1; for (int w=0;w<workers;w++){ int[] c=cols.get(w); double[] v=vals.get(w); int at=0; for(int i=0;i<rws.get(w);i++){ double t=0; for(int q=i;q<c.length;q++){ if(c[q]<firms) t+=v[at]; at++; } ss+=t*t; if(Math.abs(t)>worst){worst=Math.abs(t);wi=w;} } } System.out.println("sum of dummies "+Math.sqrt(ss)+" worst "+worst+" "+Arrays.toString(cols.get(wi))+Arrays.toString(vals.get(wi))); }
    if (a.length > 2) { // householder
      long t = System.nanoTime();
      var tall = new TallQr(K, n, 1, TallQr.capacity(n, 1));
      Integer[] order = null; List<long[]> rowsList = new ArrayList<>();
      for (int w = 0; w < workers; w++) for (int i = 0; i < rws.get(w); i++) rowsList.add(new long[] {cols.get(w)[i], w, i});
      rowsList.sort(Comparator.comparingLong(x -> x[0]));
      for (long[] x : rowsList) { if (tall.isFull()) tall.reduce(two); int at = tall.open((int) x[0]); int w = (int) x[1], i = (int) x[2]; int[] c = cols.get(w); double[] v = vals.get(w);
        int from = i * c.length - i * (i - 1) / 2 - i; for (int q = i; q < c.length; q++) tall.chunk()[at + c[q] * tall.ld()] = v[from + q]; tall.chunk()[at + n * tall.ld()] = rhss.get(w)[i]; }
      tall.reduce(two);
      double[] g = new double[n * n + 2 * n]; int ld = n;
      new GramMatrix(K, n, g, ld).sum(p, two); var f = new GramCholesky(K, n, g, ld); f.factor(20, two);
      double[] R = new double[n * n]; int dead = 0;
      int[] piv = new int[n]; int live = new StaircaseQr(K).factor(tall.triangle(), tall.triangleLd(), n, 1, n, 1e-8, tall.staircase(), piv, two);
      for (int q = 0; q < live; q++) { double sign = Math.signum(tall.triangle()[q + piv[q] * tall.triangleLd()]); for (int c = piv[q]; c < n; c++) R[piv[q] + c * n] = sign * tall.triangle()[q + c * tall.triangleLd()]; }
      System.out.printf("householder %.3f s held %d%n", (System.nanoTime() - t) / 1e9, tall.held());
      var tri = new GramTriangle(n, R, n, f); var cor = new GramCorrection(tri, new RowProducts(p, n), f, two);
      System.out.printf("householder error %.3g eps (weak %d)%n", cor.mend(1, 0) / Math.ulp(1.0), dead);
    }
    for (int k = 0; k < 3; k++) {
      long t = System.nanoTime();
      GramQr g = GramQr.factor(K, p, n, 1, n, 1e-8, two);
      System.out.printf("%.3f s, error %.3g eps, refused %s, held %d, dropped %.3g, cost %.3g%n", (System.nanoTime() - t) / 1e9, g.error() / Math.ulp(1.0), g.refused(), g.held(), g.droppedNorm(), GramQr.cost(p, n, 1));
    }
  }
  static final DenseKernels K = BlasLoader.kernels();
}
