package projection

import (
	"slices"
	"strconv"
)

// BudgetChanged records that another limit of what turns use holds for this session from now on.
type BudgetChanged struct {
	Limit string   `json:"limit"`          // its name, such as session.cost
	Most  *float64 `json:"most,omitempty"` // 0: there is no limit; nil: that of the configuration holds again
	// Host is a hash of the team and the other fields with a secret key of the home and the machine: a session from
	// elsewhere cannot raise a limit.
	Host string `json:"host,omitempty"`
}

func (BudgetChanged) eventType() string { return "budget.changed" }

// Text describes the change in one line.
func (p BudgetChanged) Text() string {
	most := "as configured"
	switch {
	case p.Most == nil:
	case *p.Most == 0:
		most = "no limit"
	default:
		most = strconv.FormatFloat(*p.Most, 'f', -1, 64)
	}
	return shortText(lineBreak.Replace(head("budget " + p.Limit + ": " + most)))
}

func (p BudgetChanged) valid() bool { return p.Limit != "" && (p.Most == nil || *p.Most >= 0) }

// maxBudget is the most elements of State.Budget. There are 9 limits, and a conversation is seldom on many machines.
const maxBudget = 36

// changeBudget folds a BudgetChanged.
func (s *State) changeBudget(p BudgetChanged) {
	if !p.valid() || !areShort(p.Limit, p.Host) {
		return
	}
	var kept []BudgetChanged // not in place: States may share it
	for _, other := range s.Budget {
		agrees := p.Most != nil && *p.Most == *other.Most && other.Host != p.Host
		if other.Limit != p.Limit || agrees {
			kept = append(kept, other)
		}
	}
	if p.Most != nil {
		kept = append(kept, p)
	}
	s.Budget = newest(kept, maxBudget)
}

// LastLimits returns the last change of each limit, in their order. Their Most is not nil.
func (s *State) LastLimits() (last []BudgetChanged) {
	for i, p := range s.Budget {
		isLater := func(other BudgetChanged) bool { return other.Limit == p.Limit }
		if !slices.ContainsFunc(s.Budget[i+1:], isLater) {
			last = append(last, p)
		}
	}
	return last
}
