//! The program without a server: traces from files.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::millrace::run;

fn recorded(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(name)
}

fn lines(arguments: &[&str], input: &str) -> Vec<Value> {
    let output = run(arguments, input);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn recorded_traces_decode_without_a_reject() {
    let file = recorded("messages.jsonl");
    let decoded = lines(&["trace", "decode", file.to_str().unwrap()], "");
    let rejects: Vec<&Value> = decoded.iter().filter(|line| line.get("reject").is_some()).collect();
    assert!(rejects.is_empty(), "{rejects:#?}");
    assert!(decoded.len() > 500, "{}", decoded.len());
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(lines(&["trace", "decode"], &text), decoded, "the same from standard input");
}

#[test]
fn a_bad_record_is_told_with_its_reason_and_costs_no_other() {
    let body = "Pub\u{1}abc\u{1}x\u{2}SubBefore\u{1}1700000000100\u{1}DefaultRegion\u{1}CG\u{1}R2\u{1}M2\u{1}0\u{1}k2\u{2}Foo\u{1}1\u{2}";
    let decoded = lines(&["trace", "decode"], body);
    assert_eq!(decoded.len(), 3, "{decoded:#?}");
    assert_eq!(decoded.iter().filter(|line| line.get("reject").is_some()).count(), 2, "{decoded:#?}");
}

#[test]
fn a_flow_comes_from_files_alone() {
    let (messages, dead) = (recorded("messages.jsonl"), recorded("dlq.jsonl"));
    let output = run(&["trace", "flow", "rec-0007", messages.to_str().unwrap(), dead.to_str().unwrap()], "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let flow: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = flow.to_string();
    assert!(text.contains("demo_op1") && text.contains("attempts"), "{flow:#}");
}
