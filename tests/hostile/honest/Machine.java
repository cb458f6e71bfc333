import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** A virtual machine at work: JIT, garbage, pools, parallel streams, a child, direct buffers. */
public class Machine {
    static int depth(int n) {
        return n == 0 ? 0 : 1 + depth(n - 1);
    }

    static void check(boolean right, String what) {
        if (!right) throw new AssertionError(what);
    }

    public static void main(String[] words) throws Exception {
        long sum = 0;
        for (int i = 0; i < 20_000_000; i++) sum += i ^ (i >> 3);
        check(sum != 0, "jit");
        List<byte[]> kept = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            kept.add(new byte[50_000]);
            if (kept.size() > 500) kept.clear();
        }
        ExecutorService pool = Executors.newFixedThreadPool(8);
        List<Future<Integer>> answers = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            int n = i;
            answers.add(pool.submit(() -> n * n));
        }
        int total = 0;
        for (Future<Integer> answer : answers) total += answer.get();
        check(total == 328_350, "pool");
        pool.shutdown();
        check(pool.awaitTermination(10, TimeUnit.SECONDS), "shutdown");
        check(IntStream.range(0, 100_000).parallel().filter(i -> i % 7 == 0).count() == 14_286,
                "streams");
        check(ByteBuffer.allocateDirect(16 << 20).capacity() == 16 << 20, "direct");
        check(MessageDigest.getInstance("SHA-256").digest("x".getBytes(StandardCharsets.UTF_8))
                .length == 32, "digest");
        check(new SecureRandom().nextLong() != new SecureRandom().nextLong(), "random");
        check(ZoneId.systemDefault().getRules().getOffset(java.time.Instant.now())
                .getTotalSeconds() == 0, "zone");
        check(depth(3_000) == 3_000, "depth");
        Process child = new ProcessBuilder("/bin/echo", "x").start();
        check(child.getInputStream().read() == 'x' && child.waitFor() == 0, "child");
        System.out.println("OK");
    }
}
