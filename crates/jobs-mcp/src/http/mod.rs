//! Streamable HTTP: many clients, each with the jobs of its own.
//!
//! Under the older protocol a client has a session, whose id names the owner. Since 2026-07-28
//! there are none, and each request comes by itself: the owner is then the user whose token it
//! carries (spec/compositions.md, Who is the owner).

mod body;
mod config;
mod desk;
mod exchange;
mod front;
mod sessions;
mod tokens;

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use jobs::CancellationToken;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

pub use config::{Access, HttpConfig};
pub(crate) use exchange::Exchange;
pub use tokens::{TokenError, Tokens};

use crate::error::McpError;
use crate::handler::Handler;
use crate::server::{McpServer, Shared};
use desk::Desk;
use front::{Front, MAX_BODY_BYTES};
use sessions::Sessions;

/// The only path that is served.
pub(crate) const PATH: &str = "/mcp";

/// How long open connections may take to end.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long a client may take to send the head of a request, or none.
const HEAD_TIMEOUT: Duration = Duration::from_secs(300);

/// How long nobody is accepted after an accept has failed.
const PAUSE: Duration = Duration::from_millis(100);

/// A server that is ready for HTTP clients; made by [`McpServer::http`].
#[derive(Debug)]
pub struct HttpServer {
    shared: Arc<Shared>,
    listener: TcpListener,
    address: SocketAddr,
    config: HttpConfig,
}

impl McpServer {
    /// A server of clients over HTTP, which are answered once [`HttpServer::until`] is polled.
    ///
    /// # Errors
    ///
    /// [`McpError::Exposed`]; [`McpError::Listener`]; [`McpError::Config`].
    pub fn http(&self, listener: TcpListener, config: HttpConfig) -> Result<HttpServer, McpError> {
        let address = listener.local_addr().map_err(McpError::Listener)?;
        config.check(address)?;
        Ok(HttpServer {
            shared: Arc::clone(&self.0),
            listener,
            address,
            config,
        })
    }
}

impl HttpServer {
    /// Where clients reach it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves clients until `stop` is cancelled, and then ends the jobs of all of them.
    ///
    /// A job ends with its owner: when a session is deleted by its client, when an owner was idle
    /// for long (see [`HttpConfig::with_idle_limit`]), or with the server; never because a
    /// connection broke. When this returns no connection is left, and no job of theirs.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the owners without waiting for their jobs.
    pub async fn until(self, stop: CancellationToken) {
        let Self {
            shared,
            listener,
            address,
            config,
        } = self;
        let desk = Arc::new(Desk::new(Arc::clone(&shared)));
        let sessions = Arc::new(Sessions::new(
            Arc::clone(&desk),
            config.max_sessions_per_user,
        ));
        // Both are cancelled when this future is dropped, too: what they end holds the owners.
        let (over, gone) = (stop.child_token(), CancellationToken::new());
        let _dropped = [&over, &gone].map(|token| token.clone().drop_guard());
        let protocol = protocol(&config, address.ip().is_loopback(), over);
        let service = StreamableHttpService::new(
            move || Ok(Handler::of_requests(Arc::clone(&shared))),
            Arc::clone(&sessions),
            protocol,
        );
        let front = Front::new(
            config.access,
            config.body_timeout,
            Arc::clone(&desk),
            service,
        );
        let front = Arc::new(front);
        let connections = GracefulShutdown::new();
        let mut permits = Permits::new(config.max_connections);
        let mut look = config
            .idle_limit
            .map(|limit| tokio::time::interval(limit / 4));
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                accepted = accept(&listener, &mut permits) => match accepted {
                    Ok(client) => {
                        let known = CancellationToken::new();
                        let stranger = stranger_timeout(config.stranger_timeout, known.clone());
                        serve(client, &front, known, stranger, &connections, gone.clone());
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a client could not be accepted");
                        tokio::time::sleep(PAUSE).await;
                    }
                },
                limit = tick(&mut look, config.idle_limit) => {
                    desk.end_idle(limit, &sessions).await;
                }
            }
        }
        drop(listener);
        let mut farewell = pin!(connections.shutdown());
        if timeout(FAREWELL, &mut farewell).await.is_err() {
            tracing::debug!("some connections did not end in time");
            gone.cancel();
            farewell.await;
        }
        desk.close().await;
    }
}

/// The next time to look for idle owners; never, without a limit.
async fn tick(look: &mut Option<tokio::time::Interval>, limit: Option<Duration>) -> Duration {
    match (look, limit) {
        (Some(look), Some(limit)) => {
            look.tick().await;
            limit
        }
        _ => std::future::pending().await,
    }
}

/// How many connections there may be at once.
struct Permits {
    semaphore: Arc<Semaphore>,
    /// That there are as many as there may be was said, and has not changed since.
    said: bool,
}

impl Permits {
    fn new(most: NonZeroUsize) -> Self {
        let most = most.get().min(Semaphore::MAX_PERMITS);
        Self {
            semaphore: Arc::new(Semaphore::new(most)),
            said: false,
        }
    }

    /// Waits for the place of another connection.
    async fn next(&mut self) -> io::Result<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&self.semaphore).try_acquire_owned() {
            self.said = false;
            return Ok(permit);
        }
        if !std::mem::replace(&mut self.said, true) {
            tracing::warn!("there are as many connections as there may be; others wait");
        }
        let permit = Arc::clone(&self.semaphore).acquire_owned().await;
        permit.map_err(io::Error::other)
    }
}

/// A connection, and its place among those that there may be at once.
struct Client {
    stream: TcpStream,
    permit: OwnedSemaphorePermit,
}

/// The next client, once there is a place.
async fn accept(listener: &TcpListener, permits: &mut Permits) -> io::Result<Client> {
    let permit = permits.next().await?;
    let (stream, _) = listener.accept().await?;
    Ok(Client { stream, permit })
}

/// Returns if nobody became known in time.
async fn stranger_timeout(limit: Duration, known: CancellationToken) {
    if timeout(limit, known.cancelled()).await.is_ok() {
        std::future::pending::<()>().await;
    }
}

fn serve(
    client: Client,
    front: &Arc<Front>,
    known: CancellationToken,
    stranger: impl Future<Output = ()> + Send + 'static,
    connections: &GracefulShutdown,
    gone: CancellationToken,
) {
    let Client { stream, permit } = client;
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps its delay");
    }
    let front = Arc::clone(front);
    let service = service_fn(move |request| {
        let (front, known) = (Arc::clone(&front), known.clone());
        async move { Ok::<_, std::convert::Infallible>(front.answer(request, &known).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let connection = connections.watch(connection);
    tokio::spawn(async move {
        tokio::select! {
            biased;
            () = gone.cancelled() => {}
            () = stranger => tracing::debug!("a connection ends that nobody has used who may"),
            ended = connection => if let Err(error) = ended {
                tracing::debug!(%error, "a connection broke");
            }
        }
        drop(permit);
    });
}

/// What the SDK is told.
fn protocol(
    config: &HttpConfig,
    loopback: bool,
    stop: CancellationToken,
) -> StreamableHttpServerConfig {
    let mut protocol = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .with_allowed_origins(&config.allowed_origins)
        .enforce_origin_validation();
    protocol.cancellation_token = stop;
    protocol.json_response = true;
    if !config.allowed_hosts.is_empty() {
        return protocol.with_allowed_hosts(&config.allowed_hosts);
    }
    if loopback {
        protocol // the SDK's own list: the names of this machine
    } else {
        // Every request carries a token here, which a page of another site has not.
        protocol.disable_allowed_hosts()
    }
}

#[cfg(test)]
mod tests {
    use jobs_local::{Config, LocalJobRegistry};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::task::JoinHandle;

    use super::*;
    use crate::McpConfig;

    const LONG: Duration = Duration::from_secs(3_600);

    async fn serving(config: HttpConfig, stop: CancellationToken) -> (JoinHandle<()>, SocketAddr) {
        let registry = LocalJobRegistry::new(Config::default()).expect("a registry");
        let server = McpServer::new(registry, [], McpConfig::default()).expect("a server");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let serving = server.http(listener, config).expect("loopback");
        (tokio::spawn(serving.until(stop)), address)
    }

    /// A server that waits for the body of a request.
    async fn half_asked(
        body_timeout: Duration,
        stop: CancellationToken,
    ) -> (JoinHandle<()>, TcpStream) {
        let mut config = HttpConfig::new(Access::SingleUser);
        config.body_timeout = body_timeout;
        let (served, address) = serving(config, stop).await;
        let mut client = TcpStream::connect(address).await.expect("connected");
        let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
            Accept: application/json, text/event-stream\r\nContent-Length: 9\r\n\
            Expect: 100-continue\r\n\r\n";
        let written = client.write_all(head.as_bytes()).await;
        written.expect("written");
        let mut answer = [0; 12];
        client.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 100", "it reads the body");
        (served, client)
    }

    async fn is_closed(client: &mut TcpStream) -> bool {
        let mut rest = Vec::new();
        let end = timeout(Duration::from_secs(30), client.read_to_end(&mut rest)).await;
        end.is_ok() // an error would say that it was reset
    }

    /// The status of the answer to a request that asks for nothing, on a connection that stays.
    async fn ask(client: &mut TcpStream, header: &str) -> String {
        let head = format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\n{header}\r\n");
        client.write_all(head.as_bytes()).await.expect("written");
        status(client).await
    }

    async fn status(client: &mut TcpStream) -> String {
        let mut answer = Vec::new();
        while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
            let byte = client.read_u8().await.expect("a head");
            answer.push(byte);
        }
        let head = String::from_utf8(answer).expect("text");
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length = length.expect("a length").parse().expect("a number");
        let mut body = vec![0; length];
        client.read_exact(&mut body).await.expect("a body");
        head[9..12].to_owned()
    }

    #[tokio::test]
    async fn a_connection_ends_that_nobody_uses_who_may() {
        let tokens = Tokens::parse("ann 0123456789abcdef").expect("a token");
        let mut config = HttpConfig::new(Access::Tokens(tokens));
        config.stranger_timeout = Duration::from_secs(2);
        let (_served, address) = serving(config, CancellationToken::new()).await;
        let connect = async || TcpStream::connect(address).await.expect("connected");
        let (mut mute, mut stranger, mut ann) = (connect().await, connect().await, connect().await);
        assert_eq!(ask(&mut stranger, "").await, "401");
        let token = "Authorization: Bearer 0123456789abcdef\r\n";
        assert_eq!(ask(&mut ann, token).await, "406");
        assert!(is_closed(&mut mute).await);
        assert!(is_closed(&mut stranger).await);
        assert_eq!(ask(&mut ann, token).await, "406", "she may stay");
    }

    #[tokio::test]
    async fn a_body_has_to_come_in_time() {
        let (_served, mut client) =
            half_asked(Duration::from_millis(200), CancellationToken::new()).await;
        let mut rest = [0; 13];
        client.read_exact(&mut rest).await.expect("the rest");
        assert_eq!(&rest, b" Continue\r\n\r\n");
        assert_eq!(status(&mut client).await, "408");
    }

    #[tokio::test]
    async fn another_connection_waits_until_there_is_a_place() {
        let one = NonZeroUsize::MIN;
        let config = HttpConfig::new(Access::SingleUser).with_max_connections(one);
        let (_served, address) = serving(config, CancellationToken::new()).await;
        let mut first = TcpStream::connect(address).await.expect("connected");
        assert_eq!(ask(&mut first, "").await, "406");
        let mut second = TcpStream::connect(address).await.expect("connected");
        let head = b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n";
        second.write_all(head).await.expect("written");
        assert_eq!(ask(&mut first, "").await, "406", "it serves the first");
        let mut nothing = [0];
        let waits = second.try_read(&mut nothing).expect_err("no answer");
        assert_eq!(waits.kind(), io::ErrorKind::WouldBlock);
        drop(first);
        let answered = timeout(Duration::from_secs(30), status(&mut second)).await;
        assert_eq!(answered.expect("a place"), "406");
    }

    #[tokio::test]
    async fn no_connection_outlives_the_end() {
        let stop = CancellationToken::new();
        let (served, mut client) = half_asked(LONG, stop.clone()).await;
        stop.cancel();
        served.await.expect("an end");
        assert!(is_closed(&mut client).await);
    }

    #[tokio::test]
    async fn no_connection_outlives_the_dropped_future() {
        let (served, mut client) = half_asked(LONG, CancellationToken::new()).await;
        served.abort();
        assert!(is_closed(&mut client).await);
    }
}
