// The patch oracle tells what kube-apiserver makes of an object and a patch. It answers every line on standard input, a
// JSON object, with one line on standard output. The patch is applied by the packages that upstream's handler calls, in
// the order in which it calls them.
//
//	{"type":"json","schema":"Node","old":{…},"patch":[…]}
//	    with json, merge or strategic, and with one of the kinds below, whose Go type says how a strategic merge patch
//	    merges lists. The patch is applied as without a fieldValidation parameter. The answer is {"new":{…}}, or
//	    {"error":"…","code":422} with the code that the client would see.
//	{"type":"lists","schema":"Node"}
//	    is answered with {"lists":[{"path":["metadata","ownerReferences"],"key":"uid"},…]}: the lists that a strategic
//	    merge patch merges, by the struct tags; see lists.go.
//
// Answers are held back while there are more lines to read, so whoever writes many has to read at the same time.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"reflect"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"
)

// What kube-apiserver sets and checks by itself, outside of the packages.
const (
	maxOperations = 10000
	maxCopyBytes  = 3 * 1024 * 1024
)

type question struct {
	Type   string          `json:"type"`
	Schema string          `json:"schema"`
	Old    json.RawMessage `json:"old"`
	Patch  json.RawMessage `json:"patch"`
}

type answer struct {
	New   json.RawMessage `json:"new,omitempty"`
	Lists []list          `json:"lists,omitempty"`
	Error string          `json:"error,omitempty"`
	Code  int             `json:"code,omitempty"`
}

// What an operation has to look like for the strict reader.
type operation struct {
	Op    string      `json:"op"`
	Path  string      `json:"path"`
	From  string      `json:"from"`
	Value interface{} `json:"value"`
}

var schemas = map[string]interface{}{
	"CronJob":               &batchv1.CronJob{},
	"DaemonSet":             &appsv1.DaemonSet{},
	"Deployment":            &appsv1.Deployment{},
	"Job":                   &batchv1.Job{},
	"Node":                  &corev1.Node{},
	"PersistentVolumeClaim": &corev1.PersistentVolumeClaim{},
	"Pod":                   &corev1.Pod{},
	"PodTemplate":           &corev1.PodTemplate{},
	"ReplicaSet":            &appsv1.ReplicaSet{},
	"ReplicationController": &corev1.ReplicationController{},
	"StatefulSet":           &appsv1.StatefulSet{},
}

func main() {
	jsonpatch.AccumulatedCopySizeLimit = maxCopyBytes
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			log.Fatal(err)
		}
		encoder := json.NewEncoder(out)
		if err := encoder.Encode(ask(q)); err != nil {
			log.Fatal(err)
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				log.Fatal(err)
			}
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

// A panic in the handler is a 500 to the client.
func ask(q question) (a answer) {
	defer func() {
		if reason := recover(); reason != nil {
			a = answer{Error: fmt.Sprint("panic: ", reason), Code: http.StatusInternalServerError}
		}
	}()
	switch q.Type {
	case "json":
		return jsonPatch(q)
	case "merge":
		return mergePatch(q)
	case "strategic":
		return strategicPatch(q)
	case "lists":
		return answer{Lists: lists(reflect.TypeOf(schema(q)), nil)}
	}
	log.Fatalf("there is no type of question %q", q.Type)
	return answer{}
}

func jsonPatch(q question) answer {
	var operations []operation
	if _, err := kjson.UnmarshalStrict(q.Patch, &operations); err != nil {
		return refuse(http.StatusBadRequest, fmt.Errorf("error decoding patch: %v", err))
	}
	patch, err := jsonpatch.DecodePatch(q.Patch)
	if err != nil {
		return refuse(http.StatusBadRequest, err)
	}
	if len(patch) > maxOperations {
		return refuse(http.StatusRequestEntityTooLarge, errors.New("too many operations"))
	}
	patched, err := patch.Apply(q.Old)
	if err != nil {
		return refuse(http.StatusUnprocessableEntity, err)
	}
	return answer{New: patched}
}

func mergePatch(q question) answer {
	object := map[string]interface{}{}
	if _, err := kjson.UnmarshalStrict(q.Patch, &object); err != nil {
		return refuse(http.StatusBadRequest, fmt.Errorf("error decoding patch: %v", err))
	}
	patched, err := jsonpatch.MergePatch(q.Old, q.Patch)
	if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
		return refuse(http.StatusBadRequest, err)
	}
	if err != nil {
		return refuse(http.StatusInternalServerError, err)
	}
	return answer{New: patched}
}

func strategicPatch(q question) answer {
	old := map[string]interface{}{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(q.Old, &old); err != nil {
		log.Fatal(err)
	}
	patch := map[string]interface{}{}
	if _, err := kjson.UnmarshalStrict(q.Patch, &patch); err != nil {
		return refuse(http.StatusBadRequest, err)
	}
	patched, err := strategicpatch.StrategicMergeMapPatch(clip(old).(map[string]interface{}), patch, schema(q))
	switch err {
	case nil:
	case mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList, mergepatch.ErrBadPatchFormatForRetainKeys,
		mergepatch.ErrBadPatchFormatForSetElementOrderList, mergepatch.ErrUnsupportedStrategicMergePatchFormat:
		return refuse(http.StatusBadRequest, err)
	case mergepatch.ErrNoListOfLists, mergepatch.ErrPatchContentNotMatchRetainKeys:
		return refuse(http.StatusUnprocessableEntity, err)
	default:
		return refuse(http.StatusInternalServerError, err)
	}
	encoded, err := json.Marshal(patched)
	if err != nil {
		log.Fatal(err)
	}
	return answer{New: encoded}
}

func schema(q question) interface{} {
	schema, known := schemas[q.Schema]
	if !known {
		log.Fatalf("there is no schema %q", q.Schema)
	}
	return schema
}

// Lists without room behind their end, as those of a stored object have none: upstream's code appends in place.
func clip(value interface{}) interface{} {
	switch value := value.(type) {
	case map[string]interface{}:
		for key, inner := range value {
			value[key] = clip(inner)
		}
	case []interface{}:
		for i, inner := range value {
			value[i] = clip(inner)
		}
		return slices.Clip(value)
	}
	return value
}

func refuse(code int, err error) answer {
	return answer{Error: err.Error(), Code: code}
}
