//! What lists share: an order in which the unknown comes last, and pages.

use std::cmp::Ordering;

/// The most rows of one page.
const MAX_SIZE: usize = 500;

/// One page of rows.
#[derive(Debug)]
pub(crate) struct Paged<T> {
    pub(crate) rows: Vec<T>,
    /// Rows on all pages.
    pub(crate) total: usize,
    /// The page that this is; the last one where a later one was asked for.
    pub(crate) page: usize,
    pub(crate) pages: usize,
    pub(crate) size: usize,
}

impl<T> Paged<T> {
    pub(crate) fn of(rows: Vec<T>, page: usize, size: usize) -> Self {
        let size = size.clamp(1, MAX_SIZE);
        let pages = rows.len().div_ceil(size).max(1);
        let page = page.clamp(1, pages);
        let total = rows.len();
        Self { rows: rows.into_iter().skip((page - 1) * size).take(size).collect(), total, page, pages, size }
    }
}

/// Unknown values come last in both directions.
pub(crate) fn directed<T>(
    a: Option<T>,
    b: Option<T>,
    descending: bool,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if descending => compare(&b, &a),
        (Some(a), Some(b)) => compare(&a, &b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}
