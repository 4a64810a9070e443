package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"time"

	seedrestriction "github.com/gardener/gardener/pkg/admissioncontroller/webhook/admission/seedrestriction"
	seedauthorizer "github.com/gardener/gardener/pkg/admissioncontroller/webhook/auth/seed"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/utils/graph"
	authorizerwebhook "github.com/gardener/gardener/pkg/webhook/authorizer"
	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// A garden cluster as far as Gardener's code here can see it.
type garden struct {
	objects     *objects
	informers   *informertest.FakeInformers
	graph       graph.Interface
	debug       http.HandlerFunc
	authorizer  authorizer.Authorizer
	restriction *admission.Webhook
	// How long the graph was told of events.
	telling time.Duration
}

func newGarden() *garden {
	quiet := logr.Discard()
	objects := newObjects()
	informers := &informertest.FakeInformers{Scheme: kubernetes.GardenScheme}
	resources := graph.New(quiet, objects, false)
	must(resources.Setup(context.Background(), informers))
	recoverPanic := true
	return &garden{
		objects:    objects,
		informers:  informers,
		graph:      resources,
		debug:      graph.NewDebugHandler(resources),
		authorizer: seedauthorizer.NewAuthorizer(quiet, resources, selectors{}),
		// As Gardener registers it, so that a panic is answered as it is there.
		restriction: &admission.Webhook{
			Handler: &seedrestriction.Handler{
				Logger:  quiet,
				Client:  objects,
				Decoder: admission.NewDecoder(kubernetes.GardenScheme),
			},
			RecoverPanic: &recoverPanic,
		},
	}
}

// Every kube-apiserver that is compared with tells its authorizers the selectors.
type selectors struct{}

func (selectors) IsPossible() (bool, error) { return true, nil }

type nothing struct {
	Panic string `json:"panic,omitempty"`
}

func (g *garden) apply(raw []byte) nothing {
	object := decode(raw)
	before, there := g.objects.put(object)
	return g.tell(object, func(informer *controllertest.FakeInformer) {
		if there {
			informer.Update(before, object)
		} else {
			informer.Add(object)
		}
	})
}

func (g *garden) delete(raw []byte) nothing {
	object, there := g.objects.remove(decode(raw))
	if !there {
		log.Fatalf("there is nothing to delete: %s", raw)
	}
	return g.tell(object, func(informer *controllertest.FakeInformer) { informer.Delete(object) })
}

// Tells the graph about an event, if it watches that kind.
func (g *garden) tell(object client.Object, event func(*controllertest.FakeInformer)) (answer nothing) {
	kind := object.GetObjectKind().GroupVersionKind()
	for watched, informer := range g.informers.InformersByGVK {
		if watched.GroupKind() != kind.GroupKind() {
			continue
		}
		if watched != kind {
			log.Fatalf("the graph watches %s as %s", kind.Kind, watched.GroupVersion())
		}
		defer func() {
			if reason := recover(); reason != nil {
				answer.Panic = fmt.Sprint(reason)
			}
		}()
		stop := g.clock()
		event(informer.(*controllertest.FakeInformer))
		stop()
	}
	return answer
}

type decision struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

var decisions = map[authorizer.Decision]string{
	authorizer.DecisionAllow:     "allow",
	authorizer.DecisionDeny:      "deny",
	authorizer.DecisionNoOpinion: "noopinion",
}

// Through a SubjectAccessReview, as kube-apiserver asks: selectors change a little on that way.
func (q question) attributes() authorizer.Attributes {
	review := authorizationv1.SubjectAccessReviewSpec{User: q.User, Groups: q.Groups}
	if q.Path != "" {
		review.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: q.Path, Verb: q.Verb}
	} else {
		review.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Namespace: q.Namespace, Verb: q.Verb, Group: q.Group, Version: q.Version,
			Resource: q.Resource, Subresource: q.Subresource, Name: q.Name,
			LabelSelector: &authorizationv1.LabelSelectorAttributes{RawSelector: q.LabelSelector},
			FieldSelector: &authorizationv1.FieldSelectorAttributes{RawSelector: q.FieldSelector},
		}
	}
	attributes := authorizerwebhook.AuthorizationAttributesFrom(review)
	must(attributes.LabelSelectorParsingErr)
	must(attributes.FieldSelectorParsingErr)
	return attributes
}

func (g *garden) authorize(q question) decision {
	answer, reason, err := g.authorizer.Authorize(context.Background(), q.attributes())
	must(err)
	name, ok := decisions[answer]
	if !ok {
		log.Fatalf("there is no name for the decision %v", answer)
	}
	return decision{name, reason}
}

type admitted struct {
	Allowed bool   `json:"allowed"`
	Code    int32  `json:"code"`
	Message string `json:"message"`
}

func (g *garden) admit(q question) admitted {
	response := g.restriction.Handle(context.Background(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UserInfo:  authenticationv1.UserInfo{Username: q.User, Groups: q.Groups},
		Operation: admissionv1.Operation(q.Operation),
		Resource:  metav1.GroupVersionResource{Group: q.Group, Version: q.Version, Resource: q.Resource},
		Kind:      metav1.GroupVersionKind{Group: q.Group, Version: q.Version, Kind: q.Kind},
		Namespace: q.Namespace,
		Name:      q.Name,
		Object:    runtime.RawExtension{Raw: q.Object},
	}})
	return admitted{response.Allowed, response.Result.Code, response.Result.Message}
}
