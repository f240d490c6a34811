package maintain

import "testing"

// The failure of a command that writes to the home is logged there, that of a dry run is not.
func TestDryRunsDoNotWrite(t *testing.T) {
	for _, dryRun := range []bool{false, true} {
		for name, writes := range map[string]bool{
			"clean":   (&Clean{DryRun: dryRun}).Writes(),
			"compact": (&Compact{DryRun: dryRun}).Writes(),
			"repair":  (&Repair{DryRun: dryRun}).Writes(),
		} {
			if writes == dryRun {
				t.Errorf("%s writes: %t, with --dry-run: %t", name, writes, dryRun)
			}
		}
	}
}
