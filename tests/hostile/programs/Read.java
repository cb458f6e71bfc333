// Reads a file that isn't its own.
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

public class Read {
    public static void main(String[] args) {
        try {
            System.out.println("BROKE " + Files.readString(Path.of(args[0])).strip());
        } catch (IOException | SecurityException error) {
            System.out.println("HELD " + error);
        }
    }
}
