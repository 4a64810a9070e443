package main

import (
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sort"
	"strings"

	"github.com/gardener/gardener/pkg/utils/graph"
)

type reach struct {
	Vertex bool `json:"vertex"`
	Path   bool `json:"path"`
}

func (g *garden) path(q question) reach {
	kind := vertexType(q.Kind)
	return reach{
		g.graph.HasVertex(kind, q.Namespace, q.Name),
		g.graph.HasPathFrom(kind, q.Namespace, q.Name, graph.VertexTypeSeed, "", q.Seed),
	}
}

func vertexType(kind string) graph.VertexType {
	for number, vertex := range graph.VertexTypes {
		if vertex.Kind == kind {
			return number
		}
	}
	log.Fatalf("the graph has no vertices of kind %q", kind)
	return 0
}

func (g *garden) page(query string) string {
	answer := httptest.NewRecorder()
	g.debug(answer, httptest.NewRequest(http.MethodGet, graph.DebugHandlerPath+"?"+query, nil))
	return answer.Body.String()
}

var tag = regexp.MustCompile(`<[^>]*>`)

// The graph keeps its edges to itself; the debug page is the one place that shows them.
func (g *garden) edges() map[string][]string {
	edges := []string{}
	var vertex string
	var outgoing bool
	// The page shows no more than the seeds of a large graph, unless it is asked for something else, so each kind is asked for.
	for _, kind := range graph.VertexTypes {
		for _, line := range strings.Split(g.page("kind="+kind.Kind), "<br />") {
			line = strings.TrimSpace(strings.ReplaceAll(tag.ReplaceAllString(line, ""), "&nbsp;", " "))
			line = strings.TrimSpace(strings.TrimPrefix(line, "|"))
			switch {
			case strings.HasPrefix(line, "# "):
				vertex = strings.TrimPrefix(line, "# ")
			case strings.HasPrefix(line, "<-"):
				outgoing = false
			case strings.HasPrefix(line, "->"):
				outgoing = true
			case line != "" && outgoing && !strings.HasPrefix(line, "---"):
				edges = append(edges, vertex+" -> "+line)
			}
		}
		outgoing = false
	}
	sort.Strings(edges)
	return map[string][]string{"edges": edges}
}
