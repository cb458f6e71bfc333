//! A bot that plays play-nine and four-card-golf. Your strategy goes into `choose`.

mod json;

use json::Json;
use std::io::{self, BufRead, Write};

/// `None` is a card that you don't know.
type Card = Option<i32>;

/// What such a card counts: about the mean of the pack, in both games.
const UNKNOWN: i32 = 6;
/// Points of four-card-golf by rank, 1 to 13.
const POINTS: [i32; 14] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0];

/// Your strategy goes here: return one of the moves in `legal`.
///
/// - `view["seat"]`: your seat, from 0
/// - `view["grids"]`: everybody's cards by seat, `view["grids"][seat][position].int()`
/// - `view["phase"]`: `tee`, `turn` or `drawn`
/// - `view["discard"]`: the top of the discard pile
/// - `view["drawn"]`: the card in your hand in phase `drawn`, else null
/// - `view["pile"]`: the whole discard pile, the top last, `view["pile"].list()`
/// - `view["stock"]`: how many cards the stock has
/// - `view["recycled"]`: empty, or the cards in the stock since the pile was reshuffled into it
/// - `view["order"]`: seats in the order of play, the dealer last
/// - `view["turns"]`: turns that each seat has begun on this hole
/// - `view["ended_by"]`: the seat that ended the hole (this is your last turn), or null
/// - `view["known"]`: four-card-golf: by seat, who knows each card: n, o, r or a
fn choose(game: &str, view: &Json, legal: &[&str], rng: &mut Rng) -> String {
    if game != "play-nine" && game != "four-card-golf" {
        return rng.pick(legal); // another game: its scores are for you to write
    }
    let phase = view["phase"].text();
    if phase == "tee" {
        return rng.pick(legal); // all cards are face down: any two are as good
    }
    let seat = view["seat"].int().unwrap_or(0) as usize;
    let grid: Vec<Card> = view["grids"][seat].list().iter().map(Json::int).collect();
    let card = view[if phase == "turn" { "discard" } else { "drawn" }].int();
    let (saving, position) = best_place(game, &grid, card);

    if phase == "turn" {
        return if legal.contains(&"knock") && score(game, &grid) <= 8 {
            "knock".to_string()
        } else if saving > 3 {
            format!("take {position}")
        } else {
            "draw".to_string()
        };
    }
    if saving > 0 {
        return format!("swap {position}");
    }
    let others = |text: &&str| text.starts_with("flip") || *text == "discard";
    rng.pick(&legal.iter().copied().filter(others).collect::<Vec<_>>())
}

/// How many strokes `card` saves in its best place, and that place.
fn best_place(game: &str, grid: &[Card], card: Card) -> (i32, usize) {
    let mut best = (i32::MIN, 0);
    for position in 0..grid.len() {
        let mut changed = grid.to_vec();
        changed[position] = card;
        let saving = score(game, grid) - score(game, &changed);
        if saving > best.0 {
            best = (saving, position);
        }
    }
    best
}

/// Strokes of a grid, as far as it is known.
fn score(game: &str, grid: &[Card]) -> i32 {
    if game == "four-card-golf" {
        return grid
            .iter()
            .map(|card| card.map_or(UNKNOWN, |rank| POINTS[rank as usize]))
            .sum();
    }
    let column = |at: usize| match (grid[at], grid[at + 4]) {
        (Some(-5), Some(-5)) => -10,
        (Some(top), Some(bottom)) if top == bottom => 0, // more such columns: more is saved
        (top, bottom) => top.unwrap_or(UNKNOWN) + bottom.unwrap_or(UNKNOWN),
    };
    (0..4).map(column).sum()
}

/// Random numbers (splitmix64), since the standard library has none.
struct Rng(u64);

impl Rng {
    fn pick(&mut self, moves: &[&str]) -> String {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        moves[((mixed ^ (mixed >> 31)) % moves.len() as u64) as usize].to_string()
    }
}

/// Writes one line, at once. Nothing else may go to stdout: log with `eprintln!`.
fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn main() -> io::Result<()> {
    let mut game = String::new();
    let mut rng = Rng(0);
    for line in io::stdin().lock().lines() {
        let message = Json::parse(&line?)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        match message["type"].text() {
            "hello" => {
                game = message["game"].text().to_string();
                say(r#"{"type":"ready"}"#)?;
            }
            // The same match, the same moves.
            "match" => rng = Rng(message["seed"].int().unwrap_or(0) as u64),
            // Also there: hole, totals, events, move_ms, bank_ms.
            "act" => {
                let legal: Vec<&str> = message["legal"].list().iter().map(Json::text).collect();
                let choice = choose(&game, &message["view"], &legal, &mut rng);
                let turn = message["turn"].text();
                say(&format!(r#"{{"turn":"{turn}","move":"{choice}"}}"#))?;
            }
            "bye" => break,
            _ => {}
        }
    }
    Ok(())
}
