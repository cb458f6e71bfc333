// four learn MATCHES: learns the network of four-card-golf, prints it as a header.
// four play MATCHES: plays matches by lot, prints cards, moves and scores for the arena's rules.
//
// Two seats play; the output is a function of MATCHES alone.
#include "four.h"

#include <cstdlib>

#include "learn.h"

using namespace four;

constexpr int PACK = 52, HOLES = 9;
constexpr int TURNS = 40;  // of both seats; hardly a hole takes as many
constexpr float RATE = 0.05f, LAMBDA = 0.2f;
constexpr int LOTS = 5;  // in 100 turns

static Lots lots = {4};
static auto net = std::make_unique<Network>();
static bool spoken = false;  // moves are printed

struct Player {
    bool learns;
    int model;
    float knock, margin;  // greedy: knocks at, takes above; others: knocks at
    bool blind;           // may knock with unseen cards
    Belief belief;        // of the other
};

struct Table {
    int card[2][CARDS];
    bool seen[2][CARDS];    // by its owner
    bool shown[2][CARDS];   // by all
    int pack[PACK], turn, top;
    int pile[POINTS];       // cards that lie on it
    bool ended;
};

static void deal(Table& table, int first)
{
    table = {};
    for (int i = 0; i < PACK; i++) {
        int rank = i / 4, place = lots.below(i + 1);
        table.pack[i] = table.pack[place];
        table.pack[place] = rank > 10 ? 10 : rank;
    }
    for (int seat = 0; seat < 2; seat++)
        for (int at = 0; at < CARDS; at++) {
            table.card[seat][at] = table.pack[2 * at + (seat ^ first)];
            table.seen[seat][at] = at >= 2;
        }
    if (spoken) {
        for (int card : table.pack)
            std::printf("%d ", card ? card : 13);
        std::printf("|");
    }
    table.top = table.pack[8];
    table.pile[table.top]++;
}

static int draw(const Table& table) { return table.pack[9 + table.turn]; }

static View look(const Table& table, int seat, const Belief& belief, int drawn)
{
    View view = {};
    view.others = 1;
    view.other[0] = &belief;
    for (int card = 0; card < POINTS; card++)
        view.unseen[card] = (card == 10 ? 12 : 4) - table.pile[card];
    for (int at = 0; at < CARDS; at++) {
        view.mine[at] = table.seen[seat][at] ? table.card[seat][at] : UNKNOWN;
        if (table.seen[seat][at])
            view.unseen[table.card[seat][at]]--;
        if (table.shown[1 - seat][at])
            view.unseen[table.card[1 - seat][at]]--;
    }
    if (drawn >= 0)
        view.unseen[drawn]--;
    std::copy(view.unseen, view.unseen + POINTS, view.stock);
    view.top = table.top;
    view.ended = table.ended;
    return view;
}

static int score(const Table& table, int seat)
{
    int sum = 0;
    for (int card : table.card[seat])
        sum += card;
    return sum;
}

// A turn of somebody who doesn't learn: KNOCK, or a move that is carried out.
static Event simple(const Table& table, int seat, const Player& it)
{
    Hand hand;
    for (int at = 0; at < CARDS; at++)
        hand.card[at] = (uint8_t)(table.seen[seat][at] ? table.card[seat][at] : UNKNOWN);
    int worst = hand.worst(), top = table.top;
    float value = worth(hand.card[worst]);
    Event event = {Event::DISCARD, worst, top, 0, top, table.ended};
    if (!table.ended && hand.sum() <= it.knock && (it.blind || !hand.blind())) {
        event.kind = Event::KNOCK;
        return event;
    }
    bool take = it.model == GREEDY ? value - (float)top > it.margin
                                   : takes(MATCHER, hand.card[worst], top);
    if (take) {
        event.kind = Event::TAKE;
        return event;
    }
    event.card = draw(table);
    if ((float)event.card < value)
        event.kind = Event::SWAP;
    return event;
}

// Carries a move out; `event.out` is filled in.
static void move(Table& table, int seat, Event& event)
{
    static const char* const NAMES[] = {"take %d;", "draw;swap %d;", "draw;discard;", "knock;"};
    if (spoken)
        std::printf(NAMES[event.kind], event.at);
    if (event.kind == Event::KNOCK)
        return;
    if (event.kind == Event::TAKE)
        table.pile[table.top]--;
    event.out = event.card;
    if (event.kind != Event::DISCARD) {
        event.out = table.card[seat][event.at];
        table.card[seat][event.at] = event.card;
        table.seen[seat][event.at] = true;
        table.shown[seat][event.at] = event.kind == Event::TAKE;
    }
    table.top = event.out;
    table.pile[table.top]++;
}

struct Step {
    Inputs inputs;
    float ahead;   // E(mine) - E(other)
    float before;  // what the turn is worth before its draw
    bool knocks, free;
};

static void record(const Table& table, int seat, const Belief& belief, Step& step)
{
    View view = look(table, seat, belief, -1);
    Outlook outlook(*net, view);
    step.inputs.clear();
    auto add = [&](int row, float factor) { step.inputs.push_back({row, factor}); };
    outlook.each_input(0, add);
    outlook.each_changed(0, view.mine, table.top, add);
    step.ahead = outlook.expected(view.mine) - outlook.other[0].expected;
}

// A turn of the learner. `before` is what the turn is worth before the draw.
static Event learner(const Table& table, int seat, const Belief& belief, bool explores, Step& step)
{
    View view = look(table, seat, belief, -1);
    Event event = {Event::DISCARD, 0, table.top, 0, table.top, table.ended};
    int way = choose_turn(*net, view, &step.before);
    step.free = explores;
    if (explores)
        way = lots.below(2) ? DRAW : lots.below(CARDS);
    step.knocks = way == KNOCK;
    if (way == KNOCK) {
        event.kind = Event::KNOCK;
        return event;
    }
    if (way != DRAW) {
        event.kind = Event::TAKE;
        event.at = way;
        return event;
    }
    event.card = draw(table);
    int place = choose_drawn(*net, look(table, seat, belief, event.card), event.card);
    if (explores)
        place = lots.below(CARDS + 1) - 1;
    if (place != DISCARD) {
        event.kind = Event::SWAP;
        event.at = place;
    }
    return event;
}

// Plays a hole and learns from it, last position first.
static void play(Player* players, int first, float rate)
{
    static Step path[2][TURNS];
    int count[2] = {0, 0}, knocker = -1;
    Table table;
    deal(table, first);
    for (int seat = 0; seat < 2; seat++)
        players[seat].belief.deal();
    int seat = first;
    for (table.turn = 0; seat != knocker && (table.turn < TURNS || knocker >= 0); table.turn++) {
        Player& it = players[seat];
        Event event;
        Step& step = path[seat][count[seat]];
        if (it.learns) {
            bool explores = !table.ended && lots.below(100) < LOTS;
            event = learner(table, seat, it.belief, explores, step);
        } else {
            event = simple(table, seat, it);
        }
        move(table, seat, event);
        if (event.kind == Event::KNOCK)
            knocker = seat;
        else if (it.learns && !table.ended) {
            record(table, seat, it.belief, step);
            count[seat]++;
        }
        if (players[1 - seat].learns)
            players[1 - seat].belief.see(event, 2);
        table.ended = knocker >= 0;
        seat = 1 - seat;
    }
    if (spoken)
        std::printf("| %d %d\n", score(table, first), score(table, 1 - first));
    for (int me = 0; me < 2; me++) {
        if (!players[me].learns)
            continue;
        float target = (float)(score(table, me) - score(table, 1 - me));
        int last = count[me] - 1;
        for (int i = last; i >= 0; i--) {
            Step& step = path[me][i];
            if (i < last || knocker == me) {
                const Step& next = path[me][i + 1];
                float lambda = next.free ? 0 : next.knocks ? 0.2f : LAMBDA;
                target = (1 - lambda) * next.before + lambda * target;
            }
            learn(*net, step.inputs, 0, (target - step.ahead) / UNIT, rate);
        }
    }
}

static void sit_down(Player& it)
{
    it = {};
    int kind = lots.below(10);
    it.learns = kind < 2;
    it.model = kind < 6 ? GREEDY : MATCHER;
    bool pinned = lots.below(3) < 2;
    if (it.model == GREEDY) {
        it.knock = pinned ? 7.5f : 3.5f + (float)lots.below(8);
        it.margin = pinned ? 2 : (float)lots.below(5);
    } else {
        it.blind = true;
        it.knock = pinned ? 7.5f : 3.5f + (float)lots.below(12);
    }
}

int main(int count, char** arguments)
{
    int matches = count == 3 ? std::atoi(arguments[2]) : 0;
    spoken = matches > 0 && !std::strcmp(arguments[1], "play");
    if (matches < 1 || (!spoken && std::strcmp(arguments[1], "learn"))) {
        std::fprintf(stderr, "usage: four learn|play MATCHES\n");
        return 2;
    }
    begin(*net, ROWS, lots);
    for (int match = 0; match < matches; match++) {
        float left = 1 - (float)match / (float)matches;
        Player players[2] = {};
        players[0].learns = true;
        sit_down(players[1]);
        for (int hole = 0; hole < HOLES; hole++)
            play(players, hole & 1, RATE * (left * left + 0.01f));
    }
    if (!spoken)
        print(*net, "FOUR_WEIGHTS");
    return 0;
}
