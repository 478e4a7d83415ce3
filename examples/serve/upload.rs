//! The pictures of a request's body.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use axum::http::{HeaderMap, StatusCode};
use multer::{Constraints, Multipart, SizeLimit};

use crate::failure::Failure;
use crate::settings::Settings;

/// A picture file.
pub struct Upload {
    /// The name of the file in a form.
    pub name: Option<String>,
    pub bytes: Bytes,
}

/// Reads the pictures of a body.
pub async fn read(headers: &HeaderMap, body: Body, settings: &Settings) -> Result<Vec<Upload>, Failure> {
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > settings.body as u64) {
        discard(headers, body, settings.body).await;
        return Err(body_too_large(settings));
    }
    let kind = headers.get(CONTENT_TYPE).map_or(Ok(""), |value| value.to_str());
    let kind = kind.unwrap_or("?").trim().to_ascii_lowercase();
    match kind.split(';').next().unwrap_or_default() {
        // With its case, which the boundary of a form has.
        "multipart/form-data" => form(headers[CONTENT_TYPE].to_str().unwrap_or_default(), body, settings).await,
        // curl's --data-binary says that it sends a form.
        ""
        | "image/jpeg"
        | "image/png"
        | "image/webp"
        | "application/octet-stream"
        | "application/x-www-form-urlencoded" => {
            let bytes = whole(body, settings).await?;
            Ok(vec![Upload { name: None, bytes }])
        }
        kind => {
            discard(headers, body, settings.body).await;
            let reason = format!(
                "`Content-Type` is {kind}, but must be image/jpeg, image/png, image/webp or multipart/form-data"
            );
            Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason))
        }
    }
}

async fn whole(mut body: Body, settings: &Settings) -> Result<Bytes, Failure> {
    let mut bytes = Vec::new();
    while let Some(data) = next(&mut body).await {
        let data = data.map_err(|error| Failure::bad_request(format!("cannot read the body: {error}")))?;
        if bytes.len() + data.len() > settings.body {
            return Err(body_too_large(settings));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.into())
}

/// The next bytes of a body.
async fn next(body: &mut Body) -> Option<Result<Bytes, axum::Error>> {
    let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
    // Other frames are headers after the body, which have no bytes.
    Some(frame.map(|frame| frame.into_data().unwrap_or_default()))
}

/// The files of a form.
async fn form(kind: &str, body: Body, settings: &Settings) -> Result<Vec<Upload>, Failure> {
    let wrong = |error: multer::Error| match error {
        multer::Error::StreamSizeExceeded { .. } => body_too_large(settings),
        error => Failure::bad_request(format!("cannot read the form: {error}")),
    };
    let boundary = multer::parse_boundary(kind).map_err(wrong)?;
    let limit = SizeLimit::new().whole_stream(settings.body as u64);
    let constraints = Constraints::new().size_limit(limit);
    let mut form = Multipart::with_constraints(body.into_data_stream(), boundary, constraints);
    let mut uploads = Vec::new();
    while let Some(field) = form.next_field().await.map_err(wrong)? {
        if uploads.len() == settings.pictures {
            let most = settings.pictures;
            return Err(Failure::too_large(format!("the form has more than {most} pictures")));
        }
        let Some(name) = field.file_name().map(str::to_string) else {
            let name = field.name().unwrap_or_default();
            return Err(Failure::bad_request(format!(
                "the field `{name}` of the form is not a file"
            )));
        };
        let bytes = field.bytes().await.map_err(wrong)?;
        uploads.push(Upload {
            name: Some(name),
            bytes,
        });
    }
    if uploads.is_empty() {
        return Err(Failure::bad_request("the form has no file"));
    }
    Ok(uploads)
}

fn body_too_large(settings: &Settings) -> Failure {
    Failure::too_large(format!("the body is longer than {} bytes", settings.body))
}

/// Reads a body that nobody wants. A client that still writes when its connection is closed may not see the answer.
pub async fn discard(headers: &HeaderMap, mut body: Body, most: usize) {
    // Such a client waits for a sign before it sends its body.
    if headers.contains_key(EXPECT) {
        return;
    }
    let all = async {
        let mut left = most;
        while let Some(Ok(data)) = next(&mut body).await {
            match left.checked_sub(data.len()) {
                Some(less) => left = less,
                None => return,
            }
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(2), all).await;
}
