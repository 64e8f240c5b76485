package rulefile

import (
	"fmt"
	"strings"
)

var (
	inMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// WorkflowCommand makes GitHub show a problem at its line.
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
func (p *Problem) WorkflowCommand() string {
	level := "error"
	if p.Warning {
		level = "warning"
	}
	var properties []string
	if p.File != "" {
		properties = append(properties, "file="+inProperty.Replace(p.File))
	}
	if p.Line > 0 {
		properties = append(properties, fmt.Sprintf("line=%d,col=%d,endColumn=%d", p.Line, p.Col, p.EndCol))
	}
	properties = append(properties, "title="+inProperty.Replace(p.Code))
	msg := p.Msg
	if p.Hint != "" {
		msg += "\n" + p.Hint
	}
	return fmt.Sprintf("::%s %s::%s", level, strings.Join(properties, ","), inMessage.Replace(msg))
}
