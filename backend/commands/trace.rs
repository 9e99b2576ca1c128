//! `millrace trace`: what is in recorded trace messages, without a server. Works on files alone: lines of JSON, lines of
//! bodies with escaped separators, or one raw body.
//!
//! Invariant: a line or an entry that cannot be read is told and costs no other.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use millrace_core::flow::{Flow, Options, reconstruct};
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;
use millrace_core::trace::recorded::{self, LineError, Shape};
use millrace_core::trace::{RejectReason, TraceMessage, TraceRecord, decode as decode_message};
use serde::Serialize;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum TraceCommand {
    /// Print each trace record as a line of JSON, and each bad entry with the reason
    Decode {
        /// Trace messages as lines of JSON, or a raw body; standard input where none is given
        file: Option<PathBuf>,
    },
    /// Print what happened to one record, as JSON: messages, deliveries, edges with their evidence, findings
    Flow {
        /// A record key, a message id or an offset message id
        key: String,
        /// Trace messages as lines of JSON, or raw bodies
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

/// Success also when there were rejects: they are part of the answer. Failure when `flow` found nothing.
pub(crate) fn run(command: &TraceCommand) -> Result<ExitCode> {
    let out = io::BufWriter::new(io::stdout().lock());
    let outcome = match command {
        TraceCommand::Decode { file } => {
            let counts = match file {
                Some(file) => decode(open(file)?, out),
                None => decode(io::stdin().lock(), out),
            };
            counts.map(|counts| {
                eprintln!("{counts}");
                ExitCode::SUCCESS
            })
        }
        TraceCommand::Flow { key, files } => flow(key, files, out).map(|flow| {
            if flow.messages.is_empty() {
                eprintln!("no trace record of {key} in {}", list(files));
                ExitCode::FAILURE
            } else {
                ExitCode::SUCCESS
            }
        }),
    };
    // Whoever reads the output may have seen enough, as `head` does.
    match outcome {
        Err(error) if is_closed(&error) => Ok(ExitCode::SUCCESS),
        outcome => outcome,
    }
}

fn is_closed(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        io.or_else(|| cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind))
    };
    error.chain().any(|cause| kind(cause) == Some(io::ErrorKind::BrokenPipe))
}

fn open(file: &Path) -> Result<BufReader<File>> {
    Ok(BufReader::new(File::open(file).with_context(|| format!("cannot open {}", file.display()))?))
}

fn list(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// What was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) messages: u64,
    pub(crate) records: u64,
    pub(crate) rejects: u64,
    /// Lines that are no trace message.
    pub(crate) bad_lines: u64,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { messages, records, rejects, bad_lines } = self;
        write!(f, "trace messages: {messages}, records: {records}, rejected entries: {rejects}, bad lines: {bad_lines}")
    }
}

/// An entry or a line that is no trace record, as it is printed.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Bad<'a> {
    Entry { reject: RejectReason, sample: &'a str, index: u32, queue: &'a QueueRef, offset: i64 },
    Line { reject: &'static str, line: u64, message: String },
}

/// Prints one line of JSON a trace record and one a reject.
pub(crate) fn decode(input: impl BufRead, mut out: impl Write) -> Result<Counts> {
    let mut counts = Counts::default();
    read(input, |message| {
        let message = match message {
            Ok(message) => message,
            Err(error) => {
                counts.bad_lines += 1;
                return print(
                    &mut out,
                    &Bad::Line { reject: "bad_line", line: error.line, message: error.to_string() },
                );
            }
        };
        let decoded = decode_message(&message);
        counts.messages += 1;
        for record in &decoded.records {
            counts.records += 1;
            print(&mut out, record)?;
        }
        for reject in &decoded.rejects {
            counts.rejects += 1;
            let (queue, offset) = (&message.queue, message.offset);
            print(
                &mut out,
                &Bad::Entry { reject: reject.reason, sample: &reject.sample, index: reject.index, queue, offset },
            )?;
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(counts)
}

fn print(out: &mut impl Write, line: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")?;
    Ok(())
}

/// Prints the flow of `key` as JSON, and gives it. The files are taken for all that the clients traced, and the newest
/// time in them for the present, so that the same files always give the same answer.
pub(crate) fn flow(key: &str, files: &[PathBuf], mut out: impl Write) -> Result<Flow> {
    let mut seen = Seen::default();
    for file in files {
        read(open(file)?, |message| {
            match message {
                Ok(message) => seen.take(&message),
                Err(error) => eprintln!("{}: {error}", file.display()),
            }
            Ok(())
        })
        .with_context(|| format!("cannot read {}", file.display()))?;
    }
    if seen.rejects > 0 {
        eprintln!("rejected entries: {}; `millrace trace decode` tells why", seen.rejects);
    }
    let options = Options { watermark: seen.watermark(), whole: true, ..Options::of(key.trim(), seen.newest()) };
    let flow = reconstruct(&seen.records, &[], &options);
    serde_json::to_writer_pretty(&mut out, &flow)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(flow)
}

#[derive(Debug, Default)]
struct Seen {
    records: Vec<TraceRecord>,
    rejects: usize,
    /// Newest store time of each queue.
    stored: BTreeMap<QueueRef, Millis>,
}

impl Seen {
    fn take(&mut self, message: &TraceMessage) {
        let newest = self.stored.entry(message.queue.clone()).or_insert(message.stored);
        *newest = message.stored.max(*newest);
        let decoded = decode_message(message);
        self.records.extend(decoded.records);
        self.rejects += decoded.rejects.len();
    }

    /// Raw bodies tell no store time; then their records' own times are all there is.
    fn newest(&self) -> Millis {
        let traced = self.records.iter().filter_map(|record| record.event.time());
        self.stored.values().copied().chain(traced).max().unwrap_or_default()
    }

    fn watermark(&self) -> Option<Millis> {
        self.stored.values().copied().min().filter(|stored| *stored > Millis(0))
    }
}

/// Hands every trace message of `input` to `take`.
fn read(mut input: impl BufRead, mut take: impl FnMut(Result<TraceMessage, LineError>) -> Result<()>) -> Result<()> {
    let mut line = Vec::new();
    let mut number = 0;
    let mut shape = None;
    loop {
        line.clear();
        number += 1;
        if input.read_until(b'\n', &mut line).context("cannot read the trace messages")? == 0 {
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        if *shape.get_or_insert_with(|| Shape::of(&line)) == Shape::Body {
            input.read_to_end(&mut line).context("cannot read the trace body")?;
            return take(Ok(recorded::body(std::mem::take(&mut line), number)));
        }
        if let Some(message) = recorded::line(&line, number).transpose() {
            take(message)?;
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use std::path::PathBuf;

    use serde_json::Value;

    use super::{Counts, decode, flow};

    const ENTRY: &str = r"SubAfter\u0001R\u0001M\u00013\u0001true\u0001k\u00010\u0002";

    fn decoded(input: &[u8]) -> (Counts, Vec<Value>) {
        let mut out = Vec::new();
        let counts = decode(input, &mut out).unwrap();
        let lines = String::from_utf8(out).unwrap();
        (counts, lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    #[test]
    fn one_line_a_record_and_one_a_reject() {
        let input =
            format!("\n{{\"queueOffset\":5,\"body\":\"{ENTRY}Foo\\u00011\"}}\n{{\"queueId\":\n{ENTRY}\n# done\n");
        let (counts, lines) = decoded(input.as_bytes());
        assert_eq!(counts, Counts { messages: 2, records: 2, rejects: 1, bad_lines: 1 });
        assert_eq!(lines[0]["event"]["kind"], "sub_after");
        assert_eq!(lines[0]["origin"]["offset"], 5);
        assert_eq!((&lines[1]["reject"], &lines[1]["sample"]), (&"unknown_type".into(), &"Foo␁1".into()));
        assert_eq!((&lines[2]["reject"], &lines[2]["line"]), (&"bad_line".into(), &3.into()));
        assert_eq!(lines[3]["event"]["message_id"], "M");
    }

    #[test]
    fn a_file_may_be_one_raw_body() {
        let body = ENTRY.replace("\\u0001", "\u{1}").replace("\\u0002", "\u{2}");
        let (counts, _) = decoded(format!("{body}{body}\n").as_bytes());
        assert_eq!(counts, Counts { messages: 1, records: 2, rejects: 0, bad_lines: 0 });
        assert_eq!(decoded(b"").0, Counts::default());
    }

    #[test]
    fn a_flow_comes_from_files_alone() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
        let files = [folder.join("messages.jsonl"), folder.join("synthetic-versions.txt")];
        let mut out = Vec::new();
        let found = flow("rec-0017", &files, &mut out).unwrap();
        let json: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(json["subject"], "rec-0017");
        assert_eq!(json["messages"].as_array().unwrap().len(), found.messages.len());
        assert!(!found.hops.is_empty());
        assert!(flow("no-such-key", &files, &mut Vec::new()).unwrap().messages.is_empty());
    }
}
