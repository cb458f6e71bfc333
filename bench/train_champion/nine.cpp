// train-nine HOLES: learns the network of play-nine from HOLES holes of two seats.
#include "nine.h"

#include <cstdlib>
#include <cstring>

#include "learn.h"
#include "partners.h"

using namespace nine;

constexpr int PACK = 108, TURNS = 80;
static float LAMBDA = 0.8f;

static Lots lots = {9};
static std::unique_ptr<Tables> tables;
static int STRONGS = 50;
static auto net = std::make_unique<Network>();

struct Table {
    int card[2][8], seen[2][8];  // by seat: what lies there; the same, or HIDDEN
    int hidden[2];
    int pack[PACK], turn;
    int unseen[CARDS];
    int top;
};

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

static void use(Table& table, int seat, int card, int move)
{
    if (move >= 0 && move < 8) {
        put(table, seat, move, card);
        return;
    }
    table.top = card;
    if (move != SKIP)
        turn_up(table, seat, move - 8);
}

static void explore(Table& table, int seat)
{
    int way = lots.below(3), position = lots.below(8);
    int card = way == 0 ? table.top : draw(table);
    while (way == 2 && table.seen[seat][position] != HIDDEN)
        position = lots.below(8);
    use(table, seat, card, way == 2 ? 8 + position : position);
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
        put(table, seat, place, table.top);
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
        put(table, seat, place, table.top);
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

static double train(bool early, float rate)
{
    static Step path[TURNS];
    Table table;
    deal(table);
    Player players[2];
    for (int seat = 0; seat < 2; seat++) {
        turn_up(table, seat, 0);
        turn_up(table, seat, lots.below(8) ? 1 : 4);
        players[seat] = {early ? MATCHER : LEARNER, (float)lots.below(14) - 2};
    }
    int other = lots.below(100), seat = lots.below(2);
    if (!early && other < STRONGS)
        players[seat].kind = STRONG;
    else if (!early && other < STRONGS + 15)
        players[seat].kind = MATCHER;
    int count = 0;
    bool out = false;
    for (seat = 0; count < TURNS && !out; seat = 1 - seat) {
        table.turn = count;
        Step& step = path[count++];
        step.free = lots.below(100) < 4;
        step.before = play(table, seat, players[seat], step.free);
        record(table, seat, step);
        out = step.out;
    }
    float target = out ? path[count - 1].value : path[count - 1].ahead;
    double loss = 0;
    for (int i = count - 1; i >= 0; i--) {
        if (i < count - 1) {  // the next position is the other's: its sign turns
            const Step& next = path[i + 1];
            float part = next.free ? 0 : LAMBDA;
            target = -((1 - part) * next.before + part * target);
        }
        if (path[i].out)
            continue;
        loss += (target - path[i].value) * (target - path[i].value);
        learn(*net, path[i].inputs, path[i].bucket, (target - path[i].ahead) / UNIT, rate);
    }
    return loss / count;
}

// Learner against strong, each deal in both seatings.
static void measure(int deals)
{
    double sum = 0, squares = 0, wins = 0, holes = 0, hs = 0;
    for (int deal_ = 0; deal_ < deals; deal_++) {
        double pair = 0;
        uint64_t keep = lots.state;
        for (int rotation = 0; rotation < 2; rotation++) {
            lots.state = keep;
            double match = 0;
            for (int hole = 0; hole < 9; hole++) {
                Table table;
                deal(table);
                Player players[2] = {{LEARNER, 0}, {LEARNER, 0}};
                int me = (hole + rotation) & 1;
                players[1 - me].kind = STRONG;
                for (int seat = 0; seat < 2; seat++) {
                    turn_up(table, seat, 0);
                    turn_up(table, seat, 1);
                }
                int knocker = -1, seat = 0;
                for (table.turn = 0; table.turn < TURNS && seat != knocker; table.turn++) {
                    if (knocker >= 0) {
                        View view = look(table, seat);
                        view.ended = true;
                        int place = choose_turn(*net, view, false);
                        if (place != DRAW) {
                            put(table, seat, place, table.top);
                        } else {
                            int card = draw(table);
                            view = look(table, seat);
                            view.ended = true;
                            use(table, seat, card, choose_drawn(*net, view, card, false));
                        }
                    } else {
                        play(table, seat, players[seat], false);
                        if (!table.hidden[seat])
                            knocker = seat;
                    }
                    seat = 1 - seat;
                }
                double score[2];
                for (int s = 0; s < 2; s++) {
                    View view = {};
                    std::copy(table.card[s], table.card[s] + 8, view.mine);
                    Chances chances(view);
                    score[s] = Side(view.mine, chances).expected;
                }
                match += score[me] - score[1 - me];
                hs += (score[me] - score[1 - me]) * (score[me] - score[1 - me]);
                holes++;
            }
            pair += match / 2;
            wins += match < 0 ? 1 : match == 0 ? 0.5 : 0;
        }
        sum += pair;
        squares += pair * pair;
    }
    double mean = sum / deals, var = squares / deals - mean * mean;
    std::fprintf(stderr, "%+.2f +- %.2f a match, %.1f%% won, hole sd %.1f\n", mean,
                 __builtin_sqrt(var / deals), 50 * wins / deals, __builtin_sqrt(hs / holes));
}

int main(int count, char** arguments)
{
    int holes = count >= 2 ? std::atoi(arguments[1]) : 0;
    float RATE = count >= 3 ? std::atof(arguments[2]) : 0.01f;
    if (count >= 4) LAMBDA = std::atof(arguments[3]);
    if (count >= 5) STRONGS = std::atoi(arguments[4]);
    tables = std::make_unique<Tables>("/tmp/wt-champion/example_bots/strong/tables.json");
    begin(*net, ROWS, lots);
    if (holes == 0) {
        FILE* f = std::fopen(arguments[2], "r");
        while (std::fgetc(f) != '{') {}
        for (int i = 0; i < Network::SIZE; i++) {
            int w;
            if (std::fscanf(f, "%d,", &w) != 1) return 3;
            net->weights()[i] = (float)w / PARTS;
        }
        lots.state = 12345;
        measure(std::atoi(arguments[3]));
        return 0;
    }
    double loss = 0;
    for (int hole = 0; hole < holes; hole++) {
        float done = (float)hole / (float)holes;
        float left = 1 - done;
        loss += train(hole < holes / 20, RATE * (left * left + 0.01f));
        if (hole % (holes / 10) == holes / 10 - 1) {
            std::fprintf(stderr, "%d %.2f\n", hole + 1, loss / (holes / 10));
            loss = 0;
        }
    }
    print(*net, "NINE_WEIGHTS");
}
