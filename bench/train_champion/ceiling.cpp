// ceiling: what the best answer to greedy wins in four-card-golf, two seats.
//
// Prints strokes of a match if played for strokes, then the chance to win, a tie half, by holes left
// and lead. `ceiling seeing` is for an answer that sees at all times what greedy knows of its own
// cards; `ceiling` for one that knows only what a player can: it infers the rest from greedy's moves.
//
// Backward through the holes of a match: for every lead before a hole, value iteration over my hand,
// the discard and what is known of the other's hand, where the hole's end is worth the chance to win
// the match from there. Both draw from an endless pack, so that nothing is to be counted. Either
// starts a hole as often.
//
// What is known of greedy's hand. Each card is public, unseen even by greedy, or secret. It replaces
// its worst card, so that every move tells the most that the others can be; apart from that, secret
// cards are as from the pack. That it didn't knock tells that four known cards were 8 or more. So an
// `Image` is exact, and 900 of them are all there are. (Of equal cards greedy gives the one that
// comes first in the image's order, which is not that of its grid.)
#include "answer.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

using namespace four;

constexpr int HOLES = 9, LEADS = 3, MOST = SUMS - 1, ENOUGH = 20;
constexpr int AT_MOST = SYMBOLS, NO_SUM = CARDS + 1, HAND = 32;
static const Hands hands;

// Cards by symbol: a public card, UNKNOWN, or AT_MOST + the most that a secret one can be. All but
// card `but` (CARDS: all) make up `least` or more; NO_SUM if that says nothing.
struct Image {
    int card[CARDS], but, least;

    bool operator<(const Image& it) const
    {
        return std::make_pair(number(), but * HAND + least)
               < std::make_pair(it.number(), it.but * HAND + it.least);
    }

    int number() const { return ((card[0] * HAND + card[1]) * HAND + card[2]) * HAND + card[3]; }

    bool blind() const { return std::count(card, card + CARDS, UNKNOWN) > 0; }

    void limit(int at, int most)
    {
        if (card[at] > AT_MOST + most)
            card[at] = AT_MOST + most;
    }

    // One spelling of each image: cards sorted, and no sum that says nothing.
    Image spelled() const
    {
        Image it = *this;
        int sum = 0, order[CARDS] = {0, 1, 2, 3};
        for (int at = 0; at < CARDS; at++) {
            if (it.card[at] == AT_MOST)
                it.card[at] = 0;
            sum += at != but && it.card[at] < POINTS ? it.card[at] : 0;
        }
        if (but == NO_SUM || it.blind() || sum >= least)
            it.but = NO_SUM, it.least = 0;
        auto key = [&](int at) { return 2 * it.card[at] + (at == it.but); };
        std::sort(order, order + CARDS, [&](int a, int b) { return key(a) < key(b); });
        Image sorted = it;
        for (int at = 0; at < CARDS; at++) {
            sorted.card[at] = it.card[order[at]];
            if (order[at] == it.but)
                sorted.but = at;
        }
        return sorted;
    }

    // Visits the hands that it may be, with their chances.
    template <class Visit>
    void each_hand(Visit visit) const
    {
        double total = 0;
        for (bool summed : {false, true})
            for (int lot = 0; lot < POINTS * POINTS * POINTS * POINTS; lot++) {
                Hand hand;
                double chance = 1;
                int sum = 0;
                bool fits = true;
                for (int at = 0, rest = lot; at < CARDS; at++, rest /= POINTS) {
                    int drawn = rest % POINTS;
                    bool secret = card[at] >= AT_MOST;
                    fits = fits && (secret ? drawn <= card[at] - AT_MOST : !drawn);
                    chance *= secret ? (double)hands.chance[drawn] : 1;
                    hand.card[at] = (uint8_t)(secret ? drawn : card[at]);
                    sum += at != but && hand.card[at] < POINTS ? hand.card[at] : 0;
                }
                if (!fits || (but != NO_SUM && sum < least))
                    continue;
                if (summed)
                    visit(hand, chance / total);
                else
                    total += chance;
            }
    }
};

// An answer that knows no more than a player.
class Inferring {
public:
    Inferring()
    {
        number({{UNKNOWN, UNKNOWN, AT_MOST + 10, AT_MOST + 10}, NO_SUM, 0});
        for (int i = 0; i < (int)images.size(); i++)
            their_moves(i);
        for (int i = 0; i < (int)images.size(); i++)
            order.push_back(i);
        auto size = [&](int i) {  // what a turn leads to is smaller, mostly
            int sum = 0;
            for (int card : images[i].card)
                sum += card < POINTS ? 2 * card : card == UNKNOWN ? 40 : 2 * (card - AT_MOST) + 1;
            return sum;
        };
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return size(a) < size(b); });
    }

    // A hole's mean, before its cards are dealt.
    double operator()(const float* cost)
    {
        score(cost);
        mine.assign(images.size() * POINTS * HANDS, cost[2 * MOST]);
        theirs = mine;
        double mean = 0, before = 1e9;
        while (std::fabs(mean - before) > 1e-6 * (cost[2 * MOST] - cost[0])) {
            before = mean;
            for (int i : order) {
                their_turn(i);
                my_turn(i);
            }
            mean = start();
        }
        return mean;
    }

private:
    struct Moved {
        int image, top;
        float chance;
    };
    struct Turns {
        float sums[8] = {};                              // of the hands with which it knocks
        std::vector<Moved> to[POINTS];                   // else, by discard
        std::vector<std::pair<int, float>> last[POINTS];  // its score after a last turn
    };

    std::vector<Image> images;
    std::map<Image, int> numbers;
    std::vector<Turns> turns;
    std::vector<int> order;
    float ends[SCORES][SCORES];       // the cost of scores, mine first
    std::vector<float> mine, theirs;  // by image, discard and my hand: with the turn mine, its

    static size_t at(int image, int top)
    {
        return ((size_t)image * POINTS + (size_t)top) * HANDS;
    }

    int number(const Image& any)
    {
        Image image = any.spelled();
        auto [found, added] = numbers.insert({image, (int)images.size()});
        if (added)
            images.push_back(image);
        return found->second;
    }

    void their_moves(int i)
    {
        const Image image = images[i];
        Turns turn;
        double worst[CARDS][SYMBOLS] = {};  // the chance that this one goes next; it hasn't knocked
        std::map<int, double> last[POINTS];
        image.each_hand([&](const Hand& hand, double chance) {
            int place = hand.worst(), out = hand.card[place], score = hands.score[hands.find(hand)];
            int rest = score - (out == UNKNOWN ? SUMS : out);
            for (int top = 0; top < POINTS; top++)
                for (int card = 0; card < POINTS; card++) {
                    bool taken = takes(GREEDY, out, top), put = taken || (float)card < worth(out);
                    last[top][put ? rest + (taken ? top : card) : score] +=
                        chance * (double)hands.chance[card];
                }
            if (knocks(GREEDY, hand.sum(), hand.blind(), 2) > 0)
                turn.sums[(int)hand.sum()] += (float)chance;
            else
                worst[place][out] += chance;
        });
        for (int top = 0; top < POINTS; top++) {
            std::map<std::pair<int, int>, double> found;
            for (int place = 0; place < CARDS; place++)
                for (int out = 0; out < SYMBOLS; out++)
                    if (worst[place][out] > 0)
                        their_move(image, top, place, out, worst[place][out], found);
            for (auto [to, chance] : found)
                turn.to[top].push_back({to.first, to.second, (float)chance});
            for (auto [score, chance] : last[top])
                turn.last[top].push_back({score, (float)chance});
        }
        turns.push_back(turn);
    }

    // Its turn if its worst card is that one.
    void their_move(const Image& image, int top, int place, int out, double chance,
                    std::map<std::pair<int, int>, double>& found)
    {
        int below = (int)std::ceil(worth(out)) - 1;  // the highest card that it would swap in
        bool taken = takes(GREEDY, out, top);
        Image placed = image, kept = image;
        for (int i = 0; i < CARDS; i++)
            placed.limit(i, out == UNKNOWN || i < place ? below : out);
        placed.card[place] = taken ? top : AT_MOST + below;
        placed.but = image.blind() ? NO_SUM : place;
        placed.least = 8 - out;
        for (int card = 0; card < POINTS; card++) {
            double part = chance * (double)hands.chance[card];
            if (!taken && card > below) {
                for (int i = 0; i < CARDS; i++)
                    kept.limit(i, std::min(top + 2, card));
                kept.but = image.blind() ? NO_SUM : CARDS;
                kept.least = 8;
                found[{number(kept), card}] += part;
                kept = image;
            } else if (out == UNKNOWN) {
                for (int it = 0; it < POINTS; it++)
                    found[{number(placed), it}] += part * (double)hands.chance[it];
            } else {
                found[{number(placed), out}] += part;
            }
        }
    }

    void score(const float* cost)
    {
        static double chance[CARDS + 1][SUMS];  // of a sum of unseen cards
        std::memset(chance, 0, sizeof chance);
        chance[0][0] = 1;
        for (int unseen = 1; unseen <= CARDS; unseen++)
            for (int sum = 0; sum < SUMS; sum++)
                for (int card = 0; card < POINTS && card <= sum; card++)
                    chance[unseen][sum] += (double)hands.chance[card] * chance[unseen - 1][sum - card];
        for (int me = 0; me < SCORES; me++)
            for (int other = 0; other < SCORES; other++) {
                double sum = 0;
                for (int more = 0; me % SUMS + more < SUMS; more++)
                    for (int its = 0; its <= 20 && other % SUMS + its < SUMS; its++)
                        sum += chance[me / SUMS][more] * chance[other / SUMS][its]
                               * (double)cost[MOST + me % SUMS + more - other % SUMS - its];
                ends[me][other] = (float)sum;
            }
    }

    // My best with each card; `after`: by what is discarded.
    template <class Visit>
    static void my_choice(int me, const float* const* after, Visit visit)
    {
        float placed[POINTS], draws = 0;
        for (int card = 0; card < POINTS; card++) {
            placed[card] = NEVER;
            for (int place = 0; place < CARDS; place++) {
                int out = hands.hand[me].card[place];
                placed[card] = std::min(placed[card], after[out][hands.replaced[me][place][card]]);
            }
            draws += hands.chance[card] * std::min(placed[card], after[card][me]);
        }
        for (int top = 0; top < POINTS; top++)
            visit(top, std::min(draws, placed[top]));
    }

    void their_turn(int image)
    {
        const Turns& turn = turns[image];
        float over[HANDS] = {};  // it has knocked, I have moved
        const float* after[SYMBOLS];
        std::fill_n(after, SYMBOLS, over);
        for (int me = 0; me < HANDS; me++)
            for (int sum = 0; sum < 8; sum++)
                over[me] += turn.sums[sum] * ends[hands.score[me]][sum];
        for (int top = 0; top < POINTS; top++) {
            float* to = &theirs[at(image, top)];
            std::fill_n(to, HANDS, 0.0f);
            for (const Moved& it : turn.to[top]) {
                const float* from = &mine[at(it.image, it.top)];
                for (int me = 0; me < HANDS; me++)
                    to[me] += it.chance * from[me];
            }
        }
        if (std::count(turn.sums, turn.sums + 8, 0.0f) < 8)
            for (int me = 0; me < HANDS; me++)
                my_choice(me, after, [&](int top, float it) { theirs[at(image, top) + me] += it; });
    }

    void my_turn(int image)
    {
        float unseen[HANDS] = {}, knock[POINTS][SCORES] = {};
        const float* after[SYMBOLS];
        for (int top = 0; top < POINTS; top++) {
            after[top] = &theirs[at(image, top)];
            for (int me = 0; me < HANDS; me++)
                unseen[me] += hands.chance[top] * after[top][me];
            for (auto [its, chance] : turns[image].last[top])
                for (int me = 0; me < SCORES; me++)
                    knock[top][me] += chance * ends[me][its];
        }
        after[UNKNOWN] = unseen;
        for (int me = 0; me < HANDS; me++)
            my_choice(me, after, [&](int top, float it) {
                mine[at(image, top) + me] = std::min(it, knock[top][hands.score[me]]);
            });
    }

    double start() const
    {
        double sum = 0;
        for (uint8_t one = 0; one < POINTS; one++)
            for (uint8_t two = 0; two < POINTS; two++)
                for (int top = 0; top < POINTS; top++) {
                    float chance = hands.chance[one] * hands.chance[two] * hands.chance[top] / 2;
                    size_t place = at(0, top) + (size_t)hands.find({{one, two, UNKNOWN, UNKNOWN}});
                    sum += (double)(chance * (mine[place] + theirs[place]));
                }
        return sum;
    }
};

// The same for one that sees what greedy knows.
static double seeing(const float* cost)
{
    Answer answer(GREEDY, cost, ENOUGH, true);
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
        sum += chance * (answer.moved(me, like, card[4]).mean + answer.to_move(me, like, card[4]).mean);
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

template <class Hole>
static void match(Hole hole)
{
    float cost[2 * MOST + 1];
    for (int end = -MOST; end <= MOST; end++)
        cost[MOST + end] = (float)end;
    std::printf("%.1f strokes\n", HOLES * hole(cost));
    std::fflush(stdout);
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
            double lose = hole(cost);
            found[LEADS + behind] = normal(lose);
            std::printf("%d left, %+d: %.1f %%\n", left, -behind * step, 100 * (1 - lose));
            std::fflush(stdout);
        }
        std::copy(found, found + 2 * LEADS + 1, known);
        apart = step;
    }
}

int main(int count, char** arguments)
{
    if (count == 2 && !std::strcmp(arguments[1], "seeing"))
        match(seeing);
    else if (count == 1)
        match(Inferring());
    else
        return std::fprintf(stderr, "usage: ceiling [seeing]\n"), 2;
    return 0;
}
