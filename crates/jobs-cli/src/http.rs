//! `agent-jobs mcp --http`: where it listens, and who may call.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use jobs::CancellationToken;
use jobs_mcp::{Access, HttpConfig, McpError, McpServer, TokenError, Tokens};
use serde::Deserialize;
use tokio::net::TcpListener;

/// Holds tokens, as the file does. It is no setting: nothing shows its value.
const TOKENS: &str = "AGENT_JOBS_HTTP_TOKENS";

/// The table `http`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HttpSettings {
    address: String,
    access: Who,
    token_file: String,
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
    idle_limit_ms: Option<u64>,
    max_sessions: NonZeroUsize,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Who {
    Tokens,
    SingleUser,
}

/// Why nothing is served over HTTP. No variant holds a token.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    #[error(
        "refused to serve without tokens: expected --http-token-file, {TOKENS}, or --http-access \
         single-user and a loopback address"
    )]
    NoTokens,
    #[error("tokens come from two places: expected --http-token-file or {TOKENS}")]
    TwoPlaces,
    #[error("cannot read the tokens in {}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{place}: {error}")]
    Tokens { place: String, error: TokenError },
    #[error("cannot listen to {address}: {source}")]
    Listen {
        address: String,
        source: std::io::Error,
    },
}

impl HttpError {
    /// Whether the surroundings are at fault, not whoever called.
    pub(crate) fn is_environment(&self) -> bool {
        matches!(self, Self::Unreadable { .. } | Self::Listen { .. })
    }
}

/// A server that is to be, with its address taken.
#[derive(Debug)]
pub(crate) struct Http {
    listener: TcpListener,
    config: HttpConfig,
}

impl HttpSettings {
    /// What is to be served over HTTP, if anything is.
    ///
    /// # Errors
    ///
    /// [`HttpError`].
    pub(crate) async fn open(self) -> Result<Option<Http>, HttpError> {
        if self.address.is_empty() {
            return Ok(None);
        }
        let access = match self.access {
            Who::Tokens => Access::Tokens(self.tokens()?),
            Who::SingleUser => Access::SingleUser,
        };
        let config = HttpConfig::new(access)
            .with_allowed_hosts(self.allowed_hosts)
            .with_allowed_origins(self.allowed_origins)
            .with_idle_limit(self.idle_limit_ms.map(Duration::from_millis))
            .with_max_sessions(self.max_sessions);
        let bound = TcpListener::bind(&self.address).await;
        let listener = bound.map_err(|source| HttpError::Listen {
            address: self.address,
            source,
        })?;
        Ok(Some(Http { listener, config }))
    }

    fn tokens(&self) -> Result<Tokens, HttpError> {
        let in_file = !self.token_file.is_empty();
        let (place, text) = match (in_file, std::env::var(TOKENS).ok()) {
            (true, Some(_)) => return Err(HttpError::TwoPlaces),
            (false, None) => return Err(HttpError::NoTokens),
            (false, Some(text)) => (TOKENS.to_owned(), text),
            (true, None) => {
                let path = PathBuf::from(&self.token_file);
                let text = std::fs::read_to_string(&path)
                    .map_err(|source| HttpError::Unreadable { path, source })?;
                (self.token_file.clone(), text)
            }
        };
        Tokens::parse(&text).map_err(|error| HttpError::Tokens { place, error })
    }
}

impl Http {
    /// Says where it listens, and serves until `stop`.
    pub(crate) async fn serve(
        self,
        server: &McpServer,
        stop: CancellationToken,
    ) -> Result<(), McpError> {
        let serving = server.http(self.listener, self.config)?;
        eprintln!("agent-jobs mcp: serving {}", serving.url());
        serving.until(stop).await;
        Ok(())
    }
}
