//! Measures the trace store on made-up traces: how fast it takes records in, and how fast it finds one of them.
//!
//! The traces have the shape of a real task's: trace messages of ten records, ids that share a process and count up, keys
//! in no order, and a delivery's records some hundred messages after its publication's. The same number always makes the
//! same order, so that a look-up knows what it must find.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use millrace_core::name::{QueueRef, TRACE_TOPIC};
use millrace_core::time::{Clock, Millis};
use millrace_core::trace::{Term, TraceMessage, decode};
use millrace_store::{Batch, IndexedMessage, PositionMove, TraceStore};

const RECORDS_A_MESSAGE: u64 = 10;
const MESSAGES_A_BATCH: usize = 400;
/// Publication, begin and end of one delivery.
const RECORDS_AN_ORDER: u64 = 3;
/// How many publications' messages come between an order's publication and its delivery's records.
const DELAY: usize = 150;
const REPORT_EVERY: u64 = 1_000_000;

/// Appends at least `records` made-up trace records and prints a line for each million.
pub(crate) async fn ingest_synthetic(store: &dyn TraceStore, records: u64, clock: &dyn Clock) -> Result<()> {
    let queue = QueueRef { topic: TRACE_TOPIC.into(), broker: "bench".into(), queue: 0 };
    ensure!(store.positions().await?.is_empty(), "the database holds traces already: measure on an empty one");
    let mut orders = Orders::new(queue.clone());
    let mut position = None;
    let (mut written, mut reported) = (0, 0);
    let (mut in_store, mut in_decode) = (Duration::ZERO, Duration::ZERO);
    println!("   records  append/s  decode+append/s  disk B/record  resident MB");
    while written < records {
        let messages: Vec<TraceMessage> = orders.by_ref().take(MESSAGES_A_BATCH).collect();
        let next = orders.offset;
        let began = Instant::now();
        let messages = messages.into_iter().map(indexed).collect();
        let decoded = Instant::now();
        let moves = vec![PositionMove { queue: queue.clone(), expected: position, next }];
        let appended = store.append(Batch { messages, moves }, clock.now()).await?;
        in_decode += decoded - began;
        in_store += decoded.elapsed();
        position = Some(next);
        ensure!(appended.rejects == 0, "a made-up trace record was rejected");
        written += appended.records;
        if written - reported >= REPORT_EVERY || written >= records {
            let bytes: u64 = store.segments().await?.iter().map(|segment| segment.bytes).sum();
            let since = written - reported;
            println!(
                "{written:>10}  {:>8}  {:>15}  {:>13}  {:>11}",
                rate(since, in_store),
                rate(since, in_store + in_decode),
                bytes / written.max(1),
                resident_mb().map_or_else(|| "unknown".into(), |mb| mb.to_string()),
            );
            reported = written;
            (in_store, in_decode) = (Duration::ZERO, Duration::ZERO);
        }
    }
    let began = Instant::now();
    store.seal().await?;
    println!("the last full segments were indexed {:.1} s after the last record", began.elapsed().as_secs_f64());
    Ok(())
}

/// Looks up `count` orders of those that [`ingest_synthetic`] wrote, and prints how long it took.
pub(crate) async fn lookup_synthetic(store: &dyn TraceStore, count: usize) -> Result<()> {
    let records: u64 = store.segments().await?.iter().map(|segment| segment.records).sum();
    let orders = (records / RECORDS_AN_ORDER).saturating_sub(DELAY as u64 * RECORDS_A_MESSAGE * 2);
    ensure!(orders > 0 && count > 0, "there is nothing to look up: run `millrace bench ingest` first");
    let began = Instant::now();
    store.find(&[Term::text(&key_of(0))], 100).await?;
    let first = began.elapsed();
    let mut times = Vec::with_capacity(count);
    for number in 0..count {
        let key = key_of(mix(number as u64 ^ 0x5eed) % orders);
        let began = Instant::now();
        let found = store.find(&[Term::text(&key)], 100).await?;
        times.push(began.elapsed());
        ensure!(found.missed.is_empty(), "{:?}", found.missed);
        ensure!(found.records.len() as u64 == RECORDS_AN_ORDER, "{key} has {} records", found.records.len());
    }
    times.sort_unstable();
    let at = |part: usize| times.get((times.len() * part / 1000).min(times.len() - 1)).copied().unwrap_or_default();
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    println!(
        "{count} look-ups by key in {records} records of {} segments: the first {:.1} ms, then p50 {:.2} ms, \
         p99 {:.2} ms, p99.9 {:.2} ms, slowest {:.2} ms; resident {} MB",
        store.segments().await?.len(),
        ms(first),
        ms(at(500)),
        ms(at(990)),
        ms(at(999)),
        ms(at(1000)),
        resident_mb().map_or_else(|| "unknown".into(), |mb| mb.to_string()),
    );
    Ok(())
}

fn rate(records: u64, time: Duration) -> u128 {
    u128::from(records) * 1000 / time.as_millis().max(1)
}

pub(super) fn resident_mb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}

/// What ingest does with a message before it is appended.
fn indexed(message: TraceMessage) -> IndexedMessage {
    let decoded = decode(&message);
    let mut terms = BTreeSet::new();
    for record in &decoded.records {
        Term::of(record, &mut |term| {
            terms.insert(term);
        });
    }
    IndexedMessage {
        records: u32::try_from(decoded.records.len()).unwrap_or(u32::MAX),
        rejects: decoded.rejects.into_iter().map(|reject| (reject.reason, reject.sample)).collect(),
        terms: terms.into_iter().collect(),
        message,
    }
}

/// A number made of another so that neighbours are far apart (splitmix64's finish).
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

fn key_of(order: u64) -> String {
    format!("order-{:016x}", mix(order))
}

/// A client's id: address, process, loader, milliseconds, counter.
fn id_of(order: u64) -> String {
    format!("C0000207{:04X}18B4AAC2{:08X}{:04X}", 0x1000 + order % 16, 1_000_000 + order / 20, order % 65_536)
}

/// Trace messages of made-up orders, without end.
struct Orders {
    queue: QueueRef,
    offset: i64,
    next: u64,
    published: VecDeque<u64>,
    ready: VecDeque<String>,
}

impl Orders {
    fn new(queue: QueueRef) -> Self {
        Self { queue, offset: 0, next: 0, published: VecDeque::new(), ready: VecDeque::new() }
    }

    /// Publishes ten orders; those published long enough ago are delivered.
    fn step(&mut self) {
        let first = self.next;
        self.next += RECORDS_A_MESSAGE;
        self.ready.push_back(body(first, publication));
        self.published.push_back(first);
        if self.published.len() > DELAY
            && let Some(first) = self.published.pop_front()
        {
            self.ready.push_back(body(first, begin));
            self.ready.push_back(body(first, end));
        }
    }
}

impl Iterator for Orders {
    type Item = TraceMessage;

    fn next(&mut self) -> Option<TraceMessage> {
        while self.ready.is_empty() {
            self.step();
        }
        let offset = self.offset;
        self.offset += 1;
        let stored = Millis(1_700_000_000_000 + offset / 5);
        Some(TraceMessage {
            queue: self.queue.clone(),
            offset,
            stored,
            born: stored.plus(-20),
            born_host: "192.0.2.7".into(),
            producer_group: Some("_INNER_TRACE_PRODUCER-billing-CONSUME-1".into()),
            body: self.ready.pop_front()?.into_bytes(),
        })
    }
}

fn body(first: u64, write: fn(&mut String, u64)) -> String {
    let mut body = String::with_capacity(2400);
    for order in first..first + RECORDS_A_MESSAGE {
        write(&mut body, order);
        body.push('\u{2}');
    }
    body
}

fn time_of(order: u64) -> u64 {
    1_700_000_000_000 + order / 20
}

fn publication(out: &mut String, order: u64) {
    let _ = write!(
        out,
        "Pub\u{1}{}\u{1}DefaultRegion\u{1}order-source\u{1}orders-raw\u{1}{}\u{1}paid\u{1}{}\u{1}192.0.2.1:10911\u{1}{}\u{1}{}\u{1}0\u{1}C000020100002A9F{:016X}\u{1}true",
        time_of(order),
        id_of(order),
        key_of(order),
        200 + order % 300,
        order % 9,
        order * 431,
    );
}

fn begin(out: &mut String, order: u64) {
    let _ = write!(
        out,
        "SubBefore\u{1}{}\u{1}DefaultRegion\u{1}billing\u{1}{}\u{1}{}\u{1}0\u{1}{}",
        time_of(order) + 7,
        request_of(order),
        id_of(order),
        key_of(order),
    );
}

fn end(out: &mut String, order: u64) {
    let _ = write!(
        out,
        "SubAfter\u{1}{}\u{1}{}\u{1}{}\u{1}true\u{1}{}\u{1}0\u{1}{}\u{1}billing",
        request_of(order),
        id_of(order),
        order % 40,
        key_of(order),
        time_of(order) + 7 + order % 40,
    );
}

fn request_of(order: u64) -> String {
    format!("C000020918B418B4AAC3{:08X}{:04X}", 1_000_000 + order / 20, order % 65_536)
}
