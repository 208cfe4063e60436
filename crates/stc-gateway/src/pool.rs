//! The threads that convert long bodies, so that a worker's other connections do not wait.
//!
//! Where processors are scarce, workers go first: the threads have a lower priority. Beside ten clients that send
//! megabytes to two processors, small requests then take little longer than without the gateway (`scripts/context/beside.py`).

use stc_layer::Pool;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

type Job = Box<dyn FnOnce() + Send>;

/// How much lower the priority of the threads is, in steps of `nice`: a tenth of a worker's share of a processor.
#[cfg(target_os = "linux")]
const LOWER: i32 = 10;

/// A fixed number of threads and a queue. The queue is bounded by the jobs: an engine has at most `max_held`.
pub(crate) struct Threads {
    jobs: Mutex<Sender<Job>>,
}

impl Threads {
    /// Starts the threads. They end when the pool is dropped and the queue is empty.
    pub(crate) fn start(count: usize) -> Result<Arc<Self>, String> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        for number in 0..count {
            let queue = queue.clone();
            let thread = std::thread::Builder::new().name(format!("convert-{number}"));
            let work = move || {
                // Elsewhere this would be the priority of the whole program. Without it, the order is only less good.
                #[cfg(target_os = "linux")]
                let _ = rustix::process::nice(LOWER);
                work(&queue);
            };
            thread.spawn(work).map_err(|error| format!("a thread for conversions: {error}"))?;
        }
        Ok(Arc::new(Self { jobs: Mutex::new(jobs) }))
    }
}

fn work(queue: &Mutex<Receiver<Job>>) {
    loop {
        // The lock is released before the job runs.
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        // Only a defect panics here; the body that waits for the job is then sent as it came.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

impl Pool for Threads {
    fn run(&self, job: Job) {
        let _ = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).send(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
