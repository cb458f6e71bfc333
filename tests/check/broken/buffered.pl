# mistake: buffered
# names: $| = 1
while (my $line = <STDIN>) {
    print qq({"type":"ready"}\n) if $line =~ /"hello"/;
    print qq({"turn":"$1","move":"$2"}\n) if $line =~ /"turn":"([^"]*)".*"legal":\["([^"]*)"/;
}
