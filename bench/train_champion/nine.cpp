// nine learn HOLES TABLES: learns the network of play-nine, prints it as a header.
// nine play HOLES TABLES: plays holes by lot, prints cards, moves and scores for the arena's rules.
//
// TABLES is strong's tables.json. Two seats play; the output is a function of HOLES and TABLES.
#include "nine.h"

#include <cstdlib>
#include <cstring>

#include "learn.h"
#include "partners.h"

using namespace nine;

constexpr int PACK = 108;
constexpr int TURNS = 80;  // of both seats; hardly a hole takes as many
constexpr float RATE = 0.06f, LAMBDA = 0.2f;
// In 100: turns by lot; holes against strong, against matcher.
constexpr int LOTS = 4, STRONGS = 35, MATCHERS = 15;

static Lots lots = {9};
static std::unique_ptr<Tables> tables;
static bool spoken = false;  // moves are printed
static auto net = std::make_unique<Network>();

struct Table {
    int card[2][8], seen[2][8];  // by seat: what lies there; the same, or HIDDEN
    int hidden[2];
    int pack[PACK], turn;
    int unseen[CARDS];
    int top;
};

static int number(int card) { return card == HOLE_IN_ONE ? -5 : card; }

static void turn_up(Table& table, int seat, int position)
{
    table.seen[seat][position] = table.card[seat][position];
    table.hidden[seat]--;
    table.unseen[table.card[seat][position]]--;
}

static void deal(Table& table)
{
    table = {};
    for (int i = 0; i < PACK; i++) {  // each card to a place by lot among those before it
        int card = i / 8, place = lots.below(i + 1);  // the last four are the Holes-in-One
        table.pack[i] = table.pack[place];
        table.pack[place] = card;
        table.unseen[card]++;
    }
    for (int seat = 0; seat < 2; seat++) {
        table.hidden[seat] = 8;
        for (int position = 0; position < 8; position++) {
            table.card[seat][position] = table.pack[2 * position + seat];
            table.seen[seat][position] = HIDDEN;
        }
    }
    table.top = table.pack[16];
    table.unseen[table.top]--;
}

// The seat in the order of play draws the card of its turn, as in the arena.
static int draw(Table& table)
{
    int card = table.pack[17 + table.turn];
    table.unseen[card]--;
    return card;
}

static View look(const Table& table, int seat)
{
    View view = {};
    std::memcpy(view.mine, table.seen[seat], sizeof view.mine);
    std::memcpy(view.other[0], table.seen[1 - seat], sizeof view.mine);
    view.others = 1;
    for (int card = 0; card < CARDS; card++)
        view.unseen[card] = view.stock[card] = table.unseen[card];
    view.discard = table.top;
    return view;
}

static void put(Table& table, int seat, int position, int card)
{
    if (table.seen[seat][position] == HIDDEN)
        turn_up(table, seat, position);
    table.top = table.card[seat][position];
    table.card[seat][position] = table.seen[seat][position] = card;
}

static void take(Table& table, int seat, int position)
{
    if (spoken)
        std::printf("take %d;", position);
    put(table, seat, position, table.top);
}

static void use(Table& table, int seat, int card, int move)
{
    if (spoken && move == SKIP)
        std::printf("draw;skip;");
    else if (spoken)
        std::printf("draw;%s %d;", move < 8 ? "swap" : "flip", move & 7);
    if (move >= 0 && move < 8) {
        put(table, seat, move, card);
        return;
    }
    table.top = card;
    if (move != SKIP)
        turn_up(table, seat, move - 8);
}

// A third take the discard, a third swap, a third flip.
static void explore(Table& table, int seat)
{
    int way = lots.below(3), position = lots.below(8);
    if (way == 0) {
        take(table, seat, position);
        return;
    }
    while (way == 2 && table.seen[seat][position] != HIDDEN)
        position = lots.below(8);
    use(table, seat, draw(table), way == 2 ? 8 + position : position);
}

enum Kind { LEARNER, MATCHER, STRONG };

struct Player {
    Kind kind;
    float patience;
};

// What a draw is worth to somebody who uses cards like that.
template <class Policy>
static float drawing(const Outlook& outlook, const Policy& policy)
{
    float sum = 0;
    for (int card = 0; card < CARDS; card++) {
        if (!outlook.view.stock[card])
            continue;
        int move = policy.use(card);
        float value = move == SKIP ? outlook.value({SKIP, 0, card})
                      : move < 8   ? outlook.placed(card, move)
                                   : outlook.flip(card, move - 8);
        sum += outlook.chances.drawn[card] * value;
    }
    return sum;
}

template <class Policy>
static float partner(Table& table, int seat, const Outlook& outlook, const Policy& policy,
                     bool explores)
{
    int place = policy.turn();
    float worth = place == DRAW ? drawing(outlook, policy) : outlook.placed(table.top, place);
    if (explores) {
        explore(table, seat);
    } else if (place != DRAW) {
        take(table, seat, place);
    } else {
        int card = draw(table);
        use(table, seat, card, policy.use(card));
    }
    return worth;
}

// A turn; returns what it was worth before its draw.
static float play(Table& table, int seat, const Player& player, bool explores)
{
    View view = look(table, seat);
    Outlook outlook(*net, view);
    if (player.kind == MATCHER)
        return partner(table, seat, outlook, Matcher{outlook, player.patience}, explores);
    if (player.kind == STRONG)
        return partner(table, seat, outlook, Strong(outlook, *tables), explores);
    int place = 0;
    float takes = outlook.best_place(view.discard, &place), draws = outlook.drawing();
    if (explores) {
        explore(table, seat);
    } else if (takes < draws - ROUNDING) {
        take(table, seat, place);
    } else {
        int card = draw(table);
        use(table, seat, card, choose_drawn(*net, look(table, seat), card, false));
    }
    return std::min(takes, draws);
}

struct Step {
    Inputs inputs;
    int bucket;
    float ahead;  // E(mine) - E(other)
    float value;
    bool out;
    float before;  // what the turn was worth before its draw
    bool free;     // by lot
};

// A position after the move of `seat`.
static void record(const Table& table, int seat, Step& step)
{
    View view = look(table, seat);
    Outlook outlook(*net, view);
    const Against& it = outlook.against[0];
    step.ahead = outlook.mine.expected - it.side.expected;
    step.out = !table.hidden[seat];
    step.inputs.clear();
    float fed = it.fed[table.top];
    if (step.out) {
        step.value = step.ahead - it.drawing - fed;
        return;
    }
    int time = table.hidden[1 - seat];
    step.bucket = bucket(table.hidden[seat], time);
    Inputs& in = step.inputs;
    for (int column = 0; column < 4; column++) {
        in.push_back({MINE + pair_row(view.mine[column], view.mine[column + 4]), 1.0f});
        in.push_back({THEIRS + pair_row(view.other[0][column], view.other[0][column + 4]), 1.0f});
    }
    for (int card = 0; card < CARDS; card++)
        in.push_back({CHANCE + card, CARDS * outlook.chances.hidden[card] - 1});
    in.push_back({ALWAYS, 1.0f});
    in.push_back({MY_HIDDEN + table.hidden[seat], 1.0f});
    in.push_back({THEIR_HIDDEN + time, 1.0f});
    in.push_back({TOP + table.top, 1.0f});
    in.push_back({MY_E, outlook.mine.expected / UNIT});
    in.push_back({THEIR_E, it.side.expected / UNIT});
    in.push_back({MY_LIVE, outlook.mine.live_sum});
    in.push_back({THEIR_LIVE, it.side.live_sum});
    in.push_back({FED, fed});
    step.value = step.ahead + UNIT * value_of(*net, in, step.bucket);
}

// Two cards are turned up, in one hole of eight a column; who plays is by lot.
static void tee_off(Table& table, Player* players, bool early)
{
    deal(table);
    for (int seat = 0; seat < 2; seat++) {
        int second = lots.below(8) ? 1 : 4;
        turn_up(table, seat, 0);
        turn_up(table, seat, second);
        if (spoken)
            std::printf("tee 0 %d;", second);
        players[seat] = {early ? MATCHER : LEARNER, (float)lots.below(14) - 2};
    }
    int lot = lots.below(100), seat = lots.below(2);
    if (!early && lot < STRONGS)
        players[seat].kind = STRONG;
    else if (!early && lot < STRONGS + MATCHERS)
        players[seat].kind = MATCHER;
}

// Plays a hole up to where somebody goes out and learns from it, last position first.
static void train(bool early, float rate)
{
    static Step path[TURNS];
    Table table;
    Player players[2];
    tee_off(table, players, early);
    int count = 0;
    bool out = false;
    for (int seat = 0; count < TURNS && !out; seat = 1 - seat) {
        table.turn = count;
        Step& step = path[count++];
        step.free = lots.below(100) < LOTS;
        step.before = play(table, seat, players[seat], step.free);
        record(table, seat, step);
        out = step.out;
    }
    float target = out ? path[count - 1].value : path[count - 1].ahead;
    for (int i = count - 1; i >= 0; i--) {
        if (i < count - 1) {  // the next position is the other's: its sign turns
            const Step& next = path[i + 1];
            float part = next.free ? 0 : LAMBDA;
            target = -((1 - part) * next.before + part * target);
        }
        if (!path[i].out)
            learn(*net, path[i].inputs, path[i].bucket, (target - path[i].ahead) / UNIT, rate);
    }
}

static void last_turn(Table& table, int seat)
{
    View view = look(table, seat);
    view.ended = true;
    int place = choose_turn(*net, view, false);
    if (place != DRAW) {
        take(table, seat, place);
        return;
    }
    int card = draw(table);
    view = look(table, seat);
    view.ended = true;
    use(table, seat, card, choose_drawn(*net, view, card, false));
}

// A whole hole in one line: cards, moves, scores.
static void show()
{
    Table table;
    Player players[2];
    uint64_t before = lots.state;
    deal(table);
    lots.state = before;
    for (int card : table.pack)
        std::printf("%d ", number(card));
    std::printf("|");
    tee_off(table, players, false);
    bool out = false;
    int seat = 0;
    for (table.turn = 0; table.turn < TURNS && !out; table.turn++, seat = 1 - seat) {
        play(table, seat, players[seat], lots.below(100) < LOTS);
        out = !table.hidden[seat];
    }
    if (out)
        last_turn(table, seat);
    std::printf("|");
    for (seat = 0; seat < 2; seat++) {
        View view = {};
        std::copy(table.card[seat], table.card[seat] + 8, view.mine);
        Chances chances(view);
        std::printf(" %d", (int)Side(view.mine, chances).expected);
    }
    std::printf("\n");
}

int main(int count, char** arguments)
{
    int holes = count == 4 ? std::atoi(arguments[2]) : 0;
    spoken = holes > 0 && !std::strcmp(arguments[1], "play");
    if (holes < 1 || (!spoken && std::strcmp(arguments[1], "learn"))) {
        std::fprintf(stderr, "usage: nine learn|play HOLES TABLES\n");
        return 2;
    }
    tables = std::make_unique<Tables>(arguments[3]);
    begin(*net, ROWS, lots);
    for (int hole = 0; hole < holes; hole++) {
        float left = 1 - (float)hole / (float)holes;
        if (spoken)
            show();
        else
            train(hole < holes / 20, RATE * (left * left + 0.01f));
    }
    if (!spoken)
        print(*net, "NINE_WEIGHTS");
    return 0;
}
