//! Connections: how many there are, and how long they last.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::service::Service;
use crate::settings::Settings;

/// How long a connection may be used. A client that does not read its answers is gone after this.
const LIFE: Duration = Duration::from_secs(300);
/// The most bytes of headers, and the size of the buffer that bodies are read by.
const BUFFER: usize = 64 << 10;
/// How many connections the system holds until they are accepted. The system may have a lower limit.
const QUEUE: u32 = 4096;
/// How long to wait when there is no file for a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Listens on an address. The standard library's queue holds 128 connections, and a client that finds it full tries
/// again after a second: 10,000 connections took 50 seconds, and take one.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let socket = match address.is_ipv4() {
            true => TcpSocket::new_v4()?,
            false => TcpSocket::new_v6()?,
        };
        // Connections of a server that has just stopped do not keep the next one from starting.
        socket.set_reuseaddr(!cfg!(windows))?;
        socket.bind(address)?;
        socket.listen(QUEUE)?.into_std()
    })
}

/// Accepts connections until `stop` is ready, and then waits until all are done.
pub async fn run(
    listener: TcpListener,
    router: Router,
    service: &Service,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let (stopping, stopped) = watch::channel(false);
    let accept = async {
        // They are never closed.
        while let Ok(place) = service.connections.clone().acquire_owned().await {
            let stream = accepted(&listener).await;
            let connection = connection(stream, router.clone(), service.settings.clone(), stopped.clone());
            tokio::spawn(async move {
                connection.await;
                drop(place);
            });
        }
    };
    tokio::select! {
        () = accept => {}
        () = stop => {}
    }
    // New clients are refused from here on, so that a balancer asks another server.
    drop(listener);
    // Somebody listens: this function has a receiver too.
    let _ = stopping.send(true);
    let all = service.settings.connections.try_into().unwrap_or(u32::MAX);
    let longest = service.settings.timeout + 2 * service.settings.headers;
    let _ = timeout(longest, service.connections.acquire_many(all)).await;
    Ok(())
}

/// The next connection.
async fn accepted(listener: &tokio::net::TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            // A client that is gone already, or no file is left for a connection until others end.
            Err(_) => sleep(PAUSE).await,
        }
    }
}

/// Serves a connection until it ends, is too old, or the server stops. A request that has begun is answered.
async fn connection(stream: TcpStream, router: Router, settings: Settings, mut stopped: watch::Receiver<bool>) {
    // An answer is not held back until more of it can be sent.
    let _ = stream.set_nodelay(true);
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.headers)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut served = pin!(served);
    tokio::select! {
        // An error is the client's, such as bytes that are no HTTP.
        _ = served.as_mut() => return,
        _ = stopped.wait_for(|is_stopped| *is_stopped) => {}
        () = sleep(LIFE) => {}
    }
    served.as_mut().graceful_shutdown();
    let _ = timeout(settings.timeout + settings.headers, served).await;
}
