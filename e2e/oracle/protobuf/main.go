// The protobuf oracle tells what kube-apiserver's own code reads from a protobuf body. It answers every line on standard
// input, a JSON object, with one line on standard output.
//
//	{"op":"encode","object":{"apiVersion":"v1","kind":"Pod",…}}
//	    is answered with {"body":"…"}: the object in protobuf, as kubelets send it, in base64; or with {"error":"…"} if it
//	    is no such object.
//	{"op":"decode","body":"…"}
//	    is answered with {"object":{…}}: what is read from the body, without managedFields, as JSON; or with
//	    {"error":"…"} if it is refused.
//	{"op":"fields","apiVersion":"v1","kind":"Pod"}
//	    is answered with {"root":"…","messages":{"…":[{"number":1,"name":"metadata","kind":"message","type":"…"},…]}}:
//	    what the struct tags say about the message and all that it is made of; see fields.go.
//
// Answers are held back while there are more lines to read, so whoever writes many has to read at the same time.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

type question struct {
	Op         string          `json:"op"`
	Object     json.RawMessage `json:"object"`
	Body       []byte          `json:"body"`
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
}

type answer struct {
	Error    string             `json:"error,omitempty"`
	Body     []byte             `json:"body,omitempty"`
	Object   runtime.Object     `json:"object,omitempty"`
	Root     string             `json:"root,omitempty"`
	Messages map[string][]field `json:"messages,omitempty"`
}

var serializer = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	out := bufio.NewWriter(os.Stdout)
	write := json.NewEncoder(out)
	for {
		if waiting, err := in.Peek(in.Buffered()); err != nil || bytes.IndexByte(waiting, '\n') < 0 {
			must(out.Flush())
		}
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			read := json.NewDecoder(bytes.NewReader(line))
			// A field that is misspelt would be a question about something else.
			read.DisallowUnknownFields()
			var q question
			must(read.Decode(&q))
			must(write.Encode(q.answer()))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		must(err)
	}
	must(out.Flush())
}

func (q question) answer() answer {
	switch q.Op {
	case "encode":
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(q.Object, nil, nil)
		if err != nil {
			return answer{Error: err.Error()}
		}
		var body bytes.Buffer
		must(serializer.Encode(object, &body))
		return answer{Body: body.Bytes()}
	case "decode":
		object, err := decode(q.Body)
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Object: object}
	case "fields":
		object, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(q.APIVersion, q.Kind))
		must(err)
		messages := map[string][]field{}
		root := walk(reflect.TypeOf(object).Elem(), messages)
		return answer{Root: root, Messages: messages}
	}
	log.Fatalf("there is no operation %q", q.Op)
	return answer{}
}

// Generated code that panics ends a request as an error does.
func decode(body []byte) (object runtime.Object, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("panic: %v", caught)
		}
	}()
	object, _, err = serializer.Decode(body, nil, nil)
	if err != nil {
		return nil, err
	}
	// They may hold anything, which need not be JSON.
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
