// The gardener oracle tells how Gardener's SeedAuthorizer and SeedRestriction decide. It answers every line on standard input,
// a JSON object, with one line on standard output. A graph is fed by Gardener's event handlers and asked by Gardener's
// authorizer, and writes are judged by Gardener's admission handler, so that nothing of what is compared is written here.
//
//	{"op":"reset"}
//	    starts anew, with an empty graph and no objects. So does the program.
//	{"op":"apply","object":{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Shoot",…}}
//	    gives an object to all who read objects, and to the graph the way an informer does, if there is a watch for its kind: as an
//	    addition, or as an update if there is one of that name. Every kind of the garden cluster is known. Nothing is
//	    defaulted and nothing validated. A field that Gardener does not have ends the program.
//	{"op":"delete","object":{"apiVersion":…,"kind":"Shoot","metadata":{"namespace":…,"name":…}}}
//	    deletes it. Nothing but the kind and the name is read: the graph is handed what was applied last.
//	{"op":"authorize","user":"gardener.cloud:system:seed:s","groups":["gardener.cloud:system:seeds"],"verb":"list",
//	 "group":"core.gardener.cloud","version":"v1beta1","resource":"shoots","subresource":"","namespace":"","name":"",
//	 "labelSelector":"a=b","fieldSelector":"c=d"}
//	    asks the authorizer: {"decision":"noopinion","reason":"no relationship found"}. With a "path" it is a request for no
//	    resource. The name that a field selector pins has to be given as the name, too, as kube-apiserver does it.
//	{"op":"admit","user":…,"groups":…,"operation":"CREATE","group":"","version":"v1","resource":"secrets","kind":"Secret",
//	 "namespace":"ns","name":"n","object":{…}}
//	    asks the admission handler: {"allowed":false,"code":403,"message":"…"}. Which requests come to it at all is a matter of
//	    the webhook's configuration and not asked here. The object is what would be stored, so its namespace is filled in.
//	{"op":"path","kind":"Secret","namespace":"ns","name":"n","seed":"s"}
//	    asks the graph: {"vertex":true,"path":false}, whether there is such a vertex, and a path from it to the seed.
//	{"op":"edges"}
//	    {"edges":["Namespace:seed-s -> Seed:s",…]}, all that are in the graph, sorted.
//	{"op":"debug","query":"kind=Seed"}
//	    {"page":"…"}, the page of the debug handler.
//	{"op":"time","of":{"op":"authorize",…}}
//	    {"nanoseconds":900,"allocations":9,"answer":{…}}, what it costs to ask that once, and the answer; the same for a path.
//	{"op":"time","objects":[{…},{…}]}
//	    what it costs to tell the graph of one update: the objects, of one kind, are updates that are told in turn, over and over. What
//	    was applied has to be what the last one of each name says.
//	{"op":"spent"}
//	    {"seconds":1.5,"heapBytes":1000000}, how long the graph took over all that it was told of, and what the program has in use.
//	    All objects are forgotten for that; the graph stays.
//
// The others are answered with {}. There are objects over which an event handler of Gardener's panics, which ends a real
// admission controller: that is answered with {"panic":"…"}, and what the graph says afterwards means nothing until it is
// reset. What cannot be read ends the program. Answers are held back while there are more lines to read, so whoever
// writes many has to read at the same time.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

type question struct {
	Op     string          `json:"op"`
	Object json.RawMessage `json:"object,omitempty"`

	User   string   `json:"user,omitempty"`
	Groups []string `json:"groups,omitempty"`

	Verb          string `json:"verb,omitempty"`
	Operation     string `json:"operation,omitempty"`
	Group         string `json:"group,omitempty"`
	Version       string `json:"version,omitempty"`
	Resource      string `json:"resource,omitempty"`
	Subresource   string `json:"subresource,omitempty"`
	Kind          string `json:"kind,omitempty"`
	Namespace     string `json:"namespace,omitempty"`
	Name          string `json:"name,omitempty"`
	Path          string `json:"path,omitempty"`
	LabelSelector string `json:"labelSelector,omitempty"`
	FieldSelector string `json:"fieldSelector,omitempty"`

	Seed  string `json:"seed,omitempty"`
	Query string `json:"query,omitempty"`

	Of      *question         `json:"of,omitempty"`
	Objects []json.RawMessage `json:"objects,omitempty"`
}

func main() {
	// Standard output is for answers, and both would write to standard error about every refusal.
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	answerAll(bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriter(os.Stdout))
}

func answerAll(in *bufio.Reader, out *bufio.Writer) {
	write := json.NewEncoder(out)
	// A reason goes out as it is, not made fit for a web page.
	write.SetEscapeHTML(false)
	garden := newGarden()
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
			if q.Op == "reset" {
				garden = newGarden()
				must(write.Encode(struct{}{}))
			} else {
				must(write.Encode(garden.answer(q)))
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		must(err)
	}
	must(out.Flush())
}

func (g *garden) answer(q question) any {
	switch q.Op {
	case "apply":
		return g.apply(q.Object)
	case "delete":
		return g.delete(q.Object)
	case "authorize":
		return g.authorize(q)
	case "admit":
		return g.admit(q)
	case "path":
		return g.path(q)
	case "edges":
		return g.edges()
	case "debug":
		return map[string]string{"page": g.page(q.Query)}
	case "time":
		if q.Of != nil {
			return g.time(*q.Of)
		}
		return g.timeUpdates(q.Objects)
	case "spent":
		return g.spend()
	}
	log.Fatalf("there is no operation %q", q.Op)
	return nil
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
