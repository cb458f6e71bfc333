// ceiling: what the best answer to greedy wins in four-card-golf, two seats.
//
// Backward through the holes of a match: for every lead before a hole, value iteration over every
// pair of hands and discard, where the hole's end is worth the chance to win the match from there. It
// flatters the answer: it sees at all times what greedy knows of its own cards. It draws from an
// endless pack, so that nothing is to be counted. Either starts a hole as often. Prints strokes of
// a match if played for strokes, then the chance to win, a tie half, by holes left and lead.
#include "answer.h"

#include <cmath>
#include <cstdio>

using namespace four;

constexpr int HOLES = 9, LEADS = 3, MOST = SUMS - 1, ENOUGH = 30;
static const Hands hands;

// A hole's mean, before its cards are dealt.
static double start(const Answer& answer)
{
    double sum = 0;
    uint8_t card[5];
    for (int deal = 0; deal < 11 * 11 * 11 * 11 * 11; deal++) {
        double chance = 0.5;
        for (int i = 0, rest = deal; i < 5; i++, rest /= POINTS) {
            card[i] = (uint8_t)(rest % POINTS);
            chance *= hands.chance[card[i]];
        }
        int me = hands.find({{card[0], card[1], UNKNOWN, UNKNOWN}});
        int like = answer.group_of({{card[2], card[3], UNKNOWN, UNKNOWN}});
        sum += chance * (answer.moved(me, like, card[4]) + answer.to_move(me, like, card[4]));
    }
    return sum;
}

static double below(double normal) { return 0.5 * std::erfc(-normal / std::sqrt(2.0)); }

static double normal(double chance)
{
    double low = -8, high = 8;
    for (int i = 0; i < 50; i++)
        (below((low + high) / 2) < chance ? low : high) = (low + high) / 2;
    return low;
}

int main()
{
    float cost[2 * MOST + 1];
    for (int end = -MOST; end <= MOST; end++)
        cost[MOST + end] = (float)end;
    std::printf("%.1f strokes\n", HOLES * start(Answer(GREEDY, cost, ENOUGH, true)));
    // The chance to lose by the strokes behind, as normal deviates, straight between these leads.
    double known[2 * LEADS + 1];
    int apart = 0;
    for (int left = 1; left <= HOLES; left++) {
        double found[2 * LEADS + 1];
        int step = left < 3 ? 5 : 8, ends = left == HOLES ? 0 : LEADS;
        for (int behind = -ends; behind <= ends; behind++) {
            for (int end = -MOST; end <= MOST; end++) {
                int then = behind * step + end;
                double lose = then < 0 ? 0 : then > 0 ? 1 : 0.5;
                if (left > 1) {
                    double place = (double)then / apart + LEADS;
                    int from = std::min(std::max((int)std::floor(place), 0), 2 * LEADS - 1);
                    lose = below(known[from] + (place - from) * (known[from + 1] - known[from]));
                }
                cost[MOST + end] = (float)lose;
            }
            double lose = start(Answer(GREEDY, cost, ENOUGH, true));
            found[LEADS + behind] = normal(lose);
            std::printf("%d left, %+d: %.1f %%\n", left, -behind * step, 100 * (1 - lose));
            std::fflush(stdout);
        }
        std::copy(found, found + 2 * LEADS + 1, known);
        apart = step;
    }
    return 0;
}
