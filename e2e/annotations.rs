//! Validated annotations, before a real kube-apiserver with RBAC: the proposal's story, for every kind that pods are made from and
//! every way to write it. `carol` may do anything with pods and workloads, but may not use `kerberos=app`; `dave` may do that too.

mod bad;
mod nodes;
mod policy;
mod races;
mod sessions;
mod world;
mod writes;
