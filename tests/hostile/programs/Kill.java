// Asks another process to end.
public class Kill {
    public static void main(String[] args) {
        boolean done = ProcessHandle.of(Long.parseLong(args[0]))
            .map(ProcessHandle::destroy)
            .orElse(false);
        System.out.println(done ? "BROKE the signal was taken" : "HELD no such process, or refused");
    }
}
