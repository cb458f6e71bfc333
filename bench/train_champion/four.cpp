// train-four MATCHES: learns the network of four-card-golf from matches of two seats.
#include "four.h"

#include <cstdlib>

#include "learn.h"

using namespace four;

constexpr int PACK = 52, TURNS = 40, HOLES = 9;
static float LAMBDA = 0.5f;
static int EXPLORE = 5;

static Lots lots = {4};
static auto net = std::make_unique<Network>();

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

static void deal(Table& table)
{
    table = {};
    for (int i = 0; i < PACK; i++) {
        int rank = i / 4, place = lots.below(i + 1);
        table.pack[i] = table.pack[place];
        table.pack[place] = rank > 10 ? 10 : rank;
    }
    for (int seat = 0; seat < 2; seat++)
        for (int at = 0; at < CARDS; at++) {
            table.card[seat][at] = table.pack[2 * at + seat];
            table.seen[seat][at] = at >= 2;
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
    float ahead, value, before;
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
    step.value = step.ahead + UNIT * value_of(*net, step.inputs, 0);
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

static double play(Player* players, int first, float rate, double* loss, long* steps)
{
    static Step path[2][TURNS];
    int count[2] = {0, 0}, knocker = -1;
    Table table;
    deal(table);
    for (int seat = 0; seat < 2; seat++)
        players[seat].belief.deal();
    int seat = first;
    for (table.turn = 0; table.turn < TURNS && seat != knocker; table.turn++, seat = 1 - seat) {
        Player& it = players[seat];
        Event event;
        Step& step = path[seat][count[seat]];
        if (!it.learns) {
            event = simple(table, seat, it);
        } else {
            bool explores = !table.ended && lots.below(100) < EXPLORE;
            event = learner(table, seat, it.belief, explores, step);
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
        if (knocker >= 0)
            table.ended = true;
    }
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
            *loss += (target - step.value) * (target - step.value);
            ++*steps;
            learn(*net, step.inputs, 0, (target - step.ahead) / UNIT, rate);
        }
    }
    return score(table, 0) - score(table, 1);
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
    int matches = count >= 2 ? std::atoi(arguments[1]) : 0;
    float RATE = count >= 3 ? (float)std::atof(arguments[2]) : 0.01f;
    if (count >= 4)
        LAMBDA = (float)std::atof(arguments[3]);
    begin(*net, ROWS, lots);
    double loss = 0, ahead = 0, wins = 0;
    long steps = 0, versus = 0;
    for (int match = 0; match < matches; match++) {
        float left = 1 - (float)match / (float)matches;
        Player players[2];
        bool test = match % 10 == 9;
        EXPLORE = test ? 0 : 5;
        sit_down(players[1]);
        if (test) {
            players[1] = {};
            players[1].model = GREEDY;
            players[1].knock = 7.5f;
            players[1].margin = 2;
        }
        players[0] = {};
        players[0].learns = true;
        double sum = 0;
        for (int hole = 0; hole < HOLES; hole++)
            sum += play(players, hole & 1, RATE * (left * left + 0.01f), &loss, &steps);
        if (test)
            versus++, ahead += sum, wins += sum < 0 ? 1 : sum == 0 ? 0.5 : 0;
        if (match % (matches / 10) == matches / 10 - 1) {
            std::fprintf(stderr, "%d loss %.2f; greedy %.2f a match, %.1f%% of %ld\n", match + 1,
                         loss / (double)steps, ahead / (double)versus,
                         100 * wins / (double)versus, versus);
            loss = ahead = wins = 0;
            steps = versus = 0;
        }
    }
    print(*net, "FOUR_WEIGHTS");
}
