// four-card-golf: a hand as its owner knows it, and how the kinds of player move with it.
#pragma once
#include <algorithm>
#include <cstdint>

namespace four {

// Cards count as points, 0 to 10; UNKNOWN is one that even its owner hasn't seen.
constexpr int POINTS = 11, UNKNOWN = 11, SYMBOLS = 12, CARDS = 4;
constexpr float MEAN = 300.0f / 52, ROUNDING = 1e-4f, NEVER = 1e9f;

inline float worth(int symbol) { return symbol == UNKNOWN ? MEAN : (float)symbol; }

// A hand as its owner knows it.
struct Hand {
    uint8_t card[CARDS];

    float sum() const
    {
        return worth(card[0]) + worth(card[1]) + worth(card[2]) + worth(card[3]);
    }

    int worst() const
    {
        int at = 0;
        for (int i = 1; i < CARDS; i++)
            if (worth(card[i]) > worth(card[at]))
                at = i;
        return at;
    }

    int blind() const { return (int)std::count(card, card + CARDS, UNKNOWN); }
};

// What a draw from the full pack is worth to a hand with that worst card.
inline float draw_gain(float worst)
{
    float sum = 0;
    for (int card = 0; card < POINTS; card++)
        if ((float)card < worst)
            sum += ((float)card - worst) * (card == 10 ? 3 : 1) / 13;
    return sum;
}

struct Gains {
    float by_symbol[SYMBOLS];
    Gains()
    {
        for (int symbol = 0; symbol < SYMBOLS; symbol++)
            by_symbol[symbol] = draw_gain(worth(symbol));
    }
};

// The kinds of player: greedy, matcher, and one of which only its placing is known.
constexpr int MODELS = 3, GREEDY = 0, MATCHER = 1, EAGER = 2;

inline bool takes(int model, int worst, int top)
{
    static const Gains gains;
    float change = (float)top - worth(worst);
    return model == GREEDY ? change < -2 : change < gains.by_symbol[worst] - ROUNDING;
}

inline float knocks(int model, float sum, int blind, int seats)
{
    if (model == GREEDY)
        return !blind && sum < 7.5f;
    if (model == MATCHER)
        return sum < 8.5f - (float)seats / 2;
    return std::min(0.9f, std::max(0.03f, 1 - sum / 16));
}

}  // namespace four
