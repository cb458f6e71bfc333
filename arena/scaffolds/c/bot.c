/* A bot that plays play-nine and four-card-golf. Your strategy goes into choose(). */
#define _POSIX_C_SOURCE 200809L /* getline */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

enum {
    CARDS = 8,    /* in a grid: eight, or four in four-card-golf */
    HIDDEN = 99,  /* a card that you don't know */
    UNKNOWN = 6,  /* what it counts: about the mean of the pack, in both games */
    MOVE = 32     /* a move's longest text and the zero after it */
};

static char game[MOVE];

/* Numbers of an array, at most `most`; returns how many. null becomes HIDDEN. */
static int numbers(const char *array, int *into, int most)
{
    int count = 0;
    for (const char *item = json_first(array); item && count < most; item = json_next(item))
        into[count++] = json_int(item, HIDDEN);
    return count;
}

/* Strokes of a grid, as far as it is known. */
static int score(const int *grid, int size)
{
    static const int points[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0}; /* ranks 1 to 13 */
    int strokes = 0;
    if (!strcmp(game, "four-card-golf")) {
        for (int i = 0; i < size; i++)
            strokes += grid[i] == HIDDEN ? UNKNOWN : points[grid[i]];
        return strokes;
    }
    for (int column = 0; column < 4; column++) {
        int top = grid[column], bottom = grid[column + 4];
        if (top == bottom && top != HIDDEN)
            strokes += top == -5 ? -10 : 0; /* more columns of one number: more is saved */
        else
            strokes += (top == HIDDEN ? UNKNOWN : top) + (bottom == HIDDEN ? UNKNOWN : bottom);
    }
    return strokes;
}

/* How many strokes `card` saves in its best place, and that place. */
static int best_place(const int *grid, int size, int card, int *place)
{
    int best = 0;
    for (int i = 0; i < size; i++) {
        int changed[CARDS], saving;
        memcpy(changed, grid, sizeof changed);
        changed[i] = card;
        saving = score(grid, size) - score(changed, size);
        if (i == 0 || saving > best)
            best = saving, *place = i;
    }
    return best;
}

/* One of the legal moves that begin with one of two words, at random; "" is how all begin. */
static void pick(const char *legal, const char *word, const char *other, char *move)
{
    char text[MOVE];
    int seen = 0;
    for (const char *item = json_first(legal); item; item = json_next(item)) {
        json_copy(item, text, sizeof text);
        if (strncmp(text, word, strlen(word)) && strncmp(text, other, strlen(other)))
            continue;
        if (rand() % ++seen == 0) /* the n-th takes the place of those before once in n times */
            strcpy(move, text);
    }
}

/* Your strategy goes here: write one of the moves in `legal` to `move`.
 *
 *   json_field(view, "seat")      your seat, from 0
 *   json_field(view, "grids")     everybody's cards, an array by seat; null: you don't know it
 *   json_field(view, "phase")     "tee", "turn" or "drawn"
 *   json_field(view, "discard")   the top of the discard pile
 *   json_field(view, "drawn")     the card in your hand in phase "drawn", else null
 *   json_field(view, "pile")      the whole discard pile, the top last
 *   json_field(view, "stock")     how many cards the stock has
 *   json_field(view, "recycled")  [], or the cards in the stock since the pile was reshuffled
 *   json_field(view, "order")     seats in the order of play, the dealer last
 *   json_field(view, "turns")     turns that each seat has begun on this hole
 *   json_field(view, "ended_by")  the seat that ended the hole (your last turn), or null
 *   json_field(view, "known")     four-card-golf: who knows each card, a string of n, o, r, a a seat
 */
static void choose(const char *view, const char *legal, char *move)
{
    const char *phase = json_field(view, "phase"), *own = json_first(json_field(view, "grids"));
    int grid[CARDS] = {0}, size, place = 0;

    for (int seat = json_int(json_field(view, "seat"), 0); seat > 0; seat--)
        own = json_next(own);
    size = numbers(own, grid, CARDS);

    if (strcmp(game, "play-nine") && strcmp(game, "four-card-golf")) {
        pick(legal, "", "", move); /* another game: its scores are for you to write */
    } else if (json_is(phase, "tee")) {
        pick(legal, "", "", move); /* all cards are face down: any two are as good */
    } else if (json_is(phase, "turn")) {
        pick(legal, "knock", "knock", move);
        if (*move && score(grid, size) <= 8)
            return;
        if (best_place(grid, size, json_int(json_field(view, "discard"), HIDDEN), &place) > 3)
            snprintf(move, MOVE, "take %d", place);
        else
            strcpy(move, "draw");
    } else {
        if (best_place(grid, size, json_int(json_field(view, "drawn"), HIDDEN), &place) > 0)
            snprintf(move, MOVE, "swap %d", place);
        else
            pick(legal, "flip", "discard", move);
    }
}

int main(void)
{
    char *line = NULL, turn[MOVE + 1], move[MOVE];
    size_t size = 0;
    setvbuf(stdout, NULL, _IOLBF, 0); /* every line is written at once; log to stderr */
    while (getline(&line, &size, stdin) > 0) {
        const char *type = json_field(line, "type");
        if (json_is(type, "hello")) {
            json_copy(json_field(line, "game"), game, sizeof game);
            puts("{\"type\":\"ready\"}");
        } else if (json_is(type, "match")) {
            srand((unsigned)json_int(json_field(line, "seed"), 1)); /* the same match, the same moves */
        } else if (json_is(type, "act")) { /* also there: hole, totals, events, move_ms, bank_ms */
            *move = '\0';
            choose(json_field(line, "view"), json_field(line, "legal"), move);
            json_copy(json_field(line, "turn"), turn, sizeof turn);
            printf("{\"turn\":\"%s\",\"move\":\"%s\"}\n", turn, move);
        } else if (json_is(type, "bye")) {
            break;
        }
    }
    free(line);
    return 0;
}
