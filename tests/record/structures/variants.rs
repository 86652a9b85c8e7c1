// Structures and enums of Rust, for the comparison with gdb.
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, Once, RwLock};

struct Reordered {
    a: u8,
    b: u64,
    c: bool,
    d: u32,
}
#[repr(C, packed)]
struct Packed {
    a: u8,
    b: u64,
    c: u16,
}
#[repr(align(64))]
struct Apart {
    hot: AtomicU64,
    cold: bool,
}
enum Shape {
    Empty,
    Point(u8),
    Square { side: f64, name: &'static str },
    Boxed(Box<Reordered>),
}
enum Plain {
    One,
    Two,
}
union Bits {
    whole: u64,
    parts: [u16; 3],
}
// With the tag in a value that the member cannot have.
enum Niche {
    Nothing,
    Name(&'static str),
    Both(Option<Box<u32>>, u8),
}
struct Unit;
struct Generic<T> {
    value: T,
    unit: Unit,
    next: Option<Box<Generic<T>>>,
}
struct All {
    reordered: Reordered,
    packed: Packed,
    apart: Apart,
    shapes: Vec<Shape>,
    shape: Shape,
    plain: Plain,
    plain_maybe: Option<Plain>,
    bits: Bits,
    small: Generic<u8>,
    large: Generic<[u64; 5]>,
    map: HashMap<String, Vec<u32>>,
    tree: BTreeMap<u16, Option<u64>>,
    set: HashSet<char>,
    queue: VecDeque<(u8, u32)>,
    shared: Arc<Mutex<Vec<u8>>>,
    lock: RwLock<Option<String>>,
    condition: Condvar,
    once: Once,
    flag: AtomicBool,
    cell: RefCell<Cell<i16>>,
    counted: Rc<RefCell<Option<u64>>>,
    text: Option<String>,
    outcome: Result<u32, String>,
    tuple: (u8, u64, u16),
    function: fn(u32) -> u32,
    dynamic: Box<dyn Fn(u32) -> u32>,
    wide: u128,
    niches: [Niche; 3],
}

fn main() {
    let all = All {
        reordered: Reordered { a: 1, b: 2, c: true, d: 3 },
        packed: Packed { a: 1, b: 2, c: 3 },
        apart: Apart { hot: AtomicU64::new(1), cold: false },
        shapes: vec![Shape::Empty, Shape::Point(1), Shape::Square { side: 1.0, name: "x" }],
        shape: Shape::Boxed(Box::new(Reordered { a: 1, b: 2, c: true, d: 3 })),
        plain: Plain::One,
        plain_maybe: Some(Plain::Two),
        bits: Bits { whole: 7 },
        small: Generic { value: 1, unit: Unit, next: None },
        large: Generic { value: [1; 5], unit: Unit, next: None },
        map: HashMap::new(),
        tree: BTreeMap::new(),
        set: HashSet::new(),
        queue: VecDeque::new(),
        shared: Arc::new(Mutex::new(vec![1])),
        lock: RwLock::new(None),
        condition: Condvar::new(),
        once: Once::new(),
        flag: AtomicBool::new(false),
        cell: RefCell::new(Cell::new(1)),
        counted: Rc::new(RefCell::new(Some(3))),
        text: Some("x".to_string()),
        outcome: Ok(3),
        tuple: (1, 2, 3),
        function: |x| x + 1,
        dynamic: Box::new(|x| x + 2),
        wide: 5,
        niches: [Niche::Nothing, Niche::Name("x"), Niche::Both(None, 1)],
    };
    let low = { all.packed.c } as u64 + all.packed.b + all.packed.a as u64;
    let bits = unsafe { all.bits.whole + all.bits.parts[0] as u64 };
    println!("{}", low + bits + all.apart.hot.load(Ordering::Relaxed) + all.reordered.b + all.small.value as u64);
    println!("{}", all.large.value[0] + (all.function)(1) as u64 + (all.dynamic)(2) as u64 + all.shapes.len() as u64);
    println!("{}", all.reordered.a as u64 + all.reordered.d as u64 + all.reordered.c as u64 + all.apart.cold as u64);
    println!("{}", all.niches.len());
    println!("{}", all.tuple.0 as u64 + all.tuple.1 + all.tuple.2 as u64 + all.wide as u64);
}
