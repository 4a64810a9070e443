// The benchmark: upstream's authorizer over the cluster of cluster.go, so that the gate can be measured over the same one
// in the same run. It prints one JSON object, the report below, and ends with an error if a row is decided otherwise than
// its name says.
//
//	authorizer bench --nodes 500 --pods-per-node 200 [--namespaces 200] [--attachments-per-node 20]
//
// Decisions and updates are measured one at a time on one thread, after the generated objects are gone: the fastest of
// several rounds, since whatever else the machine does can only make them slower. Attributes are handed over by
// reference, as kube-apiserver does it.
package main

import (
	"context"
	"flag"
	"log"
	"runtime"
	"time"

	"k8s.io/apiserver/pkg/authorization/authorizer"
)

type report struct {
	Shape shape `json:"shape"`
	// From the first event to the last, all at hand.
	BuildSeconds float64 `json:"buildSeconds"`
	// The heap that the graph adds while the objects exist, with which it shares the names, as upstream measures it.
	HeapBytes int64 `json:"heapBytes"`
	// The heap of the graph by itself, once the objects are gone and the names are its own.
	HeapAloneBytes int64       `json:"heapAloneBytes"`
	Decisions      []measuring `json:"decisions"`
	// The event of a pod that is there already: pod0-node0 is taken out of the graph and put in again.
	PodAgain cost `json:"podAgain"`
}

type measuring struct {
	Row string `json:"row"`
	cost
	// What was asked and decided, in the words of the protocol.
	Question question `json:"question"`
	Decision string   `json:"decision"`
}

type row struct {
	name     string
	expected string
	question question
}

func bench(arguments []string) report {
	var r report
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.IntVar(&r.Shape.Nodes, "nodes", 500, "nodes, at least two")
	flags.IntVar(&r.Shape.PodsPerNode, "pods-per-node", 200, "pods bound to each of them, at least one")
	flags.IntVar(&r.Shape.Namespaces, "namespaces", 200, "namespaces, at least one")
	flags.IntVar(&r.Shape.AttachmentsPerNode, "attachments-per-node", 20, "volume attachments of each node, at least one")
	must(flags.Parse(arguments))
	if r.Shape.Nodes < 2 || r.Shape.PodsPerNode < 1 || r.Shape.Namespaces < 1 || r.Shape.AttachmentsPerNode < 1 {
		log.Fatal("too small a cluster: the questions would be about what is not in it")
	}

	empty := heap()
	cluster := generate(r.Shape)
	before := heap()
	n := newNode()
	start := time.Now()
	n.populate(cluster)
	r.BuildSeconds = time.Since(start).Seconds()
	r.HeapBytes = heap() - before
	again := cluster.pods[0]
	runtime.KeepAlive(cluster)
	cluster = objects{}
	r.HeapAloneBytes = heap() - empty

	for _, row := range rows() {
		attributes := row.question.attributes()
		if got := n.authorize(attributes); got.Decision != row.expected {
			log.Fatalf("%s: %v", row.name, got)
		}
		r.Decisions = append(r.Decisions, measuring{
			Row:      row.name,
			cost:     measure(func(times int) { n.decide(attributes, times) }),
			Question: row.question,
			Decision: row.expected,
		})
	}
	r.PodAgain = measure(func(times int) {
		for range times {
			n.pods.handler.OnAdd(again, false)
		}
	})
	runtime.KeepAlive(n)
	return r
}

func (n *node) populate(cluster objects) {
	for _, pod := range cluster.pods {
		n.pods.handler.OnAdd(pod, false)
	}
	for _, volume := range cluster.volumes {
		n.volumes.handler.OnAdd(volume, false)
	}
	for _, attachment := range cluster.attachments {
		n.attachments.handler.OnAdd(attachment, false)
	}
	for _, slice := range cluster.slices {
		n.slices.handler.OnAdd(slice, false)
	}
}

func (n *node) decide(attributes authorizer.Attributes, times int) {
	ctx := context.Background()
	for range times {
		_, _, err := n.authorizer.Authorize(ctx, attributes)
		must(err)
	}
}

// rows are the questions. Everybody who compares himself asks the same ones, in the name of node0.
func rows() []row {
	get := func(group, resource, namespace, name string) question {
		return question{Verb: "get", Group: group, Resource: resource, Namespace: namespace, Name: name}
	}
	own := []term{{"spec.nodeName", "=", "node0"}}
	lease := question{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: "kube-node-lease", Name: "node0"}
	rows := []row{
		{"allowed secret via pod", "allow", get("", "secrets", "ns0", "secret0-pod0-node0")},
		{"allowed shared secret", "allow", get("", "secrets", "ns0", "secret0-shared")},
		{"allowed configmap", "allow", get("", "configmaps", "ns0", "configmap0-pod0-node0")},
		{"allowed pvc", "allow", get("", "persistentvolumeclaims", "ns0", "pvc0-pod0-node0")},
		{"allowed pv", "allow", get("", "persistentvolumes", "", "pv0-pod0-node0-ns0")},
		{"allowed pv secret", "allow", get("", "secrets", "ns0", "secret-pv0-pod0-node0-ns0")},
		{"foreign secret refused", "noopinion", get("", "secrets", "ns0", "secret0-pod0-node1")},
		{"unknown secret refused", "noopinion", get("", "secrets", "ns0", "secret0-unknown")},
		{"allowed attachment", "allow", get("storage.k8s.io", "volumeattachments", "", "attachment0-node0")},
		{"foreign attachment refused", "noopinion", get("storage.k8s.io", "volumeattachments", "", "attachment0-node1")},
		{"own pod get", "allow", get("", "pods", "ns0", "pod0-node0")},
		{"pods list with selector", "allow", question{Verb: "list", Resource: "pods", Fields: own}},
		{"lease update", "allow", lease},
		{"node status patch", "allow", question{Verb: "patch", Resource: "nodes", Subresource: "status", Name: "node0"}},
	}
	for i := range rows {
		q := &rows[i].question
		q.Op = "authorize"
		q.User = "system:node:node0"
		q.Groups = []string{"system:nodes", "system:authenticated"}
		q.Version = "v1"
	}
	return rows
}
