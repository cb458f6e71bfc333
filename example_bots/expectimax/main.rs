//! expectimax: counts cards, and looks as many turns ahead as the hole may last. In Rust, without
//! crates; `json.rs` reads lines, `play_nine.rs` and `four_card_golf.rs` choose.
//!
//! Policy. Both games: a card that nobody sees is each of the unseen ones with equal chance; a card
//! from the stock is one of these, too, or of `recycled`. Ties go to the lowest position.
//!
//! play-nine. A move is worth what I expect to have in the end above the mean of the others.
//!
//! - What a grid will have in the end with t more turns is too much to search: its four columns
//!   share the turns. So each column is solved alone, exactly, for all its cards: at each turn the
//!   expectation over the card that is drawn, of the best of leaving the column, putting the card
//!   on either place, turning a card. That the other columns need the turn, too, is its price: 4
//!   strokes a use, and the sum over the columns gets 4 for each turn back. Matched columns stay.
//! - Somebody with h cards face down is expected to need 1.3 h turns; I with one may wait (`skip`),
//!   and count 3. The soonest of all ends the hole: so many turns have I; the others one more
//!   than I need, if I am the soonest.
//! - If I go out, what the others get by their last turn is computed by itself, without prices.
//! - What my discard saves the next player more than a draw would counts against me; a face-down
//!   card that I replace counts nothing, nobody knows what it is.
//! - Now the search of this turn: the discard on each place, against the expectation over each
//!   card that I may draw of the best swap, flip (over each card that may lie there) or skip.
//!   Going out is a move like any other; so is skipping. On a last turn all this is done with no
//!   turns left.
//! - Tee-off: 0 and 1.
//!
//! four-card-golf. The discard goes on my worst card if that lowers my expected sum by more than
//! the expectation over what I may draw; a drawn card if it lowers it at all. It knocks when its
//! expected sum is 4 below the mean of what the others are expected to have after their last turn:
//! - a card that its owner took from the stock is one of the unseen ones of at most 6 points;
//! - one that its owner has seen from the start, and spared for t turns, of at most 10 - 2t, or 5
//!   if that is more;
//! - the last turn replaces the worst of them by a card from the stock if that is lower.

mod four_card_golf;
mod json;
mod play_nine;

use std::fmt;
use std::io::{self, BufRead, Write};

use json::Value;

pub enum Move {
    Tee(usize, usize),
    Take(usize),
    Draw,
    Swap(usize),
    Flip(usize),
    Skip,
    Discard,
    Knock,
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Move::Tee(one, other) => write!(f, "tee {one} {other}"),
            Move::Take(position) => write!(f, "take {position}"),
            Move::Draw => f.write_str("draw"),
            Move::Swap(position) => write!(f, "swap {position}"),
            Move::Flip(position) => write!(f, "flip {position}"),
            Move::Skip => f.write_str("skip"),
            Move::Discard => f.write_str("discard"),
            Move::Knock => f.write_str("knock"),
        }
    }
}

/// Differences of worth below this come from rounding: a tie must stay a tie.
pub const EPSILON: f32 = 1e-4;

fn choose(view: &Value) -> Move {
    // Only four-card-golf says who knows which card.
    if view.field("known").list().is_empty() {
        play_nine::choose(view)
    } else {
        four_card_golf::choose(view)
    }
}

fn main() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let message = json::parse(&line).unwrap_or(Value::Null);
        match message.field("type").text() {
            "hello" => output.write_all(b"{\"type\":\"ready\"}\n")?,
            "act" => {
                let turn = message.field("turn").text();
                let chosen = choose(message.field("view"));
                writeln!(output, r#"{{"turn":"{turn}","move":"{chosen}"}}"#)?;
            }
            "bye" => break,
            _ => {}
        }
        output.flush()?;
        line.clear();
    }
    Ok(())
}
