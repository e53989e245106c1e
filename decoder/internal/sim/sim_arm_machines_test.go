package sim

import (
	"reflect"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// eachArm runs a test with each kind of Arm's machines. n is how many runs hold
// about as much as one of A64.
func eachArm(t *testing.T, test func(t *testing.T, n uint64, simulate func(seed uint64) *Run)) {
	t.Run("A64", func(t *testing.T) {
		test(t, 1, func(seed uint64) *Run { return SimulateA64(DrawA64(seed)) })
	})
	t.Run("A32", func(t *testing.T) {
		test(t, 3, func(seed uint64) *Run { return SimulateA32(DrawA32(seed)) })
	})
}

// TestCutsArm would catch a machine that keeps a scheme's promise too well or not
// at all. Outside of a poke's window only its old or its new text may run, and
// under stop_machine nothing. Inside of an atomic one a CPU must be seen to go back
// from new to old. Inside of an unsafe one it must be seen to run what is neither.
func TestCutsArm(t *testing.T) {
	testsize.OnlyFull(t) // what it must see is rare
	eachArm(t, cutsArm)
}

func cutsArm(t *testing.T, n uint64, simulate func(seed uint64) *Run) {
	back, neither := 0, 0
	for seed := range 300 * n {
		r := simulate(seed)
		for _, p := range r.Pokes {
			if p.Scheme == SchemeSlot {
				continue
			}
			for i := range r.CPUs {
				sawNew := false
				for _, x := range r.CPUs[i].Insns {
					if x.IP != p.Addr || x.Time < p.Begin || x.Time >= p.End {
						continue
					}
					switch w := string(r.Codes[x.Code].Fetched()); {
					case p.Scheme == SchemeStop:
						t.Fatalf("seed %d: %#x runs while every CPU is stopped", seed, x.IP)
					case w == string(p.New):
						sawNew = true
					case w == string(p.Old):
						if sawNew {
							back++
						}
					case p.Scheme != SchemeUnsafe:
						t.Fatalf("seed %d: % x runs at %#x while % x becomes % x", seed, w, x.IP, p.Old, p.New)
					default:
						neither++
					}
				}
			}
		}
	}
	if back < 20 || neither < 20 {
		t.Errorf("old after new %d times, neither %d times: too rarely", back, neither)
	}
}

// TestOutsideArm would catch stale text: outside of every poke's window a CPU
// runs what the pokes so far have left.
func TestOutsideArm(t *testing.T) {
	eachArm(t, outsideArm)
}

func outsideArm(t *testing.T, n uint64, simulate func(seed uint64) *Run) {
	checked := 0
	for seed := range uint64(testsize.Of(t, 25, 100)) * n {
		r := simulate(seed)
		bySite := map[uint64][]*Poke{}
		for i := range r.Pokes {
			p := &r.Pokes[i]
			if p.Scheme != SchemeSlot {
				bySite[p.Addr] = append(bySite[p.Addr], p)
			}
		}
		for i := range r.CPUs {
			for _, x := range r.CPUs[i].Insns {
				var want []byte
				for _, p := range bySite[x.IP] {
					switch {
					case x.Time > p.End:
						want = p.New
					case x.Time < p.Begin && want == nil:
						want = p.Old
					case x.Time >= p.Begin && x.Time <= p.End:
						want = r.Codes[x.Code].Fetched() // TestCutsArm looks at these
					}
				}
				if want == nil {
					continue
				}
				checked++
				if got := r.Codes[x.Code].Fetched(); string(got) != string(want) {
					t.Fatalf("seed %d CPU %d: % x runs at %#x@%d, want % x", seed, i, got, x.IP, x.Time, want)
				}
			}
		}
	}
	if checked < 1000 {
		t.Errorf("%d visits to sites: too few", checked)
	}
}

// TestSameArm would catch a run that depends on more than its Config.
func TestSameArm(t *testing.T) {
	eachArm(t, func(t *testing.T, _ uint64, simulate func(seed uint64) *Run) {
		for seed := range uint64(20) {
			if !reflect.DeepEqual(simulate(seed), simulate(seed)) {
				t.Fatalf("seed %d: two runs differ", seed)
			}
		}
	})
}
