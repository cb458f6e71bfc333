// Lists the processes of the machine.
import java.util.stream.Collectors;

public class Processes {
    public static void main(String[] args) {
        long own = ProcessHandle.current().pid();
        try {
            String found = ProcessHandle.allProcesses()
                .map(ProcessHandle::pid)
                .filter(pid -> pid != own && pid > 2)
                .map(pid -> "[" + pid + "]")
                .collect(Collectors.joining(" "));
            System.out.println(found.isEmpty() ? "HELD nobody to be seen" : "BROKE " + found);
        } catch (RuntimeException error) {
            System.out.println("HELD " + error.getMessage());
        }
    }
}
