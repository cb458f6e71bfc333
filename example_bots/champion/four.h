// four-card-golf: what the others hold by what they did, and one card ahead on a learned value.
//
// Every move of another seat tells of its hidden cards: who replaces a seven has nothing worse, who
// doesn't knock isn't content. A `Belief` keeps all hands that a seat may have, each with the
// chance that three kinds of player would have moved as this one did; so it also learns which of
// them it is. Hands are then weighed by the cards that are unseen now.
//
// A position after a move is worth, in strokes that the mover ends above the other,
// E(mine) - E(other) + the network's opinion; a knock is computed. The mean over the opponents. Once a
// single opponent is known as greedy or matcher, the best answer to it (answer.h) says what a
// position is worth, and how much luck is left in it: so it is the match that is played for.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "answer.h"
#include "net.h"

namespace four {

constexpr int OTHERS = 7;

// The rows of the network.
constexpr int MAX_SUM = 30;
constexpr int MINE = 0, TOP = MINE + CARDS * SYMBOLS, SUM = TOP + POINTS;
constexpr int WORST = SUM + MAX_SUM + 1, BLIND = WORST + SYMBOLS, MODEL = BLIND + CARDS + 1;
constexpr int DENSE = MODEL + MODELS;
constexpr int ALWAYS = DENSE, MY_E = DENSE + 1, THEIR_E = DENSE + 2, KNOCKS = DENSE + 3;
constexpr int KNOCKED = DENSE + 4, LAST = DENSE + 5, TAKEN = DENSE + 6, STOCK = DENSE + 7;
constexpr int ROWS = DENSE + 8;
constexpr float UNIT = 10;  // the network counts in tens of strokes

using Network = Net<ROWS, 1>;

// ------------------------------------------------------------------------------ what others hold

struct Event {
    enum Kind { TAKE, SWAP, DISCARD, KNOCK } kind;
    int at, card, out;  // points; card is what was taken, or seen to be discarded
    int top;            // of the pile before the move
    bool last;          // after a knock
};

struct Believed {
    Hand hand;
    float like[MODELS];  // the chance of what was seen, if this is the hand
};

// Of another seat: cards known to all are in the hands as they are, unseen ones are UNKNOWN.
struct Belief {
    std::vector<Believed> hands;
    bool secret[CARDS];
    float prior[MODELS] = {1.0f / MODELS, 1.0f / MODELS, 1.0f / MODELS};

    // A hole begins; what kind of player it is stays known.
    void deal()
    {
        float sum = 0, seen[MODELS] = {};
        for (int model = 0; model < MODELS; model++) {
            for (const Believed& it : hands)
                seen[model] += prior[model] * it.like[model];
            sum += seen[model];
        }
        if (sum > 0) {
            for (int model = 0; model < MODELS; model++)
                prior[model] = 0.02f / MODELS + 0.98f * seen[model] / sum;
        }
        secret[0] = secret[1] = false;
        secret[2] = secret[3] = true;
        enumerate({{UNKNOWN, UNKNOWN, 0, 0}});
    }

    // All hands, those cards kept that aren't secret.
    void enumerate(Hand hand)
    {
        hands.assign(1, {hand, {1, 1, 1}});
        for (int at = 0; at < CARDS; at++)
            if (secret[at])
                expand(at);
    }

    void expand(int at)
    {
        std::vector<Believed> more;
        more.reserve(hands.size() * POINTS);
        for (Believed& it : hands)
            for (int card = 0; card < POINTS; card++) {
                it.hand.card[at] = (uint8_t)card;
                more.push_back(it);
            }
        hands.swap(more);
    }

    void see(const Event& event, int seats)
    {
        constexpr float SLIP = 0.03f, FORGET = 0.002f;
        if (hands.empty())
            deal();
        bool places = event.kind == Event::TAKE || event.kind == Event::SWAP;
        Hand known = hands[0].hand;
        if (places && secret[event.at]) {
            auto other = [&](const Believed& it) { return it.hand.card[event.at] != event.out; };
            hands.erase(std::remove_if(hands.begin(), hands.end(), other), hands.end());
            if (hands.empty()) {  // it plays like nobody that we know
                secret[event.at] = false;
                known.card[event.at] = (uint8_t)event.out;
                enumerate(known);
            }
        }
        std::vector<Believed> next;
        next.reserve(hands.size() * (event.kind == Event::SWAP ? POINTS : 1));
        float most = 0;
        for (const Believed& it : hands) {
            float sum = it.hand.sum();
            int blind = it.hand.blind(), at = it.hand.worst(), worst = it.hand.card[at];
            float before[MODELS];
            for (int model = 0; model < MODELS; model++) {
                float knock = event.last ? 0 : knocks(model, sum, blind, seats);
                float take = takes(model, worst, event.top);
                before[model] = event.kind == Event::KNOCK  ? knock
                                : event.kind == Event::TAKE ? (1 - knock) * take
                                                            : (1 - knock) * (1 - take);
                if (places && event.at != at)
                    before[model] = 0;
            }
            int low = event.kind == Event::SWAP ? 0 : event.card;
            int high = event.kind == Event::SWAP ? POINTS - 1 : event.card;
            for (int card = low; card <= high; card++) {
                Believed then = it;
                bool fits = true;
                if (event.kind == Event::SWAP)
                    fits = (float)card < worth(worst);
                if (event.kind == Event::DISCARD)
                    fits = (float)card >= worth(worst);
                if (places)
                    then.hand.card[event.at] = (uint8_t)card;
                for (int model = 0; model < MODELS; model++) {
                    then.like[model] *= SLIP + (1 - SLIP) * (fits ? before[model] : 0);
                    most = std::max(most, then.like[model]);
                }
                next.push_back(then);
            }
        }
        auto lost = [&](const Believed& it) {
            return *std::max_element(it.like, it.like + MODELS) < FORGET * most;
        };
        next.erase(std::remove_if(next.begin(), next.end(), lost), next.end());
        for (Believed& it : next)
            for (float& like : it.like)
                like /= most;
        hands.swap(next);
        if (places)
            secret[event.at] = event.kind == Event::SWAP;
    }
};

// The best answers to greedy and to matcher, made when they are first wanted.
class Answers {
public:
    const Answer& to(int kind)
    {
        float strokes[2 * SUMS - 1];
        for (int i = 0; i < 2 * SUMS - 1; i++)
            strokes[i] = (float)(i - (SUMS - 1));
        if (!made[kind])
            made[kind] = std::make_unique<Answer>(kind, strokes);
        return *made[kind];
    }

private:
    std::unique_ptr<Answer> made[EAGER];
};

// What a player knows, from the own seat.
struct View {
    Answers* answers;  // or none: the network alone
    int mine[CARDS];  // UNKNOWN is a card not seen
    int others;       // in the order of play after the own seat
    const Belief* other[OTHERS];
    bool recycled_at[OTHERS][CARDS];  // came from the stock since the last reshuffle
    int unseen[POINTS];               // may lie where it was never recycled
    int stock[POINTS];                // may be drawn, or lie where recycled
    int top;
    bool ended;
    int behind, holes;  // strokes of the match behind the only opponent; holes after this one
};

// A belief weighed by the cards that are unseen: what the network is told of it.
struct Summary {
    float sums[MAX_SUM + 1] = {}, worst[SYMBOLS] = {}, blind[CARDS + 1] = {}, model[MODELS] = {};
    float expected = 0, knock = 0, knocked = 0;  // knocked: its sum where it knocks
    float last[POINTS] = {}, taken[POINTS] = {};  // by discard: its sum after a last turn
    float last_draw = 0;                          // the same without a discard to take
    std::vector<std::pair<Hand, float>> hands;    // with their chances, for an answer

    void fill(const View& view, int k, const float* gain, float mean)
    {
        const Belief& belief = *view.other[k];
        float total = 0, placing[MODELS][SYMBOLS] = {};
        for (const Believed& it : belief.hands) {
            float weight = 1;
            int left[POINTS], drawn[POINTS];
            std::copy(view.unseen, view.unseen + POINTS, left);
            std::copy(view.stock, view.stock + POINTS, drawn);
            for (int at = 0; at < CARDS; at++)
                if (belief.secret[at]) {
                    int& count = (view.recycled_at[k][at] ? drawn : left)[it.hand.card[at]];
                    weight *= (float)std::max(count--, 0);
                }
            if (weight == 0)
                continue;
            float kinds[MODELS], all = 0;
            for (int m = 0; m < MODELS; m++)
                all += kinds[m] = weight * belief.prior[m] * it.like[m];
            total += all;
            if (view.answers)
                hands.push_back({it.hand, all});
            int unseen = it.hand.blind(), bad = it.hand.card[it.hand.worst()];
            float owners = it.hand.sum(), sum = owners + (float)unseen * (mean - MEAN);
            for (int m = 0; m < MODELS; m++) {
                float knocking = kinds[m] * knocks(m, owners, unseen, view.others + 1);
                knock += knocking;
                knocked += knocking * sum;
                model[m] += kinds[m];
                placing[m][bad] += kinds[m];
            }
            expected += all * sum;
            sums[std::min((int)(sum + 0.5f), MAX_SUM)] += all;
            worst[bad] += all;
            blind[unseen] += all;
        }
        if (total == 0)
            total = 1;
        for (float& it : sums)
            it /= total;
        for (float& it : worst)
            it /= total;
        for (float& it : blind)
            it /= total;
        for (float& it : model)
            it /= total;
        for (auto& it : hands)
            it.second /= total;
        for (int m = 0; m < MODELS; m++)
            for (int bad = 0; bad < SYMBOLS; bad++)
                for (int card = 0; card < POINTS && placing[m][bad] > 0; card++)
                    taken[card] += takes(m, bad, card) ? placing[m][bad] / total : 0;
        expected /= total;
        knock /= total;
        knocked /= total;
        for (int bad = 0; bad < SYMBOLS; bad++) {
            last_draw += worst[bad] * gain[bad];
            for (int card = 0; card < POINTS; card++)
                last[card] += worst[bad] * std::min(gain[bad], (float)card - worth(bad));
        }
        last_draw += expected;
        for (float& it : last)
            it += expected;
    }
};

// ------------------------------------------------------------------------------------- the choice

constexpr float SURE = 0.8f, RARE = 1e-4f;  // chances: of a kind of player, of a group of hands
constexpr float FLATTERED = 0.2f;  // strokes by which an answer, all-seeing, flatters who waits
constexpr float A_HOLE = 0.9f, LUCK = 41;  // what an answer wins in a hole to come; its variance
constexpr float STROKE = 1;  // counts as a chance of so many in 100 to win, whatever the lead

struct Outlook {
    const Network& net;
    const View& view;
    float hidden[POINTS], drawn[POINTS];  // chances
    float mean, stock_mean;
    float gain[SYMBOLS];  // what a draw changes by the worst card
    Summary other[OTHERS];
    Sums base[OTHERS];
    const Answer* answer = nullptr;  // to the only opponent, if it is known well enough
    std::vector<std::pair<int, float>> likes;  // its hands, as the answer groups them; chances

    Outlook(const Network& network, const View& seen) : net(network), view(seen)
    {
        float down = 0, stock = 0;
        for (int card = 0; card < POINTS; card++) {
            down += (float)view.unseen[card];
            stock += (float)view.stock[card];
        }
        mean = stock_mean = 0;
        for (int card = 0; card < POINTS; card++) {
            hidden[card] = down > 0 ? (float)view.unseen[card] / down : 0;
            drawn[card] = stock > 0 ? (float)view.stock[card] / stock : 0;
            mean += hidden[card] * (float)card;
            stock_mean += drawn[card] * (float)card;
        }
        for (int symbol = 0; symbol < SYMBOLS; symbol++) {
            float value = symbol == UNKNOWN ? mean : (float)symbol;
            gain[symbol] = 0;
            for (int card = 0; card < POINTS; card++)
                gain[symbol] += drawn[card] * std::min(0.0f, (float)card - value);
        }
        for (int k = 0; k < view.others; k++) {
            other[k].fill(view, k, gain, mean);
            base[k] = {};
            each_input(k, [&](int row, float factor) { net.add(base[k], row, factor); });
        }
        for (int kind = 0; kind < EAGER && view.answers && view.others == 1; kind++)
            if (other[0].model[kind] > SURE)
                recognise(kind);
    }

    void recognise(int kind)
    {
        answer = &view.answers->to(kind);
        std::vector<float> chance(answer->groups());
        for (auto [hand, part] : other[0].hands)
            chance[answer->group_of(hand)] += part;
        for (int like = 0; like < answer->groups(); like++)
            if (chance[like] > RARE)
                likes.push_back({like, chance[like]});
    }

    // What the network is told that no move of mine changes.
    template <class Visit>
    void each_input(int k, Visit visit) const
    {
        const Summary& it = other[k];
        for (int i = 0; i <= MAX_SUM; i++)
            if (it.sums[i] > 0)
                visit(SUM + i, it.sums[i]);
        for (int i = 0; i < SYMBOLS; i++)
            if (it.worst[i] > 0)
                visit(WORST + i, it.worst[i]);
        for (int i = 0; i <= CARDS; i++)
            if (it.blind[i] > 0)
                visit(BLIND + i, it.blind[i]);
        for (int i = 0; i < MODELS; i++)
            visit(MODEL + i, it.model[i]);
        visit(ALWAYS, 1);
        visit(THEIR_E, it.expected / UNIT);
        visit(KNOCKS, it.knock);
        visit(KNOCKED, it.knocked / UNIT);
        visit(STOCK, stock_mean - MEAN);
    }

    // The rest: my cards after the move, sorted, and the discard that I leave.
    template <class Visit>
    void each_changed(int k, const int* cards, int top, Visit visit) const
    {
        int sorted[CARDS];
        std::copy(cards, cards + CARDS, sorted);
        for (int i = 1; i < CARDS; i++)
            for (int j = i; j && sorted[j] < sorted[j - 1]; j--)
                std::swap(sorted[j], sorted[j - 1]);
        for (int i = 0; i < CARDS; i++)
            visit(MINE + i * SYMBOLS + sorted[i], 1);
        visit(MY_E, expected(cards) / UNIT);
        if (k)
            return;
        visit(TOP + top, 1);
        visit(LAST, (other[k].last[top] - other[k].expected) / UNIT);
        visit(TAKEN, other[k].taken[top]);
    }

    float value_of(int symbol) const { return symbol == UNKNOWN ? mean : (float)symbol; }

    float expected(const int* cards) const
    {
        return value_of(cards[0]) + value_of(cards[1]) + value_of(cards[2]) + value_of(cards[3]);
    }

    // The chance in 100 to lose the match, and the strokes that the hole costs.
    float losing(float mean, float variance) const
    {
        float after = (float)view.holes, behind = (float)view.behind + mean - A_HOLE * after;
        float lucky = std::sqrt(LUCK * after + std::max(variance, 1.0f));
        return 50 * std::erfc(-behind / (std::sqrt(2.0f) * lucky)) + STROKE * mean;
    }

    // In strokes, or, where there is an answer, as `losing` counts.
    float value(const int* cards, int top) const
    {
        float sum = 0;
        if (answer) {
            Cost cost = {};
            int me = answer->mine_as(cards);
            for (auto [like, chance] : likes)
                cost += chance * answer->moved(me, like, top);
            return losing(cost.mean, cost.square - cost.mean * cost.mean);
        }
        for (int k = 0; k < view.others; k++) {
            Sums sums = base[k];
            each_changed(k, cards, top, [&](int row, float f) { net.add(sums, row, f); });
            sum += expected(cards) - other[k].expected + UNIT * net.value(sums, 0);
        }
        return sum / (float)view.others;
    }

    float knock() const
    {
        float sum = 0;
        for (int k = 0; k < view.others; k++)
            sum += expected(view.mine) - (k ? other[k].last_draw : other[k].last[view.top]);
        if (answer) {
            Cost cost = {};
            int me = answer->mine_as(view.mine);
            for (auto [like, chance] : likes)
                cost += chance * answer->knocked(me, like, view.top);
            return losing(sum - FLATTERED, cost.square - cost.mean * cost.mean);
        }
        return sum / (float)view.others;
    }

    // The value of `card` at a position; an unseen card that it replaces is any that may lie there.
    float placed(int card, int at) const
    {
        int cards[CARDS];
        std::copy(view.mine, view.mine + CARDS, cards);
        cards[at] = card;
        if (view.mine[at] != UNKNOWN)
            return value(cards, view.mine[at]);
        float sum = 0;
        for (int out = 0; out < POINTS; out++)
            if (hidden[out] > 0)
                sum += hidden[out] * value(cards, out);
        return sum;
    }

    float best_place(int card, int* place) const
    {
        float best = NEVER;
        for (int at = 0; at < CARDS; at++) {
            if (std::find(view.mine, view.mine + at, view.mine[at]) != view.mine + at)
                continue;  // like one before
            float it = placed(card, at);
            if (it < best - ROUNDING) {
                best = it;
                *place = at;
            }
        }
        return best;
    }

    float drawing() const
    {
        float sum = 0;
        int place;
        for (int card = 0; card < POINTS; card++)
            if (drawn[card] > 0)
                sum += drawn[card] * std::min(best_place(card, &place), value(view.mine, card));
        return sum;
    }

    int worst() const
    {
        int at = 0;
        for (int i = 1; i < CARDS; i++)
            if (value_of(view.mine[i]) > value_of(view.mine[at]))
                at = i;
        return at;
    }
};

constexpr int DRAW = -1, KNOCK = -2, DISCARD = -1;

// At the start of a turn: the position where the discard goes, DRAW or KNOCK.
inline int choose_turn(const Network& net, const View& view, float* worth = nullptr)
{
    Outlook outlook(net, view);
    if (view.ended) {
        int at = outlook.worst(), symbol = view.mine[at];
        return (float)view.top - outlook.value_of(symbol) < outlook.gain[symbol] - ROUNDING ? at
                                                                                           : DRAW;
    }
    int place = 0;
    float takes = outlook.best_place(view.top, &place), draws = outlook.drawing();
    float knocks = outlook.knock();
    if (worth)
        *worth = std::min(knocks, std::min(takes, draws));
    if (knocks < std::min(takes, draws) - (outlook.answer ? 0 : ROUNDING))
        return KNOCK;
    return takes < draws - ROUNDING ? place : DRAW;
}

// With a drawn card: where it goes, or DISCARD.
inline int choose_drawn(const Network& net, const View& view, int card)
{
    Outlook outlook(net, view);
    int place = outlook.worst();
    if (view.ended)
        return (float)card < outlook.value_of(view.mine[place]) - ROUNDING ? place : DISCARD;
    float swaps = outlook.best_place(card, &place);
    return swaps < outlook.value(view.mine, card) - ROUNDING ? place : DISCARD;
}

}  // namespace four
