//! Items that threads make ahead of their use.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use burn_roi_detection::train::Prefetch;

#[test]
fn the_order_does_not_depend_on_the_threads() {
    for threads in [0, 1, 2, 7] {
        // Later items are ready earlier.
        let items = Prefetch::new(3..23, threads, 6, |index| {
            thread::sleep(Duration::from_micros(100 * (23 - index as u64)));
            index
        });
        assert_eq!(items.len(), 20);
        assert!(items.eq(3..23), "{threads} threads");
    }
    assert_eq!(Prefetch::new(5..5, 2, 2, |index| index).next(), None);
}

#[test]
fn no_more_than_the_limit_is_made_ahead() {
    let made = Arc::new(AtomicUsize::new(0));
    let counted = made.clone();
    let mut items = Prefetch::new(0..1000, 4, 3, move |index| {
        counted.fetch_add(1, Ordering::SeqCst);
        index
    });
    for used in 1..=5 {
        assert_eq!(items.next(), Some(used - 1));
        thread::sleep(Duration::from_millis(2));
        assert!(made.load(Ordering::SeqCst) <= used + 3);
    }
    // What is not used is not made.
    drop(items);
    assert!(made.load(Ordering::SeqCst) <= 8);
}

#[test]
fn no_more_than_so_many_threads_make_items() {
    let items = Prefetch::new(0..50, 2, 10, |_| {
        thread::sleep(Duration::from_micros(100));
        thread::current().id()
    });
    assert!(items.collect::<HashSet<_>>().len() <= 2);
}

#[test]
fn a_panic_is_passed_on_in_its_turn() {
    let mut items = Prefetch::new(0..4, 2, 4, |index| {
        assert!(index != 1, "item {index} is broken");
        index
    });
    assert_eq!(items.next(), Some(0));
    let panic = catch_unwind(AssertUnwindSafe(|| items.next())).unwrap_err();
    assert_eq!(
        panic.downcast_ref::<String>().map(String::as_str),
        Some("item 1 is broken")
    );
    assert_eq!(items.collect::<Vec<_>>(), [2, 3]);
}
