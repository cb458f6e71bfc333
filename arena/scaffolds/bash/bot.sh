#!/usr/bin/env bash
# A bot that plays play-nine and four-card-golf. Your strategy goes into choose().
#
# Bash has no JSON reader; but the arena writes its lines without spaces, and a field's name means
# one thing in a line, so that patterns do. No other program is started: that is slow.

unknown=6                                  # what a card that you don't know counts: about the mean
points=(0 1 2 3 4 5 6 7 8 9 10 10 10 0)    # four-card-golf: by rank, 1 to 13

# field NAME: sets $value to a number, a word or null of the line.
field() {
  local pattern="\"$1\":\"?([^],}\"]*)"
  [[ $line =~ $pattern ]] && value=${BASH_REMATCH[1]}
}

# list NAME: sets the array $list to a list of the line: the legal moves, the pile, the order, ...
list() {
  local pattern="\"$1\":\[([^]]*)\]" IFS=,
  [[ $line =~ $pattern ]]
  read -ra list <<<"${BASH_REMATCH[1]//\"/}"
}

# cards SEAT: sets the array $list to the cards of a seat; null: you don't know it.
cards() {
  local pattern="\"grids\":\[(\[[^]]*\],){$1}\[([^]]*)\]" IFS=,
  [[ $line =~ $pattern ]]
  read -ra list <<<"${BASH_REMATCH[2]}"
}

# score CARD...: sets $strokes to those of a grid, as far as it is known.
score() {
  local grid=("$@") top bottom card column
  strokes=0
  if [[ $game == four-card-golf ]]; then
    for card in "$@"; do
      if [[ $card == null ]]; then ((strokes += unknown)); else ((strokes += points[card])); fi
    done
    return
  fi
  for column in 0 1 2 3; do
    top=${grid[column]} bottom=${grid[column + 4]}
    if [[ $top == "$bottom" && $top != null ]]; then
      [[ $top == -5 ]] && ((strokes -= 10)) # more columns of one number: more is saved
    else
      ((strokes += ${top/null/$unknown} + ${bottom/null/$unknown}))
    fi
  done
}

# best_place CARD: sets $saving to the strokes that a card saves in its best place of $grid, and
# $place to that place.
best_place() {
  local now changed position
  saving=-99
  score "${grid[@]}"
  now=$strokes
  for position in "${!grid[@]}"; do
    changed=("${grid[@]}")
    changed[position]=$1
    score "${changed[@]}"
    ((now - strokes > saving)) && saving=$((now - strokes)) place=$position
  done
}

# pick PATTERN: sets $move to one of the legal moves of that pattern, at random.
pick() {
  local moves=() each
  for each in "${legal[@]}"; do [[ $each =~ ^($1) ]] && moves+=("$each"); done
  move=${moves[RANDOM % ${#moves[@]}]}
}

# Your strategy goes here: set $move to one of the array $legal. Ask for what you want to know:
#   cards SEAT; "${list[@]}"     a seat's cards; your own seat is $seat
#   field phase; "$value"        tee, turn or drawn
#   field discard; field drawn   the top of the pile; the card in your hand, else null
#   list pile                    the whole discard pile, the top last
#   field stock; list recycled   cards of the stock: how many; which, once the pile was reshuffled
#   list order; list turns       seats in the order of play; turns begun by seat
#   field ended_by               the seat that ended the hole (this is your last turn), or null
#   list known                   four-card-golf: by seat, who knows each card: n, o, r or a
#   list totals; field hole      strokes so far by seat; 1 to 9
choose() {
  local grid saving place phase
  field phase
  phase=$value
  if [[ $game != play-nine && $game != four-card-golf ]]; then
    pick '' # another game: its scores are for you to write
    return
  fi
  if [[ $phase == tee ]]; then
    pick tee # all cards are face down: any two are as good
    return
  fi
  cards "$seat"
  grid=("${list[@]}")
  if [[ $phase == turn ]]; then
    score "${grid[@]}"
    if [[ " ${legal[*]} " == *" knock "* ]] && ((strokes <= 8)); then
      move=knock
      return
    fi
    field discard
    best_place "$value"
    ((saving > 3)) && move="take $place" || move=draw
  else
    field drawn
    best_place "$value"
    ((saving > 0)) && move="swap $place" || pick 'flip|discard'
  fi
}

while IFS= read -r line; do
  field type
  case $value in
    hello)
      field game
      game=$value
      echo '{"type":"ready"}'
      ;;
    match)
      field seat
      seat=$value
      field seed
      RANDOM=$value # the same match, the same moves
      ;;
    act)
      list legal
      legal=("${list[@]}")
      field turn
      turn=$value
      choose
      echo "{\"turn\":\"$turn\",\"move\":\"$move\"}"
      ;;
    bye) break ;;
  esac
done
exit 0
