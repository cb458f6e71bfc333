// Who the learner of play-nine plays against beside itself: the example bots matcher and strong.
//
// A partner looks at a position once and then says what it would do with any card. (The bots look
// again when they have drawn, and count the drawn card.)
#pragma once
#include <cstdio>
#include <string>

#include "json.h"
#include "nine.h"

namespace nine {

// Matcher, but for the expected score above which it leaves its last card face down.
struct Matcher {
    const Outlook& outlook;
    float patience;

    int turn() const
    {
        float gain[CARDS], drawing = 0;
        outlook.mine.gains(gain);
        for (int card = 0; card < CARDS; card++)
            drawing += outlook.chances.drawn[card] * gain[card];
        int top = outlook.view.discard, place = use(top);
        bool takes = gain[top] < -ROUNDING && gain[top] < drawing - ROUNDING;
        return takes ? place : DRAW;
    }

    int use(int card) const
    {
        int move = 8;
        while (outlook.view.mine[move - 8] != HIDDEN)
            move++;
        if (outlook.mine.hidden == 1 && outlook.mine.expected > patience)
            move = SKIP;
        float best = 0;
        for (int position = 0; position < 8; position++)
            if (outlook.mine.change(card, position) < best - ROUNDING) {
                best = outlook.mine.change(card, position);
                move = position;
            }
        return move;
    }
};

// The tables of strong, by own face-down cards and the other's.
struct Tables {
    float moved[NEAR][NEAR][PAIRS], to_move[NEAR][NEAR][PAIRS], lead[NEAR][NEAR][12];
    float live_moved[NEAR][NEAR][1], live_to_move[NEAR][NEAR][1], feed[NEAR][NEAR][1];

    explicit Tables(const char* path)
    {
        std::string text;
        FILE* file = std::fopen(path, "r");
        if (!file) {
            std::perror(path);
            std::exit(2);
        }
        for (int byte; (byte = std::fgetc(file)) != EOF;)
            text += (char)byte;
        std::fclose(file);
        const char* all = text.c_str();
        read(json::field(all, "moved"), &moved[0][0][0], PAIRS, 10);
        read(json::field(all, "to_move"), &to_move[0][0][0], PAIRS, 10);
        read(json::field(all, "lead"), &lead[0][0][0], 12, 10);
        read(json::field(all, "live_moved"), &live_moved[0][0][0], 1, 100);
        read(json::field(all, "live_to_move"), &live_to_move[0][0][0], 1, 100);
        read(json::field(all, "feed"), &feed[0][0][0], 1, 100);
    }

    static void read(const char* rows, float* into, int count, float parts)
    {
        for (const char* row = json::first(rows); row; row = json::next(row)) {
            if (count == 1) {
                *into++ = (float)json::number(row) / parts;
                continue;
            }
            for (const char* cell = json::first(row); cell; cell = json::next(cell))
                *into++ = (float)json::number(cell) / parts;
        }
    }
};

// Strong, as in example_bots/strong: see the formula there.
struct Strong {
    const Outlook& outlook;
    const Tables& tables;
    struct {
        const float *row, *lead;
        float live, base, feed;
    } after[2];  // by number of cards that the move turns up
    float fed[SYMBOLS];
    float ahead, flip, skip;
    int flips;

    Strong(const Outlook& it, const Tables& all) : outlook(it), tables(all)
    {
        const Side &mine = it.mine, &other = it.against[0].side;
        ahead = mine.expected - other.expected;
        fed[HIDDEN] = 0;
        for (int card = 0; card < CARDS; card++) {
            fed[card] = it.against[0].fed[card];
            fed[HIDDEN] += it.chances.hidden[card] * fed[card];
        }
        int theirs = std::min(other.hidden, NEAR) - 1;
        for (int turned = 0; turned < 2; turned++) {
            int hidden = mine.hidden - turned, near = std::min(hidden, NEAR) - 1;
            if (!hidden) {
                after[turned] = {nullptr, nullptr, 0, -it.against[0].drawing, 1};
                continue;
            }
            after[turned] = {tables.moved[near][theirs], tables.lead[near][theirs],
                             tables.live_moved[near][theirs][0], 0,
                             tables.feed[near][theirs][0]};
            after[turned].base = columns(mine, after[turned].row, after[turned].live)
                                 - columns(other, tables.to_move[theirs][near],
                                           tables.live_to_move[theirs][near][0]);
        }
        flip = NEVER;
        flips = SKIP;
        for (int position = 0; position < 8; position++) {
            int partner = mine.seen[position ^ 4];
            if (mine.seen[position] != HIDDEN)
                continue;
            float value = after[1].base;
            if (after[1].row) {
                value += lead_value(1, ahead) - column(1, partner, HIDDEN);
                for (int card = 0; card < CARDS; card++)
                    value += it.chances.hidden[card] * column(1, partner, card);
            }
            if (value < flip) {
                flip = value;
                flips = position;
            }
        }
        skip = mine.hidden == 1 ? after[0].base + lead_value(0, ahead) : NEVER;
    }

    static float columns(const Side& side, const float* row, float live)
    {
        float sum = 0;
        for (int at = 0; at < 4; at++)
            sum += row[pair_row(side.seen[at], side.seen[at + 4])] + live * side.live_columns[at];
        return sum;
    }

    float column(int turned, int a, int b) const
    {
        return after[turned].row[pair_row(a, b)] + after[turned].live * outlook.mine.live(a, b);
    }

    float lead_value(int turned, float lead) const
    {
        float place = lead / 6 + 5.5f;
        place = std::min(std::max(place, 0.0f), 10.999f);
        const float* at = after[turned].lead + (int)place;
        return at[0] + (place - (float)(int)place) * (at[1] - at[0]);
    }

    float best_place(int card, int* place) const
    {
        const Side& mine = outlook.mine;
        float best = NEVER;
        for (int position = 0; position < 8; position++) {
            int old = mine.seen[position], partner = mine.seen[position ^ 4];
            int turned = old == HIDDEN;
            float value = mine.change(card, position);
            if (value == NEVER)
                continue;
            if (after[turned].row)
                value += column(turned, partner, card) - column(turned, partner, old)
                         + lead_value(turned, ahead + value);
            value += after[turned].base - after[turned].feed * fed[old];
            if (value < best) {
                best = value;
                *place = position;
            }
        }
        return best;
    }

    float discarding(int card, int* move) const
    {
        float flipped = flip - after[1].feed * fed[card], left = skip - after[0].feed * fed[card];
        *move = left < flipped ? SKIP : 8 + flips;
        return std::min(left, flipped);
    }

    int turn() const
    {
        float drawing = 0;
        int place = 0, move;
        for (int card = 0; card < CARDS; card++)
            drawing += outlook.chances.drawn[card]
                       * std::min(best_place(card, &place), discarding(card, &move));
        return best_place(outlook.view.discard, &place) < drawing - ROUNDING ? place : DRAW;
    }

    int use(int card) const
    {
        int place = 0, move;
        float left = discarding(card, &move);
        return best_place(card, &place) < left - ROUNDING ? place : move;
    }
};

}  // namespace nine
