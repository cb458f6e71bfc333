// A bot that plays play-nine and four-card-golf. Your strategy goes into choose.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"os"
	"strings"
)

// View is all that you may know. A card that you don't know is nil.
type View struct {
	Seat     int      // yours, from 0
	Grids    [][]*int // everybody's cards by seat
	Phase    string   // "tee", "turn" or "drawn"
	Discard  int      // the top of the discard pile
	Drawn    *int     // the card in your hand in phase "drawn"
	Pile     []int    // the whole discard pile, the top last
	Stock    int      // how many cards the stock has
	Recycled []int    // the cards in the stock, once the pile was reshuffled into it
	Order    []int    // seats in the order of play, the dealer last
	Turns    []int    // turns that each seat has begun on this hole
	EndedBy  *int     `json:"ended_by"` // the seat that ended the hole: this is your last turn
	Known    []string // four-card-golf: by seat, who knows each card: n, o, r or a
}

const unknown = 6 // what an unknown card counts: about the mean of the pack, in both games

// Points of four-card-golf by rank, 1 to 13.
var points = [...]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0}

// choose returns the move to make, one of those in legal. Your strategy goes here.
func choose(game string, view View, legal []string, rng *rand.Rand) string {
	if game != "play-nine" && game != "four-card-golf" { // its scores are for you to write
		return legal[rng.Intn(len(legal))]
	}
	if view.Phase == "tee" { // all cards are face down: any two are as good
		return legal[rng.Intn(len(legal))]
	}
	grid := view.Grids[view.Seat]
	if view.Phase == "turn" {
		if starting(legal, "knock") != nil && score(game, grid) <= 8 {
			return "knock"
		}
		if saving, position := bestPlace(game, grid, view.Discard); saving > 3 {
			return fmt.Sprint("take ", position)
		}
		return "draw"
	}
	if saving, position := bestPlace(game, grid, *view.Drawn); saving > 0 {
		return fmt.Sprint("swap ", position)
	}
	rest := append(starting(legal, "flip"), starting(legal, "discard")...)
	return rest[rng.Intn(len(rest))]
}

// starting returns the moves that begin with a word.
func starting(legal []string, word string) (found []string) {
	for _, move := range legal {
		if strings.HasPrefix(move, word) {
			found = append(found, move)
		}
	}
	return found
}

// bestPlace returns how many strokes a card saves in its best place, and that place.
func bestPlace(game string, grid []*int, card int) (saving, position int) {
	for i := range grid {
		changed := append([]*int(nil), grid...)
		changed[i] = &card
		if saved := score(game, grid) - score(game, changed); i == 0 || saved > saving {
			saving, position = saved, i
		}
	}
	return saving, position
}

// score returns the strokes of a grid, as far as it is known.
func score(game string, grid []*int) (strokes int) {
	if game == "four-card-golf" {
		for _, card := range grid {
			if card == nil {
				strokes += unknown
			} else {
				strokes += points[*card]
			}
		}
		return strokes
	}
	for column := 0; column < 4; column++ {
		top, bottom := grid[column], grid[column+4]
		if top != nil && bottom != nil && *top == *bottom {
			if *top == -5 {
				strokes -= 10
			}
			continue // more columns of one number: more is saved
		}
		for _, card := range []*int{top, bottom} {
			if card == nil {
				strokes += unknown
			} else {
				strokes += *card
			}
		}
	}
	return strokes
}

func main() {
	var game string
	var rng *rand.Rand
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)              // the longest line is well under 32 KiB
	answers := json.NewEncoder(os.Stdout) // a line each, at once; log with log.Print: that is stderr
	for lines.Scan() {
		var message struct{ Type string }
		read(lines.Bytes(), &message)
		switch message.Type {
		case "hello":
			var hello struct{ Game string }
			read(lines.Bytes(), &hello)
			game = hello.Game
			answers.Encode(map[string]string{"type": "ready"})
		case "match":
			var match struct{ Seed int64 }
			read(lines.Bytes(), &match)
			rng = rand.New(rand.NewSource(match.Seed)) // the same match, the same moves
		case "act":
			var act struct { // also there: hole, totals, events, move_ms, bank_ms
				Turn  string
				View  View
				Legal []string
			}
			read(lines.Bytes(), &act)
			move := choose(game, act.View, act.Legal, rng)
			answers.Encode(map[string]string{"turn": act.Turn, "move": move})
		case "bye":
			return
		}
	}
}

func read(line []byte, into any) {
	if err := json.Unmarshal(line, into); err != nil {
		log.Fatalf("%v in %s", err, line)
	}
}
