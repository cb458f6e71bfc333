# Forks, pipes, sockets, sorting, regular expressions.
use strict;
use warnings;
use IO::Select;
use POSIX ":sys_wait_h";
use Socket;
$| = 1;
my %count;
$count{$_ % 7}++ for 1 .. 100_000;
die "count" unless $count{0} == 14_285;
socketpair(my $ours, my $its, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die "pair: $!";
my $pid = fork() // die "fork: $!";
if (!$pid) { syswrite($its, "child\n"); POSIX::_exit(4) }
die "select" unless IO::Select->new($ours)->can_read(10);
my $line = <$ours>;
die "line" unless $line eq "child\n";
waitpid($pid, 0);
die "status" unless WEXITSTATUS($?) == 4;
my $seen = `echo through a shell | wc -w`;
die "shell" unless $seen == 3;
$SIG{ALRM} = sub { print "OK\n"; exit 0 };
alarm 1;
sleep 60;
