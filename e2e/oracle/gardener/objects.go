package main

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/client/kubernetes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// What there is in the cluster, for those parts of Gardener that read objects. It stands for the caches that a real one reads from, and
// answers as they do. The client of controller-runtime that is made for tests would not do: it has rules of its own about
// which objects there can be, such as none with a time of deletion and no finalizer.
type objects struct {
	// Nothing but reading is meant to happen; everything else panics.
	client.Client
	all map[schema.GroupKind]map[client.ObjectKey]client.Object
}

func newObjects() *objects {
	return &objects{all: map[schema.GroupKind]map[client.ObjectKey]client.Object{}}
}

// Strict, since an object with a field misspelt would be another one than is meant.
var decoder = serializer.NewCodecFactory(kubernetes.GardenScheme, serializer.EnableStrict).UniversalDeserializer()

func decode(raw []byte) client.Object {
	object, kind, err := decoder.Decode(raw, nil, nil)
	must(err)
	// Objects of types that are registered lose it on the way.
	object.GetObjectKind().SetGroupVersionKind(*kind)
	return object.(client.Object)
}

func (o *objects) put(object client.Object) (before client.Object, there bool) {
	kind, key := place(object)
	if o.all[kind] == nil {
		o.all[kind] = map[client.ObjectKey]client.Object{}
	}
	before, there = o.all[kind][key]
	o.all[kind][key] = object
	return before, there
}

func (o *objects) remove(object client.Object) (before client.Object, there bool) {
	kind, key := place(object)
	before, there = o.all[kind][key]
	delete(o.all[kind], key)
	return before, there
}

func place(object client.Object) (schema.GroupKind, client.ObjectKey) {
	return object.GetObjectKind().GroupVersionKind().GroupKind(), client.ObjectKeyFromObject(object)
}

func (o *objects) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	kind, err := apiutil.GVKForObject(into, kubernetes.GardenScheme)
	if err != nil {
		return err
	}
	found, there := o.all[kind.GroupKind()][key]
	if !there {
		// In the words of a cache, which knows kinds and no resources.
		return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, key.Name)
	}
	return fill(into, found)
}

func (o *objects) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	kind, err := apiutil.GVKForObject(into, kubernetes.GardenScheme)
	if err != nil {
		return err
	}
	kind.Kind = kind.Kind[:len(kind.Kind)-len("List")]
	var found []runtime.Object
	// A cache has no order. Here there is one, so that whoever stops at the first is asked the same twice.
	kept := o.all[kind.GroupKind()]
	for _, key := range slices.SortedFunc(maps.Keys(kept), compare) {
		found = append(found, kept[key].DeepCopyObject())
	}
	return meta.SetList(into, found)
}

func compare(a, b client.ObjectKey) int { return strings.Compare(a.String(), b.String()) }

func fill(into, from client.Object) error {
	if loose, ok := into.(*unstructured.Unstructured); ok {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(from)
		loose.Object = fields
		return err
	}
	target, source := reflect.ValueOf(into), reflect.ValueOf(from.DeepCopyObject())
	if target.Type() != source.Type() {
		return fmt.Errorf("there is a %s, but a %s was asked for", source.Type(), target.Type())
	}
	target.Elem().Set(source.Elem())
	return nil
}
