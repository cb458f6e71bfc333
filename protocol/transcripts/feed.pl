#!/usr/bin/perl
# Feeds a transcript to a bot and names its first wrong answer.
#
#     perl feed.pl TRANSCRIPT COMMAND...
#
# README.md has the format; SPEC.md, section 1, says how lines can be searched without reading JSON.
use strict;
use warnings;
use IPC::Open2;

my ($path, @command) = @ARGV;
die "usage: perl feed.pl TRANSCRIPT COMMAND...\n" unless @command;
open(my $transcript, '<', $path) or die "$path: $!\n";
$SIG{PIPE} = 'IGNORE';    # a bot that has gone is noticed when it is to answer
my $pid = open2(my $from_bot, my $to_bot, @command);
my ($at, $answers) = (0, 0);
while (my $line = <$transcript>) {
    $at++;
    next unless $line =~ s/^> //;
    syswrite($to_bot, $line);
    my ($type) = $line =~ /^\{"type":"(\w+)"/;
    next unless $type =~ /^(hello|act|next)$/;
    my $answer = <$from_bot> // wrong("no answer: its output has ended");
    chomp $answer;
    if ($type eq 'hello') {
        $answer =~ /"type"\s*:\s*"ready"/ ? next : wrong("not ready: $answer");
    }
    my ($turn) = $line =~ /"turn":"([^"]*)"/;
    wrong("not an answer to turn $turn: $answer") unless $answer =~ /"turn"\s*:\s*"\Q$turn\E"/;
    my ($move) = $answer =~ /"move"\s*:\s*"([^"]*)"/ or wrong("no move: $answer");
    my ($legal) = $line =~ /"legal":\[(.*?)\]/;
    wrong("not legal: $move") if defined $legal && index($legal, "\"$move\"") < 0;
    $answers++;
}
close $to_bot;
print "$answers answers, all legal\n";

sub wrong { kill 'KILL', $pid; print "$path line $at: $_[0]\n"; exit 1 }
