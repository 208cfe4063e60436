//! The threads that convert long bodies, so that a worker's other connections do not wait.
//!
//! The queue has at most one job of each request or event stream in progress: a job leaves it with its request. The next job is the one with the
//! earliest time, which is when it came and more the longer its body is: a short one does not wait for long ones that came a little
//! earlier, and a long one waits for a bounded time only. One more thread takes short jobs alone, so that they do not wait for long ones
//! that have begun either.
//!
//! Where processors are scarce, workers go first: the threads have a lower priority. Beside ten clients that send
//! megabytes to two processors, small requests then take little longer than without the gateway (`scripts/context/beside.py`).

use stc_layer::coding::SHORT_JOB;
use stc_layer::{Pool, Ticket};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

type Job = Box<dyn FnOnce() + Send>;

/// How much lower the priority of the threads is, in steps of `nice`: a tenth of a worker's share of a processor.
#[cfg(target_os = "linux")]
const LOWER: i32 = 10;

/// Bytes of a body that put its job back by a millisecond: a body of 32 MiB waits for short ones that come up to 8 seconds later.
const BYTES_PER_MS: u64 = 4096;

/// A fixed number of threads and a queue.
pub(crate) struct Threads {
    shared: Arc<Shared>,
}

struct Shared {
    queue: Mutex<Queue>,
    came: Condvar,
    began: Instant,
}

/// The jobs that have not begun, the next one first.
#[derive(Default)]
struct Queue {
    short: BTreeMap<Place, Job>,
    long: BTreeMap<Place, Job>,
    number: u64,
    /// Whether the pool was dropped.
    ended: bool,
}

/// The time of a job in milliseconds, and its number.
type Place = (u64, u64);

impl Threads {
    /// Starts this many threads, and one for short jobs. They end when the pool is dropped and the queue is empty.
    pub(crate) fn start(count: usize) -> Result<Arc<Self>, String> {
        let shared = Shared { queue: Mutex::default(), came: Condvar::new(), began: Instant::now() };
        let pool = Arc::new(Self { shared: Arc::new(shared) });
        for number in 0..=count {
            let shared = pool.shared.clone();
            let thread = std::thread::Builder::new().name(format!("convert-{number}"));
            let work = move || {
                // Elsewhere this would be the priority of the whole program. Without it, the order is only less good.
                #[cfg(target_os = "linux")]
                let _ = rustix::process::nice(LOWER);
                shared.work(number == 0);
            };
            thread.spawn(work).map_err(|error| format!("a thread for conversions: {error}"))?;
        }
        Ok(pool)
    }

    /// Returns the number of jobs that have not begun.
    #[cfg(test)]
    fn waiting(&self) -> usize {
        let queue = self.shared.queue();
        queue.short.len() + queue.long.len()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.queue().ended = true;
        self.shared.came.notify_all();
    }
}

impl Queue {
    fn lane(&mut self, is_short: bool) -> &mut BTreeMap<Place, Job> {
        if is_short { &mut self.short } else { &mut self.long }
    }

    /// Takes the next job.
    fn next(&mut self, only_short: bool) -> Option<Job> {
        let first = |lane: &BTreeMap<Place, Job>| lane.first_key_value().map(|(place, _)| *place);
        let is_short = match (first(&self.short), first(&self.long)) {
            (Some(short), Some(long)) => only_short || short < long,
            (short, _) => only_short || short.is_some(),
        };
        self.lane(is_short).pop_first().map(|(_, job)| job)
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, bytes: usize, job: Job) -> (Place, bool) {
        let mut queue = self.queue();
        queue.number += 1;
        let time = self.began.elapsed().as_millis() as u64 + bytes as u64 / BYTES_PER_MS;
        let (place, is_short) = ((time, queue.number), bytes <= SHORT_JOB);
        queue.lane(is_short).insert(place, job);
        drop(queue);
        // Some threads take short jobs only, so one that is woken for a long job may leave it.
        if is_short {
            self.came.notify_one()
        } else {
            self.came.notify_all()
        }
        (place, is_short)
    }

    fn work(&self, only_short: bool) {
        loop {
            let mut queue = self.queue();
            let job = loop {
                match queue.next(only_short) {
                    Some(job) => break job,
                    None if queue.ended => return,
                    None => queue = self.came.wait(queue).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(queue);
            // Only a defect panics here; the body that waits for the job is then sent as it came.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }
}

impl Pool for Threads {
    fn run(&self, job: Job) {
        self.shared.add(0, job);
    }

    fn queue(&self, bytes: usize, job: Job) -> Ticket {
        let (place, is_short) = self.shared.add(bytes, job);
        let shared = self.shared.clone();
        Ticket::new(move || {
            let job = shared.queue().lane(is_short).remove(&place);
            // After the lock is released: what the job holds may be long.
            drop(job);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stc_layer::coding::Coding;
    use std::sync::mpsc;

    /// The threads have a lower priority, and the one that started them does not.
    #[cfg(target_os = "linux")]
    #[test]
    fn workers_go_first() {
        let priority = || rustix::process::nice(0).unwrap();
        let own = priority();
        let pool = Threads::start(1).unwrap();
        let (send, received) = mpsc::channel();
        pool.run(Box::new(move || send.send(priority()).unwrap()));
        assert_eq!(received.recv().unwrap(), (own + LOWER).min(19));
        assert_eq!(priority(), own);
    }

    #[test]
    fn a_panic_ends_no_thread() {
        let pool = Threads::start(2).unwrap();
        let (send, received) = mpsc::channel();
        for number in 0..20 {
            let send = send.clone();
            pool.run(Box::new(move || {
                assert!(number % 2 == 0, "a planted fault");
                send.send(number).unwrap();
            }));
        }
        drop(send);
        let mut numbers: Vec<_> = received.iter().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    }

    /// Keeps a thread in a job of this length until the returned sender is dropped.
    fn occupy(pool: &Threads, bytes: usize) -> (mpsc::Sender<()>, Ticket) {
        let (end, wait) = mpsc::channel::<()>();
        let (begun, has_begun) = mpsc::channel();
        let ticket = pool.queue(
            bytes,
            Box::new(move || {
                begun.send(()).unwrap();
                let _ = wait.recv();
            }),
        );
        has_begun.recv().unwrap();
        (end, ticket)
    }

    #[test]
    fn short_jobs_do_not_wait_for_long_ones() {
        let pool = Threads::start(1).unwrap();
        let (_end, _ticket) = occupy(&pool, 32 << 20);
        let (send, received) = mpsc::channel();
        let of = |bytes: usize| {
            let send = send.clone();
            pool.queue(bytes, Box::new(move || send.send(bytes).unwrap()))
        };
        let _long = of(20 << 20);
        let _short = of(200_000);
        assert_eq!(received.recv().unwrap(), 200_000, "it does not wait for the one that has begun");
    }

    /// How long a coded body is without its coding, nobody knows before: the thread for short jobs leaves it.
    #[test]
    fn coded_bodies_are_not_taken_for_short_ones() {
        let pool = Threads::start(1).unwrap();
        let (_end, _ticket) = occupy(&pool, 32 << 20);
        let (send, received) = mpsc::channel();
        let of = |name: &'static str, bytes: usize| {
            let send = send.clone();
            pool.queue(bytes, Box::new(move || send.send(name).unwrap()))
        };
        let _coded = [Coding::Gzip, Coding::Brotli, Coding::Zstd].map(|coding| of("coded", coding.usual_length(102)));
        let _short = of("short", SHORT_JOB);
        assert_eq!(received.recv().unwrap(), "short");
        // The thread that ran it would have taken them first, as they came first.
        assert_eq!(pool.waiting(), 3);
    }

    /// The shortest comes first; a long one goes before short ones that come much later.
    #[test]
    fn the_order_is_by_length_and_age() {
        let queue = |jobs: &[(u64, usize)]| {
            let mut queue = Queue::default();
            let (send, received) = mpsc::channel();
            for (number, (came, bytes)) in jobs.iter().enumerate() {
                let (send, place) = (send.clone(), (came + *bytes as u64 / BYTES_PER_MS, number as u64));
                queue.lane(*bytes <= SHORT_JOB).insert(place, Box::new(move || send.send(number).unwrap()));
            }
            drop(send);
            while let Some(job) = queue.next(false) {
                job();
            }
            received.iter().collect::<Vec<_>>()
        };
        assert_eq!(queue(&[(0, 32 << 20), (1, 4 << 20), (2, 200_000), (3, 200_000)]), [2, 3, 1, 0]);
        assert_eq!(queue(&[(0, 32 << 20), (8000, 200_000), (8200, 200_000)]), [1, 0, 2]);
    }

    #[test]
    fn a_job_that_nobody_waits_for_is_dropped() {
        let pool = Threads::start(1).unwrap();
        let _busy = [occupy(&pool, 32 << 20), occupy(&pool, 1)];
        let (held, ran) = (Arc::new(()), Arc::new(Mutex::new(Vec::new())));
        let tickets: Vec<_> = (0..1000)
            .map(|number| {
                let (held, ran) = (held.clone(), ran.clone());
                let job = move || {
                    let _held = held;
                    ran.lock().unwrap().push(number);
                };
                pool.queue(number << 11, Box::new(job))
            })
            .collect();
        assert_eq!((pool.waiting(), Arc::strong_count(&held)), (1000, 1001));
        let kept: Vec<_> = tickets.into_iter().enumerate().filter(|(number, _)| *number == 700).collect();
        assert_eq!((pool.waiting(), Arc::strong_count(&held)), (1, 2), "what it held is free at once");
        drop(_busy);
        while Arc::strong_count(&held) > 1 {
            std::thread::yield_now();
        }
        assert_eq!(*ran.lock().unwrap(), [700]);
        drop(kept);
    }

    /// Jobs that were queued before the pool ended are run.
    #[test]
    fn the_queue_is_emptied_at_the_end() {
        let pool = Threads::start(1).unwrap();
        let busy = [occupy(&pool, 32 << 20), occupy(&pool, 1)];
        let (send, received) = mpsc::channel();
        let tickets: Vec<_> = [1, 32 << 20]
            .map(|bytes| {
                let send = send.clone();
                pool.queue(bytes, Box::new(move || send.send(bytes).unwrap()))
            })
            .into();
        drop((pool, busy, send));
        assert_eq!(received.iter().sum::<usize>(), 1 + (32 << 20));
        drop(tickets);
    }
}
