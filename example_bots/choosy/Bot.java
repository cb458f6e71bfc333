// choosy: takes its choice like somebody who sells a house, with a reserve price. In Java, one
// file, without libraries.
//
// Policy, ties to the lowest position. Which cards nobody sees is known. If n more of them come to
// a place, one after another, and one may stay there, then the place is worth
//
//     reserve(0) = the mean of these cards,
//     reserve(n) = the mean of min(card, reserve(n - 1)) over these cards,
//
// and between whole numbers in proportion.
//
// play-nine: the turns left are taken to be the fewest face-down cards that anybody has. An open
// position of mine, which is face down or shows 5 or more, gets 0.3 of them divided by the number
// of open positions. A grid is worth the sum over its columns: a match its score; else the cards,
// a face-down one at its reserve, less for each face-up one the chance that a card like it is
// among so many cards as there are turns left, times what that match would save. With one
// face-down card, and on the last turn, nothing more is expected to come.
// choosy takes the discard if that saves at least 5 of this worth, swaps a drawn card in if that
// saves more than 2 (on its last turn 3 and 0), else flips, beside a face-up card if it can. The
// last face-down card it flips only when its grid is worth less than those of all others, else it
// skips. Tee-off: 0 and 1.
//
// four-card-golf: an unknown card is worth reserve(0). It takes the discard for its worst card if
// that is lower, and lower than what a draw would leave there on average; a drawn card if it is
// lower. It knocks when its sum is at most 4 reserve(4), less a stroke for each other player.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class Bot {
    /** A card that lies face down. */
    private static final int HIDDEN = 99;

    private static final int HOLE_IN_ONE = -5;

    /** Strokes for 0 to 4 matched columns of one number. */
    private static final int[] COMBINATION = {0, 0, -10, -15, -20};

    /** Four-card-golf: points by rank. */
    private static final int[] POINTS = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0};

    private static final double EPSILON = 1e-9;

    public static void main(String[] arguments) throws IOException {
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            var message = new Json(line).object();
            switch ((String) message.get("type")) {
                case "hello" -> System.out.println("{\"type\":\"ready\"}");
                case "act" -> {
                    var view = new View(message.get("view"));
                    var move = view.isNine() ? new PlayNine(view).move() : fourCardGolf(view);
                    System.out.println(
                            "{\"turn\":\"" + message.get("turn") + "\",\"move\":\"" + move + "\"}");
                }
                case "bye" -> {
                    return;
                }
                default -> { } // nothing that wants an answer
            }
        }
    }

    /** What is used of a view. */
    private static final class View {
        private final Map<String, Object> fields;
        final String phase;
        final int seat;
        final int[] order;
        final List<int[]> grids = new ArrayList<>();
        final boolean lastTurn;

        @SuppressWarnings("unchecked")
        View(Object view) {
            fields = (Map<String, Object>) view;
            phase = (String) fields.get("phase");
            seat = card("seat");
            order = cards(fields.get("order"));
            lastTurn = fields.get("ended_by") != null;
            for (Object grid : (List<?>) fields.get("grids")) {
                grids.add(cards(grid));
            }
        }

        /** Only four-card-golf says who knows which card. */
        boolean isNine() {
            return !fields.containsKey("known");
        }

        int[] mine() {
            return grids.get(seat);
        }

        int card(String field) {
            return fields.get(field) instanceof Double number ? number.intValue() : HIDDEN;
        }

        private static int[] cards(Object list) {
            return ((List<?>) list).stream()
                    .mapToInt(card -> card instanceof Double number ? number.intValue() : HIDDEN)
                    .toArray();
        }

        /** Takes all cards that somebody sees out of the pack, which is by card + 5. */
        int[] unseen(int[] pack) {
            var seen = new ArrayList<>(grids);
            seen.add(cards(fields.get("pile")));
            seen.add(cards(fields.get("recycled")));
            seen.add(new int[] {card("drawn")});
            for (int[] cards : seen) {
                for (int card : cards) {
                    if (card != HIDDEN) {
                        pack[card - HOLE_IN_ONE]--;
                    }
                }
            }
            return pack;
        }
    }

    /** Values of cards and how often each is unseen. */
    private record Unseen(double[] values, int[] counts, int total) {
        Unseen(double[] values, int[] counts) {
            this(values, counts, Math.max(1, Arrays.stream(counts).sum()));
        }

        /** The mean of a card, or of `most` where that is lower. */
        double meanUpTo(double most) {
            double sum = 0;
            for (int index = 0; index < values.length; index++) {
                sum += counts[index] * Math.min(values[index], most);
            }
            return sum / total;
        }

        /** What a place is worth that so many more cards come to. */
        double reserve(double cards) {
            double reserve = meanUpTo(Double.MAX_VALUE);
            for (; cards > 0; cards--) {
                double later = reserve;
                reserve = later + Math.min(1, cards) * (meanUpTo(later) - later);
            }
            return reserve;
        }

        double chance(int index) {
            return (double) counts[index] / total;
        }
    }

    /** A turn of play-nine. */
    private static final class PlayNine {
        private final View view;
        private final Unseen unseen;
        private final int hidden;
        /** Cards that may still come. */
        private final double comes;
        /** What a face-down card counts. */
        private final double reserve;

        PlayNine(View view) {
            this.view = view;
            var pack = new int[18];
            var values = new double[18];
            for (int index = 0; index < 18; index++) {
                values[index] = index + HOLE_IN_ONE;
                pack[index] = index == 0 ? 4 : index < 5 ? 0 : 8;
            }
            unseen = new Unseen(values, view.unseen(pack));
            hidden = hidden(view.mine());
            int soonest = hidden;
            for (int seat : view.order) {
                soonest = Math.min(soonest, hidden(view.grids.get(seat)));
            }
            boolean nothingMore = view.lastTurn || hidden == 1;
            comes = nothingMore ? 0 : soonest;
            long open = Arrays.stream(view.mine()).filter(card -> card >= 5).count();
            reserve = unseen.reserve(nothingMore ? 0 : 0.3 * soonest / open);
        }

        private static int hidden(int[] grid) {
            return (int) Arrays.stream(grid).filter(card -> card == HIDDEN).count();
        }

        String move() {
            if (view.phase.equals("tee")) {
                return "tee 0 1";
            }
            int[] grid = view.mine();
            boolean turn = view.phase.equals("turn");
            int card = view.card(turn ? "discard" : "drawn");
            int place = best(grid, card);
            double saves = worth(grid) - worth(with(grid, place, card));
            if (turn) {
                return saves >= (view.lastTurn ? 3 : 5) ? "take " + place : "draw";
            }
            if (saves > (view.lastTurn ? 0 : 2) + EPSILON) {
                return "swap " + place;
            }
            return hidden == 1 && !view.lastTurn && !ahead() ? "skip" : "flip " + toFlip(grid);
        }

        private static int[] with(int[] grid, int position, int card) {
            var changed = grid.clone();
            changed[position] = card;
            return changed;
        }

        private int best(int[] grid, int card) {
            int best = 0;
            double lowest = Double.MAX_VALUE;
            for (int position = 0; position < 8; position++) {
                double worth = worth(with(grid, position, card));
                if (worth < lowest - EPSILON) {
                    best = position;
                    lowest = worth;
                }
            }
            return best;
        }

        private static int toFlip(int[] grid) {
            int first = -1;
            for (int position = 7; position >= 0; position--) {
                if (grid[position] != HIDDEN) {
                    continue;
                }
                boolean beside = grid[position ^ 4] != HIDDEN;
                if (first < 0 || beside || grid[first ^ 4] == HIDDEN) {
                    first = position;
                }
            }
            return first;
        }

        private boolean ahead() {
            double mine = worth(view.mine());
            return Arrays.stream(view.order)
                    .filter(seat -> seat != view.seat)
                    .allMatch(seat -> worth(view.grids.get(seat)) > mine);
        }

        private double worth(int[] grid) {
            var columns = new int[18];
            double worth = 0;
            for (int column = 0; column < 4; column++) {
                if (grid[column] == grid[column + 4] && grid[column] != HIDDEN) {
                    columns[grid[column] - HOLE_IN_ONE]++;
                    worth += grid[column] == HOLE_IN_ONE ? 2 * HOLE_IN_ONE : 0;
                }
            }
            for (int matched : columns) {
                worth += COMBINATION[matched];
            }
            for (int column = 0; column < 4; column++) {
                int top = grid[column];
                int bottom = grid[column + 4];
                if (top != bottom || top == HIDDEN) {
                    double sum = expected(top) + expected(bottom);
                    worth += sum - hope(top, sum, columns) - hope(bottom, sum, columns);
                }
            }
            return worth;
        }

        private double expected(int card) {
            return card == HIDDEN ? reserve : card;
        }

        /** What a match of this card may save of its column's sum. */
        private double hope(int card, double sum, int[] columns) {
            if (card == HIDDEN) {
                return 0;
            }
            int index = card - HOLE_IN_ONE;
            double match = COMBINATION[columns[index] + 1] - COMBINATION[columns[index]];
            if (card == HOLE_IN_ONE) {
                match += 2 * HOLE_IN_ONE;
            }
            double never = Math.pow(1 - unseen.chance(index), comes);
            return (1 - never) * Math.max(0, sum - match);
        }
    }

    private static String fourCardGolf(View view) {
        int seats = view.grids.size();
        var pack = new int[19];
        var values = new double[19];
        for (int rank = 1; rank <= 13; rank++) {
            pack[rank - HOLE_IN_ONE] = seats < 5 ? 4 : 8;
            values[rank - HOLE_IN_ONE] = POINTS[rank];
        }
        var unseen = new Unseen(values, view.unseen(pack));
        double sum = 0;
        double most = -1;
        int worst = 0;
        for (int position = 0; position < 4; position++) {
            int rank = view.mine()[position];
            double value = rank == HIDDEN ? unseen.reserve(0) : POINTS[rank];
            sum += value;
            if (value > most + EPSILON) {
                most = value;
                worst = position;
            }
        }
        if (view.phase.equals("drawn")) {
            return POINTS[view.card("drawn")] < most - EPSILON ? "swap " + worst : "discard";
        }
        if (!view.lastTurn && sum <= 4 * unseen.reserve(4) - (seats - 1)) {
            return "knock";
        }
        int discard = POINTS[view.card("discard")];
        boolean takes = discard < most - EPSILON && discard < unseen.meanUpTo(most) - EPSILON;
        return takes ? "take " + worst : "draw";
    }

    /** A reader for JSON: objects are maps, lists lists, numbers Double. */
    private static final class Json {
        private final String text;
        private int at;

        Json(String text) {
            this.text = text;
        }

        @SuppressWarnings("unchecked")
        Map<String, Object> object() {
            return (Map<String, Object>) value();
        }

        private Object value() {
            return switch (next()) {
                case '{' -> members();
                case '[' -> items();
                case '"' -> string();
                default -> word();
            };
        }

        /** The next character that isn't white. */
        private char next() {
            while (Character.isWhitespace(text.charAt(at))) {
                at++;
            }
            return text.charAt(at);
        }

        private boolean skip(char expected) {
            boolean found = next() == expected;
            if (found) {
                at++;
            }
            return found;
        }

        private Map<String, Object> members() {
            var members = new HashMap<String, Object>();
            at++;
            while (!skip('}')) {
                next();
                String name = string();
                skip(':');
                members.put(name, value());
                skip(',');
            }
            return members;
        }

        private List<Object> items() {
            var items = new ArrayList<>();
            at++;
            while (!skip(']')) {
                items.add(value());
                skip(',');
            }
            return items;
        }

        /** Escapes stay as they are: no text that this bot looks at has one. */
        private String string() {
            int begin = ++at;
            while (text.charAt(at) != '"') {
                at += text.charAt(at) == '\\' ? 2 : 1;
            }
            return text.substring(begin, at++);
        }

        private Object word() {
            int begin = at;
            while (at < text.length() && ",]} \t\r".indexOf(text.charAt(at)) < 0) {
                at++;
            }
            String word = text.substring(begin, at);
            return switch (word) {
                case "null" -> null;
                case "true", "false" -> Boolean.valueOf(word);
                default -> Double.valueOf(word);
            };
        }
    }
}
