//! Puts the parts together. The one file that knows all of them.
//!
//! [`build`] loads every file and binds every socket, or fails and says why; nothing is served before. [`Bound::run`]
//! serves until it is told to stop.

mod background;
mod files;
mod operators;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context as _;
use http::Method;
use hyper::{Request, body::Incoming, service::service_fn};
use prometheus_client::registry::Registry;
use tokio::sync::oneshot;
use tracing::{info, warn};

use self::{
    background::Background,
    files::Files,
    operators::{Operators, QuarantineDesk},
};
use crate::{
    authorizer::{Fallback, SeedRules},
    config::Config,
    identity::{
        Presented,
        token::{Ask, TOKEN_REVIEWS, Tokens},
        x509::Options,
    },
    observe::{
        admin::{Admin, PROOF},
        audit,
        log::Level,
        metrics,
        page::{self, Pages, Seen},
        refusals::Refusals,
    },
    pipeline::{
        self, Connection, Pipeline, Streams,
        acting::{self, Acting},
        gardenlets::Gardenlets,
        judge::{self, Judge},
        live::Live,
        reviews::{self, REVIEWS, Reviews},
        shares::{self, Shares},
        ward::{self, Place, Ward},
        writes::{self, Writes},
    },
    ready::{Pending, Ready},
    server::{self, Limits, Peer, Server, Transport, Workers},
    threads::{Haste, Thread},
    upstream::{self, Upstream},
    watch::{self, Graph},
    why::{Known, View},
};

/// A gate that has everything it needs, and has not begun to serve.
pub struct Bound {
    serving: Server,
    workers: Arc<Workers>,
    /// Has all that keeps the graphs as upstream is.
    following: Thread,
    serving_tls: Transport,
    admin: Server,
    admin_tls: Transport,
    operators: Operators,
    admin_page: Admin,
    pipeline: Arc<Pipeline>,
    revoke_within: Duration,
    audit: audit::Writer,
    server_metrics: server::Metrics,
    upstream_reached: Pending,
    quarantine_known: Pending,
    shutdown_delay: Duration,
    drain_timeout: Duration,
    background: Background,
}

/// Longest pause between two tries to reach upstream at start.
const MAX_UPSTREAM_PAUSE: Duration = Duration::from_secs(10);
/// How long the last audit events may take to be written at the end.
const AUDIT_FLUSH: Duration = Duration::from_secs(5);
/// Probes, a scraper and a few operators.
const ADMIN_CONNECTIONS: usize = 100;
/// The admin port has nothing to drain but a probe.
const ADMIN_DRAIN: Duration = Duration::from_secs(1);

pub async fn build(config: Config, level: Level) -> anyhow::Result<Bound> {
    let server_metrics = server::Metrics::default();
    let mut files = Files {
        every: config.serving.reload_interval,
        metrics: server_metrics.clone(),
        background: Background::default(),
    };
    let options = Options {
        uid: config.features.certificate_uid,
    };
    let (serving_tls, mut authenticator) = files.tls("serving", &config.serving.tls, options).context("serving")?;
    let (admin_tls, admin_authenticator) = match &config.admin.tls {
        None => (Transport::Plain, None),
        Some(tls) => {
            let (transport, authenticator) = files.tls("admin", tls, options).context("admin")?;
            (transport, Some(authenticator))
        }
    };
    let admin_token = config.admin.token.as_deref().map(|path| files.token(path));
    let admin_token = admin_token.transpose().context("admin.tokenFile")?;
    let upstream_metrics = upstream::Metrics::default();
    let upstream = Upstream::new(
        files.upstream(config.upstream.files()).await.context("upstream")?,
        config.told_upstream(),
        config.upstream.response_timeout,
        upstream_metrics.clone(),
    );
    authenticator.tokens = config.authentication.token_review.then(|| {
        let ask = asks(&upstream, TOKEN_REVIEWS);
        Tokens::new(ask, config.authentication.token_cache_ttl)
    });

    let workers = Arc::new(Workers::start().context("cannot start threads that serve")?);
    let serving = Server::bind("serving", config.serving.address)
        .await?
        .within(config.serving.limits)
        .by(Arc::clone(&workers));
    let admin = Server::bind("admin", config.admin.address).await?.within(Limits {
        connections: ADMIN_CONNECTIONS,
        connections_per_client: ADMIN_CONNECTIONS / 2,
        ..Limits::default()
    });
    let audit_metrics = audit::Metrics::default();
    let (sink, audit) = audit::start(&config.audit, audit_metrics.clone())
        .with_context(|| format!("cannot write audit events to {}", config.audit.target))?;

    let ready = files.background.ready.clone();
    let haste = Haste::default();
    let following = Thread::start_resting("following", &haste).context("cannot start a thread for informers")?;
    let (graph, informers) = watch::start(upstream.line(), &config.graph.watch, &ready, &haste);
    let (seeds, garden_informers) = watch::start_seeds(upstream.line(), &config.graph.watch, &ready, &haste).unzip();
    for tasks in [informers].into_iter().chain(garden_informers) {
        for (name, task) in tasks.following {
            files.background.spawn_on(following.runtime(), name, task);
        }
        let (name, task) = tasks.freshness;
        files.background.spawn(name, task);
    }

    let ward_metrics = ward::Metrics::default();
    let ward = Arc::new(Ward::new(config.quarantine.open(&upstream), ward_metrics.clone()));
    if let Place::File(_) = config.quarantine {
        // Better no gate than one that has forgotten whom it must not let pass.
        ward.sync().await.context("quarantine.file")?;
    }

    let (metrics, judge_metrics) = (pipeline::Metrics::default(), judge::Metrics::default());
    let (write_metrics, review_metrics) = (writes::Metrics::default(), reviews::Metrics::default());
    let (acting_metrics, share_metrics) = (acting::Metrics::default(), shares::Metrics::default());
    let mut registry = Registry::default();
    graph.metrics().register_upstream(&mut registry);
    if let Some(seeds) = &seeds {
        seeds.metrics().register_garden(&mut registry);
        judge_metrics.register_upstream(&mut registry);
    }
    let own = metrics::own(&mut registry);
    if let Some(seeds) = &seeds {
        seeds.metrics().register(own.sub_registry_with_prefix("seeds"));
    }
    metrics.register(own);
    share_metrics.register(own);
    judge_metrics.register(own);
    write_metrics.register(own);
    let refusals = Arc::<Refusals>::default();
    let live = Live::new(config.graph.live, upstream.clone());
    live.register(own);
    review_metrics.register(own);
    acting_metrics.register(own);
    graph.metrics().register(own);
    server_metrics.register(own);
    upstream_metrics.register(own);
    audit_metrics.register(own);
    ward_metrics.register(own);

    Ok(Bound {
        serving,
        workers,
        following,
        serving_tls,
        admin,
        admin_tls,
        operators: Operators {
            authenticator: admin_authenticator,
            token: admin_token,
            ward: Arc::clone(&ward),
        },
        upstream_reached: ready.task("upstream-reached"),
        quarantine_known: ready.task("quarantine"),
        admin_page: Admin {
            ready,
            registry: Arc::new(registry),
            level,
            authorizer: Arc::new(config.authorizer.clone()),
            known: Arc::new({
                let (graph, seeds, ward) = (graph.clone(), seeds.clone(), Arc::clone(&ward));
                move || known(&graph, seeds.as_ref(), &ward)
            }),
            pages: Pages::new(
                seeds
                    .iter()
                    .map(|seeds| shown("seeds", seeds))
                    .chain([shown("nodes", &graph)])
                    .collect(),
                Arc::clone(&refusals),
            ),
            quarantine: Arc::new(QuarantineDesk(Arc::clone(&ward))),
            audit: sink.clone(),
        },
        pipeline: Arc::new(Pipeline {
            authenticator,
            acting: Acting {
                rules: config.acting_as,
                metrics: acting_metrics,
            },
            judge: Judge {
                authorizer: config.authorizer,
                ward,
                graph,
                seeds,
                gardenlets: Gardenlets::default(),
                lag_wait: config.graph.lag_wait,
                live,
                metrics: judge_metrics,
            },
            writes: Writes {
                admission: config.admission,
                metrics: write_metrics,
            },
            body_limits: config.serving.body_limits,
            shares: Shares::new(config.serving.caller_limits, share_metrics),
            reviews: Reviews::new(asks(&upstream, REVIEWS), config.reviews, review_metrics),
            upstream,
            streams: Streams::default(),
            audit: sink,
            refusals,
            metrics,
        }),
        revoke_within: config.graph.revoke_within,
        audit,
        server_metrics,
        shutdown_delay: config.serving.shutdown_delay,
        drain_timeout: config.serving.drain_timeout,
        background: files.background,
    })
}

impl Bound {
    pub fn serving_address(&self) -> SocketAddr {
        self.serving.address()
    }

    pub fn admin_address(&self) -> SocketAddr {
        self.admin.address()
    }

    /// What it still waits for before it is ready.
    pub fn ready(&self) -> Ready {
        self.admin_page.ready.clone()
    }

    /// Serves until `shutdown` resolves and what is under way has finished or run out of time. The admin port answers
    /// until the end, so that a balancer can see that the gate is leaving.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) {
        let upstream = &self.pipeline.upstream;
        let reach = reach(upstream.clone(), self.upstream_reached);
        self.background.spawn("reach", reach);
        self.background
            .spawn("upstream-health", upstream.clone().watch_health());
        let (pipeline, runtimes) = (Arc::clone(&self.pipeline), self.workers.runtimes());
        self.background
            .spawn("strain", async move { pipeline.shares.watch(runtimes).await });
        let pipeline = Arc::clone(&self.pipeline);
        self.background.spawn("stream-certificates", async move {
            pipeline.streams.watch_certificates(&pipeline.authenticator).await;
        });
        let pipeline = Arc::clone(&self.pipeline);
        self.background.spawn("stream-tokens", async move {
            pipeline.streams.watch_tokens(&pipeline.authenticator).await;
        });

        let ward = Arc::clone(&self.pipeline.judge.ward);
        let known = self.quarantine_known;
        self.background
            .spawn("quarantine", async move { ward.keep(known).await });
        let pipeline = Arc::clone(&self.pipeline);
        self.background.spawn("stream-quarantine", async move {
            pipeline.streams.watch_quarantine(&pipeline.judge.ward).await;
        });

        let pipeline = Arc::clone(&self.pipeline);
        self.background.spawn("stream-graph", async move {
            pipeline
                .streams
                .watch_graph(&pipeline.judge.graph, self.revoke_within)
                .await;
        });
        if let Some(SeedRules {
            fallback: Fallback::Upstream,
            ..
        }) = self.pipeline.judge.authorizer.seeds
        {
            let pipeline = Arc::clone(&self.pipeline);
            self.background.spawn("gardenlets", async move {
                pipeline.judge.gardenlets.watch(&pipeline.reviews).await;
            });
        }
        let pipeline = Arc::clone(&self.pipeline);
        self.background.spawn("stream-seed-graph", async move {
            match &pipeline.judge.seeds {
                Some(seeds) => pipeline.streams.watch_graph(seeds, self.revoke_within).await,
                None => std::future::pending().await,
            }
        });

        let ready = self.admin_page.ready.clone();
        let (admin_page, operators) = (self.admin_page, self.operators);
        let admin_service = move |peer: Peer| {
            let (page, operators) = (admin_page.clone(), operators.clone());
            let (presented, address) = (Presented::new(peer.certificates), peer.address);
            service_fn(move |request: Request<Incoming>| {
                let access = operators.access(&presented, &request, address);
                let (page, proof) = (page.clone(), operators.proof(&request));
                async move {
                    let mut response = page.respond(access, request).await?;
                    response.headers_mut().extend(proof.map(|proof| (PROOF, proof)));
                    Ok(response)
                }
            })
        };
        let (stop_admin, admin_stopped) = oneshot::channel::<()>();
        let admin_stopped = async { drop(admin_stopped.await) };
        let admin = self.admin.run(
            self.admin_tls,
            admin_service,
            self.server_metrics.clone(),
            admin_stopped,
            ADMIN_DRAIN,
        );
        let admin = tokio::spawn(admin);

        let pipeline = self.pipeline;
        let stopping = Arc::clone(&pipeline);
        let service = move |peer: Peer| {
            let (pipeline, connection) = (Arc::clone(&pipeline), Arc::new(Connection::new(peer)));
            service_fn(move |request: Request<Incoming>| {
                let served = Arc::clone(&pipeline).serve(Arc::clone(&connection), request);
                async move { Ok(served.await) }
            })
        };
        let mut _leaving = None;
        let shutdown = async {
            shutdown.await;
            _leaving = Some(ready.task("shutdown"));
            // Balancers need a moment to see it; until then they still send connections here.
            tokio::time::sleep(self.shutdown_delay).await;
            stopping.streams.stop();
        };
        self.serving
            .run(
                self.serving_tls,
                service,
                self.server_metrics,
                shutdown,
                self.drain_timeout,
            )
            .await;

        self.background.stop().await;
        drop(self.following);
        // The last that could still write an audit event.
        drop(stopping);
        drop(stop_admin);
        let _ = admin.await;
        let audit = self.audit;
        let flushed = tokio::task::spawn_blocking(move || audit.finish());
        if tokio::time::timeout(AUDIT_FLUSH, flushed).await.is_err() {
            warn!("the last audit events could not be written in time");
        }
        info!("stopped");
    }
}

/// What answers to operators are made from: what requests are decided from.
fn known(graph: &Graph, seeds: Option<&Graph>, ward: &Ward) -> Known {
    Known {
        quarantine: ward.is_known().then(|| ward.current()),
        nodes: view(graph),
        seeds: seeds.map(view),
    }
}

fn view(graph: &Graph) -> View {
    View {
        // Taken first: what the graph says may only be younger.
        age: graph.age(),
        doubt: graph.freshness().doubt(),
        graph: Arc::clone(&graph.load()),
        origin: "upstream".to_owned(),
    }
}

/// A graph that operators can look at.
fn shown(name: &'static str, graph: &Graph) -> page::Graph {
    let graph = graph.clone();
    let look = Arc::new(move || Seen {
        // Taken first, as above.
        doubt: graph.freshness().doubt(),
        graph: Arc::clone(&graph.load()),
    });
    page::Graph { name, look }
}

/// Shows upstream a review of some kind, as the gate itself.
fn asks(upstream: &Upstream, target: &'static str) -> Ask {
    let upstream = upstream.clone();
    Arc::new(move |review| {
        let upstream = upstream.clone();
        Box::pin(async move {
            let asked = upstream.ask(Method::POST, target, None, Some(&review)).await;
            asked.map_err(|error| upstream::chain(error.as_ref()))
        })
    })
}

/// Tries until upstream answers anything at all; then the gate is ready.
async fn reach(server: Upstream, reached: Pending) {
    let mut pause = Duration::from_millis(250);
    loop {
        match server.probe().await {
            Ok(code) => {
                info!(%code, "upstream reached");
                return drop(reached);
            }
            Err(error) => {
                let error = upstream::chain(error.as_ref());
                warn!(error, retry_in = ?pause, "cannot reach upstream; not ready until it answers");
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_UPSTREAM_PAUSE);
    }
}
