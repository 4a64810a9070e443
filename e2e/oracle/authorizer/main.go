// The authorizer oracle tells how kube-apiserver's Node authorizer decides. It answers every line on standard input, a
// JSON object, with one line on standard output. A graph of its own is fed by upstream's event handlers and asked by
// upstream's authorizer, so that nothing of what is compared is written here.
//
//	{"op":"gates","version":"1.33","gates":{"PodCertificateRequest":true}}
//	    starts anew, with an empty graph and with these feature gates on top of the defaults of a release. Without a
//	    version it is the release that the program was built from; an older one is emulated the way kube-apiserver's
//	    --emulated-version does it, which takes back what a gate guards and nothing else.
//	{"op":"reset"}
//	    starts anew and keeps the gates.
//	{"op":"apply","object":{"apiVersion":"v1","kind":"Pod",…}}
//	    gives an object to the graph the way an informer does: as an addition, or as an update if there is one of that
//	    name. v1 Pod and PersistentVolume, storage.k8s.io/v1 VolumeAttachment, resource.k8s.io/v1 ResourceSlice and
//	    certificates.k8s.io/v1beta1 PodCertificateRequest are known. The last two go nowhere while the gate is off with
//	    which kube-apiserver starts an informer for them, DynamicResourceAllocation and PodCertificateRequest.
//	{"op":"delete","object":{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":…,"name":…}}}
//	    deletes it. Nothing but the kind and the name is read: the graph is handed what was applied last.
//	{"op":"authorize","user":"system:node:n","groups":["system:nodes"],"verb":"get","group":"","version":"v1",
//	 "resource":"secrets","subresource":"","namespace":"ns","name":"s","fields":[{"field":…,"operator":"=","value":…}]}
//	    asks. With a "path" it is a request for no resource.
//
// Only authorize says something, {"decision":"allow","reason":""} with allow, deny or noopinion; the others are answered
// with {}. What cannot be read ends the program. Answers are held back while there are more lines to read, so whoever
// writes many has to read at the same time.
//
// With the argument bench it measures itself instead; see bench.go.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

type question struct {
	Op      string          `json:"op,omitempty"`
	Gates   map[string]bool `json:"gates,omitempty"`
	Object  json.RawMessage `json:"object,omitempty"`
	Version string          `json:"version,omitempty"`

	User        string   `json:"user,omitempty"`
	Groups      []string `json:"groups,omitempty"`
	Verb        string   `json:"verb,omitempty"`
	Group       string   `json:"group,omitempty"`
	Resource    string   `json:"resource,omitempty"`
	Subresource string   `json:"subresource,omitempty"`
	Namespace   string   `json:"namespace,omitempty"`
	Name        string   `json:"name,omitempty"`
	Path        string   `json:"path,omitempty"`
	Fields      []term   `json:"fields,omitempty"`
}

type term struct {
	Field    string `json:"field"`
	Operator string `json:"operator"`
	Value    string `json:"value"`
}

type answer struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

var decisions = map[authorizer.Decision]string{
	authorizer.DecisionAllow:     "allow",
	authorizer.DecisionDeny:      "deny",
	authorizer.DecisionNoOpinion: "noopinion",
}

// What the release was built with; every question about gates starts from it.
var defaults = utilfeature.DefaultMutableFeatureGate.DeepCopy()

func main() {
	// The wait for the caches, which are none here, would write two lines for every graph.
	flags := flag.NewFlagSet("klog", flag.ExitOnError)
	klog.InitFlags(flags)
	must(flags.Parse([]string{"--logtostderr=false", "--alsologtostderr=false", "--stderrthreshold=FATAL"}))
	klog.SetOutput(io.Discard)

	if len(os.Args) > 1 && os.Args[1] == "bench" {
		must(json.NewEncoder(os.Stdout).Encode(bench(os.Args[2:])))
		return
	}
	answerAll(bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriter(os.Stdout))
}

func answerAll(in *bufio.Reader, out *bufio.Writer) {
	write := json.NewEncoder(out)
	// A reason goes out as it is, not made fit for a web page.
	write.SetEscapeHTML(false)
	node := newNode()
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
			switch q.Op {
			case "gates":
				setGates(q)
				node = newNode()
			case "reset":
				node = newNode()
			case "apply":
				must(node.apply(q.Object))
			case "delete":
				must(node.delete(q.Object))
			case "authorize":
				must(write.Encode(node.authorize(q.attributes())))
				continue
			default:
				log.Fatalf("there is no operation %q", q.Op)
			}
			must(write.Encode(struct{}{}))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		must(err)
	}
	must(out.Flush())
}

func setGates(q question) {
	gates := defaults.DeepCopy()
	if q.Version != "" {
		emulated, err := version.ParseMajorMinor(q.Version)
		must(err)
		must(gates.SetEmulationVersion(emulated))
	}
	must(gates.SetFromMap(q.Gates))
	utilfeature.DefaultMutableFeatureGate = gates
	utilfeature.DefaultFeatureGate = gates
}

func (q question) attributes() *authorizer.AttributesRecord {
	attributes := &authorizer.AttributesRecord{
		User:            &user.DefaultInfo{Name: q.User, Groups: q.Groups},
		Verb:            q.Verb,
		Namespace:       q.Namespace,
		APIGroup:        q.Group,
		APIVersion:      q.Version,
		Resource:        q.Resource,
		Subresource:     q.Subresource,
		Name:            q.Name,
		ResourceRequest: q.Path == "",
		Path:            q.Path,
	}
	for _, t := range q.Fields {
		requirement := fields.Requirement{Operator: selection.Operator(t.Operator), Field: t.Field, Value: t.Value}
		attributes.FieldSelectorRequirements = append(attributes.FieldSelectorRequirements, requirement)
	}
	return attributes
}

func (n *node) authorize(attributes authorizer.Attributes) answer {
	decision, reason, err := n.authorizer.Authorize(context.Background(), attributes)
	must(err)
	name, ok := decisions[decision]
	if !ok {
		must(fmt.Errorf("there is no name for the decision %v", decision))
	}
	return answer{name, reason}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
