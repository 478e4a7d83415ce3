//! What a client is told when its request has no answer.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A status, and a sentence that says what was wrong.
#[derive(Debug, Clone)]
pub struct Failure {
    pub status: StatusCode,
    pub reason: String,
}

impl Failure {
    pub fn new(status: StatusCode, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { status, reason }
    }

    /// The request is not what `/detect` takes.
    pub fn bad_request(reason: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, reason)
    }

    pub fn too_large(reason: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, reason)
    }

    /// It is the server's fault.
    pub fn internal(reason: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, reason)
    }

    /// The client may try again.
    pub fn busy(reason: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, reason)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.reason }).to_string();
        let mut response = (self.status, [(CONTENT_TYPE, "application/json")], body).into_response();
        let (header, value) = match self.status {
            StatusCode::SERVICE_UNAVAILABLE => (RETRY_AFTER, "1"),
            StatusCode::UNAUTHORIZED => (WWW_AUTHENTICATE, "Bearer"),
            _ => return response,
        };
        response.headers_mut().insert(header, HeaderValue::from_static(value));
        response
    }
}
