// What Gardener's code costs, so that the gate can be measured over the same garden in the same run.
package main

import (
	"context"
	"encoding/json"
	"log"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"

	"github.com/gardener/gardener/pkg/utils/graph"
)

type timed struct {
	cost
	// What is answered each time.
	Answer any `json:"answer"`
}

// Only what Gardener does itself is in it: the question is read before.
func (g *garden) time(q question) timed {
	switch q.Op {
	case "authorize":
		ctx, attributes := context.Background(), q.attributes()
		return timed{measure(func(times int) {
			for range times {
				_, _, err := g.authorizer.Authorize(ctx, attributes)
				must(err)
			}
		}), g.authorize(q)}
	case "path":
		kind := vertexType(q.Kind)
		return timed{measure(func(times int) {
			for range times {
				g.graph.HasPathFrom(kind, q.Namespace, q.Name, graph.VertexTypeSeed, "", q.Seed)
			}
		}), g.path(q)}
	}
	log.Fatalf("%q cannot be timed", q.Op)
	return timed{}
}

// Tells the graph of updates, over and over. Each object takes the place of the last one before it that has its name.
func (g *garden) timeUpdates(raw []json.RawMessage) timed {
	type update struct{ before, after metav1.Object }
	updates := make([]update, len(raw))
	latest := map[string]metav1.Object{}
	var informer *controllertest.FakeInformer
	// Twice, so that the first ones come after the last.
	for range 2 {
		for i, raw := range raw {
			object := updates[i].after
			if object == nil {
				decoded := decode(raw)
				g.tell(decoded, func(found *controllertest.FakeInformer) { informer = found })
				object = decoded
			}
			name := object.GetNamespace() + "/" + object.GetName()
			updates[i] = update{latest[name], object}
			latest[name] = object
		}
	}
	next := 0
	return timed{cost: measure(func(times int) {
		for range times {
			informer.Update(updates[next].before, updates[next].after)
			next = (next + 1) % len(updates)
		}
	})}
}

type spent struct {
	// In the event handlers of the graph, for what was applied.
	Seconds float64 `json:"seconds"`
	// All that is reachable, which is the graph but for little.
	HeapBytes int64 `json:"heapBytes"`
}

func (g *garden) spend() spent {
	*g.objects = *newObjects()
	return spent{g.telling.Seconds(), heap()}
}

// Adds the time until the returned function is called.
func (g *garden) clock() func() {
	start := time.Now()
	return func() { g.telling += time.Since(start) }
}
