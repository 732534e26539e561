// Package capability is the registry: what the program can do, which parts are switched on, and the
// operations that belong to each part. MCP tools, schemas, batch steps, status and documentation derive from it.
package capability

// Name names a capability.
type Name string

// The defined capabilities.
const (
	Control        Name = "control"
	TemporalVision Name = "temporal-vision"
	TemporalVideo  Name = "temporal-video"
	BrowserEvents  Name = "browser-events"
	ActionTrace    Name = "action-trace"
	PageState      Name = "page-state"
	FrameworkState Name = "framework-state"
)

// State of a capability in this process.
type State string

// The states.
const (
	Enabled     State = "enabled"
	Disabled    State = "disabled"
	Unavailable State = "unavailable"
)

// Status is one capability's state and why it is so.
type Status struct {
	Name   Name   `json:"name"`
	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"`
}

// definition is the fixed part of a capability.
type definition struct {
	name      Name
	dependsOn []Name
	// never is the reason why no configuration can enable it, "" when one can.
	never string
	// fixed capabilities cannot be switched off.
	fixed bool
}

// definitions in presentation order.
func definitions() []definition {
	return []definition{
		{name: Control, fixed: true},
		{name: TemporalVision, dependsOn: []Name{Control}},
		{name: TemporalVideo, dependsOn: []Name{TemporalVision}},
		{name: BrowserEvents, dependsOn: []Name{Control}},
		{name: ActionTrace, dependsOn: []Name{Control}},
		{name: PageState, never: "an extension point; this version collects no page-state evidence"},
		{name: FrameworkState, never: "an extension point; this version collects no framework-state evidence"},
	}
}
