use jiff::Timestamp;

use super::*;

/// More than are written at a time.
const EVENTS: usize = QUEUE + 1;

/// A disk that is full for a while.
struct Disk {
    full: bool,
    written: usize,
}

impl Write for &mut Disk {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.written += 1;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn every_event_is_counted_as_written_or_lost() {
    let metrics = Metrics::default();
    let mut disk = Disk { full: true, written: 0 };
    for full in [true, false, true] {
        disk.full = full;
        let (sender, receiver) = sync_channel::<Box<dyn Record>>(2 * EVENTS);
        for _ in 0..EVENTS {
            sender.send(Box::new(event())).unwrap();
        }
        drop(sender);
        write(&receiver, &mut disk, &metrics);
    }
    let batch = u64::try_from(EVENTS).unwrap();
    assert_eq!((metrics.written.get(), metrics.lost.get()), (batch, 2 * batch));
    assert_eq!(disk.written, EVENTS);
}

/// What nobody can tell is lost, and nothing else is.
#[test]
fn a_record_that_panics_takes_no_other_with_it() {
    #[derive(Debug)]
    struct Defect;
    impl Record for Defect {
        fn into_event(self: Box<Self>) -> Event {
            panic!("a defect")
        }
    }
    let metrics = Metrics::default();
    let (sender, receiver) = sync_channel::<Box<dyn Record>>(3);
    sender.send(Box::new(event())).unwrap();
    sender.send(Box::new(Defect)).unwrap();
    sender.send(Box::new(event())).unwrap();
    drop(sender);
    let mut disk = Disk {
        full: false,
        written: 0,
    };
    write(&receiver, &mut disk, &metrics);
    assert_eq!((metrics.written.get(), metrics.lost.get(), disk.written), (2, 1, 2));
}

#[test]
fn a_queue_that_is_full_loses_the_newest_and_counts_them() {
    let (queue, receiver) = sync_channel(1);
    let metrics = Metrics::default();
    let sink = Sink {
        queue,
        metrics: metrics.clone(),
    };
    sink.send(event());
    sink.send(event());
    assert_eq!(metrics.lost.get(), 1);
    drop(receiver);
    sink.send(event());
    assert_eq!(metrics.lost.get(), 2);
}

/// Whoever sends more than anybody ordinary does not push the others out.
#[test]
fn a_flood_leaves_room_for_others() {
    let (queue, receiver) = sync_channel(QUEUE);
    let metrics = Metrics::default();
    let sink = Sink {
        queue,
        metrics: metrics.clone(),
    };
    for _ in 0..2 * QUEUE {
        sink.send_of_flood(event());
    }
    let lost = metrics.lost.get();
    assert!(lost > 0);
    for _ in 0..QUEUE / 4 {
        sink.send(event());
    }
    assert_eq!(metrics.lost.get(), lost);
    drop(sink);
    write(
        &receiver,
        &mut Disk {
            full: false,
            written: 0,
        },
        &metrics,
    );
    assert_eq!(metrics.waiting.get(), 0, "each is counted in and out");
}

fn event() -> Event {
    Event {
        audit_id: "id".to_owned(),
        stage: Stage::ResponseComplete,
        request_uri: "/".to_owned(),
        verb: "get".into(),
        user: UserInfo::default(),
        impersonated_user: None,
        source_ip: Some([127, 0, 0, 1].into()),
        user_agent: String::new(),
        object_ref: None,
        response_status: ResponseStatus {
            status: "",
            message: String::new(),
            reason: "",
            code: 200,
        },
        request_received_timestamp: Timestamp::UNIX_EPOCH,
        stage_timestamp: Timestamp::UNIX_EPOCH,
        annotations: Vec::new(),
    }
}
