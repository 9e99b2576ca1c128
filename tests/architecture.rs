//! What the project promises about itself: which crate may know which, how long a file may be, and that links in the
//! documents lead somewhere.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

const ROOT: &str = "millrace";

/// Which member may use which others. A crate that is not here is a new wall, and wants a row.
const LAW: &[(&str, &[&str])] = &[
    ("millrace-core", &[]),
    ("millrace-broker", &["millrace-core"]),
    ("millrace-broker-rocketmq", &["millrace-core", "millrace-broker"]),
    ("millrace-store", &["millrace-core"]),
    ("millrace-tracker", &["millrace-core", "millrace-broker", "millrace-store"]),
    ("millrace-console", &["millrace-core", "millrace-broker", "millrace-store"]),
    ("millrace-web", &["millrace-core", "millrace-broker", "millrace-store", "millrace-tracker", "millrace-console"]),
];

/// Libraries that only some members may use, by the beginning of the name.
const WALLED: &[(&str, &[&str])] = &[
    ("sqlx", &["millrace-store"]),
    // The metrics listener is a router of its own.
    ("axum", &["millrace-web", ROOT]),
    ("askama", &["millrace-web"]),
    ("tower-http", &["millrace-web"]),
    ("rocketmq", &["millrace-broker-rocketmq"]),
];

/// The core computes: no runtime, no network, no clock of its own.
const NOT_IN_CORE: &[&str] = &["tokio", "futures", "async-trait", "sqlx", "axum", "reqwest", "tracing", "jiff"];

const LONGEST_FILE: usize = 500;

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// `None` for the package's own code, `dev` for its tests, `build` for its build script.
    kind: Option<String>,
}

fn workspace() -> Metadata {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version=1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What the package's own code uses; `tests` adds what its tests use.
fn uses(package: &Package, tests: bool) -> BTreeSet<&str> {
    let counts = |of: &&Dependency| of.kind.as_deref() != Some("dev") || tests;
    package.dependencies.iter().filter(counts).map(|of| of.name.as_str()).collect()
}

#[test]
fn members_know_only_what_the_law_allows() {
    let metadata = workspace();
    let law: BTreeMap<&str, &[&str]> = LAW.iter().copied().collect();
    let mut broken = Vec::new();
    for package in &metadata.packages {
        let name = package.name.as_str();
        if name == ROOT {
            continue;
        }
        let Some(allowed) = law.get(name) else {
            broken.push(format!("{name} has no row in the law"));
            continue;
        };
        for other in uses(package, true).into_iter().filter(|other| other.starts_with(ROOT)) {
            if !allowed.contains(&other) && other != name {
                broken.push(format!("{name} must not know {other}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    let members: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    for (name, _) in LAW {
        assert!(members.contains(name), "the law names {name}, which is no member");
    }
}

#[test]
fn libraries_stay_behind_their_walls() {
    let metadata = workspace();
    let mut broken = Vec::new();
    for package in &metadata.packages {
        let name = package.name.as_str();
        for dependency in uses(package, true) {
            for (library, allowed) in WALLED {
                let meant = dependency == *library || dependency.starts_with(&format!("{library}-"));
                if meant && !allowed.contains(&name) {
                    broken.push(format!("{name} must not use {dependency}"));
                }
            }
        }
        if name == "millrace-core" {
            let own = uses(package, false);
            broken.extend(
                NOT_IN_CORE.iter().filter(|of| own.contains(*of)).map(|of| format!("{name} must not use {of}")),
            );
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Files of the checkout with this ending, what tools left behind aside.
fn files(ending: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
                walk(&path, ending, found);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(Path::new(env!("CARGO_MANIFEST_DIR")), ending, &mut found);
    found.sort();
    assert!(!found.is_empty());
    found
}

#[test]
fn no_file_is_too_long() {
    let mut long = Vec::new();
    for path in files("rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        // Unit tests stand at the end of the file that they test.
        let lines = text.lines().take_while(|line| *line != "#[cfg(test)]").count();
        if lines > LONGEST_FILE {
            long.push(format!("{}: {lines} lines", path.display()));
        }
    }
    assert!(long.is_empty(), "split by concept: {long:#?}");
}

/// Targets of `[text](target)`, outside of code blocks.
fn links(text: &str) -> Vec<&str> {
    let mut links = Vec::new();
    let mut code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        if code {
            continue;
        }
        links.extend(line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target));
    }
    links
}

#[test]
fn links_in_documents_lead_somewhere() {
    let mut dead = Vec::new();
    let mut checked = 0;
    for path in files("md") {
        let text = std::fs::read_to_string(&path).unwrap();
        for link in links(&text) {
            let file = link.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") || file.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            if !path.parent().unwrap().join(file).exists() {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(checked > 0);
    assert!(dead.is_empty(), "{dead:#?}");
}
