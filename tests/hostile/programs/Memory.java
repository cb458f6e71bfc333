import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Take memory until refused or until so many MB are held: Memory WAY MB. */
public class Memory {
    public static void main(String[] words) throws Exception {
        int goal = Integer.parseInt(words[1]);
        List<Object> kept = new ArrayList<>();
        int held = 0;
        System.out.println("up");
        try {
            for (; held < goal; held += 8) {
                if (words[0].equals("heap")) {
                    kept.add(new byte[8 << 20]);
                } else {
                    ByteBuffer block = ByteBuffer.allocateDirect(8 << 20);
                    for (int i = 0; i < block.capacity(); i += 4096) block.put(i, (byte) 1);
                    kept.add(block);
                }
            }
            System.out.println("done " + held);
        } catch (OutOfMemoryError error) {
            System.out.println("refused " + held + " " + error.getMessage());
        }
        System.out.flush();
        Thread.sleep(20_000);
    }
}
