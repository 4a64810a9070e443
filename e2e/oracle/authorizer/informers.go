package main

import (
	"fmt"

	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	certificatesinformers "k8s.io/client-go/informers/certificates/v1beta1"
	resourceinformers "k8s.io/client-go/informers/resource/v1"
	"k8s.io/client-go/kubernetes/scheme"
	certificateslisters "k8s.io/client-go/listers/certificates/v1beta1"
	corelisters "k8s.io/client-go/listers/core/v1"
	resourcelisters "k8s.io/client-go/listers/resource/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/auth/nodeidentifier"
	"k8s.io/kubernetes/pkg/features"
	nodeauthorizer "k8s.io/kubernetes/plugin/pkg/auth/authorizer/node"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// node is upstream's Node authorizer with all that feeds it, put together the way kube-apiserver does it.
type node struct {
	authorizer                               *nodeauthorizer.NodeAuthorizer
	pods, volumes, attachments, slices, pcrs *source
}

// source stands for an informer. There is no watch behind it: it hands on what it is given before it returns.
type source struct {
	cache.SharedIndexInformer
	handler cache.ResourceEventHandler
	known   map[name]runtime.Object
}

type name struct{ namespace, name string }

// informer makes a source pass for the informer whose lister is L. Nobody asks for the lister.
type informer[L any] struct{ source *source }

// synced is what a handler gets back for a source, which never has anything left to tell.
type synced struct {
	cache.ResourceEventHandlerRegistration
}

func newNode() *node {
	n := &node{pods: newSource(), volumes: newSource(), attachments: newSource(), slices: newSource(), pcrs: newSource()}
	// These must stay nil, not become an interface that holds nothing.
	var slices resourceinformers.ResourceSliceInformer
	if utilfeature.DefaultFeatureGate.Enabled(features.DynamicResourceAllocation) {
		slices = informer[resourcelisters.ResourceSliceLister]{n.slices}
	}
	var pcrs certificatesinformers.PodCertificateRequestInformer
	if utilfeature.DefaultFeatureGate.Enabled(features.PodCertificateRequest) {
		pcrs = informer[certificateslisters.PodCertificateRequestLister]{n.pcrs}
	}
	graph := nodeauthorizer.NewGraph()
	nodeauthorizer.AddGraphEventHandlers(
		graph,
		nil, // The graph has no use for Node objects.
		informer[corelisters.PodLister]{n.pods},
		informer[corelisters.PersistentVolumeLister]{n.volumes},
		informer[storagelisters.VolumeAttachmentLister]{n.attachments},
		slices,
		pcrs,
	)
	identifier := nodeidentifier.NewDefaultNodeIdentifier()
	n.authorizer = nodeauthorizer.NewAuthorizer(graph, identifier, bootstrappolicy.NodeRules())
	return n
}

func (n *node) apply(raw []byte) error {
	source, key, object, err := n.read(raw)
	if err != nil || source.handler == nil {
		return err
	}
	old, known := source.known[key]
	source.known[key] = object
	if known {
		source.handler.OnUpdate(old, object)
	} else {
		source.handler.OnAdd(object, false)
	}
	return nil
}

func (n *node) delete(raw []byte) error {
	source, key, _, err := n.read(raw)
	if err != nil {
		return err
	}
	// An informer is silent about what it never knew.
	if last, known := source.known[key]; known {
		delete(source.known, key)
		source.handler.OnDelete(last)
	}
	return nil
}

func (n *node) read(raw []byte) (*source, name, runtime.Object, error) {
	object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if err != nil {
		return nil, name{}, nil, err
	}
	metadata, err := meta.Accessor(object)
	if err != nil {
		return nil, name{}, nil, err
	}
	key := name{metadata.GetNamespace(), metadata.GetName()}
	switch object.(type) {
	case *corev1.Pod:
		return n.pods, key, object, nil
	case *corev1.PersistentVolume:
		return n.volumes, key, object, nil
	case *storagev1.VolumeAttachment:
		return n.attachments, key, object, nil
	case *resourcev1.ResourceSlice:
		return n.slices, key, object, nil
	case *certificatesv1beta1.PodCertificateRequest:
		return n.pcrs, key, object, nil
	}
	return nil, name{}, nil, fmt.Errorf("the graph is not made of %v", kind)
}

func newSource() *source {
	return &source{known: map[name]runtime.Object{}}
}

func (s *source) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	s.handler = handler
	return synced{}, nil
}

func (i informer[L]) Informer() cache.SharedIndexInformer { return i.source }

func (i informer[L]) Lister() L {
	var none L
	return none
}

func (synced) HasSynced() bool { return true }
