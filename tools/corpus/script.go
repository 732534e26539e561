package main

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed cases/*.txt
var embedded embed.FS

// testcase is one named list of steps.
type testcase struct {
	file, name string
	steps      []step
}

// step is one line of a case.
type step struct {
	line int
	// verb is open, call, ref, result, text, notext, seen, picture or smaller.
	verb string
	// operand is what follows the verb of a step that calls no tool.
	operand string
	// code is the error a call must fail with, empty when it must succeed.
	code string
	// keep and path say what of the answer a let keeps.
	keep, path string
	tool       string
	// arguments are JSON values in which $NAME may stand.
	arguments map[string]string
}

func loadCases() ([]testcase, error) {
	entries, err := embedded.ReadDir("cases")
	if err != nil {
		return nil, err
	}
	var cases []testcase
	for _, e := range entries {
		text, err := embedded.ReadFile(path.Join("cases", e.Name()))
		if err != nil {
			return nil, err
		}
		parsed, err := parseFile(strings.TrimSuffix(e.Name(), ".txt"), string(text))
		if err != nil {
			return nil, err
		}
		cases = append(cases, parsed...)
	}
	return cases, nil
}

func parseFile(file, text string) ([]testcase, error) {
	var cases []testcase
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "== "):
			cases = append(cases, testcase{file: file, name: strings.TrimPrefix(line, "== ")})
		case len(cases) == 0:
			return nil, fmt.Errorf("%s:%d: a step before the first case", file, i+1)
		default:
			s, err := parseStep(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
			}
			s.line = i + 1
			last := &cases[len(cases)-1]
			last.steps = append(last.steps, s)
		}
	}
	return cases, nil
}

func parseStep(line string) (step, error) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "open", "ref", "result", "text", "notext", "seen", "picture", "smaller":
		if rest == "" {
			return step{}, fmt.Errorf("%s needs an operand", verb)
		}
		return step{verb: verb, operand: rest}, nil
	case "let":
		fields := strings.SplitN(rest, " ", 3)
		if len(fields) < 3 {
			return step{}, errors.New("let needs a name, a path and a call")
		}
		s, err := parseCall(fields[2])
		s.keep, s.path = fields[0], fields[1]
		return s, err
	}
	if code, ok := strings.CutPrefix(verb, "!"); ok {
		s, err := parseCall(rest)
		s.code = code
		return s, err
	}
	return parseCall(line)
}

// argument is one key='text' or key=JSON. A JSON value ends at the next space outside quotes, so it has none inside but
// in its strings.
var argument = regexp.MustCompile(`^(\w+)=(?:'([^']*)'|((?:"(?:[^"\\]|\\.)*"|[^\s"'])+))(?:\s+|$)`)

// placeholder is a place where a kept value goes.
var placeholder = regexp.MustCompile(`\$(\w+)`)

func parseCall(text string) (step, error) {
	tool, rest, _ := strings.Cut(text, " ")
	s := step{verb: "call", tool: tool, arguments: map[string]string{}}
	for rest = strings.TrimSpace(rest); rest != ""; {
		m := argument.FindStringSubmatch(rest)
		if m == nil {
			return step{}, fmt.Errorf("cannot read %q", rest)
		}
		value := m[3]
		if value == "" {
			value = quote(m[2])
		} else if !json.Valid([]byte(placeholder.ReplaceAllString(value, "0"))) {
			return step{}, fmt.Errorf("%s is neither 'text' nor JSON: %s", m[1], m[3])
		}
		s.arguments[m[1]] = value
		rest = rest[len(m[0]):]
	}
	return s, nil
}

// quote makes a JSON string of a text in which \n and \uXXXX are written out.
func quote(text string) string {
	escaped, err := json.Marshal(text)
	if err != nil {
		return strconv.Quote(text) // a Go string always marshals
	}
	plain := strings.ReplaceAll(string(escaped), `\\n`, `\n`)
	return regexp.MustCompile(`\\\\u([0-9a-fA-F]{4})`).ReplaceAllString(plain, `\u$1`)
}

// object is the JSON object of the arguments.
func (s step) object() string {
	parts := make([]string, 0, len(s.arguments))
	for _, key := range slices.Sorted(maps.Keys(s.arguments)) {
		parts = append(parts, strconv.Quote(key)+":"+s.arguments[key])
	}
	return "{" + strings.Join(parts, ",") + "}"
}
