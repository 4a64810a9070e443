package main

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// A list that a strategic merge patch merges: where it stands, and the key of its items, if they have one.
type list struct {
	Path []string `json:"path"`
	Key  string   `json:"key,omitempty"`
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// The merged lists of a type, as its struct tags have them. What is below a list that is replaced is replaced with it.
func lists(of reflect.Type, above []string) []list {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	// What reads its own JSON has no fields that a patch could lead to.
	if of.Kind() != reflect.Struct || reflect.PointerTo(of).Implements(unmarshaler) {
		return nil
	}
	var found []list
	for i := range of.NumField() {
		member := of.Field(i)
		name, options, _ := strings.Cut(member.Tag.Get("json"), ",")
		if name == "-" || name == "" && !strings.Contains(options, "inline") {
			continue
		}
		path := slices.Clone(above)
		if name != "" {
			path = append(path, name)
		}
		holds := member.Type
		if holds.Kind() == reflect.Slice {
			if !slices.Contains(strings.Split(member.Tag.Get("patchStrategy"), ","), "merge") {
				continue
			}
			found = append(found, list{Path: path, Key: member.Tag.Get("patchMergeKey")})
			holds = holds.Elem()
		}
		found = append(found, lists(holds, path)...)
	}
	return found
}
