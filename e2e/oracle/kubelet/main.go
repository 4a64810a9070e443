// The hollow kubelet joins a cluster as a real one does: with a bootstrap token, and with certificates that it asks for and
// rotates. kubemark starts its kubelets past all of that. Here kubemark's hollow parts (containers, mounts and cgroups that
// are none) are handed to the kubelet's own start.
//
//	kubelet --name=NODE --bootstrap-kubeconfig=FILE --port=PORT
//
// The kubeconfig, certificates and the socket of the runtime go to TMPDIR; the root folder is one that kubemark makes up and logs.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"path/filepath"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/record"
	fakeremote "k8s.io/cri-client/pkg/fake"
	"k8s.io/klog/v2"
	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubemark"
)

func main() {
	klog.InitFlags(nil)
	name := flag.String("name", "", "the node")
	bootstrap := flag.String("bootstrap-kubeconfig", "", "a kubeconfig with a bootstrap token")
	port := flag.Int("port", 0, "where the kubelet listens")
	flag.Parse()
	if err := run(context.Background(), *name, *bootstrap, *port); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, name, bootstrap string, port int) error {
	endpoint := "unix://" + filepath.Join(os.TempDir(), "runtime.sock")
	runtime := fakeremote.NewFakeRemoteRuntime()
	if err := runtime.Start(endpoint); err != nil {
		return err
	}
	defer runtime.Stop()
	flags, config := configuration(name, port, endpoint)
	flags.BootstrapKubeconfig = bootstrap
	// The services and clients are made by the kubelet's own start.
	hollow := kubemark.NewHollowKubelet(flags, config, nil, nil, &cadvisortest.Fake{NodeName: name}, nil, nil,
		cm.NewStubContainerManager())
	parts := hollow.KubeletDeps
	// A nil of a concrete type is not a nil interface.
	parts.KubeClient, parts.HeartbeatClient = nil, nil
	// Whoever records events also watches the kernel's log, which not everybody may.
	if log, err := os.Open("/dev/kmsg"); err == nil {
		log.Close()
		parts.Recorder = nil
	} else {
		parts.Recorder = &record.FakeRecorder{}
	}
	tls, err := kubeletapp.InitializeTLS(ctx, flags, config)
	if err != nil {
		return err
	}
	parts.TLSOptions = tls
	server := &options.KubeletServer{KubeletFlags: *flags, KubeletConfiguration: *config}
	return kubeletapp.Run(ctx, server, parts, utilfeature.DefaultFeatureGate)
}

// kubemark's, as far as the kubelet's own start accepts it, with certificates that are asked for.
func configuration(name string, port int, endpoint string) (*options.KubeletFlags, *kubeletconfig.KubeletConfiguration) {
	flags, config := kubemark.GetHollowKubeletConfig(&kubemark.HollowKubeletOptions{
		NodeName:    name,
		KubeletPort: port,
		MaxPods:     110,
	})
	flags.KubeConfig = filepath.Join(os.TempDir(), "kubeconfig")
	flags.CertDirectory = filepath.Join(os.TempDir(), "pki")
	config.Address = "127.0.0.1"
	config.HealthzPort = 0
	config.ContainerRuntimeEndpoint = endpoint
	config.ImageServiceEndpoint = ""
	config.KubeletCgroups = ""
	config.EnforceNodeAllocatable = nil
	config.FailCgroupV1 = false
	config.FailSwapOn = false
	config.RotateCertificates = true
	config.ServerTLSBootstrap = true
	return flags, config
}
