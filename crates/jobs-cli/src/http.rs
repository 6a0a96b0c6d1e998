//! `agent-jobs mcp --http`: where it listens, and who may call.

use std::fs::File;
use std::io::{self, Read as _};
use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
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
    max_sessions_per_user: NonZeroUsize,
    max_connections: NonZeroUsize,
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
    #[error(
        "tokens that nobody would be asked for: expected --http-access tokens, or neither \
         --http-token-file nor {TOKENS}"
    )]
    UnusedTokens,
    #[error("cannot read the tokens in {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{place}: {error}")]
    Tokens { place: String, error: TokenError },
    #[error("cannot listen to {address}: {source}")]
    Listen { address: String, source: io::Error },
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
            Who::SingleUser if self.has_tokens() => return Err(HttpError::UnusedTokens),
            Who::SingleUser => Access::SingleUser,
        };
        let config = HttpConfig::new(access)
            .with_allowed_hosts(self.allowed_hosts)
            .with_allowed_origins(self.allowed_origins)
            .with_idle_limit(self.idle_limit_ms.map(Duration::from_millis))
            .with_max_sessions_per_user(self.max_sessions_per_user)
            .with_max_connections(self.max_connections);
        let bound = TcpListener::bind(&self.address).await;
        let listener = bound.map_err(|source| HttpError::Listen {
            address: self.address,
            source,
        })?;
        Ok(Some(Http { listener, config }))
    }

    fn has_tokens(&self) -> bool {
        !self.token_file.is_empty() || std::env::var_os(TOKENS).is_some()
    }

    fn tokens(&self) -> Result<Tokens, HttpError> {
        let in_file = !self.token_file.is_empty();
        let (place, text) = match (in_file, std::env::var(TOKENS).ok()) {
            (true, Some(_)) => return Err(HttpError::TwoPlaces),
            (false, None) => return Err(HttpError::NoTokens),
            (false, Some(text)) => (TOKENS.to_owned(), text),
            (true, None) => {
                let path = PathBuf::from(&self.token_file);
                let text = read(&path).map_err(|source| HttpError::Unreadable { path, source })?;
                (self.token_file.clone(), text)
            }
        };
        Tokens::parse(&text).map_err(|error| HttpError::Tokens { place, error })
    }
}

/// Reads a file of tokens, and warns if others can, too. Mounted secrets often have such a mode.
fn read(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let (path, mode) = (path.display(), format!("{mode:o}"));
        tracing::warn!(%path, mode, "other users can get at the tokens: expected mode 600");
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
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
