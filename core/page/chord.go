package page

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// Chord is one key with the modifiers held during it.
type Chord struct {
	// Modifiers are lower-case: alt, control, shift, meta; without repetition.
	Modifiers []string
	// Key is a named key in its canonical spelling, or one character.
	Key string
}

// Printable reports whether the key is a character rather than a named key.
func (c Chord) Printable() bool { return utf8.RuneCountInString(c.Key) == 1 }

var errChord = errors.New("not a chord; examples: Enter, Control+Shift+K, a, +")

// ParseChord reads chords such as "Control+Shift+K". Modifier and key names ignore case; "Ctrl", "Cmd",
// "Command", "Option", "Esc", "Del", "Return", "Up" and the like are understood.
func ParseChord(text string) (Chord, error) {
	var c Chord
	rest := text
	for {
		head, tail, found := strings.Cut(rest, "+")
		if !found || tail == "" || head == "" {
			break
		}
		modifier, ok := modifierNames[strings.ToLower(head)]
		if !ok {
			return Chord{}, errChord
		}
		if !slices.Contains(c.Modifiers, modifier) {
			c.Modifiers = append(c.Modifiers, modifier)
		}
		rest = tail
	}
	key, ok := keyName(rest)
	if !ok {
		return Chord{}, errChord
	}
	c.Key = key
	return c, nil
}

func keyName(text string) (string, bool) {
	if utf8.ValidString(text) && utf8.RuneCountInString(text) == 1 {
		return text, true
	}
	name, ok := keyNames[strings.ToLower(text)]
	return name, ok
}

var modifierNames = map[string]string{
	"alt": "alt", "option": "alt", "control": "control", "ctrl": "control", "shift": "shift",
	"meta": "meta", "cmd": "meta", "command": "meta", "controlormeta": "control",
}

// keyNames maps lower-case spellings to the DOM key value.
var keyNames = func() map[string]string {
	names := map[string]string{
		"esc": "Escape", "del": "Delete", "ins": "Insert", "return": "Enter", "space": " ", "spacebar": " ",
		"up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight",
		"ctrl": "Control", "cmd": "Meta", "command": "Meta", "option": "Alt", "pgup": "PageUp", "pgdn": "PageDown", "plus": "+",
	}
	for _, n := range []string{
		"Enter", "Tab", "Escape", "Backspace", "Delete", "Insert", "Home", "End", "PageUp", "PageDown",
		"ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Shift", "Control", "Alt", "Meta", "CapsLock", "ContextMenu",
		"F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12",
	} {
		names[strings.ToLower(n)] = n
	}
	return names
}()
