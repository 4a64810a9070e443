//! The example of docs/acting-as.md, as people copy it.

use serde_json::json;

use super::cluster;
use crate::{
    graph::{admin_client, created},
    page,
};

#[tokio::test]
async fn the_example_of_the_page_works() {
    let Some(cluster) = cluster().await else { return };
    // What kube-controller-manager does in a whole cluster.
    let accounts = async {
        let admin = admin_client(&cluster).await;
        for namespace in ["team", "bank"] {
            let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
            let accounts = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
            created(&admin, &accounts, &account).await;
        }
    };
    page::works(&cluster, "page", include_str!("../../docs/acting-as.md"), accounts).await;
}
