/** A bomb of threads: Bomb COUNT, ended after 20 s. */
public class Bomb {
    public static void main(String[] words) throws Exception {
        System.out.println("up");
        try {
            for (int i = 0; i < Integer.parseInt(words[0]); i++) {
                Thread thread = new Thread(null, () -> {
                    try {
                        Thread.sleep(20_000);
                    } catch (InterruptedException ended) {
                        return;
                    }
                }, "fuse", 1 << 16);
                thread.setDaemon(true);
                thread.start();
            }
        } catch (OutOfMemoryError error) {
            System.out.println("refused " + error.getMessage());
        }
        System.out.flush();
        Thread.sleep(20_000);
    }
}
