// Chance and the steps of learning, for both games.
#pragma once
#include <cfloat>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "net.h"

#if FLT_EVAL_METHOD != 0 || defined(__FAST_MATH__)
#error "floats must be computed as floats, in the written order"
#endif

// splitmix64: a generator of our own gives every machine the same lots.
struct Lots {
    uint64_t state;

    int below(int limit)
    {
        uint64_t mix = state += 0x9e3779b97f4a7c15u;
        mix = (mix ^ mix >> 30) * 0xbf58476d1ce4e5b9u;
        mix = (mix ^ mix >> 27) * 0x94d049bb133111ebu;
        return (int)(((mix ^ mix >> 31) >> 32) * (uint64_t)limit >> 32);
    }

    float part() { return (float)below(1 << 20) / (1 << 20); }
};

using Inputs = std::vector<std::pair<int, float>>;

template <class N>
void begin(N& net, int rows, Lots& lots)
{
    for (int i = 0; i < N::SIZE; i++)
        net.weights()[i] = 0;
    for (int row = 0; row < rows; row++)
        for (float& weight : net.rows[row])
            weight = (lots.part() - 0.5f) * 0.2f;
    for (auto& bucket : net.inner)
        for (auto& row : bucket)
            for (float& weight : row)
                weight = (lots.part() - 0.5f) * 0.5f;
    for (auto& bucket : net.out)
        for (float& weight : bucket)
            weight = (lots.part() - 0.5f) * 0.2f;
}

template <class N>
float value_of(const N& net, const Inputs& inputs, int bucket)
{
    Sums sums = {};
    for (auto [row, factor] : inputs)
        net.add(sums, row, factor);
    return net.value(sums, bucket);
}

// One step of gradient descent towards `target`.
template <class N>
void learn(N& net, const Inputs& inputs, int bucket, float target, float rate)
{
    Sums sums = {};
    for (auto [row, factor] : inputs)
        net.add(sums, row, factor);
    float first[WIDTH], second[INNER], back[INNER], result = net.level[bucket];
    std::memcpy(second, net.shift[bucket], sizeof second);
    for (int i = 0; i < WIDTH; i++) {
        first[i] = sums.at[i] > 0 ? sums.at[i] : LEAK * sums.at[i];
        for (int j = 0; j < INNER; j++)
            second[j] += first[i] * net.inner[bucket][i][j];
    }
    for (int j = 0; j < INNER; j++)
        result += (second[j] > 0 ? second[j] : LEAK * second[j]) * net.out[bucket][j];
    float error = target - result;
    error = error > 2 ? 2 : error < -2 ? -2 : error;
    float step = rate * error;
    net.level[bucket] += step;
    for (int j = 0; j < INNER; j++) {
        float slope = second[j] > 0 ? 1 : LEAK;
        back[j] = step * net.out[bucket][j] * slope;
        net.out[bucket][j] += step * second[j] * slope;
        net.shift[bucket][j] += back[j];
    }
    float down[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
        float sum = 0;
        for (int j = 0; j < INNER; j++) {
            sum += back[j] * net.inner[bucket][i][j];
            net.inner[bucket][i][j] += back[j] * first[i];
        }
        down[i] = sums.at[i] > 0 ? sum : LEAK * sum;
    }
    for (auto [row, factor] : inputs)
        for (int i = 0; i < WIDTH; i++)
            net.rows[row][i] += down[i] * factor;
}

// The weights as a header for the bot.
template <class N>
void print(N& net, const char* name)
{
    std::printf("const short %s[] = {", name);
    for (int i = 0; i < N::SIZE; i++) {
        float parts = net.weights()[i] * PARTS;
        int whole = (int)(parts + (parts < 0 ? -0.5f : 0.5f));
        whole = whole > 32767 ? 32767 : whole < -32767 ? -32767 : whole;
        std::printf("%s%d", i == 0 ? "\n" : i % 24 ? "," : ",\n", whole);
    }
    std::printf("};\n");
}
