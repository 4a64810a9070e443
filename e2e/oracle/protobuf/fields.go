package main

import (
	"encoding/json"
	"log"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A field of a message. Its kind is text, texts, bytes, bool, int32, int64, time, message, messages, inline (a message whose
// fields stand in the parent's JSON), textMap, bytesMap, quantityMap, or other, which is what has a JSON of its own. Type is the
// message that it holds; a pointer tells what is empty from what is not there.
type field struct {
	Number  int    `json:"number"`
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Type    string `json:"type,omitempty"`
	Pointer bool   `json:"pointer"`
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// Adds a message and all that it is made of; gives its name.
func walk(message reflect.Type, messages map[string][]field) string {
	name := message.PkgPath() + "." + message.Name()
	if _, known := messages[name]; known {
		return name
	}
	messages[name] = []field{}
	fields := []field{}
	for i := range message.NumField() {
		member := message.Field(i)
		parts := strings.Split(member.Tag.Get("protobuf"), ",")
		if len(parts) < 2 {
			continue
		}
		number, err := strconv.Atoi(parts[1])
		if err != nil {
			log.Fatalf("%s.%s: %v", name, member.Name, err)
		}
		jsonName, options, _ := strings.Cut(member.Tag.Get("json"), ",")
		f := field{Number: number, Name: jsonName, Pointer: member.Type.Kind() == reflect.Pointer}
		var holds reflect.Type
		f.Kind, holds = kind(member.Type)
		if jsonName == "" && strings.Contains(options, "inline") && f.Kind == "message" {
			f.Kind = "inline"
		}
		if holds != nil {
			f.Type = walk(holds, messages)
		}
		fields = append(fields, f)
	}
	messages[name] = fields
	return name
}

func kind(of reflect.Type) (string, reflect.Type) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case of == reflect.TypeFor[metav1.Time]():
		return "time", nil
	case reflect.PointerTo(of).Implements(unmarshaler):
		return "other", nil
	}
	switch of.Kind() {
	case reflect.String:
		return "text", nil
	case reflect.Bool:
		return "bool", nil
	case reflect.Int32:
		return "int32", nil
	case reflect.Int64:
		return "int64", nil
	case reflect.Struct:
		return "message", of
	case reflect.Slice:
		switch of.Elem().Kind() {
		case reflect.Uint8:
			return "bytes", nil
		case reflect.String:
			return "texts", nil
		case reflect.Struct:
			if kind, holds := kind(of.Elem()); kind == "message" {
				return "messages", holds
			}
		}
	case reflect.Map:
		switch {
		case of.Elem() == reflect.TypeFor[resource.Quantity]():
			return "quantityMap", nil
		case of.Elem().Kind() == reflect.String:
			return "textMap", nil
		case of.Elem().Kind() == reflect.Slice && of.Elem().Elem().Kind() == reflect.Uint8:
			return "bytesMap", nil
		}
	}
	return "other", nil
}
