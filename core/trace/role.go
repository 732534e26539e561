package trace

// knownRole lists the roles that an event may name: those of ARIA and of Chrome's accessibility tree that a
// target can have.
func knownRole(r string) bool {
	switch r {
	case "alert", "alertdialog", "application", "article", "banner", "blockquote", "button", "Canvas", "canvas", "caption", "cell", "checkbox",
		"code", "columnheader", "combobox", "complementary", "ComboBoxSelect", "contentinfo", "ColorWell", "Date", "DateTime", "definition", "details", "DisclosureTriangle",
		"dialog", "directory", "document", "emphasis", "EmbeddedObject", "feed", "figure", "form", "generic", "grid", "gridcell", "group", "heading", "Iframe", "iframe", "image", "img",
		"InputTime", "LabelText", "link", "list", "listbox", "listitem", "log", "main", "mark", "marquee", "math", "menu", "menubar", "menuitem",
		"menuitemcheckbox", "menuitemradio", "meter", "navigation", "none", "note", "option", "paragraph", "presentation", "progressbar", "radio", "radiogroup", "region", "row",
		"rowgroup", "rowheader", "scrollbar", "search", "searchbox", "Section", "separator", "slider", "spinbutton", "status", "StaticText", "strong", "switch", "tab", "table", "tablist",
		"tabpanel", "term", "text", "textbox", "textarea", "time", "timer", "toolbar", "tooltip", "tree", "treegrid", "treeitem", "Video", "video", "Audio", "audio", "WebArea", "RootWebArea":
		return true
	}
	return false
}

// ActionsFor derives what an element offers from its role, its input type and whether it is disabled or
// read-only. Every visible element can be clicked.
func ActionsFor(role, inputType string, disabled, readonly bool) []Kind {
	if disabled {
		return nil
	}
	actions := []Kind{KindClick}
	switch role {
	case "textbox", "searchbox", "spinbutton", "textarea", "combobox", "Date", "DateTime", "InputTime", "ColorWell", "slider":
		if !readonly && inputType != "select" {
			actions = append(actions, KindClear, KindTypeText)
		}
	case "checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio", "DisclosureTriangle", "details":
		actions = append(actions, KindToggle)
	}
	if role == "listbox" || role == "ComboBoxSelect" || role == "combobox" {
		actions = append(actions, KindSelectOption)
	}
	return actions
}
