# Prints the sum of every line of a journal, computed from its bytes and from
# the sum of the line before, as the package documentation defines it.
use strict;
use warnings;
my $before = "00000000";
while (my $line = <STDIN>) {
    chomp $line;
    my $crc = 0xFFFFFFFF;
    for my $byte (unpack "C*", $before . substr($line, 0, -18)) {
        $crc ^= $byte;
        $crc = ($crc & 1) ? ($crc >> 1) ^ 0x82F63B78 : $crc >> 1 for 1 .. 8;
    }
    $before = sprintf "%08x", $crc ^ 0xFFFFFFFF;
    print "$before\n";
}
