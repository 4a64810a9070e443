use test_case::test_case;

use super::*;
use crate::why::End;

/// `verb resource name`, and after a `|` the namespace and the field selector, and after another the label selector.
fn question(text: &str) -> Question {
    let (words, more) = text.split_once('|').unwrap_or((text, ""));
    let (more, labels) = more.split_once('|').unwrap_or((more, ""));
    let mut words = words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned);
    let (namespace, field_selector) = more.split_once(' ').unwrap_or((more, ""));
    Question {
        caller: "n1".to_owned(),
        verb: words.next().unwrap(),
        resource: words.next().unwrap(),
        name: words.next().unwrap_or_default(),
        namespace: namespace.to_owned(),
        field_selector: field_selector.to_owned(),
        label_selector: labels.to_owned(),
    }
}

fn read(text: &str) -> Result<String, String> {
    let asked = question(text).parse().map_err(|unclear| unclear.to_string())?;
    assert_eq!(asked.asker.end, End::Node("n1".to_owned()));
    let Target::Resource(request) = &asked.info.target else {
        panic!("{:?}", asked.info)
    };
    let fields = request.selectors.fields.iter();
    let fields: Vec<String> = fields.map(ToString::to_string).collect();
    let labels: Vec<String> = request.selectors.labels.iter().map(ToString::to_string).collect();
    Ok(format!(
        "{} {request} {} {}",
        asked.info.verb,
        fields.join(","),
        labels.join(",")
    )
    .trim_end()
    .to_owned())
}

#[test_case("get secret s1" => "get secrets default/s1"; "in the namespace that kubectl takes")]
#[test_case("get secrets s1|shop" => "get secrets shop/s1"; "in another")]
#[test_case("list secret s1|shop" => "list secrets shop/s1 metadata.name=s1"; "list of one")]
#[test_case("watch cm c1" => "watch configmaps default/c1 metadata.name=c1"; "watch of one")]
#[test_case("list po" => "list pods"; "list of all namespaces")]
#[test_case("watch po| spec.nodeName=n1" => "watch pods spec.nodeName=n1"; "with a selector")]
#[test_case("list po web|shop spec.nodeName=n1" => "list pods shop/web metadata.name=web,spec.nodeName=n1"; "with a selector and a name")]
#[test_case("list pods| metadata.name=web" => "list pods web metadata.name=web"; "name in the selector")]
#[test_case("deletecollection resourceslices| spec.nodeName=n1" => "deletecollection resourceslices.resource.k8s.io spec.nodeName=n1"; "delete of many")]
#[test_case("get pv v1" => "get persistentvolumes v1"; "without a namespace")]
#[test_case("patch po/status web" => "patch pods/status default/web"; "subresource")]
#[test_case("create sa/token builder|ci" => "create serviceaccounts/token ci/builder"; "create of a subresource")]
#[test_case("create pods web|shop" => "create pods shop/"; "what is created is named in the body")]
#[test_case("update leases n1|kube-node-lease" => "update leases.coordination.k8s.io kube-node-lease/n1"; "group")]
#[test_case("get ns shop" => "get namespaces shop/shop"; "a namespace is in itself")]
#[test_case("list shoots||name.seed.gardener.cloud/a=true,x in (b,a),!y,z" => "list shoots.core.gardener.cloud  name.seed.gardener.cloud/a=true,x in (a,b),!y,z"; "with a label selector")]
#[test_case("get shoot s|garden-p1" => "get shoots.core.gardener.cloud garden-p1/s"; "of a garden")]
#[test_case("get widgets.example.com w1" => "get widgets.example.com w1"; "unknown and without a namespace")]
#[test_case("get widgets.example.com w1|shop" => "get widgets.example.com shop/w1"; "unknown and with a namespace")]
fn questions_become_requests(text: &str) -> String {
    read(text).unwrap()
}

#[test_case("get secrets" => "get is about one object and needs its name; list is about many")]
#[test_case("delete pods" => "delete needs a name")]
#[test_case("create sa/token" => "create of a subresource needs the name of the object")]
#[test_case("deletecollection pods web" => "deletecollection takes no name; delete is about one object")]
#[test_case("list pods/status" => "list is not for subresources")]
#[test_case("get pods web| spec.nodeName=n1" => "only list, watch and deletecollection take a field selector")]
#[test_case("list pods| spec.nodeName" => "the field selector \"spec.nodeName\" cannot be read; they are like spec.nodeName=node-a,metadata.name=web")]
#[test_case("get shoots s||a=b" => "only list, watch and deletecollection take a label selector")]
#[test_case("list shoots||a in" => "the label selector \"a in\" cannot be read; they are like app=web,name.seed.gardener.cloud/seed-a=true")]
#[test_case("get pv v1|shop" => "persistentvolumes have no namespace")]
#[test_case("read pods web" => "\"read\" is no verb; one of get, list, watch, create, update, patch, delete, deletecollection")]
#[test_case("get secrest s1" => "the rules know no resource \"secrest\"; did you mean secrets?")]
#[test_case("get secrets ../s1" => "the path segment \"%2E%2E%2Fs1\" hides a separator or control character")]
#[test_case("get secrets .." => "the path segment \"%2E%2E\" is empty or a dot segment")]
#[test_case("list secrets s=1" => "no request says this"; "a name that no selector can pin")]
fn unclear_questions_are_not_answered(text: &str) -> String {
    read(text).unwrap_err()
}

#[test_case("events" => "who can read events does not depend on what refers to it; ask about one of configmaps, endpoints, persistentvolumeclaims, persistentvolumes, pods, secrets, serviceaccounts, certificatesigningrequests, podcertificaterequests, resourceclaims, resourceslices, volumeattachments, or of seeds, namespaces, leases, backupbuckets, backupentries, cloudprofiles, controllerdeployments, controllerinstallations, controllerregistrations, exposureclasses, internalsecrets, namespacedcloudprofiles, projects, secretbindings, seeds, shoots, shootstates, bastions, clusterrolebindings, credentialsbindings, workloadidentities, gardenlets, managedseeds"; "by name")]
#[test_case("pods/status" => "who can read pods/status does not depend on what refers to it; ask about one of configmaps, endpoints, persistentvolumeclaims, persistentvolumes, pods, secrets, serviceaccounts, certificatesigningrequests, podcertificaterequests, resourceclaims, resourceslices, volumeattachments, or of seeds, namespaces, leases, backupbuckets, backupentries, cloudprofiles, controllerdeployments, controllerinstallations, controllerregistrations, exposureclasses, internalsecrets, namespacedcloudprofiles, projects, secretbindings, seeds, shoots, shootstates, bastions, clusterrolebindings, credentialsbindings, workloadidentities, gardenlets, managedseeds"; "subresource")]
fn who_can_is_about_the_graph(resource: &str) -> String {
    let object = Object {
        resource: resource.to_owned(),
        name: "x".to_owned(),
        ..Object::default()
    };
    object.parse().unwrap_err().to_string()
}

#[test]
fn a_question_survives_its_query() {
    let asked = question("list po a&b=c|shöp spec.nodeName=n 1,x!=%|a=b&c");
    let query = Query::parse(&asked.query()).unwrap();
    assert_eq!(Question::read(&query), asked);
    let old = Query::parse("node=n1&verb=get").unwrap();
    assert_eq!(Question::read(&old).caller, "n1", "callers were nodes once");
}
