package input

import "strings"

// key is one key of a US keyboard.
type key struct {
	// name is the DOM key value without Shift, shifted with it.
	name, shifted string
	code          string
	vk            int
	// text is what the key types, "" for none.
	text string
	// location is 1 for left-hand modifiers.
	location int
}

// keyFor finds the key that gives a DOM key value, and whether Shift is needed for it.
func keyFor(name string) (k key, shift, ok bool) {
	if k, ok = namedKeys[name]; ok {
		return k, false, true
	}
	if k, ok = characterKeys[name]; ok {
		return k, k.name != name, true
	}
	return key{}, false, false
}

var namedKeys = map[string]key{
	"Enter": {name: "Enter", code: "Enter", vk: 13, text: "\r"}, "Tab": {name: "Tab", code: "Tab", vk: 9},
	"Escape": {name: "Escape", code: "Escape", vk: 27}, "Backspace": {name: "Backspace", code: "Backspace", vk: 8},
	"Delete": {name: "Delete", code: "Delete", vk: 46}, "Insert": {name: "Insert", code: "Insert", vk: 45},
	"Home": {name: "Home", code: "Home", vk: 36}, "End": {name: "End", code: "End", vk: 35},
	"PageUp": {name: "PageUp", code: "PageUp", vk: 33}, "PageDown": {name: "PageDown", code: "PageDown", vk: 34},
	"ArrowUp": {name: "ArrowUp", code: "ArrowUp", vk: 38}, "ArrowDown": {name: "ArrowDown", code: "ArrowDown", vk: 40},
	"ArrowLeft": {name: "ArrowLeft", code: "ArrowLeft", vk: 37}, "ArrowRight": {name: "ArrowRight", code: "ArrowRight", vk: 39},
	"Shift": {name: "Shift", code: "ShiftLeft", vk: 16, location: 1}, "Control": {name: "Control", code: "ControlLeft", vk: 17, location: 1},
	"Alt": {name: "Alt", code: "AltLeft", vk: 18, location: 1}, "Meta": {name: "Meta", code: "MetaLeft", vk: 91, location: 1},
	"CapsLock": {name: "CapsLock", code: "CapsLock", vk: 20}, "ContextMenu": {name: "ContextMenu", code: "ContextMenu", vk: 93},
	"F1": {name: "F1", code: "F1", vk: 112}, "F2": {name: "F2", code: "F2", vk: 113}, "F3": {name: "F3", code: "F3", vk: 114},
	"F4": {name: "F4", code: "F4", vk: 115}, "F5": {name: "F5", code: "F5", vk: 116}, "F6": {name: "F6", code: "F6", vk: 117},
	"F7": {name: "F7", code: "F7", vk: 118}, "F8": {name: "F8", code: "F8", vk: 119}, "F9": {name: "F9", code: "F9", vk: 120},
	"F10": {name: "F10", code: "F10", vk: 121}, "F11": {name: "F11", code: "F11", vk: 122}, "F12": {name: "F12", code: "F12", vk: 123},
}

var modifierKeys = map[string]string{"alt": "Alt", "control": "Control", "shift": "Shift", "meta": "Meta"}

// characterKeys holds every character of the keyboard, with and without Shift.
var characterKeys = func() map[string]key {
	keys := map[string]key{}
	add := func(k key) {
		k.text = k.name
		keys[k.name], keys[k.shifted] = k, k
	}
	for c := 'a'; c <= 'z'; c++ {
		upper := strings.ToUpper(string(c))
		add(key{name: string(c), shifted: upper, code: "Key" + upper, vk: int(upper[0])})
	}
	for i, shifted := range []string{")", "!", "@", "#", "$", "%", "^", "&", "*", "("} {
		digit := string(rune('0' + i))
		add(key{name: digit, shifted: shifted, code: "Digit" + digit, vk: '0' + i})
	}
	for _, k := range []key{
		{name: "-", shifted: "_", code: "Minus", vk: 189},
		{name: "=", shifted: "+", code: "Equal", vk: 187},
		{name: "[", shifted: "{", code: "BracketLeft", vk: 219},
		{name: "]", shifted: "}", code: "BracketRight", vk: 221},
		{name: `\`, shifted: "|", code: "Backslash", vk: 220},
		{name: ";", shifted: ":", code: "Semicolon", vk: 186},
		{name: "'", shifted: `"`, code: "Quote", vk: 222},
		{name: ",", shifted: "<", code: "Comma", vk: 188},
		{name: ".", shifted: ">", code: "Period", vk: 190},
		{name: "/", shifted: "?", code: "Slash", vk: 191},
		{name: "`", shifted: "~", code: "Backquote", vk: 192},
	} {
		add(k)
	}
	keys[" "] = key{name: " ", shifted: " ", code: "Space", vk: 32, text: " "}
	return keys
}()

// stroke is one key event of the protocol.
type stroke struct {
	Type       string `json:"type"`
	Modifiers  int    `json:"modifiers,omitempty"`
	Key        string `json:"key"`
	Code       string `json:"code"`
	VK         int    `json:"windowsVirtualKeyCode"`
	Native     int    `json:"nativeVirtualKeyCode"`
	Text       string `json:"text,omitempty"`
	Unmodified string `json:"unmodifiedText,omitempty"`
	Location   int    `json:"location,omitempty"`
}

// down is the key's press while the modifiers are held. Keys with a command modifier type nothing.
func (k key) down(modifiers int) stroke {
	s := k.stroke(modifiers)
	s.Type = "rawKeyDown"
	if k.text != "" && modifiers&^modifierBits["shift"] == 0 {
		s.Type, s.Text, s.Unmodified = "keyDown", k.text, k.text
		if modifiers != 0 && len(k.name) == 1 {
			s.Text = k.shifted
		}
	}
	return s
}

func (k key) up(modifiers int) stroke {
	s := k.stroke(modifiers)
	s.Type = "keyUp"
	return s
}

func (k key) stroke(modifiers int) stroke {
	name := k.name
	if modifiers&modifierBits["shift"] != 0 && k.shifted != "" {
		name = k.shifted
	}
	return stroke{Modifiers: modifiers, Key: name, Code: k.code, VK: k.vk, Native: k.vk, Location: k.location}
}
