// The cluster that is measured over, the one of upstream's own benchmark of the Node authorizer. Nothing in it is left to
// chance, so that others can build the same. Counting from 0, node N is called nodeN, and each has
//
//	podP-nodeN in namespace ns(P mod namespaces), bound to nodeN, with the service account svcacctP-nodeN and four volumes:
//	    the secret           secret0-podP-nodeN
//	    the secret           secret0-shared, of which there is one in each namespace
//	    the config map       configmap0-podP-nodeN
//	    the volume claim     pvc0-podP-nodeN
//	pv0-podP-nodeN-NAMESPACE for each of these pods, a flexVolume with the secret secret-pv0-podP-nodeN-NAMESPACE, which
//	    names no namespace of its own, and claimed by pvc0-podP-nodeN in the pod's namespace
//	attachmentA-nodeN, attached to nodeN
//	slice0-nodeN, a resource slice of nodeN
//
// All pods come first, node by node, then the volumes in the order of the pods, then the attachments and then the slices.
package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type shape struct {
	Nodes              int `json:"nodes"`
	PodsPerNode        int `json:"podsPerNode"`
	Namespaces         int `json:"namespaces"`
	AttachmentsPerNode int `json:"attachmentsPerNode"`
}

type objects struct {
	pods        []*corev1.Pod
	volumes     []*corev1.PersistentVolume
	attachments []*storagev1.VolumeAttachment
	slices      []*resourcev1.ResourceSlice
}

func generate(s shape) objects {
	var all objects
	for n := range s.Nodes {
		node := fmt.Sprintf("node%d", n)
		for p := range s.PodsPerNode {
			namespace := fmt.Sprintf("ns%d", p%s.Namespaces)
			pod := generatePod(fmt.Sprintf("pod%d-%s", p, node), namespace, node, fmt.Sprintf("svcacct%d-%s", p, node))
			all.pods = append(all.pods, pod)
			all.volumes = append(all.volumes, generateVolume(pod))
		}
		for a := range s.AttachmentsPerNode {
			all.attachments = append(all.attachments, &storagev1.VolumeAttachment{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("attachment%d-%s", a, node)},
				Spec:       storagev1.VolumeAttachmentSpec{NodeName: node},
			})
		}
		all.slices = append(all.slices, &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: "slice0-" + node},
			Spec:       resourcev1.ResourceSliceSpec{NodeName: &node},
		})
	}
	return all
}

func generatePod(name, namespace, node, account string) *corev1.Pod {
	secret := func(name string) corev1.VolumeSource {
		return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}
	}
	config := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "configmap0-" + name}}
	claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "pvc0-" + name}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			NodeName:           node,
			ServiceAccountName: account,
			Volumes: []corev1.Volume{
				{VolumeSource: secret("secret0-" + name)},
				{VolumeSource: secret("secret0-shared")},
				{VolumeSource: corev1.VolumeSource{ConfigMap: config}},
				{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}},
			},
		},
	}
}

func generateVolume(pod *corev1.Pod) *corev1.PersistentVolume {
	name := fmt.Sprintf("pv0-%s-%s", pod.Name, pod.Namespace)
	flex := &corev1.FlexPersistentVolumeSource{SecretRef: &corev1.SecretReference{Name: "secret-" + name}}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeSource: corev1.PersistentVolumeSource{FlexVolume: flex},
			ClaimRef:               &corev1.ObjectReference{Namespace: pod.Namespace, Name: "pvc0-" + pod.Name},
		},
	}
}
