// A bot that plays play-nine and four-card-golf. Your strategy goes into choose().
#include <algorithm>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "json.hpp"

using Grid = std::vector<std::optional<int>>; // no value: a card that you don't know
using Moves = std::vector<std::string>;

constexpr int unknown = 6; // what such a card counts: about the mean of the pack, in both games
constexpr int points[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0}; // by rank, 1 to 13

// Strokes of a grid, as far as it is known.
int score(const std::string &game, const Grid &grid)
{
    int strokes = 0;
    if (game == "four-card-golf") {
        for (auto card : grid)
            strokes += card ? points[*card] : unknown;
        return strokes;
    }
    for (std::size_t column = 0; column < 4; ++column) {
        const auto top = grid[column], bottom = grid[column + 4];
        if (top && top == bottom)
            strokes += top == -5 ? -10 : 0; // more columns of one number: more is saved
        else
            strokes += top.value_or(unknown) + bottom.value_or(unknown);
    }
    return strokes;
}

// How many strokes `card` saves in its best place, and that place.
std::pair<int, std::size_t> best_place(const std::string &game, const Grid &grid, int card)
{
    std::vector<int> savings;
    for (std::size_t i = 0; i < grid.size(); ++i) {
        Grid changed = grid;
        changed[i] = card;
        savings.push_back(score(game, grid) - score(game, changed));
    }
    const auto best = std::max_element(savings.begin(), savings.end());
    return {*best, static_cast<std::size_t>(best - savings.begin())};
}

// Your strategy goes here: return one of the moves in `legal`.
//
//   view["seat"]      your seat, from 0: view["seat"].number()
//   view["grids"]     everybody's cards by seat: view["grids"][seat][position]; null: unknown
//   view["phase"]     "tee", "turn" or "drawn": view["phase"].text()
//   view["discard"]   the top of the discard pile
//   view["drawn"]     the card in your hand in phase "drawn", else null: .is_null()
//   view["pile"]      the whole discard pile, the top last: view["pile"].items()
//   view["stock"]     how many cards the stock has
//   view["recycled"]  [], or the cards in the stock since the pile was reshuffled into it
//   view["order"]     seats in the order of play, the dealer last
//   view["turns"]     turns that each seat has begun on this hole
//   view["ended_by"]  the seat that ended the hole (this is your last turn), or null
//   view["known"]     four-card-golf: by seat, who knows each card: n, o, r or a
std::string choose(const std::string &game, const Json &view, const Moves &legal, std::mt19937 &rng)
{
    const auto pick = [&](const Moves &moves) { return moves[rng() % moves.size()]; };
    if (game != "play-nine" && game != "four-card-golf")
        return pick(legal); // another game: its scores are for you to write
    const std::string &phase = view["phase"].text();
    if (phase == "tee")
        return pick(legal); // all cards are face down: any two are as good

    Grid grid;
    const auto seat = static_cast<std::size_t>(view["seat"].number());
    for (const Json &card : view["grids"][seat].items())
        grid.push_back(card.is_null() ? std::nullopt : std::optional(card.number()));
    const int card = view[phase == "turn" ? "discard" : "drawn"].number();
    const auto [saving, position] = best_place(game, grid, card);

    if (phase == "turn") {
        if (std::find(legal.begin(), legal.end(), "knock") != legal.end() && score(game, grid) <= 8)
            return "knock";
        return saving > 3 ? "take " + std::to_string(position) : "draw";
    }
    if (saving > 0)
        return "swap " + std::to_string(position);
    Moves rest;
    for (const std::string &move : legal)
        if (move.rfind("flip", 0) == 0 || move == "discard")
            rest.push_back(move);
    return pick(rest);
}

int main()
{
    std::string game;
    std::mt19937 rng;
    for (std::string line; std::getline(std::cin, line);) {
        const Json message = Json::parse(line);
        const std::string &type = message["type"].text();
        // std::endl writes the line at once. Log to std::cerr.
        if (type == "hello") {
            game = message["game"].text();
            std::cout << R"({"type":"ready"})" << std::endl;
        } else if (type == "match") {
            rng.seed(message["seed"].number()); // the same match, the same moves
        } else if (type == "act") { // also there: hole, totals, events, move_ms, bank_ms
            Moves legal;
            for (const Json &move : message["legal"].items())
                legal.push_back(move.text());
            std::cout << R"({"turn":")" << message["turn"].text() << R"(","move":")"
                      << choose(game, message["view"], legal, rng) << R"("})" << std::endl;
        } else if (type == "bye") {
            break;
        }
    }
}
