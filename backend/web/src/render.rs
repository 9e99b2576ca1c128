//! What templates can do with a value. One invariant: filters know the reader through the run-time value `cx`, so that
//! no view carries language or zone, and everything but our own markup is escaped.

use millrace_core::inert::inert;

/// Text in HTML that does not act, wherever it is from: not as markup, not by control characters, and not on the
/// direction of writing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InertHtml;

impl askama::filters::Escaper for InertHtml {
    fn write_escaped_str<W: std::fmt::Write>(&self, dest: W, text: &str) -> std::fmt::Result {
        askama::filters::Html.write_escaped_str(dest, &inert(text))
    }
}

/// Filters of all templates; askama looks for a module of this name where the view is defined.
#[expect(
    unreachable_pub,
    clippy::inline_always,
    clippy::unnecessary_wraps,
    clippy::unused_self,
    reason = "the filter macro makes the methods, and askama wants results"
)]
pub(crate) mod filters {
    use askama::filters::Safe;
    use askama::{Values, get_value};
    use millrace_core::coverage::{Known, Why};
    use millrace_core::time::Millis;

    use crate::cx::Cx;
    use crate::format::{self, Zone};
    use crate::i18n::{Arg, Msg};

    fn reader(values: &dyn Values) -> askama::Result<&Cx> {
        get_value::<Cx>(values, "cx")
    }

    /// A key or a [`Msg`] in the reader's language.
    pub(crate) trait Text {
        fn msg(&self) -> Msg;
    }

    impl Text for &'static str {
        fn msg(&self) -> Msg {
            Msg::new(self)
        }
    }

    impl Text for Msg {
        fn msg(&self) -> Msg {
            self.clone()
        }
    }

    impl<T: Text> Text for &T {
        fn msg(&self) -> Msg {
            (*self).msg()
        }
    }

    #[askama::filter_fn]
    pub(crate) fn t<T: Text>(text: T, values: &dyn Values) -> askama::Result<String> {
        Ok(text.msg().text(reader(values)?.locale))
    }

    /// A text with one value.
    #[askama::filter_fn]
    pub(crate) fn t1<T: Text, A: Into<Arg> + Clone>(
        text: T,
        values: &dyn Values,
        name: &'static str,
        value: A,
    ) -> askama::Result<String> {
        Ok(text.msg().with(name, value.clone()).text(reader(values)?.locale))
    }

    /// Whole numbers of any type.
    pub(crate) trait Whole {
        fn whole(&self) -> String;
    }

    macro_rules! whole {
        ($($type:ty),*) => { $(impl Whole for $type {
            fn whole(&self) -> String {
                i64::try_from(*self).map_or_else(|_| self.to_string(), format::grouped)
            }
        })* };
    }
    whole!(i32, i64, u8, u16, u32, u64, usize);

    impl<T: Whole> Whole for &T {
        fn whole(&self) -> String {
            (*self).whole()
        }
    }

    /// A value through any number of references, which templates pile up.
    pub(crate) trait Plain<T> {
        fn plain(&self) -> T;
    }

    macro_rules! plain {
        ($($type:ty),*) => { $(impl Plain<$type> for $type {
            fn plain(&self) -> $type {
                *self
            }
        })* };
    }
    plain!(i64, u64, f64, Millis);

    impl<T, U: Plain<T>> Plain<T> for &U {
        fn plain(&self) -> T {
            (*self).plain()
        }
    }

    #[askama::filter_fn]
    pub(crate) fn num<T: Whole>(number: T, _: &dyn Values) -> askama::Result<String> {
        Ok(number.whole())
    }

    /// Per second.
    #[askama::filter_fn]
    pub(crate) fn rate<T: Plain<f64>>(number: T, values: &dyn Values) -> askama::Result<String> {
        Ok(Msg::new("unit-per-second").with("n", format::decimal(number.plain())).text(reader(values)?.locale))
    }

    #[askama::filter_fn]
    pub(crate) fn bytes<T: Plain<u64>>(count: T, _: &dyn Values) -> askama::Result<String> {
        Ok(format::bytes(count.plain()))
    }

    /// Milliseconds in words.
    #[askama::filter_fn]
    pub(crate) fn duration<T: Plain<i64>>(ms: T, values: &dyn Values) -> askama::Result<String> {
        Ok(format::duration(ms.plain(), reader(values)?.locale))
    }

    fn time_element(at: Millis, cx: &Cx, shown: &str) -> Safe<String> {
        let title = format!("{} {}", cx.zone.date_time(at), cx.zone.offset(at));
        Safe(match Zone::machine(at) {
            Some(machine) => format!("<time datetime=\"{machine}\" title=\"{title}\">{shown}</time>"),
            None => shown.to_owned(),
        })
    }

    /// Date and time in the reader's zone.
    #[askama::filter_fn]
    pub(crate) fn time<T: Plain<Millis>>(at: T, values: &dyn Values) -> askama::Result<Safe<String>> {
        let (at, cx) = (at.plain(), reader(values)?);
        Ok(time_element(at, cx, &cx.zone.date_time(at)))
    }

    /// Time of day in the reader's zone; the date is in the title.
    #[askama::filter_fn]
    pub(crate) fn clock<T: Plain<Millis>>(at: T, values: &dyn Values) -> askama::Result<Safe<String>> {
        let (at, cx) = (at.plain(), reader(values)?);
        Ok(time_element(at, cx, &cx.zone.clock(at)))
    }

    /// How long ago.
    #[askama::filter_fn]
    pub(crate) fn ago<T: Plain<Millis>>(at: T, values: &dyn Values) -> askama::Result<Safe<String>> {
        let (at, cx) = (at.plain(), reader(values)?);
        Ok(time_element(at, cx, &format::ago(at, cx.now, cx.locale)))
    }

    /// A value that may not have been read.
    pub(crate) trait Reasoned {
        fn reason(&self) -> Option<&Why>;
    }

    impl<T> Reasoned for Known<T> {
        fn reason(&self) -> Option<&Why> {
            match self {
                Self::Known(_) => None,
                Self::Unknown(why) => Some(why),
            }
        }
    }

    impl Reasoned for Why {
        fn reason(&self) -> Option<&Why> {
            Some(self)
        }
    }

    impl<T: Reasoned> Reasoned for &T {
        fn reason(&self) -> Option<&Why> {
            (*self).reason()
        }
    }

    /// Why a value is not known; empty for one that is.
    #[askama::filter_fn]
    pub(crate) fn why<T: Reasoned>(value: T, values: &dyn Values) -> askama::Result<String> {
        let locale = reader(values)?.locale;
        Ok(value.reason().map(|reason| crate::why::why(reason).text(locale)).unwrap_or_default())
    }

    /// A component's own markup: it escaped what it contains.
    #[askama::filter_fn]
    pub(crate) fn markup<T: askama::Template>(component: T, values: &dyn Values) -> askama::Result<Safe<String>> {
        component.render_with_values(values).map(Safe)
    }

    /// The address of a static file.
    #[askama::filter_fn]
    pub(crate) fn asset(file: &str, _: &dyn Values) -> askama::Result<String> {
        Ok(crate::assets::url(file))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::site;

    /// Names and reasons from a cluster are text, whatever they contain.
    #[tokio::test]
    async fn hostile_texts_stay_text() {
        let site = crate::testing::hostile_site();
        for path in ["/", "/c/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/c/%3Cscript%3Ealert(1)%3C%2Fscript%3E/ingest"] {
            let answer = site.get(path).await;
            assert!(answer.status.is_success() || answer.status.is_redirection(), "{path} {}", answer.status);
            assert!(!answer.body.contains("<script>alert"), "{path}: {}", answer.body);
            assert!(!answer.body.contains("<img src=x"), "{path}: {}", answer.body);
        }
        drop(site);
        let answer = site_not_found().await;
        assert!(!answer.contains("<script>") && answer.contains("&#60;script&#62;"), "{answer}");
    }

    async fn site_not_found() -> String {
        site().get("/c/%3Cscript%3E/ingest").await.body
    }

    #[tokio::test]
    async fn pages_hold_no_inline_script_or_style() {
        let site = site();
        for path in ["/about", "/c/shop", "/c/shop/ingest", "/nothing"] {
            let body = site.get(path).await.body;
            assert!(!body.contains(" style=") && !body.contains("<style"), "{path}");
            assert!(!body.contains("javascript:") && !body.contains(" onclick="), "{path}");
            for script in body.split("<script").skip(1) {
                assert!(script.trim_start().starts_with("src="), "{path}: {script}");
            }
        }
    }
}
