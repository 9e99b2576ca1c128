//! The reader's own settings: language, theme, zone. One invariant: they live in cookies and lead back to where the
//! reader was, on this site only.

use axum::Form;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::cx::{Theme, cookie};
use crate::format::Zone;
use crate::i18n::{Locale, Msg};
use crate::{Cx, Failure, links};

const YEAR: i64 = 365 * 24 * 3600;

#[derive(Debug, Deserialize)]
pub(crate) struct Settings {
    lang: Option<String>,
    theme: Option<String>,
    /// An IANA name, or `auto` for the browser's own.
    zone: Option<String>,
    #[serde(default)]
    back: String,
}

pub(crate) async fn change(_: Cx, Form(settings): Form<Settings>) -> Result<Response, Failure> {
    let unknown = || Failure::Invalid(Msg::new("errors-setting"));
    let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, local(&settings.back))]).into_response();
    let mut set = |name, value: &str, seconds| {
        if let Some(value) = cookie(name, &links::encoded(value), seconds) {
            response.headers_mut().append(header::SET_COOKIE, value);
        }
    };
    if let Some(tag) = &settings.lang {
        set("lang", Locale::of_tag(tag).ok_or_else(unknown)?.tag(), YEAR);
    }
    if let Some(name) = &settings.theme {
        set("theme", Theme::of_name(name).ok_or_else(unknown)?.name(), YEAR);
    }
    match settings.zone.as_deref() {
        None => {}
        Some("auto") => set("zone", "", 0),
        Some(name) => set("zone", Zone::parse(name).ok_or_else(unknown)?.name(), YEAR),
    }
    Ok(response)
}

/// `back` if it is a path of this site, else the start.
fn local(back: &str) -> String {
    let is_path = back.starts_with('/') && !back.starts_with("//") && !back.contains(['\\', '\r', '\n', '\t']);
    if is_path && back.is_ascii() { back.to_owned() } else { "/".to_owned() }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::local;
    use crate::testing::site;

    #[test]
    fn only_own_paths_are_gone_back_to() {
        assert_eq!(local("/c/shop?q=1"), "/c/shop?q=1");
        for foreign in
            ["//evil.example", "https://evil.example", "/\\evil.example", "", "/a\r\nset-cookie: x", "/\t/evil.example"]
        {
            assert_eq!(local(foreign), "/", "{foreign}");
        }
    }

    #[tokio::test]
    async fn settings_are_kept_in_cookies_and_believed_only_if_known() {
        let site = site();
        let answer = site.post_with("/settings", "theme=dark&back=%2Fabout", &[]).await;
        assert_eq!(answer.header("location"), Some("/about"));
        assert!(answer.header("set-cookie").unwrap().starts_with("theme=dark;"));
        assert_eq!(site.post_with("/settings", "theme=pink", &[]).await.status, 422);
        let page = site.get_with("/about", &[("cookie", "theme=dark; lang=zh-CN; tz=Asia%2FShanghai")]).await;
        assert!(page.body.contains("data-theme=\"dark\"") && page.body.contains("lang=\"zh-CN\""), "{}", page.body);
        assert!(page.body.contains("Asia/Shanghai") && page.body.contains("UTC+8"));
        let page = site.get_with("/about", &[("cookie", "theme=\"><script>; tz=nowhere; lang=xx")]).await;
        assert!(page.body.contains("data-theme=\"system\"") && page.body.contains("data-zone=\"UTC\""));
    }
}
