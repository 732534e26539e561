package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// Result is the answer of a tool.
type Result struct {
	// Failed is the protocol's isError.
	Failed bool
	// Text is all text content, joined by newlines.
	Text string
	// Structured is the envelope.
	Structured json.RawMessage
	Images     []Picture
	Links      []Link
}

// Picture is an inline picture.
type Picture struct {
	MediaType string
	Data      []byte
}

// Link is a resource offered by an answer.
type Link struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description"`
	MediaType   string `json:"mimeType"`
	Size        int64  `json:"size"`
}

// Decode decodes the member of the envelope called name, for example "result", into value.
func (r Result) Decode(name string, value any) error {
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(r.Structured, &envelope); err != nil {
		return err
	}
	raw, ok := envelope[name]
	if !ok {
		return fmt.Errorf("the answer has no %s", name)
	}
	return json.Unmarshal(raw, value)
}

// content is one element of a tool's content.
type content struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MIMEType string `json:"mimeType"`
	Link
}

// CallOption adjusts one call.
type CallOption func(params map[string]any)

// WithProgress asks for progress notifications with this token.
func WithProgress(token string) CallOption {
	return func(params map[string]any) { params["_meta"] = map[string]any{"progressToken": token} }
}

// CallTool calls a tool. arguments is anything that encodes to a JSON object, nil for none. A tool that fails is
// a Result with Failed set, not an error.
func (c *Client) CallTool(ctx context.Context, name string, arguments any, options ...CallOption) (Result, error) {
	params := map[string]any{"name": name}
	if arguments != nil {
		params["arguments"] = arguments
	}
	for _, option := range options {
		option(params)
	}
	var raw struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		IsError    bool              `json:"isError"`
	}
	if err := c.Request(ctx, "tools/call", params, &raw); err != nil {
		return Result{}, err
	}
	if err := c.check(name, raw.Structured); err != nil {
		return Result{}, err
	}
	result := Result{Failed: raw.IsError, Structured: raw.Structured}
	return result, result.add(raw.Content)
}

func (r *Result) add(all []json.RawMessage) error {
	var texts []string
	for _, raw := range all {
		var one content
		if err := json.Unmarshal(raw, &one); err != nil {
			return err
		}
		switch one.Type {
		case "text":
			texts = append(texts, one.Text)
		case "image":
			data, err := base64.StdEncoding.DecodeString(one.Data)
			if err != nil {
				return err
			}
			r.Images = append(r.Images, Picture{MediaType: one.MIMEType, Data: data})
		case "resource_link":
			one.Link.MediaType = one.MIMEType
			r.Links = append(r.Links, one.Link)
		}
	}
	r.Text = strings.Join(texts, "\n")
	return nil
}

// Tool is one listed tool.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

// ListTools lists the whole catalogue.
func (c *Client) ListTools(ctx context.Context) ([]Tool, error) {
	var all []Tool
	params := map[string]any{}
	for {
		var page struct {
			Tools []Tool `json:"tools"`
			Next  string `json:"nextCursor"`
		}
		if err := c.Request(ctx, "tools/list", params, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Tools...)
		if page.Next == "" {
			return all, nil
		}
		params = map[string]any{"cursor": page.Next}
	}
}

// Contents is a resource.
type Contents struct {
	URI       string
	MediaType string
	Data      []byte
}

// ReadResource reads a resource by its URI.
func (c *Client) ReadResource(ctx context.Context, uri string) (Contents, error) {
	var raw struct {
		Contents []struct {
			URI      string  `json:"uri"`
			MIMEType string  `json:"mimeType"`
			Text     string  `json:"text"`
			Blob     *string `json:"blob"`
		} `json:"contents"`
	}
	if err := c.Request(ctx, "resources/read", map[string]any{"uri": uri}, &raw); err != nil {
		return Contents{}, err
	}
	if len(raw.Contents) != 1 {
		return Contents{}, fmt.Errorf("the server sent %d contents", len(raw.Contents))
	}
	one := raw.Contents[0]
	read := Contents{URI: one.URI, MediaType: one.MIMEType, Data: []byte(one.Text)}
	if one.Blob != nil {
		data, err := base64.StdEncoding.DecodeString(*one.Blob)
		if err != nil {
			return Contents{}, err
		}
		read.Data = data
	}
	return read, nil
}

// Template is a kind of resource that can be read.
type Template struct {
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	MIMEType    string `json:"mimeType"`
}

// ListTemplates lists the resource templates.
func (c *Client) ListTemplates(ctx context.Context) ([]Template, error) {
	var raw struct {
		Templates []Template `json:"resourceTemplates"`
	}
	err := c.Request(ctx, "resources/templates/list", map[string]any{}, &raw)
	return raw.Templates, err
}
