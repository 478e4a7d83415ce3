//! What a request asks for by its query and its headers.

use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, StatusCode, Uri};

use crate::failure::Failure;

/// What the answer of `/detect` has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query {
    /// The least score of an object, `threshold=0.5`. By default what the model's own threshold leaves, and 0.5 for a
    /// drawn picture.
    pub threshold: Option<f32>,
    pub masks: Masks,
    /// Whether a drawn picture is asked for.
    pub is_drawn: bool,
}

/// How masks are written in JSON: `masks=counts`, `masks=polygons` or `masks=none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Masks {
    /// COCO's compressed run lengths.
    Counts,
    /// COCO's polygons.
    Polygons,
    None,
}

impl Query {
    pub fn of(uri: &Uri, headers: &HeaderMap) -> Result<Self, Failure> {
        let mut query = Self {
            threshold: None,
            masks: Masks::Counts,
            is_drawn: is_drawn(headers)?,
        };
        let pairs = uri
            .query()
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.is_empty());
        for pair in pairs {
            match pair.split_once('=').unwrap_or((pair, "")) {
                ("threshold", value) => {
                    let score = value.parse().ok().filter(|score| (0.0..=1.0).contains(score));
                    let wrong = || Failure::bad_request(format!("`threshold` is {value}, but must be from 0 to 1"));
                    query.threshold = Some(score.ok_or_else(wrong)?);
                }
                ("masks", "counts") => query.masks = Masks::Counts,
                ("masks", "polygons") => query.masks = Masks::Polygons,
                ("masks", "none") => query.masks = Masks::None,
                ("masks", value) => {
                    let reason = format!("`masks` is {value}, but must be counts, polygons or none");
                    return Err(Failure::bad_request(reason));
                }
                (name, _) => {
                    let reason = format!("`{name}` is in the query, which may have `threshold` and `masks`");
                    return Err(Failure::bad_request(reason));
                }
            }
        }
        Ok(query)
    }
}

/// Whether the client accepts a drawn picture and no JSON.
fn is_drawn(headers: &HeaderMap) -> Result<bool, Failure> {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let kinds: Vec<&str> = values
        .flat_map(|value| value.split(','))
        .map(|kind| kind.split(';').next().unwrap_or_default().trim())
        .collect();
    let is_any = |wanted: &[&str]| kinds.iter().any(|kind| wanted.contains(kind));
    if kinds.is_empty() || is_any(&["application/json", "application/*", "*/*"]) {
        return Ok(false);
    }
    if is_any(&["image/png", "image/*"]) {
        return Ok(true);
    }
    let reason = format!(
        "`Accept` is {}, but must have application/json or image/png",
        kinds.join(", ")
    );
    Err(Failure::new(StatusCode::NOT_ACCEPTABLE, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str, accept: Option<&str>) -> Result<Query, String> {
        let accept = accept.map(|value| (ACCEPT, value.parse().expect("a header")));
        let uri = format!("/detect{text}").parse().expect("an address");
        Query::of(&uri, &accept.into_iter().collect()).map_err(|failure| failure.reason)
    }

    #[test]
    fn defaults_and_values() {
        let default = Query {
            threshold: None,
            masks: Masks::Counts,
            is_drawn: false,
        };
        assert_eq!(query("", None), Ok(default));
        assert_eq!(query("?", Some("text/html, */*;q=0.8")), Ok(default));
        let asked = query("?threshold=0.25&masks=polygons", Some("image/png"));
        let expected = Query {
            threshold: Some(0.25),
            masks: Masks::Polygons,
            is_drawn: true,
        };
        assert_eq!(asked, Ok(expected));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |text, accept| query(text, accept).expect_err("a failure");
        assert_eq!(wrong("?threshold=2", None), "`threshold` is 2, but must be from 0 to 1");
        assert_eq!(
            wrong("?threshold=NaN", None),
            "`threshold` is NaN, but must be from 0 to 1"
        );
        assert!(wrong("?masks=rle", None).contains("counts, polygons or none"));
        assert!(wrong("?score=1", None).contains("`score`"));
        assert!(wrong("", Some("text/html")).contains("`Accept` is text/html"));
    }
}
