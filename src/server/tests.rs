use http_body_util::Full;
use hyper::service::service_fn;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    sync::oneshot,
    task::JoinHandle,
};

use super::*;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const GOODBYE: &[u8] = b"GET /goodbye HTTP/1.1\r\nHost: x\r\n\r\n";

/// With the clock paused, time passes whenever everybody waits for it.
#[tokio::test(start_paused = true)]
async fn a_client_that_asks_nothing_holds_no_place() {
    let (server, _stop) = start(10).await;
    let began = tokio::time::Instant::now();
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    assert_eq!(silent.read(&mut [0]).await.unwrap(), 0);
    assert!(began.elapsed() < Duration::from_secs(31), "{:?}", began.elapsed());

    let mut slow = TcpStream::connect(server.address).await.unwrap();
    slow.write_all(b"G").await.unwrap();
    let mut rest = Vec::new();
    slow.read_to_end(&mut rest).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(62), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_response_can_end_its_connection() {
    let (server, _stop) = start(10).await;
    let mut client = TcpStream::connect(server.address).await.unwrap();
    for _ in 0..2 {
        client.write_all(GET).await.unwrap();
        assert!(
            client.read(&mut [0; 1024]).await.unwrap() > 0,
            "an ordinary one leaves it open"
        );
    }
    client.write_all(GOODBYE).await.unwrap();
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.unwrap();
    assert!(rest.starts_with(b"HTTP/1.1 200 OK"));
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_until_one_ends() {
    let (server, _stop) = start(1).await;
    let mut first = TcpStream::connect(server.address).await.unwrap();
    first.write_all(GET).await.unwrap();
    first.read_u8().await.unwrap();
    let mut second = TcpStream::connect(server.address).await.unwrap();
    second.write_all(GET).await.unwrap();
    let patience = Duration::from_millis(200);
    assert!(
        tokio::time::timeout(patience, second.read_u8()).await.is_err(),
        "served beyond the limit"
    );
    drop(first);
    second.read_u8().await.unwrap();
}

/// The socket closes at once; what is open is told to finish, and cut when it does not.
#[tokio::test]
async fn a_stop_drains() {
    let (server, stop) = start(10).await;
    let mut client = TcpStream::connect(server.address).await.unwrap();
    client.write_all(GET).await.unwrap();
    client.read_u8().await.unwrap();
    drop(stop);
    server.task.await.unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

struct Running {
    address: SocketAddr,
    task: JoinHandle<()>,
}

/// Serves on a free port until the sender is dropped.
async fn start(max_connections: usize) -> (Running, oneshot::Sender<()>) {
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = Server::bind("test", address).await.unwrap().within(Limits {
        connections: max_connections,
        ..Limits::default()
    });
    let address = server.address();
    let (stop, stopped) = oneshot::channel();
    let new_service = |_: Peer| {
        service_fn(async |request: Request<Incoming>| {
            let mut response = Response::new(Full::<bytes::Bytes>::from("hello"));
            if request.uri().path() == "/goodbye" {
                response.extensions_mut().insert(Hangup::WhenDone);
            }
            Ok(response)
        })
    };
    let task = tokio::spawn(server.run(
        Transport::Plain,
        new_service,
        Metrics::default(),
        async { drop(stopped.await) },
        Duration::from_secs(5),
    ));
    (Running { address, task }, stop)
}
