// A small neural network: a weighted sum of rows, then two layers of leaky units, then a number.
//
// The first layer is sparse: an input is a list of rows, each with a factor, so that positions
// which differ in one column share all other sums. Floats are added in the written order and with
// + - * / alone, so that compiled with -ffp-contract=off every machine computes the same.
#pragma once
#include <cstring>

constexpr int WIDTH = 32, INNER = 16;
constexpr float LEAK = 0.1f;
constexpr float PARTS = 2048;  // weights are written as whole numbers of this part

struct Sums {
    float at[WIDTH];
};

template <int ROWS, int BUCKETS>
struct Net {
    float rows[ROWS][WIDTH];
    float inner[BUCKETS][WIDTH][INNER];
    float shift[BUCKETS][INNER];
    float out[BUCKETS][INNER];
    float level[BUCKETS];

    static constexpr int SIZE =
        ROWS * WIDTH + BUCKETS * (WIDTH * INNER + 2 * INNER + 1);

    float* weights() { return &rows[0][0]; }

    void add(Sums& sums, int row, float factor) const
    {
        for (int i = 0; i < WIDTH; i++)
            sums.at[i] += factor * rows[row][i];
    }

    void swap(Sums& sums, int old_row, int new_row) const
    {
        for (int i = 0; i < WIDTH; i++)
            sums.at[i] += rows[new_row][i] - rows[old_row][i];
    }

    float value(const Sums& sums, int bucket) const
    {
        float second[INNER];
        std::memcpy(second, shift[bucket], sizeof second);
        for (int i = 0; i < WIDTH; i++) {
            float unit = sums.at[i] > 0 ? sums.at[i] : LEAK * sums.at[i];
            for (int j = 0; j < INNER; j++)
                second[j] += unit * inner[bucket][i][j];
        }
        float result = level[bucket];
        for (int j = 0; j < INNER; j++)
            result += (second[j] > 0 ? second[j] : LEAK * second[j]) * out[bucket][j];
        return result;
    }

    void load(const short* written)
    {
        for (int i = 0; i < SIZE; i++)
            weights()[i] = (float)written[i] / PARTS;
    }
};
