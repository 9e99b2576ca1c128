//! The one table of what is served. One invariant: a row has a permission, and nothing is served without a row.

use axum::http::Method;

use crate::route::{Kind, Permission, Route};
use crate::{api, assets, health, pages};

macro_rules! rows {
    ($($method:ident $path:literal $permission:ident $kind:ident => $handler:path;)*) => {
        vec![$(Route::new(Method::$method, $path, Permission::$permission, Kind::$kind, $handler)),*]
    };
}

pub(crate) fn table() -> Vec<Route> {
    rows! {
        GET  "/"                              ClusterRead Page   => pages::clusters::list;
        GET  "/c/{cluster}"                   ClusterRead Page   => pages::overview::show;
        GET  "/c/{cluster}/events"            ClusterRead Events => pages::overview::events;
        GET  "/c/{cluster}/records"           RecordRead  Page   => pages::record::show;
        GET  "/c/{cluster}/records/events"    RecordRead  Events => pages::record::events;
        GET  "/c/{cluster}/ingest"            IngestRead  Page   => pages::ingest::show;
        GET  "/c/{cluster}/ingest/events"     IngestRead  Events => pages::ingest::events;
        GET  "/c/{cluster}/topics"            TopicRead   Page   => pages::topics::list::show;
        POST "/c/{cluster}/topics"            TopicWrite  Page   => pages::topics::create::create;
        GET  "/c/{cluster}/topics/-/new"      TopicRead   Page   => pages::topics::create::form;
        GET  "/c/{cluster}/topics/{topic}"    TopicRead   Page   => pages::topics::show::queues;
        GET  "/c/{cluster}/topics/{topic}/groups" TopicRead Page => pages::topics::show::groups;
        GET  "/c/{cluster}/topics/{topic}/config" TopicRead Page => pages::topics::show::config;
        GET  "/c/{cluster}/topics/{topic}/delete" TopicRead Page => pages::topics::delete::form;
        POST "/c/{cluster}/topics/{topic}/delete" TopicWrite Page => pages::topics::delete::delete;
        GET  "/c/{cluster}/topics/{topic}/send" TopicRead Page   => pages::topics::send::form;
        POST "/c/{cluster}/topics/{topic}/send" MessageSend Page => pages::topics::send::send;
        GET  "/c/{cluster}/topics/{topic}/messages" MessageRead Page => pages::messages::browse::show;
        GET  "/c/{cluster}/topics/{topic}/messages/{broker}/{queue}/{offset}" MessageRead Page => pages::messages::show::show;
        GET  "/c/{cluster}/topics/{topic}/messages/{broker}/{queue}/{offset}/body" MessageRead Plain => pages::messages::show::body;
        GET  "/c/{cluster}/groups"            GroupRead   Page   => pages::groups::list::show;
        POST "/c/{cluster}/groups"            GroupWrite  Page   => pages::groups::edit::create;
        GET  "/c/{cluster}/groups/-/new"      GroupRead   Page   => pages::groups::edit::new;
        GET  "/c/{cluster}/groups/{group}"    GroupRead   Page   => pages::groups::show::progress;
        GET  "/c/{cluster}/groups/{group}/clients" GroupRead Page => pages::groups::show::clients;
        GET  "/c/{cluster}/groups/{group}/clients/{client}" GroupRead Page => pages::groups::client::show;
        GET  "/c/{cluster}/groups/{group}/config" GroupRead Page => pages::groups::show::config;
        GET  "/c/{cluster}/groups/{group}/edit" GroupRead Page   => pages::groups::edit::edit;
        POST "/c/{cluster}/groups/{group}/edit" GroupWrite Page  => pages::groups::edit::change;
        GET  "/c/{cluster}/groups/{group}/delete" GroupRead Page => pages::groups::delete::form;
        POST "/c/{cluster}/groups/{group}/delete" GroupWrite Page => pages::groups::delete::delete;
        GET  "/c/{cluster}/groups/{group}/reset" GroupRead Page  => pages::groups::reset::form;
        POST "/c/{cluster}/groups/{group}/reset" GroupWrite Page => pages::groups::reset::reset;
        GET  "/c/{cluster}/groups/{group}/dead-letters" MessageRead Page => pages::groups::dead_letters::show;
        POST "/c/{cluster}/groups/{group}/dead-letters" MessageSend Page => pages::groups::dead_letters::resend;
        GET  "/c/{cluster}/dead-letters"      MessageRead Page   => pages::dead_letters::list;
        GET  "/c/{cluster}/history"           ClusterRead Page   => pages::history::moment::show;
        GET  "/c/{cluster}/topics/{topic}/history" TopicRead Page => pages::topics::history::show;
        GET  "/c/{cluster}/groups/{group}/history" GroupRead Page => pages::groups::history::show;
        GET  "/c/{cluster}/brokers/{broker}/history" ClusterRead Page => pages::history::broker::show;
        GET  "/c/{cluster}/messages"          MessageRead Page   => pages::messages::find::show;
        GET  "/about"                         Public      Page   => pages::about::show;
        POST "/settings"                      Public      Page   => pages::settings::change;

        GET  "/api/v1/openapi.json"           Public      Api    => api::document;
        GET  "/api/v1/clusters"               ClusterRead Api    => api::clusters::list;
        GET  "/api/v1/clusters/{cluster}"     ClusterRead Api    => api::clusters::overview;
        GET  "/api/v1/clusters/{cluster}/ingest" IngestRead Api  => api::ingest::show;
        GET  "/api/v1/clusters/{cluster}/records/{key}" RecordRead Api => api::records::show;
        GET  "/api/v1/clusters/{cluster}/topics" TopicRead Api   => api::topics::list;
        POST "/api/v1/clusters/{cluster}/topics" TopicWrite Api  => api::topics::create;
        GET  "/api/v1/clusters/{cluster}/topics/{topic}" TopicRead Api => api::topics::show;
        DELETE "/api/v1/clusters/{cluster}/topics/{topic}" TopicWrite Api => api::topics::delete;
        GET  "/api/v1/clusters/{cluster}/topics/{topic}/messages" MessageRead Api => api::messages::browse;
        POST "/api/v1/clusters/{cluster}/topics/{topic}/messages" MessageSend Api => api::messages::send;
        GET  "/api/v1/clusters/{cluster}/topics/{topic}/messages/{broker}/{queue}/{offset}" MessageRead Api => api::messages::show;

        GET  "/api/v1/clusters/{cluster}/groups" GroupRead Api   => api::groups::list;
        POST "/api/v1/clusters/{cluster}/groups" GroupWrite Api  => api::groups::create;
        GET  "/api/v1/clusters/{cluster}/groups/{group}" GroupRead Api => api::groups::show;
        PUT  "/api/v1/clusters/{cluster}/groups/{group}" GroupWrite Api => api::groups::change;
        DELETE "/api/v1/clusters/{cluster}/groups/{group}" GroupWrite Api => api::groups::delete;
        GET  "/api/v1/clusters/{cluster}/groups/{group}/offsets" GroupRead Api => api::offsets::plan;
        PUT  "/api/v1/clusters/{cluster}/groups/{group}/offsets" GroupWrite Api => api::offsets::reset;
        GET  "/api/v1/clusters/{cluster}/dead-letters" MessageRead Api => api::dead_letters::groups;
        GET  "/api/v1/clusters/{cluster}/groups/{group}/dead-letters" MessageRead Api => api::dead_letters::list;
        POST "/api/v1/clusters/{cluster}/groups/{group}/dead-letters" MessageSend Api => api::dead_letters::resend;
        GET  "/api/v1/clusters/{cluster}/groups/{group}/clients/{client}" GroupRead Api => api::groups::client;
        GET  "/api/v1/clusters/{cluster}/history" ClusterRead Api => api::history::moment;
        GET  "/api/v1/clusters/{cluster}/topics/{topic}/history" TopicRead Api => api::history::topic;
        GET  "/api/v1/clusters/{cluster}/groups/{group}/history" GroupRead Api => api::history::group;
        GET  "/api/v1/clusters/{cluster}/brokers/{broker}/history" ClusterRead Api => api::history::broker;

        GET  "/static/{version}/{*file}"      Public      Plain  => assets::file;
        GET  "/favicon.ico"                   Public      Plain  => assets::favicon;
        GET  "/healthz"                       Public      Plain  => health::alive;
        GET  "/readyz"                        Public      Plain  => health::ready;
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeSet;

    use axum::http::{Method, StatusCode};

    use super::table;
    use crate::route::{Kind, Permission};
    use crate::testing::site;

    /// Addresses that change nothing on a cluster although they are not read with GET: the reader's own cookies.
    const OWN_SETTINGS: &[&str] = &["/settings"];

    #[test]
    fn methods_and_permissions_agree() {
        let mut seen = BTreeSet::new();
        for route in table() {
            assert!(seen.insert((route.method.to_string(), route.path)), "twice: {route:?}");
            if route.method == Method::GET {
                assert!(!route.permission.writes(), "a GET must change nothing: {route:?}");
            } else if !OWN_SETTINGS.contains(&route.path) {
                assert!(route.permission.writes(), "a change needs a permission to write: {route:?}");
            }
            if route.permission == Permission::Public {
                assert!(!route.path.contains("{cluster}"), "nothing of a cluster is public: {route:?}");
            }
            assert_eq!(route.kind == Kind::Api, route.path.starts_with("/api/"), "{route:?}");
            assert_eq!(route.kind == Kind::Events, route.path.ends_with("/events"), "{route:?}");
        }
    }

    /// A read-only cluster has no write handle: every row that writes says so.
    #[tokio::test]
    async fn nothing_is_written_on_a_read_only_cluster() {
        let site = crate::testing::read_only_site();
        site.settle().await;
        let mut rows = 0;
        for route in table().iter().filter(|row| row.permission.writes() && row.path.contains("{cluster}")) {
            let path =
                route.path.replace("{cluster}", "shop").replace("{topic}", "orders").replace("{group}", "billing");
            assert!(!path.contains('{'), "a part that this test does not know: {path}");
            let json = match path.rsplit('/').next().unwrap() {
                "messages" => r#"{"body":"x"}"#,
                "dead-letters" => r#"{"attempt":"press-0001","target":"group","places":["broker-a/0/0"]}"#,
                "offsets" => r#"{"topic":"orders","to":"latest"}"#,
                "topics" => r#"{"name":"new","write_queues":1,"message_type":"normal","brokers":["broker-a"]}"#,
                _ => r#"{"name":"new","brokers":["broker-a"]}"#,
            };
            let (kind, body) = match route.kind {
                Kind::Api => ("application/json", json),
                _ => ("application/x-www-form-urlencoded", "name=new&confirm=orders&body=x&to=latest&topic=orders"),
            };
            let path = if route.method == Method::DELETE { format!("{path}?confirm=orders") } else { path };
            let answer = site.request(route.method.as_str(), &path, body, &[("content-type", kind)]).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{} {path}: {}", route.method, answer.body);
            rows += 1;
        }
        assert!(rows >= 6, "{rows}");
    }

    /// Every page without further parts answers in both languages and in both shapes.
    #[tokio::test]
    async fn every_page_answers() {
        let site = site();
        for route in table() {
            if route.method != Method::GET || route.kind == Kind::Events || route.path.contains("{version}") {
                continue;
            }
            let path = route.path.replace("{cluster}", "shop");
            if path.contains('{') {
                continue;
            }
            for language in ["en", "zh-CN"] {
                let answer = site.get_with(&path, &[("accept-language", language)]).await;
                assert!(
                    answer.status.is_success() || answer.status == StatusCode::SEE_OTHER,
                    "{path} in {language}: {} {}",
                    answer.status,
                    answer.body
                );
                assert!(answer.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
            }
        }
    }
}
