//! What observers receive: the engine's own, and that of one request.

use crate::upstream::{ROWS, ROWS_STC};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use stc_layer::{Engine, Format, Observer, Policy, Report, RequestObserver, TransformLayer};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tower::{Layer, ServiceExt, service_fn};

#[derive(Default)]
struct Seen(Mutex<Vec<String>>);

impl Seen {
    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Observer for Seen {
    fn transformed(&self, report: &Report<'_>) {
        let saved = report.outcome.map(|saved| [saved.bytes_in, saved.bytes_minified, saved.bytes_out]);
        self.0.lock().unwrap().push(format!("{} {saved:?}", report.path));
    }

    fn converted(&self, report: &Report<'_>, before: &[u8], after: &[u8]) {
        let [before, after] = [before, after].map(|text| String::from_utf8(text.to_vec()).unwrap());
        assert_eq!(report.sent, Some(Format::Stc1));
        self.0.lock().unwrap().extend([before, after]);
    }
}

#[tokio::test]
async fn an_unknown_format_is_reported() {
    let seen = Arc::new(Seen::default());
    let layer = TransformLayer::with_engine(Engine::observed(Policy::default(), seen.clone()));
    let service = service_fn(|_: Request<_>| async { Ok::<_, Infallible>(Response::new(Full::new(Bytes::new()))) });
    for (format, expected) in [("stc9", &["/ Err(UnknownFormat)".to_owned()][..]), ("json", &[])] {
        let request = Request::builder().uri("/").header("x-prefer-format", format);
        let request = request.body(Full::new(Bytes::new())).unwrap();
        layer.layer(service).oneshot(request).await.unwrap();
        assert_eq!(seen.taken(), expected, "{format}");
    }
}

#[tokio::test]
async fn both_observers_receive_reports_and_texts() {
    let (engine, own) = (Arc::new(Seen::default()), Arc::new(Seen::default()));
    let layer = TransformLayer::with_engine(Engine::observed(Policy::default(), engine.clone()));
    let minified = stc::minify(ROWS.as_bytes()).unwrap().len();
    let converted = [format!("/rows Ok({:?})", [ROWS.len(), minified, ROWS_STC.len()]), ROWS.into(), ROWS_STC.into()];
    let skipped = ["/rows Err(TooSmall)".to_owned()];
    for (body, observed, expected) in
        [(ROWS, true, &converted[..]), (ROWS, false, &converted), ("[1]", true, &skipped), ("[1]", false, &skipped)]
    {
        let service = service_fn(move |_: Request<_>| async move {
            let response = Response::builder().header("content-type", "application/json");
            Ok::<_, Infallible>(response.body(Full::new(Bytes::from(body))).unwrap())
        });
        let request = Request::builder().uri("/rows?x=1").header("accept-encoding", "stc, gzip");
        let mut request = request.body(Full::new(Bytes::new())).unwrap();
        if observed {
            request.extensions_mut().insert(RequestObserver(own.clone()));
        }
        layer.layer(service).oneshot(request).await.unwrap().into_body().collect().await.unwrap();
        assert_eq!(engine.taken(), expected, "{body}");
        assert_eq!(own.taken(), if observed { expected } else { &[] }, "{body}");
    }
}
