// Connects to a listener of the machine and prints what it is told.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;

public class Tcp {
    public static void main(String[] args) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 3000);
            var reader = new BufferedReader(new InputStreamReader(socket.getInputStream()));
            System.out.println("BROKE " + reader.readLine());
        } catch (IOException error) {
            System.out.println("HELD " + error.getMessage());
        }
    }
}
