// The oracle tells how kube-apiserver reads a request. It answers every line on standard input, a JSON object with a
// method and a target, with one line on standard output: the RequestInfo that k8s.io/apiserver makes of it and the
// selector terms that an authorizer would see, or why there is no reading. e2e/readings.rs compares the gate with it.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

type question struct {
	Method string `json:"method"`
	Target string `json:"target"`
}

type answer struct {
	Error       string `json:"error"`
	Verb        string `json:"verb"`
	IsResource  bool   `json:"isResource"`
	Path        string `json:"path"`
	Group       string `json:"group"`
	Version     string `json:"version"`
	Namespace   string `json:"namespace"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Name        string `json:"name"`
	Fields      []term `json:"fields"`
	Labels      []term `json:"labels"`
}

type term struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

var factory = &request.RequestInfoFactory{
	APIPrefixes:          sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api"),
}

func main() {
	// It would write a line for every list option that does not decode.
	flags := flag.NewFlagSet("klog", flag.ExitOnError)
	klog.InitFlags(flags)
	must(flags.Parse([]string{"--logtostderr=false", "--alsologtostderr=false", "--stderrthreshold=FATAL"}))
	klog.SetOutput(io.Discard)
	// On and locked since 1.34; before that somebody could have turned it off.
	must(utilfeature.DefaultMutableFeatureGate.Set("AuthorizeWithSelectors=true"))

	out := bufio.NewWriter(os.Stdout)
	write := json.NewEncoder(out)
	read := json.NewDecoder(bufio.NewReader(os.Stdin))
	for {
		var q question
		err := read.Decode(&q)
		if errors.Is(err, io.EOF) {
			break
		}
		must(err)
		must(write.Encode(ask(q)))
	}
	must(out.Flush())
}

func ask(q question) answer {
	target, err := url.ParseRequestURI(q.Target)
	if err != nil {
		return answer{Error: err.Error()}
	}
	info, err := factory.NewRequestInfo(&http.Request{Method: q.Method, URL: target})
	if err != nil {
		return answer{Error: err.Error()}
	}
	a := answer{
		Verb:        info.Verb,
		IsResource:  info.IsResourceRequest,
		Path:        info.Path,
		Group:       info.APIGroup,
		Version:     info.APIVersion,
		Namespace:   info.Namespace,
		Resource:    info.Resource,
		Subresource: info.Subresource,
		Name:        info.Name,
		Fields:      []term{},
		Labels:      []term{},
	}
	// An authorizer sees a selector that does not parse as no terms.
	if selector, err := fields.ParseSelector(info.FieldSelector); err == nil {
		for _, r := range selector.Requirements() {
			a.Fields = append(a.Fields, term{r.Field, string(r.Operator), []string{r.Value}})
		}
	}
	if selector, err := labels.Parse(info.LabelSelector); err == nil {
		requirements, _ := selector.Requirements()
		for _, r := range requirements {
			a.Labels = append(a.Labels, term{r.Key(), string(r.Operator()), r.Values().List()})
		}
	}
	return a
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
