// four-card-golf for two: the best answer to a player whose kind is known.
//
// Who plays like greedy or matcher can be calculated: value iteration over my hand, the other's and
// the discard, as if the pack had no end and I saw what the other knows of its own cards. The chances
// of its hands, which I do know, weigh these values. Hands of the other that are alike (as many
// unseen cards, the same worst one, about the same sum) count as one: a sixth of a second will do.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "players.h"

namespace four {

constexpr int HANDS = 1365, SWEEPS = 8;
constexpr int SUMS = CARDS * (POINTS - 1) + 1, SCORES = (CARDS + 1) * SUMS;

// All hands, cards sorted; what becomes of each when a card is replaced.
struct Hands {
    Hand hand[HANDS];
    int16_t number[SYMBOLS][SYMBOLS][SYMBOLS][SYMBOLS];
    int16_t replaced[HANDS][CARDS][SYMBOLS];
    int16_t score[HANDS];  // its known sum and number of unseen cards: what it may cost
    float chance[POINTS];  // of a card of the full pack

    Hands()
    {
        int count = 0;
        for (uint8_t a = 0; a < SYMBOLS; a++)
            for (uint8_t b = a; b < SYMBOLS; b++)
                for (uint8_t c = b; c < SYMBOLS; c++)
                    for (uint8_t d = c; d < SYMBOLS; d++) {
                        hand[count] = {{a, b, c, d}};
                        number[a][b][c][d] = (int16_t)count++;
                    }
        for (int i = 0; i < HANDS; i++) {
            int sum = 0;
            for (int card : hand[i].card)
                sum += card == UNKNOWN ? 0 : card;
            score[i] = (int16_t)(hand[i].blind() * SUMS + sum);
            for (int at = 0; at < CARDS; at++)
                for (int card = 0; card < SYMBOLS; card++) {
                    Hand next = hand[i];
                    next.card[at] = (uint8_t)card;
                    replaced[i][at][card] = (int16_t)find(next);
                }
        }
        for (int card = 0; card < POINTS; card++)
            chance[card] = (card == 10 ? 3.0f : 1.0f) / 13;
    }

    int find(Hand it) const
    {
        std::sort(it.card, it.card + CARDS);
        return number[it.card[0]][it.card[1]][it.card[2]][it.card[3]];
    }
};

// What a hole is expected to cost, and the mean of its square: how much luck is left in it.
struct Cost {
    float mean, square;

    bool operator<(const Cost& it) const { return mean < it.mean; }
    void operator+=(const Cost& it) { mean += it.mean, square += it.square; }
};

inline Cost operator*(float chance, const Cost& it)
{
    return {chance * it.mean, chance * it.square};
}

// A hole against a player of that kind. `cost` is what it costs to end that many strokes above the
// other, from -40 on; `exact`: no hands count as one.
class Answer {
public:
    Answer(int player, const float* cost, int sweeps = SWEEPS, bool exact = false) : kind(player)
    {
        group(exact);
        score(cost);
        size_t size = likes.size() * POINTS * HANDS;
        mine.resize(size);
        for (int like = 0; like < (int)likes.size(); like++)  // a guess: it ends as it is
            for (int top = 0; top < POINTS; top++)
                for (int me = 0; me < HANDS; me++)
                    mine[at(like, top) + (size_t)me] =
                        ends[hands.score[me]][hands.score[likes[like]]];
        theirs = mine;
        close();
        for (int i = 0; i < sweeps; i++)
            for (int like = 0; like < (int)likes.size(); like++) {  // mostly leads to earlier ones
                their_turn(like);
                my_turn(like);
            }
    }

    int groups() const { return (int)likes.size(); }
    int group_of(Hand hand) const { return group_at[hands.find(hand)]; }
    int mine_as(const int* cards) const
    {
        return hands.find({{(uint8_t)cards[0], (uint8_t)cards[1], (uint8_t)cards[2],
                            (uint8_t)cards[3]}});
    }

    // What it costs to knock; the other moves once more.
    Cost knocked(int me, int like, int top) const
    {
        Cost sum = {};
        each_turn(likes[like], top, [&](int hand, int, float chance) {
            sum += chance * ends[hands.score[me]][hands.score[hand]];
        });
        return sum;
    }

    // What it is worth to have moved, and to be about to.
    const Cost& moved(int me, int like, int top) const { return theirs[at(like, top) + (size_t)me]; }
    const Cost& to_move(int me, int like, int top) const { return mine[at(like, top) + (size_t)me]; }

private:
    const Hands hands;
    int kind;
    std::vector<int> likes;  // by group a hand that stands for it
    int group_at[HANDS];
    Cost ends[SCORES][SCORES];        // of scores, mine first
    std::vector<Cost> mine, theirs;   // by group, discard and my hand: with the turn mine, its

    static size_t at(int like, int top) { return ((size_t)like * POINTS + (size_t)top) * HANDS; }

    // More than two cards unseen by their owner are never met.
    void group(bool exact)
    {
        std::vector<std::pair<int, int>> keys;
        for (int i = 0; i < HANDS; i++) {
            const Hand& hand = hands.hand[i];
            int blind = hand.blind(), sum = hands.score[i] % SUMS;
            int about = sum < 13 ? sum : sum / 2 * 2, worst = hand.card[hand.worst()];
            int alike = blind > 2 ? 0 : 1 + (blind * SUMS + about) * SYMBOLS + worst;
            keys.push_back({exact ? i : alike, i});
        }
        std::sort(keys.begin(), keys.end());
        for (size_t from = 0, to = 0; from < keys.size(); from = to) {
            while (to < keys.size() && keys[to].first == keys[from].first)
                group_at[keys[to++].second] = (int)likes.size();
            likes.push_back(keys[(from + to) / 2].second);
        }
    }

    void score(const float* cost)
    {
        static float chance[CARDS + 1][SUMS];  // unseen cards
        static Cost known[SCORES][SUMS];       // against a sum
        chance[0][0] = 1;
        for (int unseen = 1; unseen <= CARDS; unseen++)
            for (int sum = 0; sum < SUMS; sum++) {
                chance[unseen][sum] = 0;
                for (int card = 0; card < POINTS && card <= sum; card++)
                    chance[unseen][sum] += hands.chance[card] * chance[unseen - 1][sum - card];
            }
        for (int me = 0; me < SCORES; me++)
            for (int sum = 0; sum < SUMS; sum++) {
                known[me][sum] = {};
                for (int more = 0; me % SUMS + more < SUMS; more++) {
                    float end = cost[SUMS - 1 + me % SUMS + more - sum];
                    known[me][sum] += chance[me / SUMS][more] * Cost{end, end * end};
                }
            }
        for (int me = 0; me < SCORES; me++)
            for (int other = 0; other < SCORES; other++) {
                ends[me][other] = {};
                for (int more = 0; other % SUMS + more < SUMS; more++)
                    ends[me][other] += chance[other / SUMS][more]
                                       * known[me][other % SUMS + more];
            }
    }

    bool knocking(const Hand& it) const { return knocks(kind, it.sum(), it.blind(), 2) > 0; }

    // Where the other knocks, my last turn is all that is left.
    void close()
    {
        for (int like = 0; like < (int)likes.size(); like++) {
            if (!knocking(hands.hand[likes[like]]))
                continue;
            int other = hands.score[likes[like]];
            for (int me = 0; me < HANDS; me++) {
                Cost placed[POINTS], draws = {};
                for (int card = 0; card < POINTS; card++) {
                    placed[card] = {NEVER, 0};
                    for (int place = 0; place < CARDS; place++) {
                        int then = hands.score[hands.replaced[me][place][card]];
                        placed[card] = std::min(placed[card], ends[then][other]);
                    }
                    draws += hands.chance[card]
                             * std::min(placed[card], ends[hands.score[me]][other]);
                }
                for (int top = 0; top < POINTS; top++)
                    theirs[at(like, top) + (size_t)me] = std::min(draws, placed[top]);
            }
        }
    }

    // Visits what the other's turn leads to: its hand then, the discard, the chance.
    template <class Visit>
    void each_turn(int other, int top, Visit visit) const
    {
        const Hand& hand = hands.hand[other];
        int place = hand.worst(), worst = hand.card[place];
        auto put = [&](int card, float chance) {
            int then = hands.replaced[other][place][card];
            if (worst != UNKNOWN)
                return visit(then, worst, chance);
            for (int out = 0; out < POINTS; out++)
                visit(then, out, chance * hands.chance[out]);
        };
        if (takes(kind, worst, top))
            return put(top, 1);
        for (int card = 0; card < POINTS; card++)
            if ((float)card < worth(worst))
                put(card, hands.chance[card]);
            else
                visit(other, card, hands.chance[card]);
    }

    void their_turn(int like)
    {
        int other = likes[like], drawing = -1;
        const Hand& hand = hands.hand[other];
        if (knocking(hand))
            return;
        for (int top = 0; top < POINTS; top++) {
            Cost* to = &theirs[at(like, top)];
            bool draws = !takes(kind, hand.card[hand.worst()], top);
            if (draws && drawing >= 0) {
                std::copy_n(&theirs[at(like, drawing)], HANDS, to);
                continue;
            }
            if (draws)
                drawing = top;
            std::fill_n(to, HANDS, Cost{});
            each_turn(other, top, [&](int then, int out, float chance) {
                const Cost* from = &mine[at(group_at[then], out)];
                for (int me = 0; me < HANDS; me++)
                    to[me] += chance * from[me];
            });
        }
    }

    void my_turn(int like)
    {
        Cost unseen[HANDS] = {}, knock[POINTS][SCORES] = {};  // an unseen card is discarded
        const Cost* after[SYMBOLS];
        for (int top = 0; top < POINTS; top++) {
            after[top] = &theirs[at(like, top)];
            for (int me = 0; me < HANDS; me++)
                unseen[me] += hands.chance[top] * after[top][me];
            last_turn(likes[like], top, knock[top]);
        }
        after[UNKNOWN] = unseen;
        for (int me = 0; me < HANDS; me++) {
            Cost placed[POINTS], draws = {};
            for (int card = 0; card < POINTS; card++) {
                placed[card] = {NEVER, 0};
                for (int place = 0; place < CARDS; place++) {
                    int out = hands.hand[me].card[place];
                    placed[card] = std::min(placed[card],
                                            after[out][hands.replaced[me][place][card]]);
                }
                draws += hands.chance[card] * std::min(placed[card], after[card][me]);
            }
            for (int top = 0; top < POINTS; top++)
                mine[at(like, top) + (size_t)me] =
                    std::min({draws, placed[top], knock[top][hands.score[me]]});
        }
    }

    // The cost of a knock by my score: the other moves once more.
    void last_turn(int other, int top, Cost* cost) const
    {
        float then[SCORES] = {};
        each_turn(other, top,
                  [&](int hand, int, float chance) { then[hands.score[hand]] += chance; });
        for (int score = 0; score < SCORES; score++)
            for (int me = 0; me < SCORES && then[score] > 0; me++)
                cost[me] += then[score] * ends[me][score];
    }
};

}  // namespace four
