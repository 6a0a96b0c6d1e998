//! Why a server cannot be made or served.

use jobs::ConfigError;

/// What keeps a server from serving.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// A setting that cannot be kept to.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Two tools of one name.
    #[error("two tools are named \"{name}\": expected each name once")]
    DuplicateTool {
        /// The name, with the prefix.
        name: String,
    },
    /// A schema that is no JSON object.
    #[error("the {which} schema of the tool \"{tool}\" is no object: expected a JSON Schema")]
    Schema {
        /// Of which tool.
        tool: String,
        /// `input` or `output`.
        which: &'static str,
    },
    /// Other machines could call, and nobody is asked who they are.
    #[error(
        "refused to serve {address} without tokens: expected tokens, or a loopback address and a single user"
    )]
    Exposed {
        /// Where it was to listen.
        address: std::net::SocketAddr,
    },
    /// The listener has no address.
    #[error("cannot listen")]
    Listener(#[source] std::io::Error),
    /// The client's first messages were none of the protocol's.
    #[error("the client did not open a session: {reason}")]
    Handshake {
        /// The SDK's words.
        reason: String,
    },
    /// The task that served a connection is gone.
    #[error("the connection was abandoned: {reason}")]
    Abandoned {
        /// The SDK's words.
        reason: String,
    },
}
