//! four-card-golf: the policy is at the head of main.rs.

use crate::json::Value;
use crate::{Move, EPSILON};

const RANKS: usize = 14;
/// By rank; there is no rank 0.
#[rustfmt::skip]
const POINTS: [f32; RANKS] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 10.0, 10.0, 0.0];

/// How far below the others I want to be to knock.
const AHEAD: f32 = 4.0;
/// The most points of a card that was kept when it was drawn.
const KEPT: f32 = 6.0;

type Counts = [f32; RANKS];

fn rank(card: i32) -> usize {
    card.clamp(1, 13) as usize
}

/// The mean of `points` over these cards.
fn mean(counts: &Counts, points: impl Fn(f32) -> f32) -> f32 {
    let total: f32 = counts.iter().sum();
    let sum: f32 = counts
        .iter()
        .zip(POINTS)
        .map(|(count, worth)| count * points(worth))
        .sum();
    sum / total.max(1.0)
}

/// The mean of these cards, those above `cap` left out.
fn mean_under(counts: &Counts, cap: f32) -> f32 {
    let mut under = *counts;
    for rank in (0..RANKS).filter(|&rank| POINTS[rank] > cap) {
        under[rank] = 0.0;
    }
    mean(&under, |points| points)
}

/// The first of the highest.
fn worst(cards: &[f32; 4]) -> usize {
    (1..4).fold(0, |worst, at| {
        if cards[at] > cards[worst] + EPSILON {
            at
        } else {
            worst
        }
    })
}

/// The cards that may lie hidden, and those that may be drawn.
fn unseen(view: &Value, seats: usize) -> (Counts, Counts) {
    let mut hidden = [if seats < 5 { 4.0 } else { 8.0 }; RANKS];
    hidden[0] = 0.0;
    let grids = view.field("grids").list().iter();
    let seen = grids
        .flat_map(Value::numbers)
        .chain(view.field("pile").numbers())
        .chain([view.field("drawn").number()]);
    for card in seen.flatten() {
        hidden[rank(card)] -= 1.0;
    }
    let recycled = view.field("recycled");
    if recycled.list().is_empty() {
        return (hidden, hidden);
    }
    let mut stock = [0.0; RANKS];
    for card in recycled.numbers().flatten() {
        hidden[rank(card)] -= 1.0;
        stock[rank(card)] += 1.0;
    }
    (hidden, stock)
}

/// A grid as I expect it; `unknown(mark)` is a card that I don't know, by its mark in `known`.
fn expected(cards: &Value, marks: &Value, unknown: impl Fn(u8) -> f32) -> [f32; 4] {
    let mut expected = [0.0; 4];
    let marks = marks.text().bytes();
    for (worth, (card, mark)) in expected.iter_mut().zip(cards.numbers().zip(marks)) {
        *worth = card.map_or_else(|| unknown(mark), |card| POINTS[rank(card)]);
    }
    expected
}

pub fn choose(view: &Value) -> Move {
    let grids = view.field("grids").list();
    let known = view.field("known").list();
    let me = view.field("seat").number().unwrap_or(0) as usize;
    let (hidden, stock) = unseen(view, grids.len());
    let average = mean(&hidden, |points| points);

    let mine = expected(&grids[me], &known[me], |_| average);
    let worst_at = worst(&mine);
    let most = mine[worst_at];
    if let Some(card) = view.field("drawn").number() {
        return if POINTS[rank(card)] < most - EPSILON {
            Move::Swap(worst_at)
        } else {
            Move::Discard
        };
    }

    if view.field("ended_by").number().is_none() {
        let turns: Vec<i32> = view.field("turns").numbers().flatten().collect();
        let mut others = Vec::new();
        for seat in view.field("order").numbers().flatten() {
            let seat = seat as usize;
            if seat == me {
                continue;
            }
            let spared = f32::max(10.0 - 2.0 * turns[seat] as f32, 5.0);
            let mut theirs = expected(&grids[seat], &known[seat], |mark| match mark {
                b'r' => mean_under(&hidden, KEPT),
                b'o' => mean_under(&hidden, spared),
                _ => average,
            });
            let at = worst(&theirs);
            theirs[at] = mean(&stock, |points| points.min(theirs[at]));
            others.push(theirs.iter().sum::<f32>());
        }
        let theirs = others.iter().sum::<f32>() / others.len() as f32;
        if mine.iter().sum::<f32>() <= theirs - AHEAD + EPSILON {
            return Move::Knock;
        }
    }

    let discard = POINTS[view.field("discard").number().map_or(12, rank)];
    let drawing = mean(&stock, |points| points.min(most));
    if discard < most - EPSILON && discard < drawing - EPSILON {
        Move::Take(worst_at)
    } else {
        Move::Draw
    }
}
