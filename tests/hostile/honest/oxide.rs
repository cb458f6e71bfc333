//! Threads, channels, mutexes, a child process, a caught panic, a large vector.
use std::collections::HashMap;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

fn main() {
    let total = Arc::new(Mutex::new(0u64));
    let (give, take) = mpsc::channel();
    let threads: Vec<_> = (0..8)
        .map(|n| {
            let (total, give) = (total.clone(), give.clone());
            thread::spawn(move || {
                *total.lock().unwrap() += n;
                give.send(n).unwrap();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    drop(give);
    assert_eq!(take.iter().sum::<u64>(), 28);
    assert_eq!(*total.lock().unwrap(), 28);
    let table: HashMap<u32, u32> = (0..100_000).map(|n| (n, n)).collect();
    assert_eq!(table.len(), 100_000);
    let large = vec![1u8; 200 << 20];
    assert_eq!(large[large.len() - 1], 1);
    let mut child = Command::new("/bin/echo").arg("x").stdout(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success() && text == "x\n");
    std::panic::set_hook(Box::new(|_| ()));
    assert!(thread::spawn(|| panic!("on purpose")).join().is_err());
    println!("OK");
}
