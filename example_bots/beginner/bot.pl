#!/usr/bin/perl
# beginner: plays as somebody does who has just heard the rules. In Perl, without a module but
# what Perl itself brings along.
#
# Policy, ties to the lowest position. Low cards are good, high cards are bad; it counts nothing,
# sees no columns and doesn't look at the others.
#
# play-nine: tee off 0 and 1. A card of 3 or less is good: it takes such a discard, or swaps such a
# card from the stock in, and puts it on its highest face-up card if that is above 6, else on the
# first face-down one. A card from the stock that isn't good but lower than its highest face-up one
# replaces that, if it is above 9. Otherwise it flips the first face-down card, the last one too.
#
# four-card-golf: it puts a discard of at most 3 points, or a card from the stock of at most 5, on
# its first unknown card, or on its worst if all are known and that is worse. It knocks when it
# knows all four and they sum to 12 or less.

use strict;
use warnings;

my @POINTS = (0 .. 10, 10, 10, 0);    # four-card-golf: by rank

# JSON: each part of the value is taken off the front of $_, at pos().
sub value {
    return $1                 if /\G\s*(-?[0-9][0-9.eE+-]*)/gc;
    return undef              if /\G\s*null/gc;
    return $1 eq 'true'       if /\G\s*(true|false)/gc;
    return $1                 if /\G\s*"((?:[^"\\]|\\.)*)"/gc;    # escapes stay as they are
    return items(qr/\G\s*\]/) if /\G\s*\[/gc;
    return { @{ items(qr/\G\s*\}/) } } if /\G\s*\{/gc;
    die "no JSON\n";
}

# What stands between commas and colons, up to the end.
sub items {
    my ($end) = @_;
    my @items;
    until (/$end/gc) {
        push @items, value();
        /\G\s*[,:]/gc;
    }
    return \@items;
}

# The first position of the highest value; what is undef doesn't count.
sub highest {
    my @values = @_;
    my $best;
    for my $at (grep { defined $values[$_] } 0 .. $#values) {
        $best = $at if !defined $best || $values[$at] > $values[$best];
    }
    return $best;
}

sub first_unknown {
    my @grid = @_;
    my ($first) = grep { !defined $grid[$_] } 0 .. $#grid;
    return $first;
}

# Where a card goes in play-nine, or undef.
sub place_nine {
    my ($card, @grid) = @_;
    my $worst = highest(@grid);
    my $high  = defined $worst ? $grid[$worst] : 0;
    return $worst if $high > 6 && $card <= 3;
    return first_unknown(@grid) if $card <= 3;
    return;
}

sub play_nine {
    my ($view) = @_;
    my @grid = @{ $view->{grids}[ $view->{seat} ] };
    return 'tee 0 1' if $view->{phase} eq 'tee';
    if ($view->{phase} eq 'turn') {
        my $place = place_nine($view->{discard}, @grid);
        return defined $place ? "take $place" : 'draw';
    }
    my $card  = $view->{drawn};
    my $place = place_nine($card, @grid);
    my $worst = highest(@grid);
    $place = $worst
      if !defined $place && defined $worst && $grid[$worst] > 9 && $card < $grid[$worst];
    return defined $place ? "swap $place" : 'flip ' . first_unknown(@grid);
}

# Where a card goes in four-card-golf, or undef.
sub place_four {
    my ($points, $most, @grid) = @_;
    return if $points > $most;
    my $unknown = first_unknown(@grid);
    return $unknown if defined $unknown;
    my $worst = highest(@grid);
    return $points < $grid[$worst] ? $worst : undef;
}

sub four_card_golf {
    my ($view) = @_;
    my @grid = map { defined ? $POINTS[$_] : undef } @{ $view->{grids}[ $view->{seat} ] };
    if ($view->{phase} eq 'turn') {
        my $sum = 0;
        $sum += $_ for grep { defined } @grid;
        my $ready = !defined first_unknown(@grid) && $sum <= 12;
        return 'knock' if $ready && !defined $view->{ended_by};
        my $place = place_four($POINTS[ $view->{discard} ], 3, @grid);
        return defined $place ? "take $place" : 'draw';
    }
    my $place = place_four($POINTS[ $view->{drawn} ], 5, @grid);
    return defined $place ? "swap $place" : 'discard';
}

$| = 1;    # flush after each line
while (<STDIN>) {
    my $message = value();
    my $type    = $message->{type};
    last if $type eq 'bye';
    if ($type eq 'hello') {
        print qq({"type":"ready"}\n);
    }
    elsif ($type eq 'act') {
        my $view = $message->{view};
        my $move = exists $view->{known} ? four_card_golf($view) : play_nine($view);
        print qq({"turn":"$message->{turn}","move":"$move"}\n);
    }
}
