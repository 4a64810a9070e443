//! Pod, as far as it refers to other objects, and what is asked for a pod.

use super::{
    Kind, METADATA, Message, PRESENT, closed, field, inline, message, messages, meta::DELETE_OPTIONS, open, text,
};

pub static POD: Message = open(&[METADATA, message(2, "spec", &SPEC), message(3, "status", &STATUS)]);

/// Of policy/v1 and v1beta1, which are alike.
pub static EVICTION: Message = open(&[METADATA, message(2, "deleteOptions", &DELETE_OPTIONS)]);

/// Of authentication.k8s.io/v1.
pub static TOKEN_REQUEST: Message = open(&[METADATA, message(2, "spec", &TOKEN_REQUEST_SPEC)]);

static SPEC: Message = open(&[
    messages(1, "volumes", &VOLUME),
    messages(2, "containers", &CONTAINER),
    text(8, "serviceAccountName"),
    text(9, "serviceAccount"),
    text(10, "nodeName"),
    messages(15, "imagePullSecrets", &LOCAL_OBJECT_REFERENCE),
    messages(20, "initContainers", &CONTAINER),
    messages(34, "ephemeralContainers", &EPHEMERAL_CONTAINER),
    messages(39, "resourceClaims", &RESOURCE_CLAIM),
]);

static STATUS: Message = open(&[
    messages(15, "resourceClaimStatuses", &RESOURCE_CLAIM_STATUS),
    message(18, "extendedResourceClaimStatus", &EXTENDED_RESOURCE_CLAIM_STATUS),
]);

static RESOURCE_CLAIM: Message = closed(&[
    text(1, "name"),
    text(3, "resourceClaimName"),
    text(4, "resourceClaimTemplateName"),
]);

static RESOURCE_CLAIM_STATUS: Message = closed(&[text(1, "name"), text(2, "resourceClaimName")]);

static EXTENDED_RESOURCE_CLAIM_STATUS: Message = closed(&[
    messages(1, "requestMappings", &REQUEST_MAPPING),
    text(2, "resourceClaimName"),
]);

static REQUEST_MAPPING: Message = closed(&[
    text(1, "containerName"),
    text(2, "resourceName"),
    text(3, "requestName"),
]);

static CONTAINER: Message = open(&[messages(7, "env", &ENV_VAR), messages(19, "envFrom", &ENV_FROM_SOURCE)]);

/// What it has in common with a container has the same numbers.
static EPHEMERAL_CONTAINER: Message = open(&[inline(1, &CONTAINER)]);

static ENV_VAR: Message = open(&[message(3, "valueFrom", &ENV_VAR_SOURCE)]);

static ENV_VAR_SOURCE: Message = open(&[
    message(3, "configMapKeyRef", &INLINE_REFERENCE),
    message(4, "secretKeyRef", &INLINE_REFERENCE),
]);

static ENV_FROM_SOURCE: Message = open(&[
    message(2, "configMapRef", &INLINE_REFERENCE),
    message(3, "secretRef", &INLINE_REFERENCE),
]);

static LOCAL_OBJECT_REFERENCE: Message = open(&[text(1, "name")]);

/// Begins with a reference, and so has its name.
static INLINE_REFERENCE: Message = open(&[inline(1, &LOCAL_OBJECT_REFERENCE)]);

static VOLUME: Message = open(&[text(1, "name"), inline(2, &VOLUME_SOURCE)]);

static VOLUME_SOURCE: Message = closed(&[
    message(1, "hostPath", &PRESENT),
    message(2, "emptyDir", &PRESENT),
    message(3, "gcePersistentDisk", &PRESENT),
    message(4, "awsElasticBlockStore", &PRESENT),
    message(5, "gitRepo", &PRESENT),
    message(6, "secret", &SECRET_NAME),
    message(7, "nfs", &PRESENT),
    message(8, "iscsi", &ISCSI),
    message(9, "glusterfs", &PRESENT),
    message(10, "persistentVolumeClaim", &CLAIM),
    message(11, "rbd", &RBD),
    message(12, "flexVolume", &FLEX_VOLUME),
    message(13, "cinder", &CINDER),
    message(14, "cephfs", &CEPHFS),
    message(15, "flocker", &PRESENT),
    message(16, "downwardAPI", &PRESENT),
    message(17, "fc", &PRESENT),
    message(18, "azureFile", &SECRET_NAME),
    message(19, "configMap", &INLINE_REFERENCE),
    message(20, "vsphereVolume", &PRESENT),
    message(21, "quobyte", &PRESENT),
    message(22, "azureDisk", &PRESENT),
    message(23, "photonPersistentDisk", &PRESENT),
    message(24, "portworxVolume", &PRESENT),
    message(25, "scaleIO", &SCALE_IO),
    message(26, "projected", &PROJECTED),
    message(27, "storageos", &STORAGE_OS),
    message(28, "csi", &CSI),
    message(29, "ephemeral", &EPHEMERAL),
    message(30, "image", &PRESENT),
]);

static SECRET_NAME: Message = open(&[text(1, "secretName")]);
static CLAIM: Message = open(&[text(1, "claimName")]);
static ISCSI: Message = open(&[message(10, "secretRef", &LOCAL_OBJECT_REFERENCE)]);
static RBD: Message = open(&[message(7, "secretRef", &LOCAL_OBJECT_REFERENCE)]);
static FLEX_VOLUME: Message = open(&[message(3, "secretRef", &LOCAL_OBJECT_REFERENCE)]);
static CINDER: Message = open(&[message(4, "secretRef", &LOCAL_OBJECT_REFERENCE)]);
static CEPHFS: Message = open(&[message(5, "secretRef", &LOCAL_OBJECT_REFERENCE)]);
static SCALE_IO: Message = open(&[message(3, "secretRef", &LOCAL_OBJECT_REFERENCE)]);
static STORAGE_OS: Message = open(&[message(5, "secretRef", &LOCAL_OBJECT_REFERENCE)]);
static CSI: Message = open(&[
    text(1, "driver"),
    message(5, "nodePublishSecretRef", &LOCAL_OBJECT_REFERENCE),
]);
static EPHEMERAL: Message = open(&[message(1, "volumeClaimTemplate", &PRESENT)]);
static PROJECTED: Message = open(&[messages(1, "sources", &VOLUME_PROJECTION)]);

static VOLUME_PROJECTION: Message = closed(&[
    message(1, "secret", &INLINE_REFERENCE),
    message(2, "downwardAPI", &PRESENT),
    message(3, "configMap", &INLINE_REFERENCE),
    message(4, "serviceAccountToken", &SERVICE_ACCOUNT_TOKEN),
    message(5, "clusterTrustBundle", &PRESENT),
    message(6, "podCertificate", &PRESENT),
]);

static SERVICE_ACCOUNT_TOKEN: Message = open(&[text(1, "audience")]);

static TOKEN_REQUEST_SPEC: Message = open(&[
    field(1, "audiences", Kind::Texts),
    message(3, "boundObjectRef", &BOUND_OBJECT_REFERENCE),
    field(4, "expirationSeconds", Kind::Int64),
]);

static BOUND_OBJECT_REFERENCE: Message =
    open(&[text(1, "kind"), text(2, "apiVersion"), text(3, "name"), text(4, "uid")]);
