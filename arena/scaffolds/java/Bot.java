import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A bot that plays play-nine and four-card-golf. Your strategy goes into choose(). */
final class Bot {
    /** What a card that you don't know counts: about the mean of the pack, in both games. */
    private static final int UNKNOWN = 6;

    /** Points of four-card-golf by rank, 1 to 13. */
    private static final int[] POINTS = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0};

    private String game = "";
    private Random random = new Random(0);

    /**
     * Your strategy goes here: return one of the moves in {@code legal}.
     *
     * <pre>
     * view.get("seat")      your seat, from 0: view.get("seat").number()
     * view.get("grids")     everybody's cards by seat: view.get("grids").get(seat).get(position)
     * view.get("phase")     "tee", "turn" or "drawn": view.get("phase").text()
     * view.get("discard")   the top of the discard pile
     * view.get("drawn")     the card in your hand in phase "drawn", else null: isNull()
     * view.get("pile")      the whole discard pile, the top last: view.get("pile").list()
     * view.get("stock")     how many cards the stock has
     * view.get("recycled")  [], or the cards in the stock since the pile was reshuffled into it
     * view.get("order")     seats in the order of play, the dealer last
     * view.get("turns")     turns that each seat has begun on this hole
     * view.get("ended_by")  the seat that ended the hole (this is your last turn), or null
     * view.get("known")     four-card-golf: by seat, who knows each card: n, o, r or a
     * </pre>
     */
    private String choose(Json view, List<String> legal) {
        if (!game.equals("play-nine") && !game.equals("four-card-golf")) {
            return pick(legal); // another game: its scores are for you to write
        }
        String phase = view.get("phase").text();
        if (phase.equals("tee")) {
            return pick(legal); // all cards are face down: any two are as good
        }
        List<Integer> grid = new ArrayList<>(); // null: a card that you don't know
        for (Json card : view.get("grids").get(view.get("seat").number()).list()) {
            grid.add(card.number());
        }
        int card = view.get(phase.equals("turn") ? "discard" : "drawn").number();
        int position = bestPlace(grid, card);
        int saving = saving(grid, card, position);

        if (phase.equals("turn")) {
            if (legal.contains("knock") && score(grid) <= 8) {
                return "knock";
            }
            return saving > 3 ? "take " + position : "draw";
        }
        if (saving > 0) {
            return "swap " + position;
        }
        return pick(legal.stream().filter(move -> move.matches("(flip|discard).*")).toList());
    }

    /** Where a card saves most strokes. */
    private int bestPlace(List<Integer> grid, int card) {
        int best = 0;
        for (int position = 1; position < grid.size(); position++) {
            if (saving(grid, card, position) > saving(grid, card, best)) {
                best = position;
            }
        }
        return best;
    }

    /** How many strokes a card saves at a position. */
    private int saving(List<Integer> grid, int card, int position) {
        List<Integer> changed = new ArrayList<>(grid);
        changed.set(position, card);
        return score(grid) - score(changed);
    }

    /** Strokes of a grid, as far as it is known. */
    private int score(List<Integer> grid) {
        int strokes = 0;
        if (game.equals("four-card-golf")) {
            for (Integer card : grid) {
                strokes += card == null ? UNKNOWN : POINTS[card];
            }
            return strokes;
        }
        for (int column = 0; column < 4; column++) {
            Integer top = grid.get(column);
            Integer bottom = grid.get(column + 4);
            if (top != null && top.equals(bottom)) {
                strokes += top == -5 ? -10 : 0; // more columns of one number: more is saved
            } else {
                strokes += (top == null ? UNKNOWN : top) + (bottom == null ? UNKNOWN : bottom);
            }
        }
        return strokes;
    }

    private String pick(List<String> moves) {
        return moves.get(random.nextInt(moves.size()));
    }

    /** Answers a message; false at {@code bye}. */
    private boolean hear(Json message) {
        switch (message.get("type").text()) {
            case "hello" -> {
                game = message.get("game").text();
                say("{\"type\":\"ready\"}");
            }
            case "match" -> random = new Random(message.get("seed").number()); // to be repeatable
            case "act" -> { // also there: hole, totals, events, move_ms, bank_ms
                List<String> legal = message.get("legal").list().stream().map(Json::text).toList();
                String move = choose(message.get("view"), legal);
                say("{\"turn\":\"" + message.get("turn").text() + "\",\"move\":\"" + move + "\"}");
            }
            case "bye" -> {
                return false;
            }
            default -> {} // nothing else wants an answer
        }
        return true;
    }

    /** Writes one line, at once. Nothing else may go to System.out: log to System.err. */
    private static void say(String line) {
        System.out.print(line + "\n");
        System.out.flush();
    }

    public static void main(String[] arguments) throws IOException {
        Bot bot = new Bot();
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line = in.readLine();
        while (line != null && bot.hear(Json.parse(line))) {
            line = in.readLine();
        }
    }
}
