// pacer: sets its pace by the others. It hurries when it is ahead and builds columns when it is
// behind. In Go, with the standard library.
//
// Policy, ties to the lowest position. A card that nobody sees counts the mean of the unseen ones.
//
// play-nine: the lead is how far my visible score is below the lowest of the others' (visible: a
// column with an unknown card has no match). Ahead by 4 or more it races, behind by 4 or more it
// builds, else it is steady.
//
//   - A card is worth at a place what the visible score falls by, and what the grid gains in hope:
//     for each face-up card that isn't matched, the chance of the next card to match it, times
//     what that would save; building, twice that. Racing, a card that comes to a face-down position
//     is worth 1 more. A discard that matches a face-up card of the next player costs 2.
//   - It takes the discard if its best place is worth at least 3 when racing, 4 steady, 5 building;
//     it swaps a drawn card in if that is worth more than 1, 2, 3. Otherwise it flips: beside a
//     face-up card if it can; building, in a column that is all face down if there is one.
//   - The last face-down card it flips only if it leads, else it skips.
//   - Tee-off: 0 and 5. On its last turn it hopes for nothing, and gives what it likes.
//
// four-card-golf: it takes the discard for its worst card if that saves at least 3, swaps a drawn
// card in if that saves anything. It knocks at a sum of 8 less the number of cards that the
// busiest of the others has put into their grid: who hasn't done much yet isn't good yet.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

type message struct {
	Type string `json:"type"`
	Turn string `json:"turn"`
	View view   `json:"view"`
}

type view struct {
	Seat     int      `json:"seat"`
	Order    []int    `json:"order"`
	Phase    string   `json:"phase"`
	Grids    [][]*int `json:"grids"` // nil is a card that I don't know
	Known    []string `json:"known"` // four-card-golf alone has it
	Discard  int      `json:"discard"`
	Pile     []int    `json:"pile"`
	Recycled []int    `json:"recycled"`
	Drawn    *int     `json:"drawn"`
	EndedBy  *int     `json:"ended_by"`
}

// holeInOne is the lowest card there is, and the first of a tally.
const holeInOne = -5

// A tally has a number for each card, by card less holeInOne. (A map would do, but is ranged over
// in another order each time: sums of fractions would differ in their last digit.)
type tally [19]int

func (t *tally) of(card int) *int {
	return &t[card-holeInOne]
}

// unseen counts the cards that nobody sees.
type unseen struct {
	count tally
	total int
}

// unseen takes all cards that I see out of the pack.
func (v *view) unseen(pack tally) unseen {
	for _, grid := range v.Grids {
		for _, card := range grid {
			if card != nil {
				*pack.of(*card)--
			}
		}
	}
	for _, cards := range [][]int{v.Pile, v.Recycled} {
		for _, card := range cards {
			*pack.of(card)--
		}
	}
	if v.Drawn != nil {
		*pack.of(*v.Drawn)--
	}
	total := 0
	for _, count := range pack {
		total += count
	}
	return unseen{pack, total}
}

// mean is the average of what these cards are worth.
func (u unseen) mean(worth func(card int) int) float64 {
	if u.total == 0 {
		return 0
	}
	sum := 0
	for index, count := range u.count {
		sum += count * worth(index+holeInOne)
	}
	return float64(sum) / float64(u.total)
}

// chance is how likely a card turned is this one.
func (u unseen) chance(card int) float64 {
	if u.total == 0 {
		return 0
	}
	return float64(*u.count.of(card)) / float64(u.total)
}

// combination has the strokes for 0 to 4 matched columns of one number.
var combination = [...]float64{0, 0, -10, -15, -20}

// A pace says how much I ask of a move.
type pace struct {
	take float64 // what a discard must be worth
	swap float64 // what a drawn card must be worth more than
	hope float64 // the weight of what may come
	turn float64 // what it is worth to turn a card
}

var (
	racing   = pace{take: 3, swap: 1, hope: 1, turn: 1}
	steady   = pace{take: 4, swap: 2, hope: 1}
	building = pace{take: 5, swap: 3, hope: 2}
)

// nine is my turn in play-nine.
type nine struct {
	*view
	unseen unseen
	mean   float64
	grid   []*int
	next   []*int // the grid of the next player
	lead   float64
	pace   pace
}

func newNine(v *view) *nine {
	var pack tally
	*pack.of(holeInOne) = 4
	for card := 0; card <= 12; card++ {
		*pack.of(card) = 8
	}
	t := &nine{view: v, unseen: v.unseen(pack), grid: v.Grids[v.Seat]}
	t.mean = t.unseen.mean(func(card int) int { return card })
	lowest := 1000.0
	for place, seat := range v.Order {
		if seat == v.Seat {
			t.next = v.Grids[v.Order[(place+1)%len(v.Order)]]
		} else if score := t.visible(v.Grids[seat]); score < lowest {
			lowest = score
		}
	}
	t.lead = lowest - t.visible(t.grid)
	switch {
	case t.lead >= 4:
		t.pace = racing
	case t.lead > -4:
		t.pace = steady
	default:
		t.pace = building
	}
	return t
}

// matched counts the matched columns of each number.
func matched(grid []*int) tally {
	var columns tally
	for column := 0; column < 4; column++ {
		if top, bottom := grid[column], grid[column+4]; top != nil && bottom != nil && *top == *bottom {
			*columns.of(*top)++
		}
	}
	return columns
}

// visible is the score of a grid, unknown cards at the mean and never a match.
func (t *nine) visible(grid []*int) float64 {
	score := 0.0
	for _, card := range grid {
		if card == nil {
			score += t.mean
		} else {
			score += float64(*card)
		}
	}
	for index, columns := range matched(grid) {
		if card := index + holeInOne; card != holeInOne {
			score -= float64(2 * card * columns)
		}
		score += combination[columns]
	}
	return score
}

// hope is what the next card may be expected to save by matching a face-up one of a grid.
func (t *nine) hope(grid []*int) float64 {
	hope := 0.0
	columns := matched(grid)
	for position, card := range grid {
		partner := grid[position^4]
		if card == nil || partner != nil && *partner == *card {
			continue
		}
		others := *columns.of(*card)
		saves := float64(*card) + t.mean - combination[others+1] + combination[others]
		if *card == holeInOne {
			saves += 10
		}
		if partner != nil {
			saves += float64(*partner) - t.mean
		}
		if saves > 0 {
			hope += t.unseen.chance(*card) * saves
		}
	}
	return hope
}

// helps says whether the next player has a face-up card that this one would match.
func (t *nine) helps(card int) bool {
	for position, theirs := range t.next {
		partner := t.next[position^4]
		if theirs != nil && *theirs == card && (partner == nil || *partner != card) {
			return true
		}
	}
	return false
}

// best is the best place for a card, and what it is worth there.
func (t *nine) best(card int) (worth float64, place int) {
	worth = -1000
	now := t.visible(t.grid)
	hope := t.hope(t.grid)
	for position, old := range t.grid {
		changed := append([]*int(nil), t.grid...)
		changed[position] = &card
		value := now - t.visible(changed)
		if t.EndedBy == nil {
			value += t.pace.hope * (t.hope(changed) - hope)
			if old == nil {
				value += t.pace.turn
			} else if t.helps(*old) {
				value -= 2
			}
		}
		if value > worth+1e-9 {
			worth, place = value, position
		}
	}
	return worth, place
}

// flip is the face-down card to turn, and how many there are.
func (t *nine) flip() (place, hidden int) {
	first, fitting := -1, -1
	for position, card := range t.grid {
		if card != nil {
			continue
		}
		hidden++
		if first < 0 {
			first = position
		}
		begun := t.grid[position^4] != nil
		if fitting < 0 && begun != (t.pace == building) {
			fitting = position
		}
	}
	if fitting < 0 {
		fitting = first
	}
	return fitting, hidden
}

// swapAbove is what a drawn card must be worth more than: anything, on my last turn.
func (t *nine) swapAbove() float64 {
	if t.EndedBy != nil {
		return 1e-9
	}
	return t.pace.swap
}

func (t *nine) move() string {
	if t.Phase == "turn" {
		if worth, place := t.best(t.Discard); worth >= t.pace.take {
			return fmt.Sprint("take ", place)
		}
		return "draw"
	}
	if worth, place := t.best(*t.Drawn); worth > t.swapAbove() {
		return fmt.Sprint("swap ", place)
	}
	place, hidden := t.flip()
	if hidden == 1 && t.lead <= 0 && t.EndedBy == nil {
		return "skip"
	}
	return fmt.Sprint("flip ", place)
}

func points(rank int) int {
	switch {
	case rank == 13:
		return 0
	case rank > 10:
		return 10
	}
	return rank
}

// exchanged is how many cards the busiest of the others has put into their grid.
func exchanged(v *view) int {
	most := 0
	for seat, marks := range v.Known {
		count := 0
		for _, mark := range marks {
			// Taken from the pile, or from the stock.
			if mark == 'a' || mark == 'r' {
				count++
			}
		}
		if seat != v.Seat && count > most {
			most = count
		}
	}
	return most
}

func fourCardGolf(v *view) string {
	copies := 4
	if len(v.Grids) > 4 {
		copies = 8
	}
	var pack tally
	for rank := 1; rank <= 13; rank++ {
		*pack.of(rank) = copies
	}
	mean := v.unseen(pack).mean(points)
	sum, most, worst := 0.0, -1.0, 0
	for position, card := range v.Grids[v.Seat] {
		value := mean
		if card != nil {
			value = float64(points(*card))
		}
		sum += value
		if value > most {
			most, worst = value, position
		}
	}
	if v.Phase == "drawn" {
		if float64(points(*v.Drawn)) < most {
			return fmt.Sprint("swap ", worst)
		}
		return "discard"
	}
	if v.EndedBy == nil && sum <= float64(8-exchanged(v)) {
		return "knock"
	}
	if most-float64(points(v.Discard)) >= 3 {
		return fmt.Sprint("take ", worst)
	}
	return "draw"
}

func choose(v *view) string {
	switch {
	case v.Known != nil:
		return fourCardGolf(v)
	case v.Phase == "tee":
		return "tee 0 5"
	}
	return newNine(v).move()
}

func main() {
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			continue // nothing that I know
		}
		switch m.Type {
		case "hello":
			fmt.Println(`{"type":"ready"}`)
		case "act":
			fmt.Printf("{\"turn\":%q,\"move\":%q}\n", m.Turn, choose(&m.View))
		case "bye":
			return
		}
	}
}
