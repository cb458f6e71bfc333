// play-nine: one card ahead on a learned value of positions.
//
// A position after a move is worth, in strokes that the mover ends above an opponent,
//
//     E(mine) - E(other) + the network's opinion
//
// where E is the expected score of a grid, its face-down cards at the chances of the unseen ones.
// Going out is computed, not learned: E(mine) less what the others will have after their last turn.
// With more than one opponent the value is the mean over them; the time left is that of the one
// nearest to going out.
#pragma once
#include <algorithm>

#include "net.h"

namespace nine {

// Cards as indexes: 0 to 12 are themselves, 13 is a Hole-in-One, 14 is face down.
constexpr int HOLE_IN_ONE = 13, CARDS = 14, HIDDEN = 14, SYMBOLS = 15, OTHERS = 5, SKIP = -1;
constexpr float NUMBER[CARDS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, -5};
// What one more matched column adds to that many others of its number.
constexpr float MARGIN[5] = {0, -10, -5, -5, 0};
constexpr float ROUNDING = 1e-4f;  // what sums of the same strokes may differ by
constexpr float NEVER = 1e9f;

// The rows of the network.
constexpr int PAIRS = SYMBOLS * (SYMBOLS + 1) / 2;
constexpr int MINE = 0, THEIRS = PAIRS, MY_HIDDEN = 2 * PAIRS, THEIR_HIDDEN = MY_HIDDEN + 9;
constexpr int TOP = THEIR_HIDDEN + 9, CHANCE = TOP + CARDS, DENSE = CHANCE + CARDS;
constexpr int ALWAYS = DENSE, MY_E = DENSE + 1, THEIR_E = DENSE + 2, MY_LIVE = DENSE + 3;
constexpr int THEIR_LIVE = DENSE + 4, FED = DENSE + 5, ROWS = DENSE + 6;
constexpr int NEAR = 3, BUCKETS = NEAR * NEAR;
constexpr float UNIT = 10;  // the network counts in tens of strokes

using Network = Net<ROWS, BUCKETS>;

inline int pair_row(int a, int b)
{
    return a < b ? a * SYMBOLS - a * (a - 1) / 2 + b - a : b * SYMBOLS - b * (b - 1) / 2 + a - b;
}

inline int bucket(int my_hidden, int their_hidden)
{
    return (std::min(my_hidden, NEAR) - 1) * NEAR + std::min(their_hidden, NEAR) - 1;
}

// What a player knows, from the own seat.
struct View {
    int mine[8];
    int other[OTHERS][8];  // in the order of play after the own seat
    int others;
    int unseen[CARDS];  // cards that may lie face down
    int stock[CARDS];   // cards that may be drawn: the same, or what was recycled
    int discard;
    bool recycled;      // the pile has become the stock
    bool ended;
};

struct Chances {
    float hidden[CARDS], drawn[CARDS], mean;

    explicit Chances(const View& view)
    {
        int down = 0, stock = 0;
        for (int card = 0; card < CARDS; card++) {
            down += view.unseen[card];
            stock += view.stock[card];
        }
        mean = 0;
        for (int card = 0; card < CARDS; card++) {
            hidden[card] = down ? (float)view.unseen[card] / (float)down : 0;
            drawn[card] = stock ? (float)view.stock[card] / (float)stock : 0;
            mean += hidden[card] * NUMBER[card];
        }
    }
};

// A grid as everybody expects it.
struct Side {
    const int* seen;
    const Chances* chances;
    int hidden;
    float match[CARDS];     // one more matched column of the card
    float beside[SYMBOLS];  // a column of the card, or of an unknown one, and an unknown one
    float now[4];           // a column, with what its match adds to the others
    float expected;         // all of it
    float live_columns[4], live_sum;

    Side() = default;
    Side(const int* grid, const Chances& all)
    {
        seen = grid;
        chances = &all;
        hidden = (int)std::count(grid, grid + 8, HIDDEN);
        int matched[SYMBOLS] = {0}, counted[SYMBOLS] = {0};
        for (int column = 0; column < 4; column++)
            if (grid[column] == grid[column + 4])
                matched[grid[column]]++;
        beside[HIDDEN] = 2 * all.mean;
        for (int card = 0; card < CARDS; card++) {
            match[card] = paired(card, matched[card]);
            float gain = (match[card] - 2 * NUMBER[card]) * all.hidden[card];
            beside[card] = NUMBER[card] + all.mean + gain;
            beside[HIDDEN] += gain * all.hidden[card];
        }
        expected = live_sum = 0;
        for (int column = 0; column < 4; column++) {
            int top = grid[column], bottom = grid[column + 4];
            bool same = top == bottom && top != HIDDEN;
            now[column] = same ? paired(top, matched[top] - 1) : mixed(top, bottom);
            expected += same ? paired(top, counted[top]++) : now[column];
            live_columns[column] = live(top, bottom);
            live_sum += live_columns[column];
        }
    }

    // A matched column beside others of its number; a Hole-in-One also counts itself.
    static float paired(int card, int matched)
    {
        return MARGIN[matched] + (card == HOLE_IN_ONE ? 2 * NUMBER[card] : 0);
    }

    // A column of two different cards, or unknown ones.
    float mixed(int top, int bottom) const
    {
        if (bottom == HIDDEN)
            return beside[top];
        return top == HIDDEN ? beside[bottom] : NUMBER[top] + NUMBER[bottom];
    }

    // How the expected score changes when `card` comes there; NEVER if it would replace its like.
    float change(int card, int position) const
    {
        int partner = seen[position ^ 4];
        if (partner != card)
            return mixed(card, partner) - now[position & 3];
        return seen[position] == card ? NEVER : match[card] - now[position & 3];
    }

    // What a column of two face-up cards gains by a match, by the chance of the card.
    float live(int top, int bottom) const
    {
        if (top == bottom || top == HIDDEN || bottom == HIDDEN)
            return 0;
        float score = NUMBER[top] + NUMBER[bottom];
        float of_top = score - match[top], of_bottom = score - match[bottom];
        return (of_top > 0 ? of_top * chances->drawn[top] : 0)
               + (of_bottom > 0 ? of_bottom * chances->drawn[bottom] : 0);
    }

    // By card: the change when it comes to its best place, at most 0.
    void gains(float* gain) const
    {
        for (int card = 0; card < CARDS; card++) {
            gain[card] = 0;
            for (int position = 0; position < 8; position++)
                gain[card] = std::min(gain[card], change(card, position));
        }
    }
};

// What the network is told of one opponent, but for what my move changes.
struct Against {
    Side side;
    float fed[CARDS];  // what a discard is worth to it beyond a draw, at most 0
    float drawing;     // what a draw is worth to it
    Sums sums[2];      // by number of cards that my move turns up
    int bucket[2];
};

// A move as a position: which card comes where and what is discarded.
struct After {
    int position;  // or SKIP
    int card;      // lies there now
    int discard;
};

struct Outlook {
    const Network& net;
    const View& view;
    Chances chances;
    Side mine;
    Against against[OTHERS];
    int time;  // face-down cards of the opponent nearest to going out

    Outlook(const Network& network, const View& seen)
        : net(network), view(seen), chances(seen), mine(seen.mine, chances)
    {
        time = 8;
        for (int k = 0; k < view.others; k++) {
            Against& it = against[k];
            it.side = Side(view.other[k], chances);
            time = std::min(time, it.side.hidden);
            it.side.gains(it.fed);
            it.drawing = 0;
            for (int card = 0; card < CARDS; card++)
                it.drawing += chances.drawn[card] * it.fed[card];
            for (int card = 0; card < CARDS; card++)
                it.fed[card] = k ? 0 : std::min(0.0f, it.fed[card] - it.drawing);
        }
        if (!time || view.ended)
            return;
        for (int k = 0; k < view.others; k++) {
            Against& it = against[k];
            Sums base = {};
            for (int card = 0; card < CARDS; card++)
                net.add(base, CHANCE + card, CARDS * chances.hidden[card] - 1);
            for (int column = 0; column < 4; column++) {
                net.add(base, MINE + pair_row(mine.seen[column], mine.seen[column + 4]), 1);
                net.add(base, THEIRS + pair_row(it.side.seen[column], it.side.seen[column + 4]), 1);
            }
            net.add(base, ALWAYS, 1);
            net.add(base, THEIR_HIDDEN + time, 1);
            net.add(base, THEIR_E, it.side.expected / UNIT);
            net.add(base, THEIR_LIVE, it.side.live_sum);
            for (int turned = 0; turned < 2; turned++) {
                int hidden = mine.hidden - turned;
                if (hidden < 1)
                    continue;
                it.bucket[turned] = bucket(hidden, time);
                it.sums[turned] = base;
                net.add(it.sums[turned], MY_HIDDEN + hidden, 1);
            }
        }
    }

    // What the move is worth, in strokes that I end above the others.
    float value(const After& after) const
    {
        int at = after.position, old_row = 0, new_row = 0, turned = 0;
        float expected = mine.expected, live = mine.live_sum;
        if (at != SKIP) {
            float change = mine.change(after.card, at);
            if (change == NEVER)
                return NEVER;
            int old = mine.seen[at], partner = mine.seen[at ^ 4];
            turned = old == HIDDEN;
            expected += change;
            live += mine.live(partner, after.card) - mine.live_columns[at & 3];
            old_row = MINE + pair_row(partner, old);
            new_row = MINE + pair_row(partner, after.card);
        }
        float sum = 0;
        for (int k = 0; k < view.others; k++) {
            const Against& it = against[k];
            float fed = it.fed[after.discard];
            sum += expected - it.side.expected;
            if (mine.hidden == turned) {
                sum -= it.drawing + fed;
                continue;
            }
            Sums sums = it.sums[turned];
            if (old_row != new_row)
                net.swap(sums, old_row, new_row);
            if (!k)
                net.add(sums, TOP + after.discard, 1);
            net.add(sums, MY_E, expected / UNIT);
            net.add(sums, MY_LIVE, live);
            net.add(sums, FED, fed);
            sum += UNIT * net.value(sums, it.bucket[turned]);
        }
        return sum / (float)view.others;
    }

    // The value of discarding `card` and turning up what lies at `position`.
    float flip(int card, int position) const
    {
        float sum = 0;
        for (int turned = 0; turned < CARDS; turned++)
            if (view.unseen[turned])
                sum += chances.hidden[turned] * value({position, turned, card});
        return sum;
    }

    // Of positions in columns that look alike only the first is looked at.
    bool repeated(int position) const
    {
        for (int before = 0; before < position; before++)
            if (mine.seen[before] == mine.seen[position]
                && mine.seen[before ^ 4] == mine.seen[position ^ 4])
                return true;
        return false;
    }

    // The value of `card` coming to a position; what lies there goes onto the pile. A face-down one
    // is any of the unseen cards: as a discard it matters little, and some stand for all.
    float placed(int card, int position) const
    {
        if (mine.seen[position] != HIDDEN)
            return value({position, card, mine.seen[position]});
        float sum = 0;
        for (int out : {1, 4, 8, 11})
            sum += value({position, card, out}) / 4;
        return sum;
    }

    // Where `card` goes best.
    float best_place(int card, int* place) const
    {
        float best = NEVER;
        for (int position = 0; position < 8; position++) {
            if (repeated(position))
                continue;
            float it = placed(card, position);
            if (it < best - ROUNDING) {
                best = it;
                *place = position;
            }
        }
        return best;
    }

    // Where to turn up a card when some middling card is discarded.
    float best_flip(int card, int* place) const
    {
        float best = NEVER;
        for (int position = 0; position < 8; position++) {
            if (mine.seen[position] != HIDDEN || repeated(position))
                continue;
            float it = flip(card, position);
            if (it < best - ROUNDING) {
                best = it;
                *place = position;
            }
        }
        return best;
    }

    // With a drawn card in hand: the position of a swap, or 8 + that of a flip, or SKIP.
    float use(int card, int* move) const
    {
        int place = 0, flips = 0;
        float swap = best_place(card, &place), flip = best_flip(card, &flips);
        float best = swap;
        *move = place;
        if (flip < best - ROUNDING) {
            best = flip;
            *move = 8 + flips;
        }
        if (mine.hidden == 1) {
            float skip = value({SKIP, 0, card});
            if (skip < best - ROUNDING) {
                best = skip;
                *move = SKIP;
            }
        }
        return best;
    }

    // The value of a draw.
    float drawing() const
    {
        constexpr int MIDDLE = 7;
        int place = 0;
        float flips = best_flip(MIDDLE, &place), sum = 0;
        float middle = mine.hidden > 1 ? value({SKIP, 0, MIDDLE}) : 0;
        for (int card = 0; card < CARDS; card++) {
            if (!view.stock[card])
                continue;
            int at;
            float best = best_place(card, &at), left;
            if (mine.hidden > 1) {
                left = flips + value({SKIP, 0, card}) - middle;
            } else {
                left = flips - feeding(card) + feeding(MIDDLE);
                left = std::min(left, value({SKIP, 0, card}));
            }
            sum += chances.drawn[card] * std::min(best, left);
        }
        return sum;
    }

    float feeding(int card) const { return against[0].fed[card] / (float)view.others; }
};

constexpr int DRAW = -1;

// One move further, with two seats: a position is worth what the other's best answer leaves of it.
// Where the next card is chance, some cards stand for all; they correct the shorter look.
struct Search {
    static constexpr int SOME = 5;
    static constexpr float CLOSE = 1.5f;  // moves that are worse by more strokes aren't looked at
    const Outlook& outlook;
    const View& view;
    int some[SOME];    // unseen cards at the middles of fifths
    int drawn[SOME];   // the same of the stock

    explicit Search(const Outlook& it) : outlook(it), view(it.view)
    {
        fifths(it.chances.hidden, some);
        fifths(it.chances.drawn, drawn);
    }

    static void fifths(const float* chance, int* cards)
    {
        float sum = 0;
        int count = 0;
        for (int i = 0; i < CARDS; i++) {
            int card = (i + HOLE_IN_ONE) % CARDS;  // ascending
            sum += chance[card];
            while (count < SOME && sum * SOME > (float)count + 0.5f)
                cards[count++] = card;
        }
        while (count < SOME)
            cards[count++] = HOLE_IN_ONE - 1;
    }

    // How much better or worse a position is than the network thinks. `shown` is the unseen card
    // that the move shows, or HIDDEN.
    float more(const After& after, int shown) const
    {
        bool turns = after.position != SKIP && view.mine[after.position] == HIDDEN;
        float now = outlook.value(after);
        if (now == NEVER || outlook.mine.hidden == turns)
            return 0;
        View next = view;
        std::copy(view.other[0], view.other[0] + 8, next.mine);
        std::copy(view.mine, view.mine + 8, next.other[0]);
        if (after.position != SKIP)
            next.other[0][after.position] = after.card;
        next.discard = after.discard;
        if (shown != HIDDEN && next.unseen[shown] > 0) {
            next.unseen[shown]--;
            if (!view.recycled)
                next.stock[shown]--;
        }
        Outlook answer(outlook.net, next);
        int place;
        return -std::min(answer.best_place(next.discard, &place), answer.drawing()) - now;
    }

    // The same of `card` coming to a position.
    float more_placed(int card, int position) const
    {
        int old = view.mine[position];
        if (old != HIDDEN)
            return more({position, card, old}, HIDDEN);
        float sum = 0;
        for (int out : some)
            sum += more({position, card, out}, out);
        return sum / SOME;
    }

    float more_discarded(int card, int position) const
    {
        if (position == SKIP)
            return more({SKIP, 0, card}, HIDDEN);
        float sum = 0;
        for (int turned : some)
            sum += more({position, turned, card}, turned);
        return sum / SOME;
    }

    // The best use of a drawn card: as Outlook::use.
    float use(int card, int* move) const
    {
        float first[17], best = NEVER, result = NEVER;
        for (int at = 0; at < 8; at++) {
            bool repeated = outlook.repeated(at), down = view.mine[at] == HIDDEN;
            first[at] = repeated ? NEVER : outlook.placed(card, at);
            first[8 + at] = repeated || !down ? NEVER : outlook.flip(card, at);
        }
        first[16] = outlook.mine.hidden == 1 ? outlook.value({SKIP, 0, card}) : NEVER;
        for (float value : first)
            best = std::min(best, value);
        for (int way = 0; way < 17; way++) {
            if (first[way] > best + CLOSE)
                continue;
            float value = first[way]
                          + (way < 8 ? more_placed(card, way)
                                     : more_discarded(card, way == 16 ? SKIP : way - 8));
            if (value < result - ROUNDING) {
                result = value;
                *move = way == 16 ? SKIP : way;
            }
        }
        return result;
    }

    // Where the discard goes, or DRAW.
    int turn() const
    {
        int place = 0, result = DRAW;
        float draws = outlook.drawing(), takes = outlook.best_place(view.discard, &place);
        if (takes > draws + CLOSE)
            return DRAW;
        if (takes < draws - CLOSE)
            draws = NEVER;
        float best = NEVER;
        for (int at = 0; at < 8; at++) {
            if (outlook.repeated(at))
                continue;
            float value = outlook.placed(view.discard, at);
            if (value > takes + CLOSE)
                continue;
            value += more_placed(view.discard, at);
            if (value < best - ROUNDING) {
                best = value;
                result = at;
            }
        }
        if (draws == NEVER)
            return result;
        for (int card : drawn) {
            int move;
            outlook.use(card, &move);
            draws += (move == SKIP || move >= 8
                          ? more_discarded(card, move == SKIP ? SKIP : move - 8)
                          : more_placed(card, move))
                     / SOME;
        }
        return best < draws - ROUNDING ? result : DRAW;
    }
};

// At the start of a turn: the position where the discard goes, or DRAW. `far`: one move further.
inline int choose_turn(const Network& net, const View& view, bool far)
{
    Outlook outlook(net, view);
    int place = 0;
    if (view.ended) {
        float gain[CARDS], drawing = 0, best = 0;
        outlook.mine.gains(gain);
        for (int card = 0; card < CARDS; card++)
            drawing += outlook.chances.drawn[card] * gain[card];
        for (int position = 0; position < 8; position++) {
            float it = outlook.mine.change(view.discard, position);
            if (it < best - ROUNDING) {
                best = it;
                place = position;
            }
        }
        return best < drawing - ROUNDING ? place : DRAW;
    }
    if (far && view.others == 1)
        return Search(outlook).turn();
    float takes = outlook.best_place(view.discard, &place), draws = outlook.drawing();
    return takes < draws - ROUNDING ? place : DRAW;
}

// With a drawn card: the position of a swap, 8 + that of a flip, or SKIP.
inline int choose_drawn(const Network& net, const View& view, int card, bool far)
{
    Outlook outlook(net, view);
    int move = 0;
    if (view.ended) {
        float best = 0;
        move = 8;
        while (view.mine[move - 8] != HIDDEN)
            move++;
        for (int position = 0; position < 8; position++) {
            float it = outlook.mine.change(card, position);
            if (it < best - ROUNDING) {
                best = it;
                move = position;
            }
        }
        return move;
    }
    if (far && view.others == 1)
        Search(outlook).use(card, &move);
    else
        outlook.use(card, &move);
    return move;
}

}  // namespace nine
