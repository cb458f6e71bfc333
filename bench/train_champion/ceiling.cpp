// ceiling: what the best answer to greedy wins in four-card-golf, two seats.
//
// Value iteration over every pair of hands and discard. It flatters the answer: it sees at all
// times what greedy knows of its own cards. It draws from an endless pack, so that nothing is to be
// counted, and plays for strokes. Prints strokes a match and the share of matches won.
#include <array>
#include <cstdio>
#include <cstdlib>

#include "four.h"
#include "learn.h"

using namespace four;

constexpr int HANDS = 1365, SWEEPS = 25, MATCHES = 100000, HOLES = 9, TURNS = 200;

static Lots lots = {1};
static std::vector<Hand> hands;  // sorted
static int number[SYMBOLS][SYMBOLS][SYMBOLS][SYMBOLS];
static int replaced[HANDS][CARDS][SYMBOLS];
static float chance[POINTS], gain[SYMBOLS];
// By my hand, greedy's and the discard: what my turn, and what greedy's turn, is worth.
static auto mine = std::make_unique<float[]>((size_t)HANDS * HANDS * POINTS);
static auto theirs = std::make_unique<float[]>((size_t)HANDS * HANDS * POINTS);

static size_t at(int me, int other, int top) { return ((size_t)me * HANDS + other) * POINTS + top; }

static int find(Hand hand)
{
    std::sort(hand.card, hand.card + CARDS);
    return number[hand.card[0]][hand.card[1]][hand.card[2]][hand.card[3]];
}

static void enumerate()
{
    for (uint8_t a = 0; a < SYMBOLS; a++)
        for (uint8_t b = a; b < SYMBOLS; b++)
            for (uint8_t c = b; c < SYMBOLS; c++)
                for (uint8_t d = c; d < SYMBOLS; d++) {
                    number[a][b][c][d] = (int)hands.size();
                    hands.push_back({{a, b, c, d}});
                }
    for (int hand = 0; hand < HANDS; hand++)
        for (int place = 0; place < CARDS; place++)
            for (int card = 0; card < SYMBOLS; card++) {
                Hand next = hands[hand];
                next.card[place] = (uint8_t)card;
                replaced[hand][place][card] = find(next);
            }
    for (int card = 0; card < POINTS; card++)
        chance[card] = (card == 10 ? 3.0f : 1.0f) / 13;
    for (int symbol = 0; symbol < SYMBOLS; symbol++)
        gain[symbol] = draw_gain(worth(symbol));
}

// The mean of `value` over the card that is discarded when that symbol is.
template <class Value>
static float over(int symbol, Value value)
{
    if (symbol != UNKNOWN)
        return value(symbol);
    float sum = 0;
    for (int card = 0; card < POINTS; card++)
        sum += chance[card] * value(card);
    return sum;
}

static float greedy_turn(int me, int other, int top, float draws)
{
    const Hand &hand = hands[other], &my = hands[me];
    int worst = hand.worst(), bad = hand.card[worst], my_bad = my.card[my.worst()];
    if (knocks(GREEDY, hand.sum(), hand.blind(), 2) > 0)
        return my.sum() + std::min(gain[my_bad], (float)top - worth(my_bad)) - hand.sum();
    if (!takes(GREEDY, bad, top))
        return draws;
    return over(bad, [&](int out) { return mine[at(me, replaced[other][worst][top], out)]; });
}

static float knocking(int me, int other, int top)
{
    const Hand& hand = hands[other];
    int bad = hand.card[hand.worst()];
    float last = takes(GREEDY, bad, top) ? (float)top - worth(bad) : gain[bad];
    return hands[me].sum() - hand.sum() - last;
}

static float placing(int me, int other, int card, int* place)
{
    float best = NEVER;
    for (int i = 0; i < CARDS; i++) {
        float value = over(hands[me].card[i], [&](int out) {
            return theirs[at(replaced[me][i][card], other, out)];
        });
        if (value < best) {
            best = value;
            *place = i;
        }
    }
    return best;
}

static void sweep()
{
    int place;
    for (int me = 0; me < HANDS; me++)
        for (int other = 0; other < HANDS; other++) {
            int worst = hands[other].worst(), bad = hands[other].card[worst];
            float draws = 0;
            for (int card = 0; card < POINTS; card++)
                draws += chance[card] * ((float)card < worth(bad) ? over(bad, [&](int out) {
                    return mine[at(me, replaced[other][worst][card], out)];
                }) : mine[at(me, other, card)]);
            for (int top = 0; top < POINTS; top++)
                theirs[at(me, other, top)] = greedy_turn(me, other, top, draws);
        }
    for (int me = 0; me < HANDS; me++)
        for (int other = 0; other < HANDS; other++) {
            float draws = 0, takes[POINTS];
            for (int card = 0; card < POINTS; card++) {
                takes[card] = placing(me, other, card, &place);
                draws += chance[card] * std::min(takes[card], theirs[at(me, other, card)]);
            }
            for (int top = 0; top < POINTS; top++)
                mine[at(me, other, top)] =
                    std::min({draws, takes[top], knocking(me, other, top)});
        }
}

static int card_by_lot()
{
    int card = lots.below(13);
    return card > 10 ? 10 : card;
}

// A hole by the values; strokes above greedy.
static int play(int first)
{
    int cards[2][CARDS], top = card_by_lot(), knocker = -1, seat = first;
    Hand hand[2];  // mine and greedy's, as the owner knows them
    for (int who = 0; who < 2; who++)
        for (int i = 0; i < CARDS; i++) {
            cards[who][i] = card_by_lot();
            hand[who].card[i] = (uint8_t)(i < 2 ? UNKNOWN : cards[who][i]);
        }
    for (int turn = 0; turn < TURNS && seat != knocker; turn++, seat = 1 - seat) {
        Hand& own = hand[seat];
        int place = own.worst(), bad = own.card[place], card = top, me = find(hand[0]);
        int other = find(hand[1]);
        bool takes_it, keeps;
        float takes_value = 0, draws = 0;
        if (seat) {
            if (knocker < 0 && knocks(GREEDY, own.sum(), own.blind(), 2) > 0) {
                knocker = 1;
                continue;
            }
            takes_it = takes(GREEDY, bad, top);
        } else if (knocker >= 0) {
            takes_it = (float)top - worth(bad) < gain[bad];
        } else {
            int ignored;
            takes_value = placing(me, other, top, &place);
            for (int drawn = 0; drawn < POINTS; drawn++)
                draws += chance[drawn] * std::min(placing(me, other, drawn, &ignored),
                                                  theirs[at(me, other, drawn)]);
            if (knocking(me, other, top) <= std::min(takes_value, draws)) {
                knocker = 0;
                continue;
            }
            takes_it = takes_value < draws;
        }
        keeps = takes_it;
        if (!takes_it) {
            card = card_by_lot();
            keeps = seat || knocker >= 0 ? (float)card < worth(bad)
                                         : placing(me, other, card, &place)
                                               < theirs[at(me, other, card)];
        }
        if (!keeps) {
            top = card;
            continue;
        }
        if (!seat && knocker < 0) {  // the place was one of the sorted hand
            int symbol = hands[me].card[place];
            place = (int)(std::find(own.card, own.card + CARDS, symbol) - own.card);
        }
        top = cards[seat][place];
        cards[seat][place] = card;
        own.card[place] = (uint8_t)card;
    }
    int ahead = 0;
    for (int i = 0; i < CARDS; i++)
        ahead += cards[0][i] - cards[1][i];
    return ahead;
}

int main()
{
    enumerate();
    for (int i = 0; i < SWEEPS; i++)
        sweep();
    double sum = 0, won = 0;
    for (int match = 0; match < MATCHES; match++) {
        int ahead = 0;
        for (int hole = 0; hole < HOLES; hole++)
            ahead += play((hole + match) & 1);
        sum += ahead;
        won += ahead < 0 ? 1 : ahead == 0 ? 0.5 : 0;
    }
    std::printf("%.1f strokes a match, %.1f %% won\n", sum / MATCHES, 100 * won / MATCHES);
    return 0;
}
