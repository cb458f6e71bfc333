//! play-nine: the policy is at the head of main.rs.

use crate::json::Value;
use crate::{Move, EPSILON};

/// Cards as indexes: 0 to 12 are themselves, then a Hole-in-One, then what lies face down.
const HOLE_IN_ONE: usize = 13;
const HIDDEN: usize = 14;
/// A row by card; one longer than it need be, so that it is four vectors of four numbers.
const WIDTH: usize = 16;
type Row = [f32; WIDTH];

#[rustfmt::skip]
const STROKES: Row =
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, -5.0, 0.0, 0.0];
#[rustfmt::skip]
const PACK: Row =
    [8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 4.0, 0.0, 0.0];
/// Strokes for 0 to 4 matched columns of one number.
const COMBINATION: [f32; 5] = [0.0, 0.0, -10.0, -15.0, -20.0];

/// What one column has to pay for a turn that another one could use.
const PRICE: f32 = 4.0;
/// Turns that it takes to turn a card, for the replacements in between.
const PACE: f32 = 1.3;
/// Turns that I count for my last face-down card.
const LAST: f32 = 3.0;

fn index(card: i32) -> usize {
    usize::try_from(card).map_or(HOLE_IN_ONE, |card| card.min(12))
}

/// The expectation of `values` by these chances.
fn mean(chances: &Row, values: &Row) -> f32 {
    let mut products = [0.0; WIDTH];
    for card in 0..WIDTH {
        products[card] = chances[card] * values[card];
    }
    products.iter().sum()
}

#[derive(Clone, Copy)]
struct Grid([usize; 8]);

impl Grid {
    fn of(cards: &Value) -> Grid {
        let mut grid = [HIDDEN; 8];
        for (place, card) in grid.iter_mut().zip(cards.numbers()) {
            *place = card.map_or(HIDDEN, index);
        }
        Grid(grid)
    }

    fn with(mut self, position: usize, card: usize) -> Grid {
        self.0[position] = card;
        self
    }

    fn column(&self, column: usize) -> (usize, usize) {
        (self.0[column], self.0[column + 4])
    }

    fn matches(&self, column: usize) -> bool {
        let (top, bottom) = self.column(column);
        top == bottom && top != HIDDEN
    }

    fn face_down(&self) -> usize {
        self.0.iter().filter(|&&card| card == HIDDEN).count()
    }
}

/// Chances of the cards that nobody sees.
struct Unseen {
    /// To lie at a given place, face down.
    hidden: Row,
    /// To be drawn next.
    stock: Row,
}

impl Unseen {
    fn of(view: &Value) -> Unseen {
        let mut hidden = PACK;
        let grids = view.field("grids").list().iter();
        let seen = grids
            .flat_map(Value::numbers)
            .chain(view.field("pile").numbers())
            .chain([view.field("drawn").number()]);
        for card in seen.flatten() {
            hidden[index(card)] -= 1.0;
        }
        let mut stock = hidden;
        let recycled = view.field("recycled");
        if !recycled.list().is_empty() {
            stock = [0.0; WIDTH];
            for card in recycled.numbers().flatten() {
                hidden[index(card)] -= 1.0;
                stock[index(card)] += 1.0;
            }
        }
        let chances = |counts: Row| {
            let total = counts.iter().sum::<f32>().max(1.0);
            counts.map(|count| count / total)
        };
        Unseen {
            hidden: chances(hidden),
            stock: chances(stock),
        }
    }
}

/// What becomes of one grid: its columns that don't match yet, each solved alone.
struct Prospect {
    /// The columns that match already.
    settled: [bool; 4],
    /// Strokes for these.
    strokes: f32,
    /// `after[turns][card][other card]`: what a column of these is going to cost.
    after: Vec<[Row; WIDTH]>,
}

impl Prospect {
    fn of(grid: &Grid, unseen: &Unseen, depth: usize) -> Prospect {
        let settled = [0, 1, 2, 3].map(|column| grid.matches(column));
        let mut columns = [0; WIDTH];
        for column in (0..4).filter(|&column| settled[column]) {
            columns[grid.0[column]] += 1;
        }
        let mut strokes = -10.0 * columns[HOLE_IN_ONE] as f32;
        // By card, what a column changes when the second one comes to match the first.
        let mut gain = [0.0; WIDTH];
        for card in 0..HIDDEN {
            let now = columns[card];
            strokes += COMBINATION[now];
            gain[card] = COMBINATION[4.min(now + 1)] - COMBINATION[now] - 2.0 * STROKES[card];
        }
        // Holes-in-One count their strokes even when they match.
        gain[HOLE_IN_ONE] -= 10.0;
        let mut after = vec![Prospect::now(unseen, &gain)];
        for turn in 0..depth {
            after.push(Prospect::turn_earlier(unseen, &after[turn]));
        }
        Prospect {
            settled,
            strokes,
            after,
        }
    }

    /// What columns are expected to cost as they lie.
    fn now(unseen: &Unseen, gain: &Row) -> [Row; WIDTH] {
        let beneath = mean(&unseen.hidden, &STROKES);
        let mut now = [[0.0; WIDTH]; WIDTH];
        let mut both = [0.0; WIDTH];
        for card in 0..HIDDEN {
            for other in 0..HIDDEN {
                now[card][other] = STROKES[card] + STROKES[other];
            }
            now[card][card] += gain[card];
            both[card] = gain[card] * unseen.hidden[card];
            now[card][HIDDEN] = STROKES[card] + beneath + both[card];
            now[HIDDEN][card] = now[card][HIDDEN];
        }
        now[HIDDEN][HIDDEN] = 2.0 * beneath + mean(&unseen.hidden, &both);
        now
    }

    /// What columns cost with one more turn before those that `later` looks ahead to.
    fn turn_earlier(unseen: &Unseen, later: &[Row; WIDTH]) -> [Row; WIDTH] {
        let mut now = *later;
        for one in 0..=HIDDEN {
            for other in one..=HIDDEN {
                if one == other && one != HIDDEN {
                    continue; // it matches: nothing is better
                }
                let mut left = later[one][other];
                if other == HIDDEN {
                    left = left.min(PRICE + mean(&unseen.hidden, &later[one]));
                }
                let mut best = [0.0; WIDTH];
                for card in 0..WIDTH {
                    // The card replaces the one or the other.
                    let placed = later[one][card].min(later[other][card]);
                    best[card] = left.min(PRICE + placed);
                }
                now[one][other] = mean(&unseen.stock, &best);
                now[other][one] = now[one][other];
            }
        }
        now
    }

    /// What a column costs after so many turns; between whole numbers, in proportion.
    fn column(&self, (one, other): (usize, usize), turns: f32) -> f32 {
        let whole = (turns as usize).min(self.after.len() - 2);
        let (early, late) = (
            self.after[whole][one][other],
            self.after[whole + 1][one][other],
        );
        early + (turns - whole as f32) * (late - early)
    }

    /// Strokes in the end of the grid, or of one that is a move ahead of it.
    fn grid(&self, grid: &Grid, turns: f32) -> f32 {
        let open = (0..4).filter(|&column| !self.settled[column]);
        let columns = open.map(|column| self.column(grid.column(column), turns));
        self.strokes + columns.sum::<f32>() - PRICE * turns
    }

    /// By card, the most that it can change if it is placed with so many turns left after it; at
    /// most 0.
    fn changes(&self, grid: &Grid, turns: f32) -> Row {
        let mut changes = [0.0f32; WIDTH];
        for position in (0..8).filter(|&position| !self.settled[position % 4]) {
            let (old, partner) = (grid.0[position], grid.0[position ^ 4]);
            let now = self.column((old, partner), turns);
            for (card, change) in changes[..HIDDEN].iter_mut().enumerate() {
                *change = change.min(self.column((card, partner), turns) - now);
            }
        }
        changes
    }
}

/// The others, once my move is made.
struct Rivals {
    /// Turns that I still have.
    turns: f32,
    /// What they are expected to have in the end, on average.
    strokes: f32,
    /// By card, what my discard saves them.
    fed: Row,
}

impl Rivals {
    /// On my last turn nothing that I do changes what they will have.
    fn done() -> Rivals {
        Rivals {
            turns: 0.0,
            strokes: 0.0,
            fed: [0.0; WIDTH],
        }
    }

    /// `others` in the order of play; `left`: turns that I need to go out.
    fn of(others: &[(Grid, Prospect)], unseen: &Unseen, left: f32) -> Rivals {
        let soonest = soonest(others);
        let turns = soonest.min(left + 1.0);
        let mut strokes = 0.0;
        let mut fed = [0.0; WIDTH];
        for (place, (grid, prospect)) in others.iter().enumerate() {
            let changes = prospect.changes(grid, (turns - 1.0).max(0.0));
            let drawing = mean(&unseen.stock, &changes);
            strokes += if left == 0.0 {
                prospect.grid(grid, 0.0) + drawing
            } else {
                prospect.grid(grid, turns)
            };
            if place == 0 {
                fed = changes.map(|change| (drawing - change).max(0.0));
            }
        }
        let share = 1.0 / others.len() as f32;
        Rivals {
            turns: left.min(soonest),
            strokes: strokes * share,
            fed: fed.map(|saved| saved * share),
        }
    }
}

/// Turns until the first of the others goes out.
fn soonest(others: &[(Grid, Prospect)]) -> f32 {
    let down = others.iter().map(|(grid, _)| grid.face_down()).min();
    PACE * down.unwrap_or(0) as f32
}

/// My turn.
struct Turn {
    grid: Grid,
    unseen: Unseen,
    prospect: Prospect,
    /// The others after a move that turns none of my cards, and after one that does.
    rivals: [Rivals; 2],
}

impl Turn {
    fn of(view: &Value) -> Turn {
        let unseen = Unseen::of(view);
        let grids = view.field("grids").list();
        let order: Vec<usize> = view
            .field("order")
            .numbers()
            .flatten()
            .filter_map(|seat| usize::try_from(seat).ok())
            .collect();
        let me = view.field("seat").number().unwrap_or(0) as usize;
        let place = order.iter().position(|&seat| seat == me).unwrap_or(0);
        let grid = Grid::of(&grids[me]);
        let others: Vec<Grid> = (1..order.len())
            .map(|step| Grid::of(&grids[order[(place + step) % order.len()]]))
            .collect();
        let most = others.iter().map(Grid::face_down).max().unwrap_or(0);
        let depth = (PACE * most as f32) as usize + 2;
        let others: Vec<(Grid, Prospect)> = others
            .into_iter()
            .map(|grid| (grid, Prospect::of(&grid, &unseen, depth)))
            .collect();
        let down = grid.face_down();
        let last = view.field("ended_by").number().is_some();
        let rivals = [down, down.saturating_sub(1)].map(|down| match down {
            _ if last => Rivals::done(),
            1 => Rivals::of(&others, &unseen, LAST),
            _ => Rivals::of(&others, &unseen, PACE * down as f32),
        });
        Turn {
            prospect: Prospect::of(&grid, &unseen, depth),
            grid,
            unseen,
            rivals,
        }
    }

    /// My strokes above the others' with this grid, my discard apart.
    fn lead(&self, grid: &Grid) -> f32 {
        let rivals = &self.rivals[self.turned(grid)];
        self.prospect.grid(grid, rivals.turns) - rivals.strokes
    }

    /// How many of my cards are turned in this grid, 0 or 1.
    fn turned(&self, grid: &Grid) -> usize {
        self.grid.face_down() - grid.face_down()
    }

    /// The best place for a card: what it is worth, and where.
    fn placing(&self, card: usize) -> (f32, usize) {
        let mut best = (f32::MAX, 0);
        for position in (0..8).filter(|&position| !self.grid.matches(position % 4)) {
            let grid = self.grid.with(position, card);
            let old = self.grid.0[position];
            let fed = &self.rivals[self.turned(&grid)].fed;
            let given = match old {
                HIDDEN => 0.0, // nobody knows what it will be
                _ => fed[old],
            };
            let worth = self.lead(&grid) + given;
            if worth < best.0 - EPSILON {
                best = (worth, position);
            }
        }
        best
    }

    /// The best card to flip: what that is worth, the discard apart, and where it lies.
    fn flipping(&self) -> (f32, usize) {
        let mut best = (f32::MAX, 0);
        for position in (0..8).filter(|&position| self.grid.0[position] == HIDDEN) {
            let mut leads = [0.0; WIDTH];
            for (card, lead) in leads[..HIDDEN].iter_mut().enumerate() {
                *lead = self.lead(&self.grid.with(position, card));
            }
            let worth = mean(&self.unseen.hidden, &leads);
            if worth < best.0 - EPSILON {
                best = (worth, position);
            }
        }
        best
    }

    /// What is done with a drawn card, and what that is worth; `flipping` is the same for all.
    fn drawn(&self, card: usize, flipping: (f32, usize)) -> (f32, Move) {
        let (worth, position) = flipping;
        let mut best = (worth + self.rivals[1].fed[card], Move::Flip(position));
        if self.grid.face_down() == 1 {
            let worth = self.lead(&self.grid) + self.rivals[0].fed[card];
            if worth < best.0 - EPSILON {
                best = (worth, Move::Skip);
            }
        }
        let (worth, position) = self.placing(card);
        if worth < best.0 - EPSILON {
            best = (worth, Move::Swap(position));
        }
        best
    }

    /// What drawing is worth.
    fn drawing(&self) -> f32 {
        let flipping = self.flipping();
        let mut worths = [0.0; WIDTH];
        for card in (0..HIDDEN).filter(|&card| self.unseen.stock[card] > 0.0) {
            worths[card] = self.drawn(card, flipping).0;
        }
        mean(&self.unseen.stock, &worths)
    }
}

pub fn choose(view: &Value) -> Move {
    if view.field("phase").text() == "tee" {
        return Move::Tee(0, 1);
    }
    let turn = Turn::of(view);
    if let Some(card) = view.field("drawn").number() {
        return turn.drawn(index(card), turn.flipping()).1;
    }
    let discard = view.field("discard").number().map_or(0, index);
    let (worth, position) = turn.placing(discard);
    if worth < turn.drawing() - EPSILON {
        Move::Take(position)
    } else {
        Move::Draw
    }
}
