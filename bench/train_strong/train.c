/* train HOLES: learns the tables of the example bot `strong` from HOLES holes of play-nine a round.
 *
 * Two seats play. A position after a move is worth, in strokes that the mover ends above the other,
 *
 *     E(mine) - E(other) + moved(my columns) - to_move(other's columns) + lead(E(mine) - E(other))
 *         - feed * (what the discard that I leave is worth to the next player)
 *
 * as in strong's bot.py: E is the expected score of a grid, its unknown cards at the chances of the
 * unseen ones. The rest is learned, one `Weights` for each number of face-down cards of the mover
 * and of the other. moved and to_move are looked up by the two cards of each column, plus `live`
 * times what the column gains by a match, by the chance of it.
 *
 * The learning is TD(lambda) on positions after moves, from the last of a hole back to the first.
 * The last, in which somebody goes out, is computed: E(mine) less what the other is expected to
 * have after a last turn, which is not played.
 *
 * The output, a line of whole numbers for each row of a table, is a function of HOLES alone: the
 * generator is our own, and all arithmetic is + - * / of IEEE 754 numbers as written, so that
 * every compiler that neither contracts (-ffp-contract=off) nor reorders it gives the same bytes.
 */
#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0 || defined(__FAST_MATH__)
#error "floats must be computed as floats, in the written order"
#endif

/* Cards as indexes: 0 to 12 are themselves, 13 is a Hole-in-One, 14 is face down. */
enum { HOLE_IN_ONE = 13, CARDS = 14, HIDDEN = 14, SYMBOLS = 15, PACK = 108 };
enum {
    ROUNDS = 6,
    TURNS = 80, /* of both seats; the stock lasts for them, and hardly a hole does */
    NEAR = 3,   /* face-down cards are told apart up to here: 3 means 3 or more */
    KNOTS = 12, /* of the curve `lead`, 6 strokes apart, at -33 to 33 */
    SKIP = -1   /* in place of a position to flip */
};

static const float NEVER = 1e9f;     /* the value of a move that can't be made */
static const float ROUNDING = 1e-6f; /* what sums of the same strokes may differ by */
/* What a card counts, and what one more matched column adds to that many others of its number. */
static const float NUMBER[CARDS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, -5};
static const float MARGIN[5] = {0, -10, -5, -5, 0};
static const float RATE[ROUNDS] = {0.06f, 0.0274f, 0.0125f, 0.0057f, 0.0026f, 0.0012f};
static const float LEAD_RATE = 0.3f;   /* part of RATE: many positions share a knot */
static const float SLOPE_RATE = 0.01f; /* part of RATE: factors of strokes, not strokes */
static const float LAMBDA = 0.7f;

static uint64_t state = 9; /* the seed of splitmix64 */

static int below(int limit)
{
    uint64_t mix = state += 0x9e3779b97f4a7c15u;
    mix = (mix ^ mix >> 30) * 0xbf58476d1ce4e5b9u;
    mix = (mix ^ mix >> 27) * 0x94d049bb133111ebu;
    return (int)(((mix ^ mix >> 31) >> 32) * (uint64_t)limit >> 32);
}

/* ---------------------------------------------------------------------------------- the table */

typedef struct {
    uint8_t card[2][8], seen[2][8]; /* by seat: what lies there; the same, or HIDDEN */
    int hidden[2];
    uint8_t stock[PACK], pile[PACK]; /* the last is the top */
    int in_stock, on_pile;
    int unseen[CARDS]; /* how many of each are in the stock or face down */
} Table;

static void turn_up(Table *table, int seat, int position)
{
    table->seen[seat][position] = table->card[seat][position];
    table->hidden[seat]--;
    table->unseen[table->card[seat][position]]--;
}

/* Puts `card` there; what it replaces goes to the pile. */
static void put(Table *table, int seat, int position, int card)
{
    if (table->seen[seat][position] == HIDDEN)
        turn_up(table, seat, position);
    table->pile[table->on_pile++] = table->card[seat][position];
    table->card[seat][position] = table->seen[seat][position] = (uint8_t)card;
}

/* Discards the drawn card and turns one up, or none. */
static void discard(Table *table, int seat, int card, int flips)
{
    table->pile[table->on_pile++] = (uint8_t)card;
    if (flips != SKIP)
        turn_up(table, seat, flips);
}

static int draw(Table *table)
{
    int card = table->stock[--table->in_stock];
    table->unseen[card]--;
    return card;
}

static void deal(Table *table)
{
    *table = (Table){.in_stock = PACK};
    for (int i = 0; i < PACK; i++) { /* each card to a place by lot among those before it */
        int card = i / 8, place = below(i + 1); /* the last four are the Holes-in-One */
        table->stock[i] = table->stock[place];
        table->stock[place] = (uint8_t)card;
        table->unseen[card]++;
    }
    for (int seat = 0; seat < 2; seat++) {
        table->in_stock -= 8;
        memcpy(table->card[seat], table->stock + table->in_stock, 8);
        memset(table->seen[seat], HIDDEN, 8);
        table->hidden[seat] = 8;
        turn_up(table, seat, 0); /* by lot, one column known or two begun */
        turn_up(table, seat, below(2) ? 4 : 1);
    }
    discard(table, 0, draw(table), SKIP);
}

/* -------------------------------------------------------------- a position as everybody sees it */

/* A grid. The scores are expected ones. */
typedef struct {
    uint8_t seen[8];
    int hidden;
    float chance[CARDS];   /* of an unknown card */
    float match[CARDS];    /* one more matched column of the card */
    float beside[SYMBOLS]; /* a column of the card, or of an unknown one, and an unknown one */
    float now[4];          /* a column, with what its match adds to the others */
    float expected;        /* all of it */
} Side;

/* Both grids, and what a turn is worth to the other by the expected score: at most 0. */
typedef struct {
    Side mine, other;
    float ahead;        /* E(mine) - E(other) */
    float drawing;      /* the mean over a drawn card at its best place */
    float fed[SYMBOLS]; /* by discard: beyond a draw; under HIDDEN the mean */
    float top;          /* the same of the discard that lies there */
} View;

/* A column of two different cards, or unknown ones. */
static float mixed(const Side *side, int top, int bottom)
{
    if (bottom == HIDDEN)
        return side->beside[top];
    return top == HIDDEN ? side->beside[bottom] : NUMBER[top] + NUMBER[bottom];
}

/* A matched column beside others of its number; a Hole-in-One also counts itself. */
static float pair(int card, int others)
{
    return MARGIN[others] + (card == HOLE_IN_ONE ? 2 * NUMBER[card] : 0);
}

static Side look_at(const Table *table, int seat)
{
    Side side = {.hidden = table->hidden[seat]};
    int matched[CARDS] = {0}, counted[CARDS] = {0};
    float unseen = (float)(table->in_stock + table->hidden[0] + table->hidden[1]), mean = 0;
    memcpy(side.seen, table->seen[seat], 8);
    for (int column = 0; column < 4; column++)
        if (side.seen[column] != HIDDEN && side.seen[column] == side.seen[column + 4])
            matched[side.seen[column]]++;
    for (int card = 0; card < CARDS; card++) {
        side.chance[card] = (float)table->unseen[card] / unseen;
        mean += side.chance[card] * NUMBER[card];
    }
    side.beside[HIDDEN] = 2 * mean;
    for (int card = 0; card < CARDS; card++) {
        side.match[card] = pair(card, matched[card]);
        float gain = (side.match[card] - 2 * NUMBER[card]) * side.chance[card];
        side.beside[card] = NUMBER[card] + mean + gain;
        side.beside[HIDDEN] += gain * side.chance[card];
    }
    for (int column = 0; column < 4; column++) {
        int top = side.seen[column], bottom = side.seen[column + 4];
        int same = top == bottom && top != HIDDEN;
        side.now[column] = same ? pair(top, matched[top] - 1) : mixed(&side, top, bottom);
        side.expected += same ? pair(top, counted[top]++) : side.now[column];
    }
    return side;
}

/* How the expected score changes when `card` comes there; NEVER if it would replace its like. */
static float change(const Side *side, int card, int position)
{
    int partner = side->seen[position ^ 4];
    if (partner != card)
        return mixed(side, card, partner) - side->now[position & 3];
    return side->seen[position] == card ? NEVER : side->match[card] - side->now[position & 3];
}

static void look(const Table *table, int seat, View *view)
{
    const Side *other = &view->other;
    view->mine = look_at(table, seat);
    view->other = look_at(table, 1 - seat);
    view->ahead = view->mine.expected - other->expected;
    view->drawing = view->fed[HIDDEN] = 0;
    for (int card = 0; card < CARDS; card++) {
        float best = 0;
        for (int position = 0; position < 8; position++) {
            float value = change(other, card, position);
            best = value < best ? value : best;
        }
        view->fed[card] = best;
        view->drawing += other->chance[card] * best;
    }
    for (int card = 0; card < CARDS; card++) {
        float beyond = view->fed[card] - view->drawing;
        view->fed[card] = beyond < 0 ? beyond : 0;
        view->fed[HIDDEN] += other->chance[card] * view->fed[card];
    }
    view->top = view->fed[table->pile[table->on_pile - 1]];
}

/* What a column of two face-up cards gains by a match, by the chance of the card. */
static float live(const Side *side, int top, int bottom)
{
    if (top == bottom || top == HIDDEN || bottom == HIDDEN)
        return 0;
    float score = NUMBER[top] + NUMBER[bottom];
    float of_top = score - side->match[top], of_bottom = score - side->match[bottom];
    return (of_top > 0 ? of_top * side->chance[top] : 0)
           + (of_bottom > 0 ? of_bottom * side->chance[bottom] : 0);
}

/* ---------------------------------------------------------------------------- what is learned */

typedef struct {
    float square[SYMBOLS * SYMBOLS]; /* by SYMBOLS * card + card, symmetric */
    float live;
} Columns;

typedef struct {
    Columns moved, to_move;
    float lead[KNOTS], feed;
} Weights;

/* [own face-down cards][the other's]; own are those of the grid that is looked up: for to_move
 * the other's, for all else the mover's. */
static Weights learned[NEAR][NEAR];

static Weights *weights(int own, int other)
{
    return &learned[(own < NEAR ? own : NEAR) - 1][(other < NEAR ? other : NEAR) - 1];
}

/* The knot below `lead` strokes; `part` of the way to the next. */
static int knot(float lead, float *part)
{
    float place = lead / 6 + 5.5f;
    place = place < 0 ? 0 : place > KNOTS - 1.001f ? KNOTS - 1.001f : place;
    *part = place - (float)(int)place;
    return (int)place;
}

static float lead_value(const Weights *mine, float lead)
{
    float part;
    const float *at = mine->lead + knot(lead, &part);
    return at[0] + part * (at[1] - at[0]);
}

static float column(const Side *side, const Columns *table, int top, int bottom)
{
    return table->square[SYMBOLS * top + bottom] + table->live * live(side, top, bottom);
}

static float columns(const Side *side, const Columns *table)
{
    float value = 0;
    for (int at = 0; at < 4; at++)
        value += column(side, table, side->seen[at], side->seen[at + 4]);
    return value;
}

static void learn_columns(const Side *side, Columns *table, float step)
{
    for (int column = 0; column < 4; column++) {
        int top = side->seen[column], bottom = side->seen[column + 4];
        float now = table->square[SYMBOLS * top + bottom] + step / 8; /* eight columns share it */
        table->square[SYMBOLS * top + bottom] = table->square[SYMBOLS * bottom + top] = now;
        table->live += SLOPE_RATE * step * live(side, top, bottom);
    }
}

/* What the columns of both add after a move that leaves me `hidden` face-down cards. */
static float all_columns(const View *view, int hidden)
{
    return columns(&view->mine, &weights(hidden, view->other.hidden)->moved)
           - columns(&view->other, &weights(view->other.hidden, hidden)->to_move);
}

/* The value of a position after my move. */
static float value_of(const View *view)
{
    int hidden = view->mine.hidden;
    if (!hidden)
        return view->ahead - view->drawing - view->top;
    const Weights *table = weights(hidden, view->other.hidden);
    return view->ahead + all_columns(view, hidden) + lead_value(table, view->ahead)
           - table->feed * view->top;
}

/* Moves the weights of such a position. */
static void learn(const View *view, float step)
{
    int hidden = view->mine.hidden, other = view->other.hidden;
    Weights *table = weights(hidden, other);
    float part, *lead = table->lead + knot(view->ahead, &part);
    learn_columns(&view->mine, &table->moved, step);
    learn_columns(&view->other, &weights(other, hidden)->to_move, -step);
    lead[0] += LEAD_RATE * step * (1 - part);
    lead[1] += LEAD_RATE * step * part;
    table->feed -= SLOPE_RATE * step * view->top;
}

/* -------------------------------------------------------------------------------- the players */

/* What moves are worth, as changes against E(mine) - E(other): class Outlook of bot.py. All zero
 * but the view, it is matcher's: the expected score alone. */
typedef struct {
    View view;
    struct {                 /* by number of cards that the move turns up, 0 or 1 */
        const Weights *mine; /* none when it goes out, or with nothing to look up */
        float base, feed;
    } after[2];
    float flip, skip; /* when the drawn card is discarded, all but what that feeds */
    int flips;        /* where */
} Outlook;

static float best_place(const Outlook *outlook, int card, int *place)
{
    const Side *mine = &outlook->view.mine;
    float best = NEVER;
    *place = 0;
    for (int position = 0; position < 8; position++) {
        int old = mine->seen[position], partner = mine->seen[position ^ 4], turned = old == HIDDEN;
        const Weights *table = outlook->after[turned].mine;
        float value = change(mine, card, position);
        if (table)
            value += column(mine, &table->moved, partner, card)
                     - column(mine, &table->moved, partner, old)
                     + lead_value(table, outlook->view.ahead + value);
        value += outlook->after[turned].base - outlook->after[turned].feed * outlook->view.fed[old];
        if (value < best) {
            best = value;
            *place = position;
        }
    }
    return best;
}

/* When the drawn card is discarded; `flips` becomes a position or SKIP. */
static float discarding(const Outlook *outlook, int card, int *flips)
{
    float flip = outlook->flip - outlook->after[1].feed * outlook->view.fed[card];
    float skip = outlook->skip - outlook->after[0].feed * outlook->view.fed[card];
    *flips = skip < flip ? SKIP : outlook->flips;
    return skip < flip ? skip : flip;
}

/* Fills in what strong looks up. */
static void look_ahead(Outlook *outlook)
{
    const View *view = &outlook->view;
    const Side *mine = &view->mine;
    for (int turned = 0; turned < 2; turned++) {
        int hidden = mine->hidden - turned;
        const Weights *table = hidden ? weights(hidden, view->other.hidden) : NULL;
        outlook->after[turned].mine = table;
        outlook->after[turned].feed = table ? table->feed : 1;
        outlook->after[turned].base = table ? all_columns(view, hidden) : -view->drawing;
    }
    const Weights *table = outlook->after[1].mine;
    outlook->flip = NEVER;
    for (int position = 0; position < 8; position++) {
        int partner = mine->seen[position ^ 4];
        float value = outlook->after[1].base;
        if (table) {
            value += lead_value(table, view->ahead) - column(mine, &table->moved, partner, HIDDEN);
            for (int card = 0; card < CARDS; card++)
                value += mine->chance[card] * column(mine, &table->moved, partner, card);
        }
        if (mine->seen[position] == HIDDEN && value < outlook->flip) {
            outlook->flip = value;
            outlook->flips = position;
        }
    }
    if (mine->hidden == 1)
        outlook->skip = outlook->after[0].base + lead_value(outlook->after[0].mine, view->ahead);
}

/* A turn. Matchers are of all tempers: when they leave their last card face down is by lot. */
static void play(Table *table, int seat, int matcher)
{
    Outlook outlook = {.skip = NEVER};
    const Side *mine = &outlook.view.mine;
    look(table, seat, &outlook.view);
    while (mine->seen[outlook.flips] != HIDDEN)
        outlook.flips++;
    if (!matcher) {
        look_ahead(&outlook);
    } else if (mine->hidden == 1 && mine->expected > (float)below(14) - 2) {
        outlook.skip = 0;
        outlook.flip = NEVER;
    }
    float drawing = 0;
    int place, flips;
    for (int drawn = 0; drawn < CARDS; drawn++) {
        float placed = best_place(&outlook, drawn, &place);
        float left = discarding(&outlook, drawn, &flips);
        drawing += mine->chance[drawn] * (placed < left ? placed : left);
    }
    int card = table->pile[table->on_pile - 1];
    int takes = best_place(&outlook, card, &place) < drawing - ROUNDING;
    card = takes ? table->pile[--table->on_pile] : draw(table);
    float left = discarding(&outlook, card, &flips);
    if (takes || best_place(&outlook, card, &place) < left - ROUNDING)
        put(table, seat, place, card);
    else
        discard(table, seat, card, flips);
}

/* A turn by lot: a third take the discard, a third swap, a third flip. */
static void explore(Table *table, int seat)
{
    int way = below(3), position = below(8);
    int card = way == 0 ? table->pile[--table->on_pile] : draw(table);
    while (way == 2 && table->seen[seat][position] != HIDDEN)
        position = below(8);
    if (way == 2)
        discard(table, seat, card, position);
    else
        put(table, seat, position, card);
}

/* Plays a hole and learns from it. In the first round both seats are matchers, later each is one
 * in ten times; of the turns, 5 and then 3 in 100 are by lot. */
static void train(int round, int first)
{
    static View path[TURNS]; /* after each move, as the mover sees it */
    Table table;
    int count = 0, out = 0, matcher[2];
    deal(&table);
    matcher[0] = !round || !below(10);
    matcher[1] = !round || !below(10);
    for (int seat = first; count < TURNS && !out; seat = 1 - seat) {
        if (below(100) < (round ? 3 : 5))
            explore(&table, seat);
        else
            play(&table, seat, matcher[seat]);
        look(&table, seat, &path[count]);
        out = !path[count++].mine.hidden;
    }
    /* Whoever goes out ends it: the last turn is computed. At the cap all cards are turned up. */
    float target = out ? value_of(&path[count - 1]) : path[count - 1].ahead;
    for (int i = count - 1; i >= 0; i--) {
        if (i < count - 1) /* the next position is the other's: its sign turns */
            target = -((1 - LAMBDA) * value_of(&path[i + 1]) + LAMBDA * target);
        if (path[i].mine.hidden)
            learn(&path[i], RATE[round] * (target - value_of(&path[i])));
    }
}

/* A row of a table, in parts of a stroke. */
static void print_row(const char *name, const float *values, int count, float parts)
{
    printf("%s", name);
    for (int i = 0; i < count; i++)
        printf(" %d", (int)(values[i] * parts + (values[i] < 0 ? -0.5f : 0.5f)));
    printf("\n");
}

int main(int count, char **arguments)
{
    int holes = count == 2 ? atoi(arguments[1]) : 0;
    if (holes < 1) {
        fprintf(stderr, "usage: train HOLES\n");
        return 2;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int hole = 0; hole < holes; hole++)
            train(round, hole & 1);
    for (int row = 0; row < NEAR * NEAR; row++) {
        Weights *it = &learned[row / NEAR][row % NEAR];
        print_row("moved", it->moved.square, SYMBOLS * SYMBOLS, 10);
        print_row("to_move", it->to_move.square, SYMBOLS * SYMBOLS, 10);
        print_row("lead", it->lead, KNOTS, 10);
        print_row("live_moved", &it->moved.live, 1, 100);
        print_row("live_to_move", &it->to_move.live, 1, 100);
        print_row("feed", &it->feed, 1, 100);
    }
    return 0;
}
