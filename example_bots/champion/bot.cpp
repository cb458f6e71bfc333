// champion: both games on learned values of positions, with what the others' moves tell.
//
// play-nine (nine.h). A move is worth what the position after it is worth: E(mine) - E(other), the
// expected scores as in matcher, and what a small network adds for chances, tempo and the discard
// that is left. Going out is computed. With two seats it looks one move further: moves that are
// close are judged by the other's best answer, with five cards for all where cards come by chance.
//
// four-card-golf (four.h). From each move of the others it infers which hands they may hold, by how
// greedy, matcher and an unknown player would have moved, and which of these they are; that is
// remembered through a match. A network values positions by that; knocking is computed. A single
// opponent that is known as greedy or matcher gets the best answer to that kind (answer.h), played for
// the match: by the score and the holes to come. On a last turn it lowers its expected sum.
//
// There is no chance in it: the same lines get the same answers. bench/train_champion makes the
// networks.
#include <cstdio>
#include <memory>
#include <string>

#include "four.h"
#include "four_weights.h"
#include "json.h"
#include "nine.h"
#include "nine_weights.h"

namespace {

using json::field;
using json::is;
using json::NONE;
using json::number;
using json::numbers;

constexpr int LINE = 1 << 16, SEATS = 8, PACK = 108, HOLES = 9;

auto nine_net = std::make_unique<nine::Network>();
auto four_net = std::make_unique<four::Network>();
four::Answers four_answers;
four::Belief beliefs[SEATS];  // of the match, by seat
int four_top = 0;             // points of the discard at the last event

int nine_card(int card)
{
    return card == NONE ? nine::HIDDEN : card < 0 ? nine::HOLE_IN_ONE : card;
}

// The seats after `seat` in the order of play; how many.
int others_of(const char* view, int seat, int* others)
{
    int order[SEATS], count = numbers(field(view, "order"), order, SEATS), at = 0;
    while (at < count && order[at] != seat)
        at++;
    for (int i = 1; i < count; i++)
        others[i - 1] = order[(at + i) % count];
    return count - 1;
}

std::string play_nine(const char* view)
{
    const char* phase = field(view, "phase");
    if (is(phase, "tee"))
        return "tee 0 1";  // two columns begun leave more chances than one decided
    nine::View it = {};
    int seat = number(field(view, "seat")), others[SEATS];
    it.others = others_of(view, seat, others);
    for (int card = 0; card < nine::CARDS; card++)
        it.unseen[card] = card == nine::HOLE_IN_ONE ? 4 : 8;
    int row = 0;
    const char* grid = json::first(field(view, "grids"));
    for (; grid; grid = json::next(grid), row++) {
        int cards[8], count = numbers(grid, cards, 8);
        for (int i = 0; i < count; i++) {
            int card = cards[i] = nine_card(cards[i]);
            if (card != nine::HIDDEN)
                it.unseen[card]--;
        }
        if (row == seat)
            std::copy(cards, cards + 8, it.mine);
        for (int k = 0; k < it.others; k++)
            if (row == others[k])
                std::copy(cards, cards + 8, it.other[k]);
    }
    int pile[PACK], drawn = number(field(view, "drawn"));
    for (int i = numbers(field(view, "pile"), pile, PACK); i-- > 0;)
        it.unseen[nine_card(pile[i])]--;
    if (drawn != NONE)
        it.unseen[nine_card(drawn)]--;
    int recycled[PACK], count = numbers(field(view, "recycled"), recycled, PACK);
    if (!count)
        std::copy(it.unseen, it.unseen + nine::CARDS, it.stock);
    for (int i = 0; i < count; i++) {
        it.stock[nine_card(recycled[i])]++;
        it.unseen[nine_card(recycled[i])]--;
    }
    it.recycled = count > 0;
    it.discard = nine_card(number(field(view, "discard")));
    it.ended = number(field(view, "ended_by")) != NONE;
    if (drawn == NONE) {
        int place = nine::choose_turn(*nine_net, it, true);
        return place == nine::DRAW ? "draw" : "take " + std::to_string(place);
    }
    int move = nine::choose_drawn(*nine_net, it, nine_card(drawn), true);
    if (move == nine::SKIP)
        return "skip";
    return move < 8 ? "swap " + std::to_string(move) : "flip " + std::to_string(move - 8);
}

int points(int rank) { return rank < 1 || rank == 13 ? 0 : rank > 10 ? 10 : rank; }

// Takes in completed moves of four-card-golf, oldest first.
void see(const char* events, int me, int seats)
{
    bool last = false;
    for (const char* at = json::first(events); at; at = json::next(at)) {
        const char* move = field(at, "move");
        int seat = number(field(at, "seat")), place = 0, out = number(field(at, "out"));
        four::Event event = {four::Event::KNOCK, 0, 0, 0, four_top, last};
        if (!move || seat < 0 || seat >= SEATS)
            continue;
        if (std::sscanf(move, "\"take %d", &place) == 1) {
            event.kind = four::Event::TAKE;
            event.card = event.top = points(number(field(at, "card")));
        } else if (std::sscanf(move, "\"swap %d", &place) == 1) {
            event.kind = four::Event::SWAP;
        } else if (is(move, "discard")) {
            event.kind = four::Event::DISCARD;
            event.card = points(out);
        }
        event.at = place;
        if (event.kind == four::Event::KNOCK)
            last = true;
        else
            four_top = event.out = points(out);
        if (seat != me)
            beliefs[seat].see(event, seats);
    }
}

std::string four_card_golf(const char* view, const char* line)
{
    four::View it = {};
    int hole = number(field(line, "hole")), totals[SEATS] = {};
    int seat = number(field(view, "seat")), others[SEATS], turns[SEATS], pile[PACK];
    int seats = numbers(field(view, "turns"), turns, SEATS);
    int on_pile = numbers(field(view, "pile"), pile, PACK);
    int drawn = number(field(view, "drawn"));
    it.answers = &four_answers;
    it.others = others_of(view, seat, others);
    if (turns[seat] == 1 && drawn == NONE) {  // my first question of a hole
        for (four::Belief& belief : beliefs)
            belief.deal();
        four_top = points(pile[0]);
    }
    see(field(line, "events"), seat, seats);
    numbers(field(line, "totals"), totals, SEATS);
    if (hole <= HOLES) {  // else a playoff: the hole decides
        it.holes = HOLES - hole;
        it.behind = totals[seat] - totals[it.others ? others[0] : seat];
    }
    for (int card = 0; card < four::POINTS; card++)
        it.unseen[card] = (card == 10 ? 12 : 4) * (seats > 4 ? 2 : 1);
    int row = 0;
    const char* grid = json::first(field(view, "grids"));
    for (; grid; grid = json::next(grid), row++) {
        int cards[four::CARDS], count = numbers(grid, cards, four::CARDS);
        for (int i = 0; i < count; i++) {
            if (cards[i] != NONE)
                it.unseen[points(cards[i])]--;
            if (row == seat)
                it.mine[i] = cards[i] == NONE ? four::UNKNOWN : points(cards[i]);
        }
    }
    for (int i = 0; i < on_pile; i++)
        it.unseen[points(pile[i])]--;
    if (drawn != NONE)
        it.unseen[points(drawn)]--;
    int recycled[PACK], count = numbers(field(view, "recycled"), recycled, PACK);
    if (!count)
        std::copy(it.unseen, it.unseen + four::POINTS, it.stock);
    for (int i = 0; i < count; i++) {
        it.stock[points(recycled[i])]++;
        it.unseen[points(recycled[i])]--;
    }
    const char* known = json::first(field(view, "known"));
    for (row = 0; known; known = json::next(known), row++)
        for (int k = 0; k < it.others; k++)
            for (int i = 0; row == others[k] && i < four::CARDS; i++)
                it.recycled_at[k][i] = !count || known[1 + i] == 'r';
    for (int k = 0; k < it.others; k++)
        it.other[k] = &beliefs[others[k]];
    it.top = points(pile[on_pile - 1]);
    it.ended = number(field(view, "ended_by")) != NONE;
    if (drawn == NONE) {
        int way = four::choose_turn(*four_net, it);
        return way == four::KNOCK  ? "knock"
               : way == four::DRAW ? "draw"
                                   : "take " + std::to_string(way);
    }
    int place = four::choose_drawn(*four_net, it, points(drawn));
    return place == four::DISCARD ? "discard" : "swap " + std::to_string(place);
}

void act(const char* line)
{
    const char *view = field(line, "view"), *turn = field(line, "turn");
    if (!view || !turn)
        return;
    std::string move = field(view, "known") ? four_card_golf(view, line)
                                            : play_nine(view);
    // The turn's text is copied as it stands between its quotes.
    std::printf("{\"turn\":%.*s,\"move\":\"%s\"}\n", (int)(json::past(turn) - turn), turn,
                move.c_str());
    std::fflush(stdout);
}

}  // namespace

int main()
{
    static char line[LINE];
    nine_net->load(NINE_WEIGHTS);
    four_net->load(FOUR_WEIGHTS);
    while (std::fgets(line, sizeof line, stdin)) {
        const char* type = field(line, "type");
        if (is(type, "act")) {
            act(line);
        } else if (is(type, "match")) {
            for (four::Belief& belief : beliefs)
                belief = {};
        } else if (is(type, "hello")) {
            std::puts("{\"type\":\"ready\"}");
            std::fflush(stdout);
        } else if (is(type, "bye")) {
            break;
        }
    }
    return 0;
}
