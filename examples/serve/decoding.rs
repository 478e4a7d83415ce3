//! Decodes the pictures of a request, within a budget of memory that all requests share.

use std::sync::Arc;

use axum::http::StatusCode;
use burn_roi_detection::pictures::{DecodeConfig, decode, decoded_bytes};
use image::{ImageError, RgbImage};
use tokio::sync::OwnedSemaphorePermit;

use crate::failure::Failure;
use crate::service::{Service, kibibytes};
use crate::upload::Upload;

/// A decoded picture. Its memory counts until it is dropped.
pub struct Decoded {
    pub name: Option<String>,
    pub pixels: RgbImage,
    _memory: OwnedSemaphorePermit,
}

/// Decodes the pictures, or says which is wrong.
pub async fn all(service: &Service, uploads: Vec<Upload>) -> Result<Vec<Arc<Decoded>>, Failure> {
    let most = service.settings.decoded;
    // The headers first: no pixel is decoded of a request that asks for too many.
    let (uploads, sizes) = on_processor(service, move || {
        let sizes = uploads.iter().map(|upload| checked(upload, most));
        let sizes = sizes.collect::<Result<Vec<u64>, Failure>>()?;
        Ok((uploads, sizes))
    })
    .await?;
    let total = sizes.iter().sum::<u64>();
    if total > most {
        let reason = format!("the pictures have {total} bytes of pixels, but must have {most} at most");
        return Err(Failure::too_large(reason));
    }
    let needed = sizes.iter().map(|&bytes| kibibytes(bytes)).sum();
    let memory = service.decoded.clone().acquire_many_owned(needed).await;
    // It is never closed.
    let mut memory = memory.map_err(|_| Failure::busy("the server stops"))?;
    on_processor(service, move || {
        let pictures = uploads.into_iter().zip(sizes).map(|(upload, bytes)| {
            let wrong = |error| refused(&upload, error);
            let pixels = decode(&upload.bytes, &config(most)).map_err(wrong)?;
            let share = memory.split(kibibytes(bytes) as usize);
            let _memory = share.ok_or_else(|| Failure::internal("the memory was counted wrong"))?;
            let name = upload.name;
            Ok(Arc::new(Decoded { name, pixels, _memory }))
        });
        pictures.collect()
    })
    .await
}

/// The bytes of a picture's pixels.
fn checked(upload: &Upload, most: u64) -> Result<u64, Failure> {
    let bytes = decoded_bytes(&upload.bytes, &config(u64::MAX)).map_err(|error| refused(upload, error))?;
    if bytes > most {
        let picture = of(upload);
        let reason = format!("{picture} has {bytes} bytes of pixels, but must have {most} at most");
        return Err(Failure::too_large(reason));
    }
    Ok(bytes)
}

fn config(most_bytes: u64) -> DecodeConfig {
    DecodeConfig {
        most_bytes,
        ..DecodeConfig::new()
    }
}

fn refused(upload: &Upload, error: ImageError) -> Failure {
    let status = match error {
        ImageError::Unsupported(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    Failure::new(status, format!("{} cannot be decoded: {error}", of(upload)))
}

fn of(upload: &Upload) -> String {
    let name = upload.name.as_ref();
    name.map_or_else(|| "the picture".to_string(), |name| format!("the picture `{name}`"))
}

/// Runs work on a thread that may be busy. There are as many at a time as processors.
pub async fn on_processor<T: Send + 'static>(
    service: &Service,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let processor = service.processors.clone().acquire_owned().await;
    // It is never closed.
    let processor = processor.map_err(|_| Failure::busy("the server stops"))?;
    let done = tokio::task::spawn_blocking(move || {
        // Held until the work is done, even if the client goes away before.
        let _processor = processor;
        work()
    });
    // A decoder that panics is the fault of the file that it decodes.
    done.await.unwrap_or_else(|_| {
        let reason = "the code that decodes, draws or writes panicked on this request";
        Err(Failure::new(StatusCode::UNPROCESSABLE_ENTITY, reason))
    })
}
