import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A small JSON reader: {@code Json.parse(line)}, then {@code value.get("field").get(0).number()}.
 *
 * <p>A field or an element that isn't there is null, a Json too, so that look-ups can be chained.
 */
final class Json {
    private static final Json NULL = new Json(null);

    /** A Map, List, String, Double or Boolean, or null. */
    private final Object value;

    private Json(Object value) {
        this.value = value;
    }

    static Json parse(String text) {
        Reader reader = new Reader(text);
        Json json = reader.value();
        if (reader.peek() != Reader.END) {
            throw reader.wrong();
        }
        return json;
    }

    Json get(String name) {
        return value instanceof Map<?, ?> fields && fields.get(name) instanceof Json json ? json : NULL;
    }

    Json get(int index) {
        return index < list().size() ? list().get(index) : NULL;
    }

    /** An array's elements; none of anything else. */
    @SuppressWarnings("unchecked")
    List<Json> list() {
        return value instanceof List<?> items ? (List<Json>) items : List.of();
    }

    boolean isNull() {
        return value == null;
    }

    /** A whole number; null for anything else. */
    Integer number() {
        return value instanceof Double number ? Integer.valueOf(number.intValue()) : null;
    }

    /** A string; empty for anything else. */
    String text() {
        return value instanceof String text ? text : "";
    }

    private static final class Reader {
        static final char END = '\0';

        private final String text;
        private int at;

        Reader(String text) {
            this.text = text;
        }

        IllegalArgumentException wrong() {
            return new IllegalArgumentException("this is no JSON at character " + at + ": " + text);
        }

        /** The next character that isn't white space. */
        char peek() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
            return at < text.length() ? text.charAt(at) : END;
        }

        Json value() {
            return switch (peek()) {
                case '{' -> new Json(fields());
                case '[' -> new Json(items());
                case '"' -> new Json(string());
                default -> word();
            };
        }

        private void expect(char c) {
            if (peek() != c) {
                throw wrong();
            }
            at++;
        }

        /** Whether another element follows; passes the bracket or the comma. */
        private boolean more(boolean first, char end) {
            if (peek() == end) {
                at++;
                return false;
            }
            if (!first) {
                expect(',');
            }
            return true;
        }

        private Map<String, Json> fields() {
            Map<String, Json> fields = new LinkedHashMap<>();
            expect('{');
            while (more(fields.isEmpty(), '}')) {
                peek();
                String name = string();
                expect(':');
                fields.put(name, value());
            }
            return fields;
        }

        private List<Json> items() {
            List<Json> items = new ArrayList<>();
            expect('[');
            while (more(items.isEmpty(), ']')) {
                items.add(value());
            }
            return items;
        }

        /** A number, true, false or null. */
        private Json word() {
            int start = at;
            while (at < text.length() && " \t\r\n,]}".indexOf(text.charAt(at)) < 0) {
                at++;
            }
            String word = text.substring(start, at);
            return switch (word) {
                case "true", "false" -> new Json(Boolean.valueOf(word));
                case "null" -> NULL;
                default -> new Json(Double.valueOf(word)); // throws when it is none
            };
        }

        private String string() {
            StringBuilder result = new StringBuilder();
            expect('"');
            for (char c = next(); c != '"'; c = next()) {
                result.append(c == '\\' ? escaped() : c);
            }
            return result.toString();
        }

        private char next() {
            if (at == text.length()) {
                throw wrong();
            }
            return text.charAt(at++);
        }

        private char escaped() {
            char c = next();
            return switch (c) {
                case 'b' -> '\b';
                case 'f' -> '\f';
                case 'n' -> '\n';
                case 'r' -> '\r';
                case 't' -> '\t';
                case 'u' -> (char) Integer.parseInt("" + next() + next() + next() + next(), 16);
                default -> c; // the quote, the slashes
            };
        }
    }
}
