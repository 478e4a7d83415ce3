//! Serves a two-stage detector over HTTP.
//!
//! ```text
//! cargo run --release -p serve
//! curl --data-binary @photograph.jpg http://127.0.0.1:8000/detect
//! curl --form a=@one.jpg --form b=@two.png http://127.0.0.1:8000/detect
//! curl --data-binary @photograph.jpg --header 'Accept: image/png' http://127.0.0.1:8000/detect --output found.png
//! ```
//!
//! A request passes through these files:
//!
//! - `connections.rs` accepts connections and limits how long they last.
//! - `routes.rs` checks the token, gives the request a place, and runs its steps within its time.
//! - `upload.rs` reads the body, and `decoding.rs` decodes its pictures within a budget of memory.
//! - `queue.rs` holds pictures until a worker takes them as a batch, and `worker.rs` detects, one thread a device.
//! - `answer.rs` writes JSON or a drawn picture, and `polygons.rs` the outlines of masks.
//! - `failure.rs` says what was wrong with a request, and `metrics.rs` counts.

mod answer;
mod arguments;
mod connections;
mod decoding;
mod error;
mod failure;
mod metrics;
mod model;
mod polygons;
mod query;
mod queue;
mod routes;
mod service;
mod settings;
mod upload;
mod worker;

use std::net::TcpListener;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::runtime::Builder;

pub use arguments::Arguments;
pub use error::Error;
pub use model::{MakeModel, Model};
pub use service::Service;
pub use settings::Settings;

/// Serves until SIGTERM or Ctrl-C.
pub fn run(arguments: &Arguments) -> Result<(), Error> {
    let settings = arguments.settings()?;
    let models = model::load(arguments)?;
    let listener = connections::listen(arguments.listen).map_err(|source| Error::Listen {
        address: arguments.listen,
        source,
    })?;
    let address = listener.local_addr().unwrap_or(arguments.listen);
    if let Some(warning) = arguments::warning(address, settings.token.is_some()) {
        eprintln!("warning: {warning}");
    }
    println!("serving on http://{address}");
    serve(listener, models, settings, asked_to_stop())?;
    println!("stopped");
    Ok(())
}

/// Serves models, each on a thread of its own, until `stop` is ready. Then it finishes the requests that it has
/// accepted, and returns.
pub fn serve(
    listener: TcpListener,
    models: Vec<MakeModel>,
    settings: Settings,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(Error::Start)?;
    let (service, workers) = Service::start(models, settings)?;
    let served = runtime.block_on(connections::run(
        listener,
        routes::router(service.clone()),
        &service,
        stop,
    ));
    service.queue.close();
    // Nobody waits for an answer any more. A model that hangs does not hold the process.
    let end = Instant::now() + service.settings.headers;
    while Instant::now() < end && !workers.iter().all(JoinHandle::is_finished) {
        thread::sleep(Duration::from_millis(10));
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
    served.map_err(Error::Start)
}

/// Ready when the process is asked to stop.
async fn asked_to_stop() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = interrupt => {}
                    _ = terminate.recv() => {}
                }
                return;
            }
            Err(error) => eprintln!("warning: SIGTERM will end this process at once: {error}"),
        }
    }
    // Without a handler, the process ends at once when it is interrupted.
    if interrupt.await.is_err() {
        std::future::pending::<()>().await;
    }
}
