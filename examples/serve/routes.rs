//! The addresses of the service, and the steps of a request.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use burn_roi_detection::models::Instances;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::timeout_at;

use crate::answer;
use crate::decoding::{self, Decoded, on_processor};
use crate::failure::Failure;
use crate::query::Query;
use crate::queue::Job;
use crate::service::Service;
use crate::upload::{self, Upload};

const PAGE: &str = include_str!("page.html");
/// The page runs its own script, and shows pictures that it has made itself.
const PAGE_POLICY: &str = "default-src 'none'; connect-src 'self'; img-src blob:; script-src 'unsafe-inline'; \
                           style-src 'unsafe-inline'";

pub fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .route("/detect", post(detect))
        .with_state(service)
}

async fn page() -> Response {
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, PAGE_POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, PAGE).into_response()
}

async fn health(State(service): State<Arc<Service>>) -> Response {
    match service.is_ready() {
        true => {
            let body = json!({ "status": "ok", "model": service.config.name }).to_string();
            ([(CONTENT_TYPE, "application/json")], body).into_response()
        }
        false => Failure::busy("a model failed, and cannot be made anew").into_response(),
    }
}

async fn metrics(State(service): State<Arc<Service>>, headers: HeaderMap) -> Result<Response, Failure> {
    authorize(&service, &headers)?;
    let kind = "text/plain; version=0.0.4";
    Ok(([(CONTENT_TYPE, kind)], service.metrics()).into_response())
}

async fn detect(State(service): State<Arc<Service>>, request: Request) -> Response {
    let counted = service.metrics.request();
    let answer = answered(&service, request).await;
    let response = answer.unwrap_or_else(IntoResponse::into_response);
    counted.answered(response.status().as_u16());
    response
}

/// All steps of a request.
async fn answered(service: &Arc<Service>, request: Request) -> Result<Response, Failure> {
    let begun = Instant::now();
    let settings = &service.settings;
    let (parts, body) = request.into_parts();
    // The place is given back with the answer, or when the client goes away.
    let (query, _place) = match admitted(service, &parts) {
        Ok(admitted) => admitted,
        Err(failure) => {
            upload::discard(&parts.headers, body, settings.body).await;
            return Err(failure);
        }
    };
    let deadline = (begun + settings.timeout).into();
    let seconds = settings.timeout.as_secs_f32();
    let uploads = timeout_at(deadline, upload::read(&parts.headers, body, settings)).await;
    let uploads = uploads.map_err(|_| {
        let reason = format!("the body did not arrive within {seconds} seconds");
        Failure::new(StatusCode::REQUEST_TIMEOUT, reason)
    })??;
    service.metrics.stage("receive", begun.elapsed());
    let detected = timeout_at(deadline, detected(service, uploads, query)).await;
    detected.map_err(|_| Failure::busy(format!("there was no answer within {seconds} seconds")))?
}

/// What a request asks for, and its place: all that is known before its body is read.
fn admitted(service: &Service, parts: &Parts) -> Result<(Query, OwnedSemaphorePermit), Failure> {
    authorize(service, &parts.headers)?;
    let query = Query::of(&parts.uri, &parts.headers)?;
    let full = || Failure::busy(format!("all {} places of requests are taken", service.settings.queue));
    Ok((query, service.place().ok_or_else(full)?))
}

/// The answer for the pictures of a request.
async fn detected(service: &Arc<Service>, uploads: Vec<Upload>, query: Query) -> Result<Response, Failure> {
    if query.is_drawn && uploads.len() > 1 {
        let reason = format!("{} pictures were sent, but one is drawn a request", uploads.len());
        return Err(Failure::new(StatusCode::NOT_ACCEPTABLE, reason));
    }
    let begun = Instant::now();
    let pictures = decoding::all(service, uploads).await?;
    service.metrics.stage("decode", begun.elapsed());
    let found = found(service, &pictures).await?;
    let begun = Instant::now();
    let writer = service.clone();
    let response = on_processor(service, move || answer::write(&writer.config, &pictures, found, query)).await;
    service.metrics.stage("write", begun.elapsed());
    response
}

/// What the model finds in each picture.
async fn found(service: &Service, pictures: &[Arc<Decoded>]) -> Result<Vec<Instances>, Failure> {
    let since = Instant::now();
    let (jobs, replies): (Vec<Job>, Vec<_>) = pictures
        .iter()
        .map(|picture| {
            let (reply, answer) = oneshot::channel();
            let size = [picture.pixels.height(), picture.pixels.width()].map(|side| side as usize);
            let job = Job {
                picture: picture.clone(),
                input_size: service.config.preprocessing.input_size(size),
                since,
                reply,
            };
            (job, answer)
        })
        .unzip();
    service.queue.push(jobs);
    let mut found = Vec::with_capacity(replies.len());
    for reply in replies {
        let gone = |_| Err(Failure::busy("the server stops"));
        found.push(reply.await.unwrap_or_else(gone)?);
    }
    Ok(found)
}

/// An error unless the client sends the token, if there is one.
fn authorize(service: &Service, headers: &HeaderMap) -> Result<(), Failure> {
    let Some(token) = &service.settings.token else {
        return Ok(());
    };
    let sent = headers.get(AUTHORIZATION).map(|value| value.as_bytes());
    let sent = sent
        .and_then(|value| value.strip_prefix(b"Bearer "))
        .unwrap_or_default();
    // All bytes are compared, so that the time does not tell how many are right.
    let differing = sent
        .iter()
        .zip(token.as_bytes())
        .fold(0, |bits, (sent, right)| bits | (sent ^ right));
    if differing != 0 || sent.len() != token.len() {
        let reason = "the header `Authorization` must be `Bearer TOKEN`, with the token of this server";
        return Err(Failure::new(StatusCode::UNAUTHORIZED, reason));
    }
    Ok(())
}
