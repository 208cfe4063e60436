//! How fast a client must accept what waits for it.
//!
//! Time is cut into periods of `timeouts.send`. In each period during which something waited all the time, the client must
//! accept at least one byte, and `limits.send_rate` bytes per second on average. Time with nothing to send does not count.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// A shorter time with nothing to send does not end a period: it is the time that this program takes to fetch more.
const SHORT_PAUSE: Duration = Duration::from_millis(100);

/// The pace that a configuration requires.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) period: Duration,
    /// Bytes per second.
    pub(crate) rate: u64,
}

/// The pace of one receiver.
pub(crate) struct Meter {
    pace: Pace,
    /// Reused from period to period.
    timer: Option<Pin<Box<Sleep>>>,
    /// The bytes accepted before the period began; `None` while nothing waits.
    base: Option<u64>,
    /// When the latest wait ended.
    idle_since: Option<Instant>,
}

impl Meter {
    pub(crate) const fn new(pace: Pace) -> Self {
        Self { pace, timer: None, base: None, idle_since: None }
    }

    /// Notes that nothing waits to be sent.
    pub(crate) fn idle(&mut self) {
        if self.base.is_some() && self.idle_since.is_none() {
            self.idle_since = Some(Instant::now());
        }
    }

    /// Completes when the receiver is too slow. `accepted` is the number of bytes so far, known to within `step` bytes.
    pub(crate) fn poll_waiting(&mut self, cx: &mut Context<'_>, accepted: u64, step: u64) -> Poll<()> {
        let end = Instant::now() + self.pace.period;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end)));
        let passed = timer.deadline().elapsed();
        if self.idle_since.take().is_some_and(|since| since.elapsed() >= SHORT_PAUSE || passed >= SHORT_PAUSE) {
            self.base = None;
        }
        let base = self.base.get_or_insert_with(|| {
            timer.as_mut().reset(end);
            accepted
        });
        loop {
            ready!(timer.as_mut().poll(cx));
            let progress = accepted - *base;
            let required = (self.pace.rate as f64 * self.pace.period.as_secs_f64()) as u64;
            if progress == 0 || progress.saturating_add(step) < required {
                return Poll::Ready(());
            }
            *base = accepted;
            timer.as_mut().reset(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Polls once a second with the bytes accepted so far, `None` for idle, and returns the second in which it completes.
    async fn completes(step: u64, accepted: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        let mut meter = Meter::new(Pace { period: Duration::from_secs(10), rate: 100 });
        for second in 0..60 {
            match accepted(second) {
                None => meter.idle(),
                Some(bytes) => {
                    let slow = std::future::poll_fn(|cx| Poll::Ready(meter.poll_waiting(cx, bytes, step))).await;
                    if slow.is_ready() {
                        return Some(second);
                    }
                }
            }
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        None
    }

    #[tokio::test(start_paused = true)]
    async fn paces() {
        assert_eq!(completes(0, |_| Some(7)).await, Some(10), "no progress");
        assert_eq!(completes(0, |second| Some(second * 99)).await, Some(10), "too slow");
        assert_eq!(completes(0, |second| Some(second * 100)).await, None, "fast enough");
        assert_eq!(completes(100, |second| Some(second * 99)).await, None, "fast enough, to within a step");
        assert_eq!(completes(5000, |_| Some(7)).await, Some(10), "no progress, whatever the step");
        assert_eq!(completes(0, |second| Some(second.min(20) * 500)).await, Some(30), "stops after a while");
        assert_eq!(completes(0, |second| (second % 10 > 0).then_some(7)).await, None, "idle now and then");
    }

    /// A slow reader that takes exactly what is buffered leaves nothing waiting for a moment, again and again.
    #[tokio::test(start_paused = true)]
    async fn moments_without_anything_to_send_do_not_count() {
        let mut meter = Meter::new(Pace { period: Duration::from_secs(10), rate: 100 });
        let mut slow_at = None;
        for second in 0..60 {
            meter.idle();
            tokio::time::advance(Duration::from_millis(1)).await;
            let slow = std::future::poll_fn(|cx| Poll::Ready(meter.poll_waiting(cx, second * 50, 0))).await;
            if slow.is_ready() {
                slow_at = Some(second);
                break;
            }
            tokio::time::advance(Duration::from_millis(999)).await;
            let slow = std::future::poll_fn(|cx| Poll::Ready(meter.poll_waiting(cx, second * 50, 0))).await;
            if slow.is_ready() {
                slow_at = Some(second);
                break;
            }
        }
        assert_eq!(slow_at, Some(10));
    }
}
