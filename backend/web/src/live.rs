//! Live views: the server renders a block again whenever something changed and sends it when it looks different.
//! One invariant: a stream is bounded — in number, in rate, and by the reader's presence.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::Stream;
use futures::stream::{self, StreamExt as _};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::{App, Failure};

const HEARTBEAT: Duration = Duration::from_secs(15);
/// Shortest time between two pictures of one stream.
const PACE: Duration = Duration::from_secs(1);
/// Ages on the page grow even when nothing happens.
const IDLE: Duration = Duration::from_secs(10);

/// Something that fires when a page should look again.
pub(crate) type Changes = Pin<Box<dyn Stream<Item = ()> + Send>>;

/// Fires on every change of `watched`, several at once as one.
pub(crate) fn changes<T: Send + Sync + Clone + 'static>(watched: watch::Receiver<T>) -> Changes {
    let changes = stream::unfold(watched, |mut watched| async move {
        watched.changed().await.ok()?;
        watched.mark_unchanged();
        Some(((), watched))
    });
    Box::pin(changes)
}

/// Fires when any of `all` does.
pub(crate) fn any(all: Vec<Changes>) -> Changes {
    Box::pin(stream::select_all(all))
}

/// An event stream of the block that `picture` renders: at once, then after changes, at most once a second and only
/// when it differs from what was sent last. In htmx 4 an unnamed message is swapped into the element's target.
pub(crate) fn stream<F, P>(app: &Arc<App>, changes: Changes, picture: F) -> Result<Response, Failure>
where
    F: Fn() -> P + Send + 'static,
    P: Future<Output = Result<String, Failure>> + Send,
{
    let permit = Arc::clone(&app.streams).try_acquire_owned().map_err(|_| Failure::TooManyStreams)?;
    let stop = app.stop.clone();
    let state = (changes, picture, None::<String>, None::<Instant>);
    let pictures = stream::unfold(state, |(mut changes, picture, sent, last)| async move {
        let mut last = last;
        loop {
            if let Some(last) = last {
                let waited = tokio::time::timeout(IDLE, changes.next()).await;
                if matches!(waited, Ok(None)) {
                    return None;
                }
                tokio::time::sleep_until(last + PACE).await;
            }
            last = Some(Instant::now());
            match picture().await {
                Ok(html) if sent.as_ref() != Some(&html) => {
                    let event = Event::default().data(&html);
                    return Some((Ok::<_, Infallible>(event), (changes, picture, Some(html), last)));
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "a live view could not be drawn"),
            }
        }
    });
    let events = pictures.take_until(async move { stop.cancelled().await }).map(move |event| {
        // The permit lives as long as the stream.
        let _ = &permit;
        event
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response();
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use axum::body::Body;
    use futures::StreamExt as _;
    use tokio::sync::watch;

    use super::{changes, stream};
    use crate::testing::app;

    async fn next(body: &mut (impl futures::Stream<Item = Result<bytes::Bytes, axum::Error>> + Unpin)) -> String {
        String::from_utf8(body.next().await.unwrap().unwrap().to_vec()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_sends_a_picture_and_none_sends_none() {
        let app = app();
        let (sender, receiver) = watch::channel(1);
        let seen = receiver.clone();
        let drawn = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&drawn);
        let response = stream(&app, changes(receiver), move || {
            count.fetch_add(1, Ordering::Relaxed);
            let html = format!("<p>\n{}</p>", *seen.borrow());
            async move { Ok(html) }
        })
        .unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        let mut body = response.into_body().into_data_stream();
        assert_eq!(next(&mut body).await, "data: <p>\ndata: 1</p>\n\n");
        for value in 2..50 {
            sender.send(value).unwrap();
        }
        assert_eq!(next(&mut body).await, "data: <p>\ndata: 49</p>\n\n");
        sender.send(49).unwrap();
        let quiet = next(&mut body).await;
        assert!(quiet.starts_with(':'), "a heartbeat and not the same picture: {quiet}");
        assert!(drawn.load(Ordering::Relaxed) >= 3);
    }

    #[tokio::test]
    async fn streams_are_counted_and_end_with_the_program() {
        let app = crate::testing::builder().max_streams(1).build();
        let (_sender, receiver) = watch::channel(());
        let open = || stream(&app, changes(receiver.clone()), || async { Ok("x".to_owned()) });
        let first = open().unwrap();
        assert!(open().is_err());
        drop(first);
        let second = open().unwrap();
        app.stop.cancel();
        let rest: Vec<_> = Body::into_data_stream(second.into_body()).collect().await;
        assert!(rest.len() <= 1);
    }
}
