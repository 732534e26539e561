package trace

// Page is what a page showed at one moment, as the caller observed it.
type Page struct {
	// Exists is false before a page is opened and after it closed.
	Exists bool
	// URL is the whole URL of the main document.
	URL string
	// Snapshot is the canonical serialization of the page's structure without volatile parts (see Canonical);
	// nil when it could not be had, which no later state ever equals.
	Snapshot []byte
}

// Element describes the target of an action by what a person or a screen reader would go by. Text content,
// ids and test ids have no place in it.
type Element struct {
	// Node identifies the node within the session; only a fingerprint of it is kept.
	Node        string
	Role        string
	Name        string // accessible name
	Label       string
	NameAttr    string
	Href        string
	InputType   string
	Group       string
	Placeholder string
	// Actions are what the element offers at present; a disabled one offers none. See ActionsFor.
	Actions []Kind
}

// shape is the description without the actions, in a fixed order.
func (e Element) shape() [][]byte {
	return [][]byte{[]byte(e.Role), []byte(e.Name), []byte(e.Label), []byte(e.NameAttr), []byte(e.Href), []byte(e.InputType), []byte(e.Group), []byte(e.Placeholder)}
}

// State is a page as an event shows it.
type State struct {
	// URLFingerprint is absent without a page.
	URLFingerprint string `json:"url_fingerprint,omitempty"`
	// Origin is absent without a page and for opaque origins.
	Origin string `json:"origin,omitempty"`
	// Fingerprint is empty when the structure could not be observed.
	Fingerprint string `json:"fingerprint"`
	HasPage     bool   `json:"has_page"`
}

// Target is an element as an event shows it.
type Target struct {
	Provenance string `json:"provenance"`
	TargetID   string `json:"target_id"`
	StableKey  string `json:"stable_key"`
	Role       string `json:"role"`
}

// role keeps the role's word if it is one; a page can write anything into a role attribute.
func role(r string) string {
	if !knownRole(r) {
		return "other"
	}
	return r
}
