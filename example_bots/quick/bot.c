/* quick: a small bot in C. No library, no memory beyond one line, a microsecond a move.
 *
 * Policy, ties to the lowest position. "Saves" is by how much the visible score of the own grid
 * falls when a card comes to its best place; a card that is not known counts 5 in play-nine and 6
 * in four-card-golf.
 *
 * play-nine: tee off 0 and 1. Take the discard if it saves at least 4, else draw. Swap the drawn
 * card in if it saves at least 2. Otherwise flip, in a column with one card face up if there is
 * one; but the last face-down card only when the visible score is below those of all others, or on
 * the last turn: else skip.
 *
 * four-card-golf: knock at 6 or less. Take the discard if it saves at least 4, else draw. Swap the
 * drawn card in if it saves at least 1, else discard it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1 << 16, SEATS = 8, CARDS = 8, UNKNOWN = 99 };

/* ------------------------------------------------------------------ a minimal JSON scanner
 * Positions in the line stand for values. Only what well-formed input needs; a field is looked for
 * at its own level, so that unknown fields, whatever they hold, are passed over.
 */

static const char *blank(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')
        at++;
    return at;
}

/* Past the string that begins at `at`. */
static const char *past_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

/* Past the value that begins at `at`. */
static const char *past(const char *at)
{
    int depth = 0;
    do {
        at = blank(at);
        if (*at == '"') {
            at = past_string(at);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            depth--;
            at++;
        } else if (*at == ',' || *at == ':') {
            at++;
        } else {
            while (*at && !strchr(" \t\r\n,:]}", *at))
                at++;
        }
    } while (depth > 0 && *at);
    return at;
}

/* The value of a field of an object, or NULL. */
static const char *field(const char *object, const char *name)
{
    size_t length = strlen(name);
    const char *at = object ? blank(object) : NULL;
    if (!at || *at != '{')
        return NULL;
    at = blank(at + 1);
    while (*at == '"') {
        const char *key = at + 1;
        at = blank(past_string(at));
        if (*at != ':')
            return NULL;
        at = blank(at + 1);
        if (!strncmp(key, name, length) && key[length] == '"')
            return at;
        at = blank(past(at));
        if (*at == ',')
            at = blank(at + 1);
    }
    return NULL;
}

/* The first element of an array, or NULL. */
static const char *first(const char *array)
{
    if (!array || *array != '[')
        return NULL;
    array = blank(array + 1);
    return *array == ']' ? NULL : array;
}

/* The element after `at`, or NULL. */
static const char *next(const char *at)
{
    at = blank(past(at));
    return *at == ',' ? blank(at + 1) : NULL;
}

static int is(const char *value, const char *text)
{
    size_t length = strlen(text);
    return value && *value == '"' && !strncmp(value + 1, text, length) && value[length + 1] == '"';
}

/* A number; null and what is missing are UNKNOWN. */
static int number(const char *value)
{
    return !value || *value == 'n' ? UNKNOWN : atoi(value);
}

/* ---------------------------------------------------------------------------------- play-nine */

/* Strokes of a grid, unknown cards at 5. */
static int score_nine(const int *grid)
{
    static const int combination[5] = {0, 0, -10, -15, -20};
    int matched[18] = {0}, score = 0;
    for (int column = 0; column < 4; column++) {
        int top = grid[column], bottom = grid[column + 4];
        if (top == bottom && top != UNKNOWN) {
            matched[top + 5]++;
            if (top == -5)
                score -= 10;
        } else {
            score += (top == UNKNOWN ? 5 : top) + (bottom == UNKNOWN ? 5 : bottom);
        }
    }
    for (int card = 0; card < 18; card++)
        score += combination[matched[card]];
    return score;
}

/* What `card` saves at its best place. */
static int saves_nine(int *grid, int card, int *place)
{
    int now = score_nine(grid), best = -1000;
    for (int position = 0; position < 8; position++) {
        int old = grid[position], saved;
        grid[position] = card;
        saved = now - score_nine(grid);
        grid[position] = old;
        if (saved > best) {
            best = saved;
            *place = position;
        }
    }
    return best;
}

static void play_nine(const char *view, int grids[][CARDS], int seats, int seat, char *move)
{
    int *grid = grids[seat], place = 0, hidden = 0, flip = -1, lowest = 1;
    const char *phase = field(view, "phase");
    if (is(phase, "tee")) {
        strcpy(move, "tee 0 1");
        return;
    }
    if (is(phase, "turn")) {
        if (saves_nine(grid, number(field(view, "discard")), &place) >= 4)
            sprintf(move, "take %d", place);
        else
            strcpy(move, "draw");
        return;
    }
    if (saves_nine(grid, number(field(view, "drawn")), &place) >= 2) {
        sprintf(move, "swap %d", place);
        return;
    }
    for (int position = 7; position >= 0; position--) {
        if (grid[position] != UNKNOWN)
            continue;
        hidden++;
        if (flip < 0 || grid[position ^ 4] != UNKNOWN || grid[flip ^ 4] == UNKNOWN)
            flip = position;
    }
    for (int other = 0; other < seats; other++)
        if (other != seat && grids[other][0] != UNKNOWN + 1 &&
            score_nine(grids[other]) <= score_nine(grid))
            lowest = 0;
    if (hidden == 1 && !lowest && number(field(view, "ended_by")) == UNKNOWN)
        strcpy(move, "skip");
    else
        sprintf(move, "flip %d", flip);
}

/* ----------------------------------------------------------------------------- four-card-golf */

static int points(int rank)
{
    return rank == UNKNOWN ? 6 : rank == 13 ? 0 : rank > 10 ? 10 : rank;
}

static void four_card_golf(const char *view, const int *grid, char *move)
{
    int worst = 0, sum = 0, card;
    for (int position = 0; position < 4; position++) {
        sum += points(grid[position]);
        if (points(grid[position]) > points(grid[worst]))
            worst = position;
    }
    if (is(field(view, "phase"), "turn")) {
        card = number(field(view, "discard"));
        if (sum <= 6 && number(field(view, "ended_by")) == UNKNOWN)
            strcpy(move, "knock");
        else if (points(grid[worst]) - points(card) >= 4)
            sprintf(move, "take %d", worst);
        else
            strcpy(move, "draw");
        return;
    }
    card = number(field(view, "drawn"));
    if (points(card) < points(grid[worst]))
        sprintf(move, "swap %d", worst);
    else
        strcpy(move, "discard");
}

/* ----------------------------------------------------------------------------------- the talk */

static void act(const char *line)
{
    const char *view = field(line, "view"), *turn = field(line, "turn");
    int grids[SEATS][CARDS], seats = 0, seat = number(field(view, "seat"));
    char move[16] = "draw";
    if (!turn || !view || seat < 0 || seat >= SEATS)
        return;
    for (const char *grid = first(field(view, "grids")); grid && seats < SEATS; grid = next(grid)) {
        int position = 0;
        /* An empty list takes no part: marked by a first card that no pack has. */
        for (int i = 0; i < CARDS; i++)
            grids[seats][i] = UNKNOWN + 1;
        for (const char *card = first(grid); card && position < CARDS; card = next(card))
            grids[seats][position++] = number(card);
        seats++;
    }
    if (seat >= seats)
        return;
    if (field(view, "known"))
        four_card_golf(view, grids[seat], move);
    else
        play_nine(view, grids, seats, seat, move);
    /* The turn's text is copied as it stands between its quotes. */
    printf("{\"turn\":%.*s,\"move\":\"%s\"}\n", (int)(past(turn) - turn), turn, move);
    fflush(stdout);
}

int main(void)
{
    static char line[LINE];
    while (fgets(line, sizeof line, stdin)) {
        const char *type = field(line, "type");
        if (is(type, "act")) {
            act(line);
        } else if (is(type, "hello")) {
            puts("{\"type\":\"ready\"}");
            fflush(stdout);
        } else if (is(type, "bye")) {
            break;
        }
    }
    return 0;
}
