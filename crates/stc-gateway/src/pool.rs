//! The threads that convert long bodies, so that a worker's other connections do not wait.

use stc_layer::Pool;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

type Job = Box<dyn FnOnce() + Send>;

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
            thread.spawn(move || work(&queue)).map_err(|error| format!("a thread for conversions: {error}"))?;
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
